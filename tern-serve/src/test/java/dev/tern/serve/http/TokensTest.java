package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static dev.tern.serve.http.TestServer.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.serve.wire.RefusedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TokensTest {
  @TempDir Path temp;

  private Path file(String... tokens) throws Exception {
    StringBuilder text = new StringBuilder("# tokens of this server\n\n");
    for (String token : tokens) {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
      text.append(HexFormat.of().formatHex(hash)).append("  of a team\n");
    }
    return Files.writeString(temp.resolve("tokens"), text);
  }

  @Test
  void eachTokenOfTheFileIsAdmittedAndNoOther() throws Exception {
    Tokens tokens = Tokens.read(file("first", "second"));
    assertThat(tokens.count()).isEqualTo(2);
    assertThat(tokens.admit(Optional.of("Bearer first"))).isTrue();
    assertThat(tokens.admit(Optional.of("bearer second "))).isTrue();
    assertThat(tokens.admit(Optional.of("Bearer third"))).isFalse();
    assertThat(tokens.admit(Optional.of("Bearer "))).isFalse();
    assertThat(tokens.admit(Optional.of("Basic first"))).isFalse();
    assertThat(tokens.admit(Optional.empty())).isFalse();
  }

  @Test
  void aFileWithATokenAsItIsIsRefusedWithoutShowingIt() throws IOException {
    Path file = Files.writeString(temp.resolve("tokens"), "# mine\nsecret-token\n");
    assertThatThrownBy(() -> Tokens.read(file))
        .hasMessageContaining("line 2")
        .hasMessageContaining("sha256sum")
        .hasMessageNotContaining("secret-token");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n\n", "# nothing\n", "abcd\n"})
  void aFileWithoutATokenIsRefused(String text) throws IOException {
    Path file = Files.writeString(temp.resolve("tokens"), text);
    assertThatThrownBy(() -> Tokens.read(file)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aServerWithTokensAnswersOnlyWhoShowsOne() throws Exception {
    try (TestServer server =
        new TestServer(TestServer.OPTIONS.withTokens(file("right"), false), "m=30")) {
      for (String field : new String[] {"X: 1", "Authorization: Bearer wrong"}) {
        String refused = server.ask("POST", "/v2/models/m/infer", "abc", field);
        assertThat(status(refused)).isEqualTo(401);
        assertThat(refused).contains("WWW-Authenticate: Bearer");
        assertThat(status(server.ask("GET", "/metrics", "", field))).isEqualTo(401);
        assertThat(status(server.ask("GET", "/v2/models/m", "", field))).isEqualTo(401);
      }
      assertThat(status(server.ask("GET", "/v2/health/live", ""))).isEqualTo(200);
      assertThat(status(server.ask("GET", "/v2/health/ready", ""))).isEqualTo(200);
      String right = "Authorization: Bearer right";
      assertThat(status(server.ask("POST", "/v2/models/m/infer", "abc", right))).isEqualTo(200);
      assertThat(status(server.ask("POST", "/v2/repository/index", "", right))).isEqualTo(404);
    }
  }

  @Test
  void aTokenThatIsTakenOutOfTheFileIsNoLongerAdmitted() throws Exception {
    try (TestServer server =
        new TestServer(TestServer.OPTIONS.withTokens(file("old"), false), "m=30")) {
      assertThat(status(server.ask("GET", "/v2", "", "Authorization: Bearer old"))).isEqualTo(200);
      file("new", "newer");
      int answer = 200;
      for (int i = 0; i < 6_000 && answer == 200; i++) {
        Thread.sleep(10);
        answer = status(server.ask("GET", "/v2", "", "Authorization: Bearer old"));
      }
      assertThat(answer).isEqualTo(401);
      assertThat(status(server.ask("GET", "/v2", "", "Authorization: Bearer new"))).isEqualTo(200);
    }
  }

  @Test
  void whoHasATokenMayLoadAnotherStepWhereTheServerAllowsIt() throws Exception {
    try (TestServer server =
        new TestServer(TestServer.OPTIONS.withTokens(file("right"), true), "m=30")) {
      String token = "Authorization: Bearer right";
      String load = "/v2/repository/models/m/load";
      assertThat(status(server.ask("POST", load, "{}"))).isEqualTo(401);
      String loaded = server.ask("POST", load, "{\"parameters\":{\"step\":\"20\"}}", token);
      assertThat(body(loaded)).isEqualTo("{\"step\":\"20\"}");
      assertThat(body(server.ask("POST", "/v2/models/m/infer", "abc", token)))
          .contains("\"step\":20");
      assertThat(body(server.ask("POST", "/v2/repository/index", "", token)))
          .isEqualTo(
              "[{\"name\":\"m\",\"version\":\"20\",\"label\":\"stable\",\"state\":\"READY\"}]");
      String none = server.ask("POST", load, "{\"parameters\":{\"step\":\"101\"}}", token);
      assertThat(status(none)).isEqualTo(400);
      assertThat(status(server.ask("POST", "/v2/repository/models/x/load", "", token)))
          .isEqualTo(404);
    }
  }

  @Test
  void labelsAreLoadedAndUnloadedByTheirNames() throws Exception {
    try (TestServer server =
        new TestServer(
            TestServer.OPTIONS.withTokens(file("right"), true), "m=30", "m@canary=40", "m@old=9")) {
      String token = "Authorization: Bearer right";
      String load = "/v2/repository/models/m/load";
      String unload = "/v2/repository/models/m/unload";
      assertThat(
              body(
                  server.ask(
                      "POST",
                      load,
                      "{\"parameters\":{\"label\":\"old,canary\",\"step\":\"7\"}}",
                      token)))
          .isEqualTo("{\"step\":\"7\",\"labels\":{\"canary\":\"7\",\"old\":\"7\"}}");
      assertThat(server.models.get("m@stable").step).isEqualTo(30);
      assertThat(body(server.ask("POST", load, "", token)))
          .isEqualTo(
              "{\"step\":\"100\",\"labels\":{\"stable\":\"100\",\"canary\":\"100\",\"old\":\"100\"}}");
      String other = "{\"parameters\":{\"label\":\"other\"}}";
      assertThat(status(server.ask("POST", load, other, token))).isEqualTo(404);
      assertThat(status(server.ask("POST", unload, other, token))).isEqualTo(404);
      assertThat(status(server.ask("POST", unload, "{\"parameters\":{\"step\":\"7\"}}", token)))
          .isEqualTo(400);
      FakeModel canary = server.models.get("m@canary");
      assertThat(body(server.ask("POST", unload, "{\"parameters\":{\"label\":\"canary\"}}", token)))
          .isEqualTo("{}");
      assertThat(canary.isClosed).isTrue();
      String asked = "/v1/models/m/labels/canary:predict";
      assertThat(status(server.ask("POST", asked, "abc", token))).isEqualTo(503);
      assertThat(status(server.ask("POST", "/v2/models/m/infer", "abc", token))).isEqualTo(200);
      assertThat(body(server.ask("POST", "/v2/repository/index", "", token)))
          .contains(
              "{\"name\":\"m\",\"version\":\"\",\"label\":\"canary\",\"state\":\"UNAVAILABLE\",\"reason\":\"unloaded\"}");
      String failed =
          server.ask(
              "POST",
              load,
              "{\"parameters\":{\"label\":\"stable,canary\",\"step\":\"101\"}}",
              token);
      assertThat(status(failed)).isEqualTo(400);
      server.ask("POST", load, "{\"parameters\":{\"label\":\"canary\",\"step\":\"8\"}}", token);
      assertThat(server.warmed).endsWith("m again");
      assertThat(server.models.get("m@canary")).isNotSameAs(canary);
      assertThat(body(server.ask("POST", asked, "abc", token))).contains("\"step\":8");
      assertThat(status(server.ask("POST", unload, ""))).isEqualTo(401);
    }
  }

  @Test
  void adminWithoutTokensIsRefused() {
    assertThatThrownBy(() ->
            new ServeOptions(
                Listening.DEFAULT,
                ServeLimits.DEFAULT,
                Optional.empty(),
                true,
                Optional.empty(),
                java.time.Duration.ZERO,
                1))
        .hasMessageContaining("--token-file");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{\"step\":\"3\"}",
        "{\"parameters\":{\"step\":\"x\"}}",
        "{\"parameters\":{\"step\":-1}}",
        "{\"parameters\":{\"url\":\"http://other\"}}",
        "{\"parameters\":{\"label\":\"\"}}",
        "{\"parameters\":{\"label\":\"a,\"}}",
        "{\"parameters\":{\"label\":\"../a\"}}",
        "{\"parameters\":{\"label\":\"a\",\"label\":\"b\"}}",
        "{\"parameters\":{\"label\":[\"a\"]}}",
        "{\"parameters\":{\"step\":\"3\"}} {}",
        "{\"parameters\":{\"step\":\"3\",\"step\":\"4\"}}",
        "{\"parameters\":{\"step\":\"3\"",
        "{\"parameters\":[[[[[[[[1]]]]]]]]}",
        "\u0000"
      })
  void aRequestToLoadThatIsNotOneIsRefused(String body) {
    assertThatThrownBy(() -> LoadRequest.of(body.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(RefusedException.class);
  }

  @Test
  void aRequestToLoadNamesAStepOrTakesTheNewest() {
    assertThat(LoadRequest.of(new byte[0]).step()).isEmpty();
    assertThat(LoadRequest.of("{}".getBytes(StandardCharsets.UTF_8)).step()).isEmpty();
    assertThat(LoadRequest.of("{\"parameters\":{}}".getBytes(StandardCharsets.UTF_8)).step())
        .isEmpty();
    assertThat(
            LoadRequest.of("{\"parameters\":{\"step\":30}}".getBytes(StandardCharsets.UTF_8))
                .step())
        .hasValue(30);
  }
}
