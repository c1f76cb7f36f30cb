package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.run.RunException;
import dev.tern.internal.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class BoardTest {
  private static final String HOSTILE = "a\"<script>alert(1)<\\nb & 'c' \u2028 ü";

  @TempDir Path temp;
  private final HttpClient client = HttpClient.newHttpClient();
  private Path run = Path.of("");
  private Board board;

  @BeforeEach
  void begin() throws IOException {
    run = Files.createDirectories(temp.resolve("runs").resolve(HOSTILE));
    append(line(10, 0.5));
    board = Board.start(List.of(temp + "/runs"), false, "127.0.0.1", 0);
  }

  @AfterEach
  void end() {
    board.close();
    client.close();
  }

  private static String line(long step, double loss) {
    return "{\"step\":%d,\"epoch\":0,\"split\":\"train\",\"loss\":%s,\"seconds\":%d}\n"
        .formatted(step, loss, step);
  }

  private void append(String text) throws IOException {
    Files.writeString(
        run.resolve("metrics.jsonl"), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return request("GET", path);
  }

  private HttpResponse<String> request(String method, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(board.url() + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** An open stream of events, read one by one. */
  private final class Events implements AutoCloseable {
    private final HttpResponse<InputStream> response;
    private final BufferedReader in;

    Events() throws IOException, InterruptedException {
      response =
          client.send(
              HttpRequest.newBuilder(URI.create(board.url() + "events")).build(),
              HttpResponse.BodyHandlers.ofInputStream());
      in = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    /** The next event of that name. */
    Json.Obj next(String name) throws IOException {
      while (true) {
        String text = in.readLine();
        assertThat(text).as("a line before the end of the stream").isNotNull();
        if (text.equals("event: " + name)) {
          String data = in.readLine();
          assertThat(data).startsWith("data: ");
          assertThat(in.readLine()).isEmpty();
          return Json.parseObject(data.substring("data: ".length()), name);
        }
      }
    }

    /** The next event of that name that has {@code key}. */
    Json.Obj next(String name, String key) throws IOException {
      Json.Obj event = next(name);
      while (!event.has(key)) {
        event = next(name);
      }
      return event;
    }

    /** The first event {@code run} whose curve of loss has the steps. */
    Json.Obj awaitSteps(String steps) throws IOException {
      while (true) {
        Json.Obj curves = next("run").object("curves");
        if (curves.has("train/loss/")
            && curves.object("train/loss/").get("s").toString().equals(steps)) {
          return curves;
        }
      }
    }

    /** Waits until some run has done {@code step} steps. */
    void awaitStep(long step) throws IOException {
      while (true) {
        String text = in.readLine();
        assertThat(text).as("a line before the end of the stream").isNotNull();
        if (text.startsWith("data: ")) {
          Json.Obj event = Json.parseObject(text.substring("data: ".length()), "event");
          if (event.has("facts") && event.object("facts").integer("step") == step) {
            return;
          }
        }
      }
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  @Test
  void aPageThatListensGetsTheCurvesAndThenLinesThatAreWrittenLater() throws Exception {
    try (Events events = new Events()) {
      assertThat(events.response.headers().firstValue("Content-Type"))
          .hasValue("text/event-stream");
      events.awaitSteps("[10]");
      append(line(20, 0.25).substring(0, 30));
      append(line(20, 0.25).substring(30));
      Json.Obj more = events.next("more");
      while (more.array("points").isEmpty()) {
        more = events.next("more");
      }
      assertThat(more.array("points")).hasToString("[[\"train/loss/\",20,20,0.25]]");
    }
  }

  @Test
  void aRunThatIsResumedFromAnEarlierStepHasItsCurvesSentAnew() throws Exception {
    append(line(20, 0.25) + line(30, 0.125));
    try (Events events = new Events()) {
      events.awaitStep(30);
      Path next = Files.writeString(temp.resolve("next"), line(10, 0.5));
      Files.move(
          next,
          run.resolve("metrics.jsonl"),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
      events.awaitSteps("[10]");
    }
  }

  @Test
  void aRunThatBeginsLaterComesByItself() throws Exception {
    try (Events events = new Events()) {
      events.awaitSteps("[10]");
      run = Files.createDirectories(temp.resolve("runs").resolve("later"));
      append(line(1, 1));
      events.awaitStep(1);
    }
    assertThat(board.runCount()).isEqualTo(2);
  }

  @Test
  void brokenLinesAndLossesThatAreNoNumberAreTold() throws Exception {
    append("garbage\n" + line(20, 0.25).replace("0.25", "null") + "\n" + line(30, 0.25));
    try (Events events = new Events()) {
      Json.Obj facts = events.next("run", "facts").object("facts");
      while (facts.integer("lines") < 5) {
        facts = events.next("more", "facts").object("facts");
      }
      assertThat(facts.integer("broken")).isEqualTo(2);
      assertThat(facts.integer("first_broken")).isEqualTo(2);
      assertThat(facts.integer("loss_unknown_at")).isEqualTo(20);
      assertThat(facts.integer("step")).isEqualTo(30);
    }
  }

  @Test
  void aFolderThatGoesIsTold() throws Exception {
    try (Events events = new Events()) {
      events.awaitSteps("[10]");
      Files.delete(run.resolve("metrics.jsonl"));
      Files.delete(run);
      assertThat(events.next("more", "facts").object("facts").text("state")).isEqualTo("gone");
    }
  }

  @Test
  void namesComeThroughToTheLetter() throws Exception {
    Json.Obj own =
        Json.parse(get("runs").body(), "runs").asArray("runs").getFirst().asObject("run");
    assertThat(own.text("name")).isEqualTo(temp + "/runs/" + HOSTILE);
    try (Events events = new Events()) {
      assertThat(events.next("run").object("facts").text("name")).isEqualTo(own.text("name"));
    }
    assertThat(get("").body()).doesNotContain("alert");
  }

  @ParameterizedTest
  @CsvSource({
    "'', text/html; charset=utf-8",
    "board.css, text/css; charset=utf-8",
    "board.js, text/javascript; charset=utf-8",
    "chart.js, text/javascript; charset=utf-8",
    "runs, application/json",
  })
  void eachPageHasItsTypeAndMayLoadNothingFromElsewhere(String path, String type) throws Exception {
    HttpResponse<String> got = get(path);
    assertThat(got.statusCode()).isEqualTo(200);
    assertThat(got.headers().firstValue("Content-Type")).hasValue(type);
    assertThat(got.headers().firstValue("Cache-Control")).hasValue("no-store");
    assertThat(got.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    assertThat(got.headers().firstValue("Content-Security-Policy").orElseThrow())
        .startsWith("default-src 'none'; script-src 'self'")
        .doesNotContain("unsafe", "http", "*");
    HttpResponse<String> head = request("HEAD", path);
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
  }

  @Test
  void configurationAndReportOfARunAreServedAndNothingElse() throws Exception {
    Files.writeString(run.resolve("config.yaml"), "model: <b>\n");
    Files.writeString(run.resolve("report.html"), "<p>finished · today</p>");
    HttpResponse<String> config = get("config?run=0");
    assertThat(config.body()).isEqualTo("model: <b>\n");
    assertThat(config.headers().firstValue("Content-Type")).hasValue("text/plain; charset=utf-8");
    HttpResponse<String> report = get("report?run=0");
    assertThat(report.body()).isEqualTo("<p>finished · today</p>");
    assertThat(report.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("sandbox", "default-src 'none'")
        .doesNotContain("script-src");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x",
        "runs/",
        "runs/0",
        "board.html",
        "BoardServer.class",
        "metrics.jsonl",
        "../config.yaml",
        "%2e%2e/config.yaml",
        "config",
        "config?run=",
        "config?run=1",
        "config?run=-1",
        "config?run=0&run=0",
        "config?run=..%2f..%2fetc%2fpasswd",
        "config?run=999999999999999999999",
        "report?run=0",
        "report?path=/etc/passwd",
      })
  void whatIsNotThereIs404(String path) throws Exception {
    Files.writeString(run.resolve("config.yaml"), "model: a\n");
    HttpResponse<String> got = get(path);
    assertThat(got.statusCode()).isEqualTo(404);
    assertThat(got.headers().firstValue("Content-Type")).hasValue("text/plain; charset=utf-8");
    assertThat(got.body()).doesNotContain("model");
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE2"})
  void nothingCanBeChangedThroughIt(String method) throws Exception {
    HttpResponse<String> got = request(method, "runs");
    assertThat(got.statusCode()).isEqualTo(405);
    assertThat(got.headers().firstValue("Allow")).hasValue("GET, HEAD");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:8600, 200",
    "127.0.0.1, 200",
    "[::1]:1, 200",
    "evil.example, 403",
    "localhost.evil.example:80, 403",
    "127.0.0.1.evil.example, 403",
    "'', 403",
  })
  void aForeignNameThatLeadsHereIsRefused(String host, int code) throws Exception {
    URI url = URI.create(board.url());
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket
          .getOutputStream()
          .write(
              ("GET /runs HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.UTF_8));
      String got = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(got).startsWith("HTTP/1.1 " + code + " ");
    }
  }

  @Test
  void pagesBeyondTheRoomAreRefusedUntilOneGoes() throws Exception {
    List<Events> open = new ArrayList<>();
    for (int i = 0; i < EventStreams.MOST; i++) {
      open.add(new Events());
    }
    try (Events refused = new Events()) {
      assertThat(refused.response.statusCode()).isEqualTo(503);
    }
    assertThat(get("runs").statusCode()).isEqualTo(200);
    for (Events events : open) {
      events.close();
    }
    int code = 503;
    for (int step = 20; code == 503; step++) {
      append(line(step, 0.5)); // Writing to them the board finds that pages are gone.
      try (Events events = new Events()) {
        code = events.response.statusCode();
      }
      Thread.sleep(20);
    }
    assertThat(code).isEqualTo(200);
  }

  @Test
  void closingTheBoardEndsTheStreams() throws Exception {
    try (Events events = new Events()) {
      events.next("run");
      board.close();
      assertThatThrownBy(
              () -> {
                while (events.in.readLine() != null) {
                  assertThat(board).isNotNull();
                }
                throw new IOException("the end");
              })
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aPortThatIsTakenIsRefused() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      assertThatThrownBy(() -> Board.start(List.of(temp + "/runs"), false, "127.0.0.1", port))
          .isInstanceOf(RunException.class)
          .hasMessageContaining("board: got the port " + port + " of 127.0.0.1")
          .hasMessageContaining("give another one, or 0 for any");
    }
  }

  @Test
  void moreTasksAndTablesThanThereIsRoomForAreTold() throws Exception {
    StringBuilder tasks = new StringBuilder();
    StringBuilder tables = new StringBuilder();
    for (int i = 0; i < 300; i++) {
      String comma = i == 0 ? "" : ",";
      tasks.append(comma + "\"t" + i + "\":{\"loss\":0.5}");
      tables.append(comma + "{\"table\":\"x\",\"rows\":1,\"bytes\":1,\"hits\":1,\"misses\":1}");
    }
    append(
        line(20, 0.5)
            .replace(
                "\"seconds\"",
                "\"tasks\":{" + tasks + "},\"tables\":[" + tables + "],\"seconds\""));
    try (Events events = new Events()) {
      Json.Obj facts = events.next("run", "facts").object("facts");
      while (facts.integer("lines") < 2) {
        facts = events.next("more", "facts").object("facts");
      }
      assertThat(facts.flag("tasks_left_out")).isTrue();
      assertThat(facts.integer("tables_left_out")).isEqualTo(100);
      assertThat(facts.array("tables")).hasSize(200);
    }
  }

  @Test
  void onlyAnAddressOfOthersIsOpenToOthers() {
    assertThat(board.isOpenToOthers()).isFalse();
    try (Board open = Board.start(List.of(temp + "/runs"), false, "0.0.0.0", 0)) {
      assertThat(open.isOpenToOthers()).isTrue();
    }
  }
}
