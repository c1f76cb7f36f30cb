package dev.tern.serve.http;

import static dev.tern.serve.http.TestServer.body;
import static dev.tern.serve.http.TestServer.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.RequestMemory;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server of a run that goes on training. */
final class FollowedModelTest {
  private static final String TOKEN = "Authorization: Bearer right";
  private static final String RIGHT =
      "27042f4e6eca7d0b2a7ee4026df2ecfa51d3339e6d122aa099118ecd8563bad9";

  @TempDir Path temp;

  private final Batch rows = PlantedRuns.planted(1, 60);
  private final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();
  private final Map<String, Float> expected = new ConcurrentHashMap<>();
  private final Device device = Device.cpu(1, 1L << 27);
  private final Trainer trainer =
      Trainer.create(
          device,
          PlantedRuns.encoder(rows),
          ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8),
          TrainOptions.of(Optimizer.adam(0.05f)).batch(60));
  private Path run = Path.of("");

  @BeforeEach
  void trains() throws IOException {
    run = Files.createDirectories(temp.resolve("run/checkpoints"));
    saveAfter(2);
  }

  @AfterEach
  void ends() {
    trainer.close();
    device.close();
  }

  /** Trains some steps more and saves; says what the model predicts for the row that is asked. */
  private String saveAfter(int steps) {
    Batch encoded = new Batch(trainer.encoder().schema(), rows.size());
    trainer.encoder().apply(rows, encoded);
    for (int i = 0; i < steps; i++) {
      trainer.step(encoded);
    }
    long step = trainer.step();
    trainer.save(run.resolve("step-" + step));
    try (Predictor predictor = Predictor.open(run.resolve("step-" + step))) {
      expected.put(Long.toString(step), predictor.score(Map.of("age", 0.5, "site", 3, "ad", -2)));
    }
    return Long.toString(step);
  }

  private ModelServer serve(ModelSource.Follow follow) throws IOException {
    return serve(follow, Optional.empty());
  }

  private ModelServer serve(ModelSource.Follow follow, Optional<ModelFeed> feed)
      throws IOException {
    Path tokens = Files.writeString(temp.resolve("tokens"), RIGHT);
    ModelSource source =
        new ModelSource("m", "stable", temp.resolve("run"), follow, ScoreOptions.DEFAULT);
    ServeMetrics metrics = new ServeMetrics();
    return ModelServer.start(
        TestServer.OPTIONS.withTokens(tokens, true),
        List.of(source),
        new ModelServer.Parts(
            each ->
                feed.map(
                        from -> FollowedModel.open(each, Long.MAX_VALUE, metrics, notes::add, from))
                    .orElseGet(() -> FollowedModel.open(each, Long.MAX_VALUE, metrics, notes::add)),
            ServedProtocols.all(RequestMemory.UNLIMITED),
            (model, front) -> {},
            (model, fresh) -> {},
            metrics,
            new BodyBudget(1 << 20)),
        notes::add);
  }

  private static String ask(ModelServer server, String method, String path, String body)
      throws IOException {
    return TestServer.ask(server.port(), method, path, body, TOKEN);
  }

  /** Asks for a score; it must be that of the step which the answer names. */
  private String scored(ModelServer server) throws IOException {
    String answer =
        body(
            ask(
                server,
                "POST",
                "/v2/models/m/infer",
                "{\"inputs\":[{\"name\":\"age\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[0.5]},"
                    + "{\"name\":\"site\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[3]},"
                    + "{\"name\":\"ad\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[-2]}]}"));
    String step = answer.replaceAll(".*\"model_version\":\"(\\d+)\".*", "$1");
    float score = Float.parseFloat(answer.replaceAll(".*\"data\":\\[([^]]+)\\].*", "$1"));
    assertThat(score).as(answer).isEqualTo(expected.get(step));
    return step;
  }

  private void awaitStep(ModelServer server, String step) throws Exception {
    String now = scored(server);
    for (int i = 0; i < 6_000 && !now.equals(step); i++) {
      Thread.sleep(10);
      now = scored(server);
    }
    assertThat(now).as("notes: %s", notes).isEqualTo(step);
  }

  @Test
  void eachAnswerIsThatOfTheStepItNamesWhileTrainingWritesNewOnes() throws Exception {
    try (ModelServer server = serve(ModelSource.Follow.LATEST)) {
      assertThat(scored(server)).isEqualTo("2");
      awaitStep(server, saveAfter(1));
      awaitStep(server, saveAfter(2));
      assertThat(server.steps()).containsExactly(5L);
      assertThat(notes.toString()).contains("m@stable: serves step 5");
    }
  }

  @Test
  void anEarlierStepServesAgainUntilTheNewestIsAskedFor() throws Exception {
    try (ModelServer server = serve(ModelSource.Follow.LATEST)) {
      awaitStep(server, saveAfter(1));
      String load = "/v2/repository/models/m/load";
      assertThat(status(ask(server, "POST", load, "{\"parameters\":{\"step\":\"2\"}}")))
          .isEqualTo(200);
      assertThat(scored(server)).isEqualTo("2");
      String none = ask(server, "POST", load, "{\"parameters\":{\"step\":\"77\"}}");
      assertThat(status(none)).isEqualTo(400);
      assertThat(body(none)).contains("got 77").doesNotContain(temp.toString());
      assertThat(scored(server)).isEqualTo("2");
      assertThat(status(ask(server, "POST", load, ""))).isEqualTo(200);
      assertThat(scored(server)).isEqualTo("3");
    }
  }

  @Test
  void anUnloadedModelAnswersAgainWithTheNewestStepOnceItIsLoaded() throws Exception {
    try (ModelServer server = serve(ModelSource.Follow.LATEST)) {
      assertThat(scored(server)).isEqualTo("2");
      String unloaded = ask(server, "POST", "/v2/repository/models/m/unload", "");
      assertThat(body(unloaded)).isEqualTo("{}");
      String infer =
          "{\"inputs\":[{\"name\":\"age\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1]}]}";
      String refused = ask(server, "POST", "/v2/models/m/infer", infer);
      assertThat(status(refused)).isEqualTo(503);
      assertThat(body(refused)).contains("while label stable is unloaded");
      assertThat(status(ask(server, "GET", "/v2/models/m/ready", ""))).isEqualTo(503);
      assertThat(status(ask(server, "GET", "/v2/health/ready", ""))).isEqualTo(200);
      assertThat(server.steps()).containsExactly(-1L);
      assertThat(body(ask(server, "GET", "/metrics", "")))
          .contains("tern_model_loaded{model=\"m\",label=\"stable\"} 0\n")
          .doesNotContain("tern_model_step{");
      saveAfter(1);
      String load = "/v2/repository/models/m/load";
      assertThat(body(ask(server, "POST", load, ""))).isEqualTo("{\"step\":\"3\"}");
      assertThat(scored(server)).isEqualTo("3");
      awaitStep(server, saveAfter(1));
      assertThat(body(ask(server, "GET", "/metrics", "")))
          .contains("tern_model_loaded{model=\"m\",label=\"stable\"} 1\n")
          .containsPattern(
              "tern_checkpoint_age_seconds\\{model=\"m\",label=\"stable\"} [0-9.E-]+\n")
          .contains("tern_deltas_total{model=\"m\",label=\"stable\"} 1.0\n")
          .containsPattern(
              "tern_delta_rows_total\\{model=\"m\",label=\"stable\"} [1-9][0-9]*\\.0\n")
          .contains("tern_ids_total{model=\"m\",column=\"site\"} 1\n")
          .contains("tern_unknown_ids_total{model=\"m\",column=\"site\"} 0\n")
          .contains("tern_missing_values_total{model=\"m\",column=\"tags\"} 1\n")
          .contains("tern_prediction_psi{model=\"m\"} NaN\n");
    }
  }

  @Test
  void aDamagedCheckpointIsToldOfAndTheOneBeforeGoesOnServing() throws Exception {
    try (ModelServer server = serve(ModelSource.Follow.LATEST)) {
      Path damaged = temp.resolve("run/checkpoints/.step-9.tmp");
      Files.createDirectories(damaged);
      Files.writeString(damaged.resolve("manifest.json"), "{\"damaged\":");
      Files.move(damaged, run.resolve("step-9"));
      for (int i = 0; i < 6_000 && notes.isEmpty(); i++) {
        Thread.sleep(10);
      }
      assertThat(notes.toString()).contains("step-9").contains("step 2 goes on serving");
      assertThat(scored(server)).isEqualTo("2");
      assertThat(body(ask(server, "GET", "/metrics", "")))
          .contains("\ntern_reload_failures_total 1\n")
          .contains("tern_rows_total{model=\"m\"} 1\n")
          .contains("tern_prediction_count{model=\"m\"} 1\n");
    }
  }

  @Test
  void whatBringsCheckpointsIsWaitedForAndItsFiguresAreMetrics() throws Exception {
    ModelFeed feed =
        new ModelFeed() {
          @Override
          public void awaitFirst() {
            saveAfter(1); // What a server opens is there only then.
          }

          @Override
          public State state() {
            return new State(2.5, 3, 4, 5, Map.of("gap", 6L, "half", 0L));
          }
        };
    try (ModelServer server = serve(ModelSource.Follow.LATEST, Optional.of(feed))) {
      assertThat(scored(server)).isEqualTo("3");
      String of = "{model=\"m\",label=\"stable\"";
      assertThat(body(ask(server, "GET", "/metrics", "")))
          .contains("\ntern_feed_age_seconds" + of + "} 2.5\n")
          .contains("\ntern_feed_behind_records" + of + "} 3.0\n")
          .contains("\ntern_feed_checkpoints_total" + of + "} 4.0\n")
          .contains("\ntern_feed_bytes_total" + of + "} 5.0\n")
          .contains("\ntern_feed_refused_total" + of + ",reason=\"gap\"} 6\n")
          .contains("\ntern_feed_refused_total" + of + ",reason=\"half\"} 0\n");
    }
    try (ModelServer server = serve(ModelSource.Follow.LATEST)) {
      assertThat(body(ask(server, "GET", "/metrics", ""))).doesNotContain("tern_feed");
    }
  }

  @Test
  void aRunThatIsNotFollowedStaysAtItsStep() throws Exception {
    try (ModelServer server = serve(ModelSource.Follow.NONE)) {
      saveAfter(1);
      Thread.sleep(300); // Too short to see each wrong follower, but never wrong about a right one.
      assertThat(scored(server)).isEqualTo("2");
    }
  }

  @Test
  void aModelWithALimitOfItsOwnIsNotLoadedAboveIt() {
    ModelSource source =
        new ModelSource(
            "m", "stable", temp.resolve("run"), ModelSource.Follow.LATEST, ScoreOptions.DEFAULT);
    assertThatThrownBy(() ->
            ModelServer.start(TestServer.OPTIONS, List.of(source.withMemory(2_000)), notes::add)
                .close())
        .isInstanceOf(OutOfBudgetException.class);
    assertThatThrownBy(() -> source.withMemory(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("memory: got 0, expected a number of bytes");
  }

  @Test
  void aFolderWithoutACheckpointIsRefusedAndThePortIsFreeAgain() {
    Path none = temp.resolve("none");
    ModelSource source =
        new ModelSource("m", "stable", none, ModelSource.Follow.LATEST, ScoreOptions.DEFAULT);
    assertThatThrownBy(
            () -> ModelServer.start(TestServer.OPTIONS, List.of(source), notes::add).close())
        .isInstanceOf(DataException.class)
        .hasMessageContaining("none");
  }
}
