package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServeCommandTest {
  private static final Pattern ASKED =
      Pattern.compile(
          "<!-- ask -->\\n```sh\\ncurl -s http://127.0.0.1:8000(\\S+)(?: -d '([^']*)')?\\n```\\s+"
              + "<!-- answer -->\\n```json\\n(.*?)\\n```",
          Pattern.DOTALL);
  private static final int PIECE = 128;

  @TempDir Path temp;

  @Test
  void aServerAnswersAsItsPageSaysWithThePredictionsOfPredict() throws Exception {
    String run = temp.resolve("clicks").toString();
    succeed(
        "data generate --rows 2000 --eval-rows 600 --scale 0.001 --out " + temp.resolve("made"));
    succeed(
        "train "
            + temp.resolve("made/train.yaml")
            + " --set run.dir="
            + run
            + " --set model.hidden=8 --set model.embedding=4");
    Path eval = temp.resolve("made/eval.csv");
    Path scores = temp.resolve("scores.csv");
    succeed("predict " + run + " --latest " + eval + " --out " + scores);

    MainTest.Result small = MainTest.tern("serve", run, "--port", "0", "--memory", "50k");
    assertThat(small.code()).isEqualTo(1);
    assertThat(small.err()).contains("(the budget is --memory)").hasLineCount(1);

    Process server = MainTest.process("serve", run, "--port", "0", "--grace", "0s").start();
    List<String> said = new ArrayList<>();
    try (BufferedReader lines = server.inputReader()) {
      String url = address(lines, said);
      for (MatchResult each : asked()) {
        String body = each.group(2) == null ? "" : each.group(2);
        assertAnswer(ask(url + each.group(1), body), each.group(3));
      }
      assertThat(predictions(url, eval)).isEqualTo(column(scores));
      int port = URI.create(url).getPort();
      assertThat(MainTest.tern("serve", "--check", "--port", "" + port).code()).isZero();
      server.toHandle().destroy();
      lines.lines().forEach(said::add);
      assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(server.exitValue()).as(said.toString()).isZero();
      assertThat(MainTest.tern("serve", "--check", "--port", "" + port).code()).isEqualTo(1);
    } finally {
      server.destroyForcibly();
    }
    assertThat(said).as("a log of the HTTP library").noneMatch(line -> line.contains("jetty"));
  }

  private static void succeed(String line) {
    MainTest.Result result = MainTest.tern(line.split(" "));
    assertThat(result.code()).as(result.err()).isZero();
  }

  private static String address(BufferedReader lines, List<String> said) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      said.add(line);
      if (line.startsWith("serving clicks step ")) {
        assertThat(line).matches("serving clicks step \\d+ at http://\\S+, ready after [\\d.]+ s");
        return line.replaceAll(".* at (http://[^/]+)/.*", "$1");
      }
    }
    throw new IllegalStateException("the server ended: " + said);
  }

  private static List<MatchResult> asked() throws IOException {
    List<MatchResult> all =
        ASKED.matcher(Files.readString(Path.of("../docs/serve.md"))).results().toList();
    assertThat(all).hasSize(3);
    return all;
  }

  private static String ask(String url, String body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
    connection.setReadTimeout(60_000);
    if (!body.isEmpty()) {
      connection.setDoOutput(true);
      connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    }
    assertThat(connection.getResponseCode()).as(url).isEqualTo(200);
    return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private static void assertAnswer(String answer, String expected) {
    String pattern =
        Stream.of(expected.split("\\.\\.\\.", -1))
            .map(Pattern::quote)
            .reduce((a, b) -> a + ".*" + b)
            .orElseThrow();
    assertThat(answer).matches(pattern);
  }

  /** What the server predicts for all rows of a file, as it writes numbers. */
  private static List<String> predictions(String url, Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    String[] names = lines.getFirst().split(",", -1);
    List<String> all = new ArrayList<>();
    for (int from = 1; from < lines.size(); from += PIECE) {
      StringBuilder body = new StringBuilder("{\"instances\":[");
      for (String line : lines.subList(from, Math.min(lines.size(), from + PIECE))) {
        body.append(body.charAt(body.length() - 1) == '[' ? "{" : ",{");
        String[] cells = line.split(",", -1);
        String before = "";
        for (int c = 1; c < cells.length; c++) {
          if (!cells[c].isEmpty()) {
            body.append(before).append('"').append(names[c]).append("\":").append(cells[c]);
            before = ",";
          }
        }
        body.append('}');
      }
      String answer = ask(url + "/v1/models/clicks:predict", body + "]}");
      all.addAll(List.of(answer.replaceAll(".*\\[|\\].*", "").split(",")));
    }
    return all;
  }

  private static List<String> column(Path scores) throws IOException {
    List<String> lines = Files.readAllLines(scores);
    return lines.subList(1, lines.size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          serve                                     | 2 | got no model
          serve runs/x --port 70000                 | 2 | port: got 70000
          serve runs/x --admin                      | 2 | --token-file
          serve runs/x --tls-cert a.pem             | 2 | --tls-key
          serve runs/x --max-body 8x                | 2 | expected bytes, as in
          serve runs/x --grace soon                 | 2 | expected a time, as in
          serve runs/x --queue -1                   | 2 | queue: got -1
          serve runs/x --cors *                     | 2 | cors: got *
          serve runs/x --memory 0                   | 2 | memory: got 0
          serve runs/x --memory y=2g                | 2 | --memory: got y
          serve runs/x --memory x=2q                | 2 | expected bytes, as in
          serve a@b@c=runs/x                        | 2 | name it as in
          serve nothing/there --port 0              | 1 | nothing/there
          serve runs/x --port 0 --token-file none   | 1 | none: got
          """)
  void wrongUsageIsToldWithWhatToDo(String line, int code, String message) {
    MainTest.Result result = MainTest.tern(line.strip().split(" "));
    assertThat(result.code()).as(result.err()).isEqualTo(code);
    assertThat(result.err()).contains(message).hasLineCount(1);
  }

  @Test
  void aPortThatIsTakenIsToldBeforeModelsAreLoaded() throws IOException {
    try (var taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getByName("127.0.0.1"))) {
      MainTest.Result result =
          MainTest.tern("serve", "nothing/there", "--port", "" + taken.getLocalPort());
      assertThat(result.code()).isEqualTo(1);
      assertThat(result.err()).contains("--port").doesNotContain("nothing/there");
    }
  }

  @Test
  void whoLetsOthersCallIsWarned() {
    String[] open = {"serve", "nothing/there", "--port", "0", "--host", "0.0.0.0"};
    assertThat(MainTest.tern(open).err()).contains("warning: 0.0.0.0: others can reach");
  }
}
