package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static dev.tern.serve.http.TestServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server refuses, asked over sockets byte by byte. */
final class RefusalsTest {
  private static final String INFER = "POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\n";

  private static TestServer server;

  /** Gives up soon on heads and bodies that come slowly. */
  private static TestServer quick;

  @BeforeAll
  static void start() {
    ServeLimits small =
        TestServer.OPTIONS
            .limits()
            .withBody(100_000)
            .withTimes(Duration.ofSeconds(3), Duration.ofSeconds(3));
    server = new TestServer(TestServer.OPTIONS.withLimits(small), "m=30");
    ServeLimits limits =
        TestServer.OPTIONS.limits().withTimes(Duration.ofMillis(400), Duration.ofMinutes(1));
    quick = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
  }

  @AfterAll
  static void stop() {
    server.close();
    quick.close();
  }

  @Test
  void aBodyOfTwoLengthsIsRefused() throws IOException {
    String both = INFER + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef";
    assertRefused(server.raw(both), 400);
  }

  @Test
  void aBodyWithALengthAndInPiecesIsRefused() throws IOException {
    String smuggled =
        INFER
            + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            + "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";
    String answer = server.raw(smuggled);
    assertRefused(answer, 400);
    assertThat(answer).doesNotContain("tern_requests_total");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Transfer-Encoding: chunked, xchunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked",
        "Content-Length: -5",
        "Content-Length: +5",
        "Content-Length: 5a",
        "Content-Length: 99999999999999999999",
        " folded: 1"
      })
  void aHeadThatTwoServersCouldReadDifferentlyIsRefused(String field) throws IOException {
    String answer = server.raw(INFER + field + "\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n");
    assertThat(status(answer)).isIn(400, 501);
    assertThat(answer).doesNotContain("tern_requests_total");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"zz\r\nabc", "5;\nx\r\nabcde\r\n0\r\n\r\n", "-1\r\nabc", "fffffffff\r\nabc"})
  void aDamagedPieceOfABodyIsRefused(String pieces) throws IOException {
    String answer = server.raw(INFER + "Transfer-Encoding: chunked\r\n\r\n" + pieces);
    assertThat(answer).doesNotContain("200 OK");
  }

  @Test
  void aHeadOfMoreThan8KiBIsRefused() throws IOException {
    assertRefused(server.ask("GET", "/v2", "", "X: " + "a".repeat(9_000)), 431);
  }

  @Test
  void aHeadOfMoreThan100FieldsIsRefused() throws IOException {
    String[] fields = new String[100];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = "X" + i + ": 1";
    }
    assertRefused(server.ask("GET", "/v2", "", fields), 431);
  }

  @Test
  void aBodyAboveTheLimitIsRefusedBeforeItIsSent() throws IOException {
    assertRefused(server.raw(INFER + "Content-Length: 100001\r\n\r\n"), 413);
  }

  @Test
  void aBodyInPiecesAboveTheLimitIsRefused() throws IOException {
    String piece = "1000\r\n" + "a".repeat(4_096) + "\r\n";
    String answer =
        server.raw(INFER + "Transfer-Encoding: chunked\r\n\r\n" + piece.repeat(25) + "0\r\n\r\n");
    assertRefused(answer, 413);
  }

  @Test
  void aSmallBodyThatInflatesAboveTheLimitIsRefused() throws IOException {
    String bomb = gzip("a".repeat(100_001));
    assertThat(bomb.length()).isLessThan(1_000);
    assertRefused(server.ask("POST", "/v2/models/m/infer", bomb, "Content-Encoding: gzip"), 413);
  }

  @Test
  void aBodyIsInflatedAsItsHeadSays() throws IOException {
    String gzip =
        server.ask("POST", "/v2/models/m/infer", gzip("a".repeat(100)), "Content-Encoding: gzip");
    assertThat(body(gzip)).contains("\"bytes\":100");
    ByteArrayOutputStream deflated = new ByteArrayOutputStream();
    try (DeflaterOutputStream out = new DeflaterOutputStream(deflated)) {
      out.write(new byte[50]);
    }
    String deflate =
        server.ask(
            "POST",
            "/v2/models/m/infer",
            deflated.toString(StandardCharsets.ISO_8859_1),
            "Content-Encoding: deflate");
    assertThat(body(deflate)).contains("\"bytes\":50");
  }

  @Test
  void aBodyThatIsNotWhatItsEncodingSaysIsRefused() throws IOException {
    assertRefused(server.ask("POST", "/v2/models/m/infer", "abc", "Content-Encoding: gzip"), 400);
    assertRefused(server.ask("POST", "/v2/models/m/infer", "abc", "Content-Encoding: br"), 415);
    String half = gzip("abcdefgh".repeat(100));
    half = half.substring(0, half.length() / 2);
    assertRefused(server.ask("POST", "/v2/models/m/infer", half, "Content-Encoding: gzip"), 400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TRACE", "DELETE", "PUT", "PATCH", "CONNECT", "FOO", "get"})
  void anotherMethodIsRefusedWithThoseThatAPathTakes(String method) throws IOException {
    String answer = server.ask(method, "/v2", "");
    assertThat(status(answer)).as(answer).isIn(405, 400);
    if (!method.equals("CONNECT")) {
      assertThat(body(answer)).isEqualTo("{\"error\":\"Method Not Allowed\"}");
      assertThat(answer).contains("Allow: GET, HEAD, OPTIONS");
    }
  }

  @Test
  void aGetForScoresIsRefused() throws IOException {
    assertRefused(server.ask("GET", "/v2/models/m/infer", ""), 405);
    assertRefused(server.ask("POST", "/v2/health/live", ""), 405);
  }

  @Test
  void anExpectationOtherThanToGoOnIsRefused() throws IOException {
    assertRefused(server.ask("POST", "/v2/models/m/infer", "abc", "Expect: 200-ok"), 417);
  }

  @Test
  void whoExpectsToGoOnIsToldToOrRefusedAtOnce() throws IOException {
    try (Socket socket = server.connect()) {
      String head =
          INFER + "Connection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      byte[] goOn = socket.getInputStream().readNBytes(25);
      assertThat(new String(goOn, StandardCharsets.US_ASCII))
          .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
      socket.getOutputStream().write("abc".getBytes(StandardCharsets.US_ASCII));
      assertThat(TestServer.rest(socket)).startsWith("HTTP/1.1 200 OK").contains("\"bytes\":3");
    }
    String refused = server.raw(INFER + "Expect: 100-continue\r\nContent-Length: 200000\r\n\r\n");
    assertRefused(refused, 413);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v2/models/..%2fm/infer",
        "/v2/models/%2e%2e/infer",
        "/v2/models/m;a=b/infer",
        "/v2/models/m%00/infer",
        "//v2/models/m/infer",
        "/v2/models/" + "a" + "%ff" + "/infer"
      })
  void aPathThatIsNotPlainNamesNoModel(String path) throws IOException {
    String answer = server.ask("POST", path, "abc");
    assertThat(status(answer)).as(answer).isIn(400, 404);
  }

  @Test
  void anUnknownModelVersionOrLabelIsRefused() throws IOException {
    assertRefused(server.ask("POST", "/v2/models/other/infer", "abc"), 404);
    assertRefused(server.ask("POST", "/v2/models/m/versions/31/infer", "abc"), 404);
    assertRefused(server.ask("POST", "/v2/models/m/versions/x/infer", "abc"), 404);
    assertRefused(server.ask("POST", "/v1/models/m/labels/canary:predict", "abc"), 404);
  }

  @Test
  void aLengthOfJsonOutsideTheBodyIsRefused() throws IOException {
    for (String length : new String[] {"4", "-1", "2a", "", "99999999999"}) {
      String answer =
          server.ask(
              "POST", "/v2/models/m/infer", "abc", "Inference-Header-Content-Length: " + length);
      assertRefused(answer, 400);
    }
  }

  @Test
  void whatAProtocolRefusesHasItsStatusAndItsMessage() throws IOException {
    String answer = server.ask("POST", "/v2/models/m/infer", "refuse");
    assertThat(status(answer)).isEqualTo(400);
    assertThat(body(answer)).isEqualTo("{\"error\":\"I1: got 3 numbers, expected shape [2]\"}");
  }

  @Test
  void anErrorOfTheServerShowsNothingOfItsInside() throws IOException {
    String answer = server.ask("POST", "/v2/models/m/infer", "break");
    assertRefused(answer, 500);
    assertThat(answer).doesNotContain("inside").doesNotContain("Exception");
    assertThat(server.notes.toString()).contains("the inside of the server");
  }

  @Test
  void noAnswerNamesTheServersVersion() throws IOException {
    assertThat(server.ask("GET", "/v2", "")).doesNotContainIgnoringCase("jetty");
    assertThat(server.raw("nonsense\r\n\r\n")).doesNotContainIgnoringCase("jetty");
    assertThat(server.ask("GET", "/nothing", "")).doesNotContainIgnoringCase("jetty");
  }

  @Test
  void aHeadThatComesByteByByteIsClosed() throws Exception {
    try (Socket socket = quick.connect()) {
      byte[] head =
          "GET /v2 HTTP/1.1\r\nHost: hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh"
              .getBytes(StandardCharsets.US_ASCII);
      boolean closed = false;
      for (int at = 0; !closed && at < 1_200; at++) {
        try {
          socket.getOutputStream().write(head[Math.min(at, head.length - 1)]);
          Thread.sleep(50);
        } catch (IOException e) {
          closed = true;
        }
      }
      assertThat(closed).isTrue();
      assertThat(quick.metric("tern_rejected_total{reason=\"slow_header\"}")).isEqualTo(1);
    }
  }

  @Test
  void aBodyThatComesByteByByteIsRefused() throws Exception {
    try (Socket socket = quick.connect()) {
      socket
          .getOutputStream()
          .write((INFER + "Content-Length: 5000\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      Thread drip =
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (true) {
                    socket.getOutputStream().write('a');
                    Thread.sleep(20);
                  }
                } catch (IOException | InterruptedException e) {
                  return; // Closed, as expected.
                }
              });
      assertThat(status(TestServer.rest(socket))).isEqualTo(408);
      drip.interrupt();
      drip.join();
    }
  }

  @Test
  void aBodyThatStopsIsRefused() throws Exception {
    ServeLimits limits =
        TestServer.OPTIONS.limits().withTimes(Duration.ofMinutes(1), Duration.ofMillis(300));
    try (TestServer brief = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30")) {
      assertRefused(brief.raw(INFER + "Content-Length: 5000\r\n\r\nabc"), 408);
    }
  }

  @Test
  void aConnectionThatIsIdleBetweenSlowButWholeRequestsStaysOpen() throws Exception {
    try (Socket socket = quick.connect()) {
      for (int i = 0; i < 3; i++) {
        socket
            .getOutputStream()
            .write("GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        byte[] start = socket.getInputStream().readNBytes(15);
        assertThat(new String(start, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200 OK");
        Thread.sleep(600);
        socket.getInputStream().skipNBytes(socket.getInputStream().available());
      }
    }
  }

  @Test
  void connectionsAboveTheLimitWaitUntilOneEnds() throws Exception {
    ServeLimits limits = TestServer.OPTIONS.limits().withConnections(2);
    try (TestServer two = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
        Socket first = two.connect();
        Socket second = two.connect()) {
      assertGoes(first);
      assertGoes(second);
      try (Socket third = two.connect()) {
        third
            .getOutputStream()
            .write("GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        third.setSoTimeout(300);
        assertThat(reads(third)).isFalse();
        first.close();
        third.setSoTimeout(60_000);
        assertThat(reads(third)).isTrue();
      }
    }
  }

  private static boolean reads(Socket socket) throws IOException {
    try {
      return socket.getInputStream().read() >= 0;
    } catch (java.net.SocketTimeoutException e) {
      return false;
    }
  }

  private static void assertGoes(Socket socket) throws IOException {
    socket
        .getOutputStream()
        .write("GET /v2 HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    assertThat(new String(socket.getInputStream().readNBytes(15), StandardCharsets.US_ASCII))
        .isEqualTo("HTTP/1.1 200 OK");
  }

  private static void assertRefused(String answer, int status) {
    assertThat(answer).as("an answer of status %s", status).isNotEmpty();
    assertThat(status(answer)).as(answer).isEqualTo(status);
    assertThat(body(answer)).startsWith("{\"error\":\"");
  }

  private static String gzip(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }
    return bytes.toString(StandardCharsets.ISO_8859_1);
  }
}
