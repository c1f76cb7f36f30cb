package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static dev.tern.serve.http.TestServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

final class OverloadTest {
  @Test
  void whatIsAboveTheLimitsIsRefusedAndTheRestIsAnswered() throws Exception {
    ServeLimits limits = ServeLimits.DEFAULT.withInFlight(2, 3, Duration.ofMinutes(5));
    try (TestServer server = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30")) {
      List<CompletableFuture<String>> taken = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        taken.add(waiting(server));
      }
      server.awaitBegun(2);
      awaitMetric(server, "tern_queue_depth", 3);
      assertThat(server.metric("tern_inflight_requests")).isEqualTo(2);

      String refused = server.ask("POST", "/v2/models/m/infer", "abc");
      assertThat(status(refused)).isEqualTo(429);
      assertThat(refused).contains("Retry-After: 1");
      assertThat(body(refused)).startsWith("{\"error\":\"queue: ");
      assertThat(server.metric("tern_rejected_total{reason=\"queue_full\"}")).isEqualTo(1);
      assertThat(status(server.ask("GET", "/v2/health/live", ""))).isEqualTo(200);

      server.turns.release(5);
      for (CompletableFuture<String> each : taken) {
        assertThat(status(each.get(60, TimeUnit.SECONDS))).isEqualTo(200);
      }
      assertThat(status(server.ask("POST", "/v2/models/m/infer", "abc"))).isEqualTo(200);
    }
  }

  @Test
  void whatWaitsForTooLongIsRefused() throws Exception {
    ServeLimits limits = ServeLimits.DEFAULT.withInFlight(1, 3, Duration.ofMillis(50));
    try (TestServer server = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30")) {
      CompletableFuture<String> first = waiting(server);
      server.awaitBegun(1);
      String refused = server.ask("POST", "/v2/models/m/infer", "abc");
      assertThat(status(refused)).isEqualTo(503);
      assertThat(refused).contains("Retry-After: 1");
      server.turns.release();
      assertThat(status(first.get(60, TimeUnit.SECONDS))).isEqualTo(200);
    }
  }

  @Test
  void inflatedBodiesCountAmongThoseInMemoryUntilTheyAreAnswered() throws Exception {
    ServeOptions options =
        TestServer.OPTIONS.withLimits(TestServer.OPTIONS.limits().withBody(100_000));
    try (TestServer server = new TestServer(options, new BodyBudget(150_000), "m=30")) {
      byte[] sent = gzip("wait" + "a".repeat(89_996));
      CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> zipped(server, sent));
      server.awaitBegun(1);
      assertThat(server.metric("tern_body_bytes")).isEqualTo(90_000 + sent.length);
      String refused = zipped(server, gzip("abc"));
      assertThat(status(refused))
          .as("an inflated body may be as large as the limit")
          .isEqualTo(503);
      assertThat(refused).contains("Retry-After: 1", "got more bodies than memory is left for");
      assertThat(server.metric("tern_rejected_total{reason=\"bodies\"}")).isEqualTo(1);
      server.turns.release();
      assertThat(body(first.get(60, TimeUnit.SECONDS))).contains("\"bytes\":90000");
      awaitMetric(server, "tern_body_bytes", 0);
      assertThat(body(zipped(server, gzip("abc")))).contains("\"bytes\":3");
    }
  }

  @Test
  void aLargeAnswerCountsUntilItsCallerHasReadIt() throws Exception {
    BodyBudget budget = new BodyBudget(TestServer.LARGE + 100_000);
    try (TestServer server = new TestServer(TestServer.OPTIONS, budget, "m=30");
        Socket slow = server.connect()) {
      slow.getOutputStream()
          .write(
              "POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge"
                  .getBytes(StandardCharsets.US_ASCII));
      awaitMetric(server, "tern_body_bytes", TestServer.LARGE);
      String refused = server.ask("POST", "/v2/models/m/infer", "large");
      assertThat(status(refused)).isEqualTo(503);
      assertThat(refused).contains("Retry-After: 1", "answer: got a large one");
      assertThat(status(server.ask("POST", "/v2/models/m/infer", "abc"))).isEqualTo(200);
      assertThat(TestServer.rest(slow).length()).isGreaterThan(TestServer.LARGE);
      awaitMetric(server, "tern_body_bytes", 0);
    }
  }

  private static String zipped(TestServer server, byte[] body) {
    try {
      return server.ask(
          "POST",
          "/v2/models/m/infer",
          new String(body, StandardCharsets.ISO_8859_1),
          "Content-Encoding: gzip");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }
    return bytes.toByteArray();
  }

  @Test
  void aRequestUnderWayIsAnsweredBeforeTheServerEnds() throws Exception {
    TestServer server = TestServer.start();
    CompletableFuture<String> first = waiting(server);
    server.awaitBegun(1);
    CompletableFuture<Void> end = CompletableFuture.runAsync(server.server()::close);
    server.turns.release();
    assertThat(status(first.get(60, TimeUnit.SECONDS))).isEqualTo(200);
    end.get(60, TimeUnit.SECONDS);
    assertThat(server.models.get("m@stable").isClosed).isTrue();
    assertThat(server.models.get("m@stable").leases).hasValue(0);
  }

  @Test
  void aServerThatStopsSaysSoAndStillAnswersForATime() throws Exception {
    ServeOptions options = TestServer.OPTIONS.withGrace(Duration.ofMinutes(5));
    TestServer server = new TestServer(options, "m=30");
    Thread end = Thread.ofPlatform().start(server.server()::close);
    while (status(server.ask("GET", "/v2/health/ready", "")) == 200) {
      Thread.sleep(5);
    }
    String late = server.ask("POST", "/v2/models/m/infer", "abc");
    assertThat(status(late)).isEqualTo(200);
    assertThat(late).contains("Connection: close");
    assertThat(status(server.ask("GET", "/v2/health/live", ""))).isEqualTo(200);
    assertThat(body(server.ask("GET", "/v2/models/m/ready", ""))).contains("\"ready\":false");
    end.interrupt();
    end.join();
  }

  private static CompletableFuture<String> waiting(TestServer server) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return server.ask("POST", "/v2/models/m/infer", "wait");
          } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
          }
        },
        task -> Thread.ofVirtual().start(task));
  }

  private static void awaitMetric(TestServer server, String line, double value) throws Exception {
    for (int i = 0; i < 6_000 && server.metric(line) != value; i++) {
      Thread.sleep(10);
    }
    assertThat(server.metric(line)).isEqualTo(value);
  }
}
