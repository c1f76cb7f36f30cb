package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of two towers that draw further items for each batch. */
final class SampledNegativesTrainingTest {
  private static final int ROWS = 430;

  @TempDir private Path folder;

  private static ModelConfig model(int negatives, int pool) {
    Matching matching = Matching.of("ad", "tags", "price");
    return ModelConfig.of(ModelConfig.Type.TWOTOWER, 6, 12, 5)
        .withDropout(0.1f)
        .withMatching(matching.withSampled(new Matching.Sampled(negatives, pool)));
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.lazyAdam(0.02f)).batch(50).epochs(2).shuffleRows(100);
  }

  private static Batch rows() {
    return PlantedRuns.planted(1, ROWS);
  }

  private static FeatureEncoder encoder(Batch rows) {
    return PlantedRuns.encoder(rows);
  }

  /** The checkpoint of a run from its start to its end. */
  private byte[] straight(ModelConfig model, int threads) throws IOException {
    Path target = folder.resolve("straight");
    try (Device device = Device.cpu(threads, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder(rows()), model, options())) {
      trainer.fit(Readers.inMemory(rows()));
      trainer.save(target);
    }
    return PlantedRuns.contents(target);
  }

  @Test
  void weightsDoNotDependOnThreads() throws IOException {
    byte[] one = straight(model(16, 20), 1);
    assertThat(straight(model(16, 20), 2)).isEqualTo(one);
    assertThat(straight(model(16, 20), 3)).isEqualTo(one);
    assertThat(straight(model(0, 20), 1)).isNotEqualTo(one);
  }

  @Test
  void aRunThatWasStoppedGoesOnToTheSameBytes() throws IOException {
    byte[] expected = straight(model(16, 20), 1);
    for (int stop : new int[] {1, 7, 9, 13}) {
      Path half = folder.resolve("half-" + stop);
      Path whole = folder.resolve("whole");
      try (Device device = Device.cpu(2, 1L << 28)) {
        try (Trainer trainer = Trainer.create(device, encoder(rows()), model(16, 20), options());
            TrainingBatches batches = trainer.batches(Readers.inMemory(rows()))) {
          while (trainer.step() < stop) {
            for (Batch batch : batches) {
              trainer.step(batch);
              if (trainer.step() == stop) {
                break;
              }
            }
          }
          trainer.save(half);
        }
        try (Trainer trainer = Trainer.resume(device, half, model(16, 20), options())) {
          trainer.fit(Readers.inMemory(rows()));
          trainer.save(whole);
        }
      }
      assertThat(PlantedRuns.contents(whole)).as("stopped after %d", stop).isEqualTo(expected);
    }
  }

  @Test
  void batchesThatAreNotLookedUpAheadGiveTheSameBytes() throws IOException {
    byte[] expected = straight(model(16, 20), 1);
    Path target = folder.resolve("loop");
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder(rows()), model(16, 20), options());
        DataReader shuffled = Readers.shuffled(Readers.inMemory(rows()), 100, options().seed())) {
      DataReader encoded = Readers.encoded(Readers.batched(shuffled, 50, false), trainer.encoder());
      for (int epoch = 0; epoch < 2; epoch++) {
        encoded.start(epoch);
        for (Optional<Batch> next = encoded.next(); next.isPresent(); next = encoded.next()) {
          try (Batch batch = next.get()) {
            trainer.step(batch);
          }
        }
        trainer.endEpoch();
      }
      trainer.save(target);
    }
    assertThat(PlantedRuns.contents(target)).isEqualTo(expected);
  }

  @Test
  void drawnItemsAreNoRowsOfTheRun() {
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer with = Trainer.create(device, encoder(rows()), model(64, 50), options());
        Trainer without = Trainer.create(device, encoder(rows()), model(0, 50), options())) {
      for (Trainer trainer : List.of(with, without)) {
        trainer.fit(Readers.inMemory(rows()));
      }
      assertThat(with.step()).isEqualTo(without.step());
      assertThat(values(with, "items.gaps")).isEqualTo(values(without, "items.gaps"));
      assertThat(values(with, "items.batches")).isEqualTo(values(without, "items.batches"));
      assertThat(tables(with)).isEqualTo(tables(without));
      assertThat(without.network().variables().stream().map(Variable::name))
          .doesNotContain("items.pool");
      assertThat(with.network().sampledItems()).isEqualTo(64);
    }
  }

  private static float[] values(Trainer trainer, String name) {
    return trainer.network().variables().stream()
        .filter(variable -> variable.name().equals(name))
        .findFirst()
        .orElseThrow()
        .toArray();
  }

  private static List<Long> tables(Trainer trainer) {
    return trainer.network().tables().tables().stream().map(EmbeddingTable::size).toList();
  }

  @Test
  void tablesThatCountWhatTheyMeetAreRefusedForItemsAlone() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 1000));
    RowPolicy unseen = RowPolicy.ALL.withEviction(new Eviction.Unseen(30));
    try (Device device = Device.cpu(1, 1L << 28)) {
      for (RowPolicy policy : List.of(counted, unseen)) {
        for (String table : List.of("ad", "tags")) {
          TrainOptions options = options().tables(t -> t.rows(table, policy));
          assertThatThrownBy(() -> Trainer.create(device, encoder(rows()), model(4, 9), options))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("got 4 drawn negatives and the policy")
              .hasMessageContaining("for rows of table " + table);
        }
        TrainOptions users = options().tables(t -> t.rows("site", policy));
        try (Trainer trainer = Trainer.create(device, encoder(rows()), model(4, 9), users)) {
          trainer.fit(Readers.inMemory(rows()));
        }
      }
    }
  }

  @Test
  void anotherRunBeginsWithTheItemsWhereTheirIdsMeanTheSame() throws IOException {
    Path saved = folder.resolve("first");
    try (Device device = Device.cpu(1, 1L << 28)) {
      try (Trainer trainer = Trainer.create(device, encoder(rows()), model(8, 20), options())) {
        trainer.fit(Readers.inMemory(rows()));
        trainer.save(saved);
      }
      Checkpoint first = Checkpoint.open(saved);
      try (Trainer trainer =
          Trainer.warmStart(device, first, first.encoder(), model(8, 20), options())) {
        assertThat(trainer.fresh()).isEmpty();
        assertThat(values(trainer, "items.pool")[1]).isEqualTo(20);
      }
      try (Trainer trainer =
          Trainer.warmStart(device, first, first.encoder(), model(8, 21), options())) {
        assertThat(trainer.fresh()).containsExactly("items.pool");
        trainer.fit(Readers.inMemory(rows()));
      }
      FeatureEncoder other =
          first
              .encoder()
              .grown(
                  Readers.inMemory(rows()),
                  List.of(NumberEncoding.standardize(), NumberEncoding.none()),
                  List.of(IdEncoding.verbatim(), IdEncoding.verbatim(), IdEncoding.hashed(99)),
                  Map.of(),
                  TextDictionary.none(),
                  read -> {});
      try (Trainer trainer = Trainer.warmStart(device, first, other, model(8, 20), options())) {
        assertThat(trainer.fresh()).containsExactly("items to draw from", "table tags");
        assertThat(values(trainer, "items.pool")).containsOnly(0);
        assertThat(values(trainer, "items.batches")[0]).isPositive();
        trainer.fit(Readers.inMemory(rows()));
      }
    }
  }

  @Test
  void aModelWithOtherNegativesIsNotResumed() throws IOException {
    straight(model(8, 20), 1);
    try (Device device = Device.cpu(1, 1L << 28)) {
      assertThatThrownBy(
              () -> Trainer.resume(device, folder.resolve("straight"), model(9, 20), options()))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
