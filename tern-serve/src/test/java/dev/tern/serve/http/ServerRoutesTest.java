package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static dev.tern.serve.http.TestServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServerRoutesTest {
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = new TestServer(TestServer.OPTIONS, "m=30", "m@canary=40", "n=7");
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v2|{\"name\":\"tern\",\"version\":\"0.1.0\",\"extensions\":[\"binary_tensor_data\"]}",
        "/v2/health/live|{\"live\":true}",
        "/v2/health/ready|{\"live\":true}",
        "/ping|{\"status\":\"Healthy\"}",
        "/v2/models/m/ready|{\"name\":\"m\",\"ready\":true}",
        "/v2/models/m/versions/40/ready|{\"name\":\"m\",\"ready\":true}",
        "/v1/models/m/metadata|{\"schema\":30}",
        "/v1/models/m/versions/40/metadata|{\"schema\":40}",
        "/v2/models/m|{\"model\":\"m\",\"of\":[30, 40]}",
      })
  void whatIsAskedByGetIsAnswered(String path, String expected) throws IOException {
    String answer = server.ask("GET", path, "");
    assertThat(answer).startsWith("HTTP/1.1 200 OK").contains("Content-Type: application/json");
    assertThat(body(answer)).isEqualTo(expected);
  }

  @Test
  void theStateOfVersionsIsThatOfTensorFlowServing() throws IOException {
    assertThat(body(server.ask("GET", "/v1/models/n", "")))
        .isEqualTo(
            "{\"model_version_status\":[{\"version\":\"7\",\"state\":\"AVAILABLE\","
                + "\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}]}");
    assertThat(body(server.ask("GET", "/v1/models/m/labels/canary", ""))).contains("\"40\"");
    assertThat(body(server.ask("GET", "/v1/models/m", ""))).contains("\"30\"").contains("\"40\"");
  }

  @ParameterizedTest
  @CsvSource({
    "/v2/models/m/infer, infer, m, 30",
    "/v2/models/m/versions/40/infer, infer, m, 40",
    "/v1/models/m:predict, predict, m, 30",
    "/V1/Models/m:Predict, predict, m, 30",
    "/v1/models/m/versions/40:predict, predict, m, 40",
    "/v1/models/m/labels/canary:predict, predict, m, 40",
    "/v1/models/m/labels/stable%3Apredict, predict, m, 30",
    "/v1/models/n:predict, predict, n, 7",
    "/invocations, invocations, m, 30"
  })
  void aPathChoosesProtocolModelAndVersion(String path, String protocol, String model, int step)
      throws IOException {
    assertThat(body(server.ask("POST", path, "abc")))
        .isEqualTo(
            "{\"protocol\":\"%s\",\"model\":\"%s\",\"step\":%s,\"bytes\":3}"
                .formatted(protocol, model, step));
  }

  @Test
  void theLengthOfJsonBeforeTensorsIsHandedOnAndAnswered() throws IOException {
    String answer =
        server.ask("POST", "/v2/models/m/infer", "abcdef", "Inference-Header-Content-Length: 4");
    assertThat(body(answer)).contains("\"json\":4");
    assertThat(answer)
        .contains("Content-Type: application/octet-stream")
        .contains("Inference-Header-Content-Length: " + body(answer).length());
  }

  @Test
  void aBodyThatSeveralThreadsReadIsWhole() throws IOException {
    String large = "a".repeat(3_000_000);
    String answer = server.ask("POST", "/v2/models/m/infer", large);
    assertThat(body(answer)).contains("\"bytes\":3000000");
    assertThat(body(server.ask("POST", "/v2/models/m/infer", large + "b")))
        .contains("\"bytes\":3000001");
  }

  @Test
  void aBodyInPiecesIsOneBody() throws IOException {
    String answer =
        server.raw(
            "POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n");
    assertThat(body(answer)).contains("\"bytes\":7");
  }

  @Test
  void unknownPathsAndVerbsAreRefusedAsOthersDo() throws IOException {
    String unknown = server.ask("GET", "/nothing", "");
    assertThat(status(unknown)).isEqualTo(404);
    assertThat(body(unknown)).isEqualTo("{\"error\":\"Not Found\"}");
    String verb = server.ask("POST", "/v1/models/m:foo", "abc");
    assertThat(status(verb)).isEqualTo(400);
    assertThat(body(verb)).isEqualTo("{\"error\":\"Malformed request: POST /v1/models/m:foo\"}");
  }

  @Test
  void aHeadIsAGetWithoutABody() throws IOException {
    String answer = server.ask("HEAD", "/v2", "");
    assertThat(status(answer)).isEqualTo(200);
    assertThat(answer).contains("Content-Length: " + body(server.ask("GET", "/v2", "")).length());
    assertThat(body(answer)).isEmpty();
  }

  @Test
  void optionsAreTheMethodsOfAPath() throws IOException {
    String answer = server.ask("OPTIONS", "/v2/models/m/infer", "");
    assertThat(status(answer)).isEqualTo(204);
    assertThat(answer).contains("Allow: POST, OPTIONS").doesNotContain("Access-Control");
  }

  @Test
  void requestsOnOneConnectionAreAnsweredInOrder() throws IOException {
    String one = "POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na";
    String two =
        "POST /v2/models/n/infer HTTP/1.1\r\n"
            + "Host: h\r\n"
            + "Connection: close\r\n"
            + "Content-Length: 2\r\n\r\n"
            + "ab";
    String both = server.raw(one + two);
    assertThat(both.indexOf("\"step\":30")).isPositive();
    assertThat(both.indexOf("\"step\":7")).isGreaterThan(both.indexOf("\"step\":30"));
  }

  @Test
  void onlyTheOriginThatIsNamedMayCallFromItsPages() throws IOException {
    ServeOptions options =
        TestServer.OPTIONS.withListening(
            TestServer.OPTIONS.listening().withCors("https://shop.example"));
    try (TestServer open = new TestServer(options, "m=30")) {
      assertThat(open.ask("OPTIONS", "/v2/models/m/infer", "", "Origin: https://shop.example"))
          .contains("Access-Control-Allow-Origin: https://shop.example");
      assertThat(open.ask("GET", "/v2", "", "Origin: https://other.example"))
          .doesNotContain("Access-Control-Allow");
    }
  }

  @Test
  void noLeaseIsLeftOpen() {
    server.models.values().forEach(model -> assertThat(model.leases).hasValue(0));
  }
}
