package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BoardMessagesTest {
  @TempDir Path temp;

  @Test
  void aRunThatIsNotThereEndsTheCommand() {
    Path missing = temp.resolve("missing");
    MainTest.Result result = MainTest.tern("board", missing.toString());
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains(missing + ": got no such folder, expected the folder of a run")
        .contains("--wait")
        .hasLineCount(1);
  }

  @Test
  void aPortThatIsNoneIsWrongUsage() {
    MainTest.Result result = MainTest.tern("board", temp.toString(), "--port", "65536");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--port: got 65536, expected 0 to 65535");
  }

  @Test
  void aHostThatIsNoneIsTold() {
    MainTest.Result result =
        MainTest.tern("board", temp.toString(), "--wait", "--host", "no such host");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("--host: got no such host, expected a name or address");
  }
}
