package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HttpWarmUpTest {
  @TempDir Path temp;

  @Test
  void requestsOfTheServerToItselfNeedNoTokenAndAreNeitherCountedNorLogged() throws Exception {
    Path log = temp.resolve("log");
    Path tokens = Files.writeString(temp.resolve("tokens"), "0".repeat(64));
    ServeOptions options = TestServer.OPTIONS.withTokens(tokens, false).withAccessLog(log);
    try (TestServer server = new TestServer(options, "m=30")) {
      assertThat(server.notes)
          .containsExactly(
              "warm-up: the model takes no made-up rows; the first requests are slower");
      assertThat(server.answered).isNotEmpty();
    }
    assertThat(Files.readString(log)).isEmpty();
  }
}
