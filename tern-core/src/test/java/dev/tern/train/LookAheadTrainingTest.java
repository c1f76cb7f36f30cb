package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.InTime;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Memory;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Steps whose batches are looked up while the ones before compute, beside steps without that. */
final class LookAheadTrainingTest {
  private static final int ROWS = 64;
  private static final int STEPS = 120;
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);

  @TempDir private Path folder;

  /** Tables that forget rows, or keep some of them in files. */
  private record Kind(RowPolicy policy, boolean tier) {}

  static List<Kind> kinds() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 20_000));
    return List.of(
        new Kind(RowPolicy.ALL, false),
        new Kind(counted.withEviction(new Eviction.Unseen(3)), false),
        new Kind(RowPolicy.ALL, true),
        new Kind(counted, true));
  }

  private static Schema schema() {
    return new Schema(List.of("click"), List.of(), List.of(Slot.oneHot("a"), Slot.ragged("b")));
  }

  private static Batch batch(SplittableRandom random) {
    Batch batch = new Batch(schema(), ROWS);
    for (int i = 0; i < ROWS; i++) {
      batch.addId(0, random.nextInt(random.nextBoolean() ? 8000 : 100));
      for (int k = random.nextInt(3); k > 0; k--) {
        batch.addId(1, random.nextLong(-6000, 6000));
      }
      batch.setLabel(0, random.nextInt(2));
      batch.endRow();
    }
    return batch;
  }

  private TableOptions tables(Kind kind) {
    return TableOptions.of(Optimizer.lazyAdam(0.01f))
        .initRange(0.1f)
        .unknown(UnknownRow.INITIAL)
        .rows(kind.policy);
  }

  private Optional<FileTier> tier(Kind kind) {
    return kind.tier ? Optional.of(FileTier.of(folder, 1_000_000)) : Optional.empty();
  }

  /** Whether the next batch is looked up ahead, and whether that is waited for. */
  private enum Ahead {
    NEVER,
    AS_FAR_AS_TIME_ALLOWS,
    IN_TIME
  }

  /** All weights after some steps, bit by bit, and what the tables count. */
  private List<Object> trained(Kind kind, int threads, Ahead ahead) {
    SplittableRandom random = new SplittableRandom(11);
    TrainOptions options = TrainOptions.of(Optimizer.lazyAdam(0.01f));
    try (Device device = Device.cpu(threads, 1L << 27);
        Network network = Network.create(device, schema(), MODEL, tables(kind), tier(kind), 1);
        DenseOptimizer optimizer = new DenseOptimizer(device, options, network.parameters());
        BatchLookup lookup = network.newLookup();
        TrainStep step =
            new TrainStep(network, optimizer, lookup, ROWS, List.of(), PlanSearch.QUICK)) {
      Batch next = batch(random);
      for (int i = 1; i <= STEPS; i++) {
        Batch batch = next;
        Batch after = batch(random);
        next = after;
        optimizer.prepare(i, 0.01f);
        step.find(batch, batch, i);
        if (ahead != Ahead.NEVER) {
          lookup.lookAhead(after);
        }
        if (ahead == Ahead.IN_TIME) {
          InTime.await(lookup);
        }
        step.update(i, 0.01f);
      }
      lookup.forgetAhead();
      requireTaken(InTime.taken(lookup), 2 * (STEPS - 1), ahead);
      return weights(network);
    }
  }

  /** Each table, in each step but the first, is found looked up, where there was time. */
  private static void requireTaken(long taken, int all, Ahead ahead) {
    switch (ahead) {
      case NEVER -> assertThat(taken).isZero();
      case AS_FAR_AS_TIME_ALLOWS -> assertThat(taken).isBetween(0L, (long) all);
      case IN_TIME -> assertThat(taken).isEqualTo(all);
    }
  }

  private static List<Object> weights(Network network) {
    List<Object> weights = new ArrayList<>();
    for (Variable variable : network.variables()) {
      for (long at = 0; at < variable.shape().elements(); at++) {
        weights.add(Memory.getInt(variable.memory().address() + 4 * at));
      }
    }
    for (EmbeddingTable table : network.tables().tables()) {
      // What is read ahead and looked for again is read twice.
      weights.add(table.statistics().toString().replaceFirst("bytesRead=\\d+", ""));
      table.exportTo((ids, segment, count) -> {
        long values = segment.address();
        for (int i = 0; i < count; i++) {
          weights.add(ids[i]);
          for (int j = 0; j < table.config().rowFloats(); j++) {
            weights.add(Memory.getInt(values + 4L * (i * table.config().rowFloats() + j)));
          }
        }
      });
    }
    return weights;
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void noBitDependsOnWhatIsLookedUpAhead(Kind kind) {
    // The tables share a tier: with several threads it is chance which of them takes memory.
    List<Object> expected = trained(kind, 1, Ahead.NEVER);
    assertThat(trained(kind, 1, Ahead.AS_FAR_AS_TIME_ALLOWS)).isEqualTo(expected);
    assertThat(trained(kind, 1, Ahead.IN_TIME)).isEqualTo(expected);
    for (int threads = 2; threads <= 3; threads++) {
      List<Object> got = trained(kind, threads, Ahead.values()[threads - 1]);
      assertThat(got).hasSameSizeAs(expected);
      for (int i = 0; i < got.size(); i++) {
        if (!kind.tier || got.get(i) instanceof Number) {
          assertThat(got.get(i)).isEqualTo(expected.get(i));
        }
      }
    }
  }

  private static FeatureEncoder encoder(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        _ -> {});
  }

  @Test
  @Timeout(60)
  void aStepLooksUpTheBatchAfterItIfThatWasReadByThen() {
    Batch rows = batch(new SplittableRandom(1));
    int count = ROWS / 8;
    TrainOptions options = TrainOptions.of(Optimizer.lazyAdam(0.01f)).batch(8).shuffleRows(0);
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(rows), MODEL, options);
        TrainingBatches batches = trainer.batches(Readers.inMemory(rows))) {
      Iterator<Batch> epoch = batches.iterator();
      Batch batch = epoch.next();
      for (int i = 1; i < count; i++) {
        while (!batches.isReady()) {
          Thread.onSpinWait();
        }
        trainer.step(batch);
        batch = epoch.next();
        assertThat(InTime.end(trainer.lookup(), batch)).as("batch %s", i).isTrue();
      }
      trainer.step(batch);
      assertThat(epoch.hasNext()).isFalse();
    }
  }

  @Test
  @Timeout(60)
  void aReaderThatFailsAheadIsTheFaultOfTheBatchThatItCouldNotRead() {
    Batch rows = batch(new SplittableRandom(1));
    int good = 5;
    FeatureEncoder encoder = encoder(rows);
    TrainOptions options = TrainOptions.of(Optimizer.lazyAdam(0.01f)).batch(8).shuffleRows(0);
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder, MODEL, options)) {
      int[] calls = {0};
      assertThatThrownBy(() ->
              trainer.fit(
                  Readers.filtered(
                      Readers.batched(Readers.inMemory(rows), 8, false),
                      (_, _) -> {
                        if (calls[0]++ == 8 * good) {
                          throw new DataException("row: got none");
                        }
                        return true;
                      })))
          .isInstanceOf(DataException.class)
          .hasMessage("filter: row 41 of pass 0: row: got none");
      assertThat(trainer.step()).isEqualTo(good);
    }
  }
}
