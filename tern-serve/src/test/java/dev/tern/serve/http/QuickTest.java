package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class QuickTest {
  /** On a machine that has much else to do it takes a while until all are quick. */
  private static final int MOST_REQUESTS = 50_000;

  private final Quick quick = new Quick();

  private void answer(int count, long micros) {
    for (int i = 0; i < count; i++) {
      quick.took(1_000, TimeUnit.MICROSECONDS.toNanos(micros));
    }
  }

  @Test
  void nothingIsQuickBeforeItIsKnown() {
    assertThat(quick.is(1_000)).isFalse();
    answer(10, 20);
    assertThat(quick.is(1_000)).isFalse();
  }

  @Test
  void smallRequestsAreQuickOnceTheyWereForAWhile() {
    answer(100, 20);
    assertThat(quick.is(1_000)).isTrue();
    assertThat(quick.is(8 << 10)).isTrue();
    assertThat(quick.is((8 << 10) + 1)).isFalse();
  }

  @Test
  void oneSlowRequestIsEnoughForTheNextOnesToGoElsewhere() {
    answer(100, 20);
    answer(1, 1_000);
    assertThat(quick.is(1_000)).isFalse();
    answer(100, 20);
    assertThat(quick.is(1_000)).isTrue();
  }

  @Test
  void largeRequestsSayNothingOfSmallOnes() {
    answer(100, 20);
    quick.took(100_000, TimeUnit.SECONDS.toNanos(1));
    assertThat(quick.is(1_000)).isTrue();
  }

  @Test
  void aRequestThatTookSecondsIsForgottenAsSoonAsOneOfAMillisecond() {
    answer(100, 20);
    answer(1, 3_000_000);
    assertThat(quick.is(1_000)).isFalse();
    answer(20, 20);
    assertThat(quick.is(1_000)).isTrue();
  }

  @Test
  void aRequestThatTakesFiftyMicrosecondsIsNotQuick() {
    answer(500, 51);
    assertThat(quick.is(1_000)).isFalse();
  }

  @Test
  void quickRequestsOfAConnectionAreComputedByTheThreadThatReadsIt() throws Exception {
    try (TestServer server = TestServer.start();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(server.url() + "/v2/models/m/infer"))
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();
      AtomicReference<Thread> last = new AtomicReference<>(Thread.currentThread());
      int inOneThread = 0;
      for (int i = 0; i < MOST_REQUESTS && inOneThread < 50; i++) {
        Thread before = last.get();
        server.whenAnswering = () -> last.set(Thread.currentThread());
        client.send(request, HttpResponse.BodyHandlers.discarding());
        inOneThread = last.get() == before ? inOneThread + 1 : 0;
      }
      // Threads that took turns would not come fifty times in a row.
      assertThat(inOneThread).isEqualTo(50);
    }
  }

  @Test
  void requestsForItemsAndLongOnesAreAnsweredByThreadsThatMayBeHeld() throws Exception {
    try (TestServer server = TestServer.start();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      boolean isQuick = false;
      for (int i = 0; i < MOST_REQUESTS && !isQuick; i++) {
        isQuick = isBrief(server, client, "/v2/models/m/infer", "{}");
      }
      assertThat(isQuick).isTrue();
      assertThat(isBrief(server, client, "/v2/models/m/infer", "long")).isFalse();
      assertThat(isBrief(server, client, "/v2/models/m/retrieve", "{}")).isFalse();
      assertThat(isBrief(server, client, "/v1/models/m:retrieve", "{}")).isFalse();
      double running = 1;
      for (int i = 0; i < MOST_REQUESTS && running > 0; i++) {
        running =
            server.metric("tern_inflight_requests"); // An answer comes before its place is free.
      }
      assertThat(running).isZero();
    }
  }

  /** Whether the one answer to a request had to be a short one. */
  private static boolean isBrief(TestServer server, HttpClient client, String path, String body)
      throws Exception {
    server.brief.clear();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    assertThat(client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode())
        .isEqualTo(200);
    assertThat(server.brief).hasSize(1);
    return server.brief.remove();
  }
}
