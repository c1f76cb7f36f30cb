package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ServeMetricsTest {
  @TempDir Path temp;

  @Test
  void requestsAreCountedByModelProtocolAndStatus() throws IOException {
    try (TestServer server = new TestServer(TestServer.OPTIONS, "m=30", "m@canary=40")) {
      assertThat(server.warmed).containsExactly("m");
      assertThat(server.metric("tern_requests_total{model=\"m\",protocol=\"v2\",code=\"200\"}"))
          .isZero();
      assertThat(body(server.ask("GET", "/metrics", ""))).doesNotContain("code=\"400\"");
      server.ask("POST", "/v2/models/m/infer", "abc");
      server.ask("POST", "/v2/models/m/infer", "refuse");
      server.ask("POST", "/v1/models/m:predict", "abc");
      server.ask("POST", "/v2/models/other/infer", "abc");
      assertThat(server.metric("tern_requests_total{model=\"m\",protocol=\"v2\",code=\"200\"}"))
          .isEqualTo(1);
      assertThat(server.metric("tern_requests_total{model=\"m\",protocol=\"v2\",code=\"400\"}"))
          .isEqualTo(1);
      assertThat(server.metric("tern_requests_total{model=\"m\",protocol=\"v1\",code=\"200\"}"))
          .isEqualTo(1);
      assertThat(server.metric("tern_requests_total{model=\"\",protocol=\"v2\",code=\"404\"}"))
          .isEqualTo(1);
      assertThat(server.metric("tern_request_duration_seconds_count{model=\"m\",protocol=\"v2\"}"))
          .isEqualTo(2);
      assertThat(server.metric("tern_model_step{model=\"m\",label=\"canary\"}")).isEqualTo(40);
      assertThat(server.metric("tern_model_memory_bytes{model=\"m\",label=\"stable\"}"))
          .isEqualTo(4_096);
      assertThat(server.metric("tern_model_loaded_timestamp_seconds{model=\"m\",label=\"stable\"}"))
          .isEqualTo(1);
    }
  }

  @Test
  void namesThatCallersMakeUpAddNoSeries() throws IOException {
    try (TestServer server = TestServer.start()) {
      server.ask("POST", "/v2/models/x/infer", "abc");
      int before = body(server.ask("GET", "/metrics", "")).split("\n").length;
      for (int i = 0; i < 200; i++) {
        server.ask("POST", "/v2/models/x" + i + "/infer", "abc");
      }
      assertThat(body(server.ask("GET", "/metrics", "")).split("\n")).hasSize(before);
    }
  }

  @Test
  void thePageIsOneThatPrometheusReads() throws IOException {
    try (TestServer server = TestServer.start()) {
      String answer = server.ask("GET", "/metrics", "");
      assertThat(answer).contains("Content-Type: text/plain; version=0.0.4; charset=utf-8");
      requireWellFormed(body(answer));
    }
  }

  @Test
  void alarmsOfTheDocumentsAreOnMetricsThatThereAre() throws IOException {
    try (TestServer server = TestServer.start()) {
      server.ask("POST", "/v2/models/m/infer", "abc");
      String page = body(server.ask("GET", "/metrics", ""));
      Matcher names =
          Pattern.compile("\\b(?:tern|process|jvm)_\\w+")
              .matcher(Files.readString(Path.of("../docs/prometheus-rules.yaml")));
      Set<String> used = new HashSet<>();
      while (names.find()) {
        used.add(names.group());
        assertThat(page).containsPattern("(?m)^" + names.group() + "[{ ]");
      }
      assertThat(used).hasSizeGreaterThan(8);
    }
  }

  /** Each family is told once, before its lines; each line is a name, labels and a number. */
  private static void requireWellFormed(String page) {
    assertThat(page).endsWith("\n");
    Set<String> families = new HashSet<>();
    Set<String> series = new HashSet<>();
    String family = "none";
    for (String line : page.split("\n")) {
      if (line.startsWith("# TYPE ")) {
        family = line.split(" ")[2];
        assertThat(families.add(family)).as(line).isTrue();
        assertThat(line.split(" ")[3]).isIn("counter", "gauge", "histogram", "summary");
      } else if (!line.startsWith("# HELP ")) {
        assertThat(line)
            .matches("[a-z_]+(\\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*\\})? [-+0-9.eEInfNa]+");
        assertThat(line).startsWith(family);
        assertThat(series.add(line.substring(0, line.lastIndexOf(' ')))).as(line).isTrue();
        Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1).replace("+Inf", "Infinity"));
      }
    }
    assertThat(families).contains("tern_requests_total", "process_cpu_seconds_total");
  }

  @Test
  void everyRequestHasALineWithItsTrace() throws Exception {
    Path log = temp.resolve("access.jsonl");
    String trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    try (TestServer server = new TestServer(TestServer.OPTIONS.withAccessLog(log), "m=30")) {
      server.ask("POST", "/v2/models/m/infer?a=1", "abc", "traceparent: " + trace);
      server.ask("GET", "/nothing%22\u00e9", "", "traceparent: no\"trace");
      server.ask("GET", "/" + "a".repeat(3_000), "");
    }
    List<String> lines = Files.readAllLines(log);
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .matches(
            "\\{\"time\":\"[^\"]+Z\",\"remote\":\"127.0.0.1\",\"method\":\"POST\","
                + "\"target\":\"/v2/models/m/infer\\?a=1\",\"status\":200,\"model\":\"m\","
                + "\"version\":\"30\",\"bytes_in\":3,\"bytes_out\":52,\"micros\":\\d+,"
                + "\"traceparent\":\""
                + trace
                + "\"\\}");
    assertThat(lines.get(1)).contains("\"status\":4").doesNotContain("traceparent");
    assertThat(lines.get(2).length()).isLessThan(500);
  }

  @Test
  void aTraceIsOneOfTheRecommendation() {
    assertThat(Traces.isParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")).isTrue();
    assertThat(Traces.isParent("00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        .isFalse();
    assertThat(Traces.isParent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        .isFalse();
    assertThat(Traces.isParent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x"))
        .isFalse();
  }
}
