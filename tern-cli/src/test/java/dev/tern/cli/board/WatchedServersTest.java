package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.tern.cli.config.ConfigException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the board says about servers, from pages of metrics. */
final class WatchedServersTest {
  private static final String PAGE =
      """
      # HELP tern_requests_total Requests answered, by status.
      # TYPE tern_requests_total counter
      tern_requests_total{model="m",protocol="v2",code="200"} 100
      tern_requests_total{model="m",protocol="v1",code="500"} 1
      tern_requests_total{model="m",protocol="grpc",code="INTERNAL"} 1
      tern_requests_total{model="",protocol="v2",code="404"} 7
      tern_request_duration_seconds_bucket{model="m",protocol="v2",le="0.001"} 60
      tern_request_duration_seconds_bucket{model="m",protocol="v2",le="0.01"} 99
      tern_request_duration_seconds_bucket{model="m",protocol="v2",le="+Inf"} 102
      tern_rows_total{model="m"} 500
      tern_prediction_psi{model="m"} 0.31
      tern_prediction_mean{model="m",window="first"} 0.2
      tern_prediction_mean{model="m",window="last"} NaN
      tern_ids_total{model="m",column="site"} 100
      tern_ids_total{model="m",column="rare \\"a\\""} 40
      tern_ids_total{model="m",column="few"} 3
      tern_unknown_ids_total{model="m",column="site"} 5
      tern_unknown_ids_total{model="m",column="rare \\"a\\""} 30
      tern_unknown_ids_total{model="m",column="few"} 3
      tern_model_loaded{model="m",label="stable"} 1
      tern_model_loaded{model="m",label="canary"} 0
      tern_model_step{model="m",label="stable"} 30
      tern_checkpoint_age_seconds{model="m",label="stable"} 12.5
      tern_deltas_total{model="m",label="stable"} 3.0
      tern_delta_rows_total{model="m",label="stable"} 70.0
      tern_queue_depth 4
      tern_rejected_total{reason="bodies"} 2
      tern_rejected_total{reason="token"} 1
      not a line of metrics
      broken{model="m" 3
      """;

  @TempDir Path folder;

  @Test
  void aReportSaysWhatThePageSays() {
    String json =
        new ServerReport(ExposedMetrics.parse(PAGE, 1_000), Optional.empty()).json().toString();
    assertThat(json)
        .startsWith("{\"at\":1000,\"queue\":4.0,\"rejected\":3.0,\"models\":[{\"name\":\"m\",")
        .contains("\"requests\":102.0,\"errors\":2.0,\"rows\":500.0")
        .contains("\"p50\":0.001,\"psi\":0.31,\"mean_first\":0.2,")
        .contains(
            "\"unknown\":[{\"column\":\"rare"
                + " \\\"a\\\"\",\"share\":0.75},{\"column\":\"site\",\"share\":0.05}]")
        .contains(
            "{\"label\":\"stable\",\"loaded\":true,\"step\":30.0,\"checkpoint_age\":12.5,\"deltas\":3.0,\"delta_rows\":70.0}")
        .contains("{\"label\":\"canary\",\"loaded\":false}")
        .endsWith("\"left_out\":0}");
    assertThat(json).as("the last 1% took longer than any bucket").doesNotContain("p99");
  }

  @Test
  void ratesAndTimesAreOfWhatHappenedSinceThePageBefore() {
    String later =
        PAGE.replace("code=\"200\"} 100", "code=\"200\"} 180")
            .replace("le=\"0.01\"} 99", "le=\"0.01\"} 179")
            .replace("le=\"+Inf\"} 102", "le=\"+Inf\"} 182");
    ExposedMetrics before = ExposedMetrics.parse(PAGE, 1_000);
    String json =
        new ServerReport(ExposedMetrics.parse(later, 5_000), Optional.of(before)).json().toString();
    assertThat(json).contains("\"requests_per_second\":20.0,\"p50\":0.01,\"p99\":0.01");
    String began =
        new ServerReport(before, Optional.of(ExposedMetrics.parse(later, 0))).json() + "";
    assertThat(began)
        .as("a server that began anew")
        .doesNotContain("per_second")
        .contains("\"p50\":0.001");
  }

  @Test
  void damagedPagesAreReadAsFarAsTheyGo() {
    Random random = new Random(3);
    for (int round = 0; round < 3_000; round++) {
      StringBuilder damaged = new StringBuilder(PAGE);
      for (int i = random.nextInt(5); i >= 0; i--) {
        damaged.setCharAt(random.nextInt(damaged.length()), (char) (10 + random.nextInt(110)));
      }
      damaged.setLength(random.nextInt(damaged.length()));
      ExposedMetrics page = ExposedMetrics.parse(damaged.toString(), round);
      assertThat(new ServerReport(page, Optional.of(page)).json().toString()).startsWith("{");
    }
  }

  @Test
  void serversAreAskedWithTheirTokenAndOneThatIsGoneIsToldOf() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          boolean knows =
              "Bearer right".equals(exchange.getRequestHeaders().getFirst("Authorization"));
          byte[] body = (knows ? PAGE : "{}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(knows ? 200 : 401, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    String address = "http://127.0.0.1:" + server.getAddress().getPort();
    Path token = Files.writeString(folder.resolve("token"), "right\n");
    try (WatchedServers right = new WatchedServers(List.of(address), Optional.of(token));
        WatchedServers wrong = new WatchedServers(List.of(address), Optional.empty())) {
      assertThat(right.json()).contains("\"name\":\"m\"", "\"address\":\"" + address + "\"");
      assertThat(wrong.json()).contains("the server wants a token, see --server-token-file");
    } finally {
      server.stop(0);
    }
    try (WatchedServers gone = new WatchedServers(List.of(address), Optional.empty())) {
      assertThat(gone.json())
          .contains("\"error\":\"it does not answer\"")
          .contains("\"address\":\"" + address + "\"");
    }
  }

  @Test
  void addressesThatAreNoneAreRefused() throws IOException {
    for (String wrong :
        List.of("127.0.0.1:8000", "file:///etc/passwd", "http://", "http://a@b:1", "::")) {
      assertThatThrownBy(() -> new WatchedServers(List.of(wrong), Optional.empty()))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("--server: got " + wrong + ", expected the address of a server");
    }
    assertThatThrownBy(
            () -> new WatchedServers(Collections.nCopies(17, "http://h:1"), Optional.empty()))
        .hasMessageContaining("got 17 servers, expected 16 at most");
  }
}
