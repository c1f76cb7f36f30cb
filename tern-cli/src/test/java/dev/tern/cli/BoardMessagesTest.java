package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
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
    assertThat(result.err()).contains("board: got the port 65536, expected 0 to 65535");
  }

  private Path config() throws IOException {
    Files.writeString(temp.resolve("rows.csv"), "y,a\n1,2\n0,1\n1,3\n0,1\n");
    return Files.writeString(
        temp.resolve("run.yaml"),
        """
        data:
          format: csv
          train: %s/rows.csv
          label: {column: y}
          dense: {columns: [a]}
        model: {type: lr}
        run: {dir: %s/run}
        train: {batch: 4, epochs: 1, optimizer: {type: sgd, lr: 0.1}, memory: 64m}
        """
            .formatted(temp, temp));
  }

  @Test
  void trainingSaysWhereItsBoardIsAndWritesEvents() throws IOException {
    String events = temp + "/events";
    MainTest.Result result =
        MainTest.tern("train", config().toString(), "--board-port", "0", "--tensorboard", events);
    assertThat(result.err()).containsPattern("board at http://127\\.0\\.0\\.1:[1-9][0-9]*/ until");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Path.of(events, "train")).isDirectoryContaining("glob:**/events.out.tfevents.*");
  }

  @Test
  void trainingGoesOnWithoutTheMlflowServerThatItIsToLogTo() throws IOException {
    int port;
    try (ServerSocket closed = new ServerSocket(0)) {
      port = closed.getLocalPort();
    }
    String server = "http://127.0.0.1:" + port;
    MainTest.Result result = MainTest.tern("train", config().toString(), "--mlflow", server);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("--mlflow " + server + ": got no connection");
    MainTest.Result wrong = MainTest.tern("train", config().toString(), "--mlflow", "runs");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("--mlflow: got runs, expected the address").hasLineCount(1);
    MainTest.Result days =
        MainTest.tern("train", config().toString(), "--days", "x*", "--mlflow", server);
    assertThat(days.code()).isEqualTo(2);
    assertThat(days.err()).contains("got --days with --mlflow");
  }

  @Test
  void aHostThatIsNoneIsTold() {
    MainTest.Result result =
        MainTest.tern("board", temp.toString(), "--wait", "--host", "no such host");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("--host: got no such host, expected a name or address");
  }
}
