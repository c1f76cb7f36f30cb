package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that come and go by shows and clicks, against plain models. */
final class ClickWeightsTest {
  private static final int ROWS = 20;
  private static final int WIDTH = 2;

  /** Slots 0 and 2 share a table. */
  private static final List<Integer> OF_SLOTS = List.of(0, 1, 0);

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long vectors = allocator.allocate(4L * ROWS * 3 * WIDTH, "vectors");

  @AfterEach
  void closedTablesHoldNoMemory() {
    allocator.free(vectors);
    assertThat(allocator.live()).isZero();
  }

  private static Schema schema(String... labels) {
    return new Schema(
        List.of(labels), List.of(), List.of(Slot.oneHot("a"), Slot.oneHot("b"), Slot.ragged("c")));
  }

  /** The first label is the click; the second one means nothing here. */
  private static Batch batch(SplittableRandom random) {
    Batch batch = new Batch(schema("click", "other"), ROWS);
    for (int b = random.nextInt(ROWS); b < ROWS; b++) {
      batch.setLabel(0, random.nextInt(3) == 0 ? 1 : 0);
      batch.setLabel(1, random.nextInt(10));
      batch.addId(0, id(random));
      batch.addId(1, id(random));
      for (int k = random.nextInt(4); k > 0; k--) {
        batch.addId(2, id(random));
      }
      batch.endRow();
    }
    return batch;
  }

  private static long id(SplittableRandom random) {
    return (long) (300 * Math.pow(random.nextDouble(), 4)) - 5;
  }

  private EmbeddingTable table(RowPolicy policy, boolean tier) {
    TableConfig config =
        new TableConfig(
            "t", 1, WIDTH, 42, TableOptions.of(Optimizer.adagrad(1)).initRange(0.5f).rows(policy));
    return tier
        ? EmbeddingTable.create(config, FileTier.of(folder, 400_000), allocator)
        : EmbeddingTable.create(config, allocator);
  }

  /** The score of each row, by its id; 0 where rows keep none. */
  private static Map<Long, Float> scores(EmbeddingTable table) {
    Map<Long, Float> scores = new TreeMap<>();
    int floats = table.config().rowFloats();
    boolean keeps = table.config().metadata() > 2;
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        scores.put(ids[i], keeps ? Memory.getFloat(values + 4L * ((i + 1) * floats - 1)) : 0);
      }
    });
    return scores;
  }

  /** What a policy should do with the rows of one table, in plain Java. */
  private static final class Model {
    final RowPolicy policy;
    final Map<Long, Integer> met = new HashMap<>();

    /** As of the last step that saw the row, and as of now. */
    final Map<Long, double[]> scores = new TreeMap<>();

    Model(RowPolicy policy) {
      this.policy = policy;
    }

    void step(Batch batch, int... slots) {
      Map<Long, int[]> seen = new LinkedHashMap<>(); // shows, clicks
      for (int slot : slots) {
        for (int b = 0; b < batch.size(); b++) {
          for (int i = batch.offsets(slot)[b]; i < batch.offsets(slot)[b + 1]; i++) {
            int click = (int) batch.labels()[2 * b];
            seen.computeIfAbsent(batch.ids(slot)[i], _ -> new int[2])[click]++;
          }
        }
      }
      seen.forEach((id, times) -> {
        double[] score = scores.get(id);
        if (score == null && admits(id, times[0], times[1])) {
          score = new double[2];
          scores.put(id, score);
        }
        if (score != null && policy.eviction() instanceof Eviction.LowScore low) {
          score[1] += times[0] * (double) low.showWeight() + times[1] * (double) low.clickWeight();
          score[0] = score[1];
        }
      });
      if (policy.eviction() instanceof Eviction.LowScore low) {
        scores
            .entrySet()
            .removeIf(row -> !seen.containsKey(row.getKey()) && row.getValue()[1] < low.least());
        scores.values().forEach(score -> score[1] *= low.decay());
      }
    }

    private boolean admits(long id, int shows, int clicks) {
      return !(policy.admission() instanceof Admission.ByCount counted)
          || met.merge(id, shows + counted.clickWeight() * clicks, Integer::sum) >= counted.count();
    }
  }

  static List<RowPolicy> policies() {
    Admission counted = new Admission.ByCount(7, 10_000, 3);
    return List.of(
        RowPolicy.ALL.withAdmission(counted),
        RowPolicy.ALL.withAdmission(new Admission.ByCount(128, 10_000, 128)),
        RowPolicy.ALL.withEviction(new Eviction.LowScore(0.8, 0.0371f, 0.1f, 1)),
        RowPolicy.ALL.withEviction(new Eviction.LowScore(0.9, 0.3713f, 2, 0.25f)),
        RowPolicy.ALL.withEviction(new Eviction.LowScore(0.7, 0.713f, 2, 2)),
        RowPolicy.ALL
            .withAdmission(counted)
            .withEviction(new Eviction.LowScore(0.95, 2.13f, 0.1f, 7)));
  }

  @ParameterizedTest
  @MethodSource("policies")
  void rowsComeAndGoByTheirClicksAsInAPlainModel(RowPolicy policy) {
    for (int threads = 1; threads <= 2; threads++) {
      SplittableRandom random = new SplittableRandom(threads);
      Model shared = new Model(policy);
      Model single = new Model(policy);
      EmbeddingTable first = table(policy, false);
      EmbeddingTable second = table(policy, false);
      long gone = 0;
      Batch next = batch(random);
      for (int step = 1; step <= 120; step += 20) {
        try (Workers workers = Workers.of(threads);
            BatchLookup lookup =
                new SlotTables(List.of(first, second), OF_SLOTS, Combiner.SUM)
                    .newLookup(List.of(WIDTH))) {
          for (int i = step; i < step + 20; i++) {
            Batch batch = next;
            next = batch(random);
            lookup.find(workers, batch, true, new long[] {vectors});
            if (random.nextBoolean()) {
              lookup.lookAhead(next);
            }
            lookup.apply(workers, new long[] {vectors}, 0, i);
            long before = shared.scores.size() + single.scores.size();
            shared.step(batch, 0, 2);
            single.step(batch, 1);
            gone += Math.max(0, before - shared.scores.size() - single.scores.size());
            requireLike(first, shared);
            requireLike(second, single);
          }
        }
        first = restored(first);
        second = restored(second);
      }
      assertThat(gone > 0).isEqualTo(policy.eviction() instanceof Eviction.LowScore);
      first.close();
      second.close();
    }
  }

  private static void requireLike(EmbeddingTable table, Model model) {
    Map<Long, Float> scores = scores(table);
    assertThat(scores.keySet()).containsExactlyElementsOf(model.scores.keySet());
    scores.forEach((id, score) ->
        assertThat((double) score).isCloseTo(model.scores.get(id)[0], within(1e-5 * score)));
  }

  /** The table as a checkpoint keeps it, in a new one; closes the old one. */
  private EmbeddingTable restored(EmbeddingTable table) {
    EmbeddingTable copy = table(table.config().rows(), false);
    TableCopy.copy(table, copy);
    assertThat(copy.statistics().admitted()).isEqualTo(table.statistics().admitted());
    table.close();
    return copy;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void labelsSayWhichPositionsAreClicksAndAreOfUseOnce(boolean tier) {
    RowPolicy policy = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 100, 3));
    try (EmbeddingTable table = table(policy, tier)) {
      Lookup lookup = new Lookup();
      long[] ids = {7, 8, 8, 9, 10};
      table.lookAhead(ids, ids.length, lookup);
      lookup.label(new int[] {0, 1, 3, 4, 5}, 4, new float[] {1, 0, 0, 1});
      table.find(lookup, true);
      assertThat(scores(table).keySet()).containsExactly(7L, 10L);
      // Labels are of use once.
      table.lookAhead(ids, ids.length, lookup);
      assertThatThrownBy(() -> table.find(lookup, true))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("table t: got ids in training without labels")
          .hasMessageContaining("Lookup.label");
      table.find(ids, ids.length, lookup, false);
      assertThat(scores(table).keySet()).containsExactly(7L, 10L);
      table.lookAhead(ids, ids.length, lookup);
      lookup.label(new int[] {0, 5}, 1, new float[] {0});
      table.find(lookup, true);
      assertThat(scores(table).keySet()).containsExactly(7L, 8L, 10L);
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, 0.5f, -1, 2, Float.POSITIVE_INFINITY})
  void aLabelThatSaysNeitherIsRefusedAndNoTableChanges(float label) {
    RowPolicy policy = RowPolicy.ALL.withEviction(new Eviction.LowScore(0.5, 1, 0.5f, 1));
    try (EmbeddingTable first = table(policy, false);
        EmbeddingTable second = table(policy, false);
        Workers workers = Workers.of(1);
        BatchLookup lookup =
            new SlotTables(List.of(first, second), OF_SLOTS, Combiner.SUM)
                .newLookup(List.of(WIDTH))) {
      Batch batch = new Batch(schema("click", "other"), 3);
      batch.resize(3);
      batch.labels()[4] = label;
      assertThatThrownBy(() -> lookup.find(workers, batch, true, new long[] {vectors}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "got label " + label + " of sample 2 of the batch, expected 0 or 1");
      Lookup alone = new Lookup();
      first.lookAhead(new long[] {1, 2}, 2, alone);
      float[] labels = {0, label};
      assertThatThrownBy(() -> alone.label(new int[] {0, 1, 2}, 2, labels))
          .hasMessageContaining("got label " + label + " of sample 1");
      assertThatThrownBy(() -> alone.label(new int[] {0, 1, 2}, 2, new float[1]))
          .hasMessageContaining("got 1 labels for 2 bags");
      assertThat(first.statistics().misses() + second.statistics().misses()).isZero();
      // Scoring asks for none.
      lookup.find(workers, batch, false, new long[] {vectors});
    }
  }

  @Test
  void rowsWithoutLabelsAreScoredAndNotTrainedOn() {
    RowPolicy policy = RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 100, 2));
    try (EmbeddingTable first = table(policy, false);
        EmbeddingTable second = table(policy, false);
        Workers workers = Workers.of(1);
        BatchLookup lookup =
            new SlotTables(List.of(first, second), OF_SLOTS, Combiner.SUM)
                .newLookup(List.of(WIDTH))) {
      Batch batch = new Batch(schema(), 3);
      batch.resize(3);
      lookup.find(workers, batch, false, new long[] {vectors});
      assertThatThrownBy(() -> lookup.find(workers, batch, true, new long[] {vectors}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got a batch without labels");
    }
  }

  @Test
  void weightsThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> new Admission.ByCount(2, 9, 0)).hasMessageContaining("1 to 128");
    assertThatThrownBy(() -> new Admission.ByCount(2, 9, 129)).hasMessageContaining("click weight");
    for (float weight : new float[] {0, -1, Float.NaN, 1001, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new Eviction.LowScore(0.5, 1, weight, 1))
          .hasMessageContaining("got show weight " + weight);
      assertThatThrownBy(() -> new Eviction.LowScore(0.5, 1, 1, weight))
          .hasMessageContaining("got click weight " + weight + ", expected 1e-3 to 1e3");
    }
  }

  @Test
  void onlyPoliciesThatTellClicksFromShowsAskForLabels() {
    assertThat(RowPolicy.ALL.weighsClicks()).isFalse();
    Admission plain = new Admission.ByCount(2, 9);
    Eviction alike = new Eviction.LowScore(0.5, 1, 3, 3);
    assertThat(RowPolicy.ALL.withAdmission(plain).withEviction(alike).weighsClicks()).isFalse();
    assertThat(RowPolicy.ALL.withAdmission(new Admission.ByCount(2, 9, 2)).weighsClicks()).isTrue();
    assertThat(RowPolicy.ALL.withEviction(new Eviction.LowScore(0.5, 1, 1, 2)).weighsClicks())
        .isTrue();
  }
}
