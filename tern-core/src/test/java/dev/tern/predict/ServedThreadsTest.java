package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Threads score while updates of all kinds come: each score is of the step that it names. */
final class ServedThreadsTest {
  private static final int THREADS = 3;

  @TempDir Path folder;

  static List<TrainOptions> runs() {
    return List.of(
        DeltaRuns.options(),
        DeltaRuns.runs().get(6), // rows come and go, and others share rows by their hash
        DeltaRuns.options().tables(t -> t.unknown(UnknownRow.MEAN).rows(DeltaRuns.COUNTED)));
  }

  private static Map<Long, float[]> expected(Path archive, ScoreOptions scoring) {
    Map<Long, float[]> scores = new HashMap<>();
    for (String name : ServedRuns.names(archive)) {
      scores.put(ServedRuns.step(name), ServedRuns.expected(archive, name, scoring));
    }
    return scores;
  }

  /** Scores some rows again and again until {@code done}; returns how often. */
  private static long score(
      ServedModel model, Map<Long, float[]> expected, long seed, AtomicBoolean done) {
    Random random = new Random(seed);
    Batch some = new Batch(ServedRuns.ROWS.schema(), 40);
    float[] scores = new float[40];
    long calls = 0;
    for (; !done.get(); calls++) {
      try (ModelVersion version = model.pin()) {
        for (int call = random.nextInt(4); call >= 0; call--) {
          int from = random.nextInt(ServedRuns.ROWS.size() - 40);
          int to = from + 1 + random.nextInt(40);
          some.clear();
          some.appendRows(ServedRuns.ROWS, from, to);
          version.score(some, scores);
          float[] right = expected.get(version.step());
          if (!Arrays.equals(scores, 0, to - from, right, from, to)) {
            throw new AssertionError("other scores than those of step " + version.step());
          }
        }
      }
    }
    return calls;
  }

  @ParameterizedTest
  @MethodSource("runs")
  void eachScoreIsOfTheStepThatItsVersionNames(TrainOptions run) throws Exception {
    Path archive = ServedRuns.archive(folder, run, 2);
    List<String> names = ServedRuns.names(archive);
    for (RowFormat format : RowFormat.values()) {
      ServedRuns.remove(folder, "served");
      Path served = folder.resolve("served");
      ScoreOptions scoring = ScoreOptions.DEFAULT.withTables(format);
      Map<Long, float[]> expected = expected(archive, scoring);
      ServedRuns.deliver(archive, served, names.getFirst());
      AtomicBoolean done = new AtomicBoolean();
      try (ServedModel model =
              ServedModel.open(served, ServedOptions.DEFAULT.withScoring(scoring));
          ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
        List<Future<Long>> scored = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          int seed = t;
          scored.add(threads.submit(() -> score(model, expected, seed, done)));
        }
        try {
          for (String name : names.subList(1, names.size())) {
            ServedRuns.deliver(archive, served, name);
            await(model, ServedRuns.step(name), scored);
          }
          for (int round = 0; round < 5; round++) {
            for (long step : model.earlierSteps()) {
              model.rollBack(step);
            }
            model.goOn();
            await(model, 24, scored);
          }
        } finally {
          done.set(true);
        }
        for (Future<Long> each : scored) {
          assertThat(each.get()).isPositive();
        }
      }
    }
  }

  /** Takes updates until a step serves. */
  private static void await(ServedModel model, long step, List<Future<Long>> scored)
      throws Exception {
    while (true) {
      model.refresh();
      try (ModelVersion version = model.pin()) {
        if (version.step() == step) {
          return;
        }
      }
      for (Future<Long> each : scored) {
        if (each.isDone()) {
          each.get(); // Throws what went wrong.
        }
      }
    }
  }

  @Test
  void theThreadThatFollowsTakesEachUpdateAndEndsWithTheModel() throws Exception {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 4);
    Path served = folder.resolve("served");
    List<String> names = ServedRuns.names(archive);
    ServedRuns.deliver(archive, served, names.getFirst());
    CountDownLatch last = new CountDownLatch(1);
    AtomicLong step = new AtomicLong();
    try (ServedModel model =
        ServedModel.open(
            served,
            ServedOptions.DEFAULT,
            event -> {
              if (event instanceof ModelEvent.Loaded loaded && loaded.step() == 24) {
                step.set(loaded.step());
                last.countDown();
              }
            })) {
      model.warmUp();
      model.start();
      model.start();
      for (String name : names.subList(1, names.size())) {
        ServedRuns.deliver(archive, served, name);
      }
      assertThat(last.await(1, TimeUnit.MINUTES)).isTrue();
      assertThat(ServedRuns.scores(model))
          .isEqualTo(ServedRuns.expected(archive, "step-24", ScoreOptions.DEFAULT));
    }
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("tern-follow"));
  }
}
