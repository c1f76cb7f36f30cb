package dev.tern.serve.http;

import static dev.tern.serve.http.GrpcCalls.INFER;
import static dev.tern.serve.http.GrpcServerTest.infer;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Calls above the limits, calls that end early, and what they leave behind. */
final class GrpcOverloadTest {
  private static TestServer server(int running, int waiting, Duration time) {
    ServeLimits limits = ServeLimits.DEFAULT.withInFlight(running, waiting, time);
    return new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
  }

  private static GrpcCalls.Begun begin(GrpcCalls calls, String id, CallOptions options) {
    GrpcCalls.Begun begun = calls.begin(INFER, options, new Metadata());
    begun.call.sendMessage(infer("m", id));
    begun.call.halfClose();
    return begun;
  }

  private static void await(TestServer server, String line, double value) throws Exception {
    for (int i = 0; i < 6_000 && read(server, line) != value; i++) {
      Thread.sleep(10);
    }
    assertThat(read(server, line)).as(line).isEqualTo(value);
  }

  private static double read(TestServer server, String line) throws IOException {
    return server.metric(line);
  }

  @Test
  void whatIsAboveTheLimitsIsRefusedAndTheRestIsAnswered() throws Exception {
    try (TestServer server = server(1, 1, Duration.ofMinutes(5));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      GrpcCalls.Begun second = begin(calls, "1", CallOptions.DEFAULT);
      await(server, "tern_queue_depth", 1);
      GrpcCalls.Begun third = begin(calls, "1", CallOptions.DEFAULT);
      assertThat(third.end().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      Metadata.Key<String> later =
          Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);
      assertThat(third.trailers.get(later)).isEqualTo("1000");
      server.turns.release();
      assertThat(first.end().isOk()).isTrue();
      assertThat(second.end().isOk()).isTrue();
      assertThat(server.metric("tern_rejected_total{reason=\"queue_full\"}")).isEqualTo(1);
    }
  }

  @Test
  void whatWaitsForTooLongIsRefused() throws Exception {
    try (TestServer server = server(1, 3, Duration.ofMillis(50));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      Status late = begin(calls, "1", CallOptions.DEFAULT).end();
      assertThat(late.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
      server.turns.release();
      assertThat(first.end().isOk()).isTrue();
    }
  }

  @Test
  void aCallThatIsGivenUpWhileItWaitsLeavesTheQueue() throws Exception {
    try (TestServer server = server(1, 1, Duration.ofMinutes(5));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      GrpcCalls.Begun second = begin(calls, "1", CallOptions.DEFAULT);
      await(server, "tern_queue_depth", 1);
      second.call.cancel("changed my mind", null);
      await(server, "tern_queue_depth", 0);
      GrpcCalls.Begun third = begin(calls, "1", CallOptions.DEFAULT);
      await(server, "tern_queue_depth", 1);
      server.turns.release();
      assertThat(first.end().isOk()).isTrue();
      assertThat(third.end().isOk()).isTrue();
      await(server, "tern_body_bytes", 0);
      await(server, "tern_inflight_requests", 0);
      // The first is of the server to itself.
      assertThat(server.answered).containsExactly("infer", "grpc", "grpc");
      assertThat(server.metric("tern_rejected_total{reason=\"aborted\"}")).isEqualTo(1);
      assertThat(
              server.metric("tern_requests_total{model=\"\",protocol=\"grpc\",code=\"CANCELLED\"}"))
          .isEqualTo(1);
    }
  }

  @Test
  void aCallThatIsGivenUpWhileItIsComputedGivesItsPlaceBack() throws Exception {
    try (TestServer server = server(1, 1, Duration.ofMinutes(5));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      first.call.cancel("changed my mind", null);
      // Its answer shows that the server has read the cancellation, which it acts on after the
      // computation if the message came later than its head.
      assertThat(calls.call(GrpcServerTest.HEALTH + "Check", new byte[0])).isNotEmpty();
      server.turns.release();
      await(server, "tern_inflight_requests", 0);
      await(server, "tern_body_bytes", 0);
      assertThat(calls.call(INFER, infer("m", "1"))).isNotEmpty();
      assertThat(server.models.get("m@stable").leases).hasValue(0);
    }
  }

  @Test
  void aCallWhoseMessageDoesNotEndHoldsItsBytesUntilItIsGivenUp() throws Exception {
    try (TestServer server = server(1, 1, Duration.ofMinutes(5));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun begun = calls.begin(INFER);
      begun.call.sendMessage(infer("m", "1".repeat(100_000)));
      for (int i = 0; i < 6_000 && server.metric("tern_body_bytes") < 100_000; i++) {
        Thread.sleep(10);
      }
      assertThat(server.metric("tern_body_bytes")).isGreaterThan(100_000);
      begun.call.cancel("changed my mind", null);
      await(server, "tern_body_bytes", 0);
      assertThat(server.metric("tern_rejected_total{reason=\"aborted\"}")).isEqualTo(1);
    }
  }

  @Test
  void aMessageThatComesInTooSlowlyIsRefused() throws Exception {
    ServeLimits limits =
        TestServer.OPTIONS.limits().withTimes(Duration.ofMillis(100), Duration.ofSeconds(30));
    try (TestServer server = new TestServer(TestServer.OPTIONS.withLimits(limits), "m=30");
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun begun = calls.begin(INFER);
      begun.call.sendMessage(infer("m", "1"));
      assertThat(begun.end().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
      assertThat(server.metric("tern_rejected_total{reason=\"slow_body\"}")).isEqualTo(1);
      assertThat(server.metric("tern_body_bytes")).isZero();
    }
  }

  @Test
  void aCallIsNotComputedAfterItsTime() throws Exception {
    try (TestServer server = server(1, 1, Duration.ofMinutes(5));
        GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      Status late =
          begin(calls, "1", CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.MILLISECONDS))
              .end();
      assertThat(late.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
      // The client's time ends a little before the server's: a turn that came free in between
      // would be used. The answer shows that the server has read the call.
      assertThat(calls.call(GrpcServerTest.HEALTH + "Check", new byte[0])).isNotEmpty();
      await(server, "tern_queue_depth", 0);
      server.turns.release();
      assertThat(first.end().isOk()).isTrue();
      await(server, "tern_inflight_requests", 0);
      assertThat(server.answered).containsExactly("infer", "grpc");
    }
  }

  @Test
  void aCallUnderWayIsAnsweredBeforeTheServerEnds() throws Exception {
    TestServer server = TestServer.start();
    try (GrpcCalls calls = GrpcCalls.plain(server.port())) {
      GrpcCalls.Begun first = begin(calls, "wait", CallOptions.DEFAULT);
      server.awaitBegun(1);
      Thread end = Thread.ofPlatform().start(server.server()::close);
      server.turns.release();
      assertThat(first.end().isOk()).isTrue();
      end.join();
      assertThat(server.models.get("m@stable").isClosed).isTrue();
      assertThat(server.models.get("m@stable").leases).hasValue(0);
    }
  }
}
