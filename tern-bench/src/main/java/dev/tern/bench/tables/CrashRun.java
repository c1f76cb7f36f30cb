package dev.tern.bench.tables;

import dev.tern.bench.Ids;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One process of {@link CrashBench}: trains a small DeepFM whose tables admit by count and evict,
 * from where the run in its folder stands, and prints the number of each step. Rows, seed and
 * options are always the same, so that what any process goes on with has the same bits.
 */
final class CrashRun {
  private static final int SLOTS = 4;
  private static final int BATCH = 256;

  private CrashRun() {}

  /**
   * Folder of the run, rows of the data, the step to stop after, steps and milliseconds between
   * checkpoints of changes, folder for the weights at the end.
   */
  public static void main(String[] args) {
    Path run = Path.of(args[0]);
    Batch rows = rows(Integer.parseInt(args[1]));
    long last = Long.parseLong(args[2]);
    Duration time = Duration.ofMillis(Long.parseLong(args[4]));
    TrainOptions options =
        options(rows.size())
            .checkpoints(run, 0)
            .deltas(new DeltaSchedule(Long.parseLong(args[3]), time, 20));
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 8, 16, 8);
    try (Device device = Device.cpu(1, 1L << 30);
        Trainer trainer =
            Checkpoint.existsAt(run)
                ? Trainer.resume(device, run, model, options)
                : Trainer.create(device, encoder(rows), model, options)) {
      System.out.println("from " + trainer.step());
      trainer.fit(
          Readers.inMemory(rows),
          Optional.empty(),
          progress -> {
            System.out.println("step " + progress.step());
            if (progress.step() == last) {
              trainer.requestStop();
            }
          });
      trainer.save(Path.of(args[5]));
    }
  }

  private static TrainOptions options(int rows) {
    RowPolicy policy =
        RowPolicy.ALL
            .withAdmission(new Admission.ByCount(2, rows))
            .withRoomMadeBy(new Eviction.LeastRecent(), Math.max(100, rows / 4));
    return TrainOptions.of(Optimizer.adam(0.001f))
        .batch(BATCH)
        .epochs(Integer.MAX_VALUE)
        .shuffleRows(0)
        .tables(t -> t.unknown(UnknownRow.INITIAL).rows(policy))
        .reportEvery(1);
  }

  private static Batch rows(int count) {
    List<Slot> slots =
        List.of(Slot.oneHot("a"), Slot.oneHot("b"), Slot.oneHot("c"), Slot.oneHot("d"));
    Batch batch = new Batch(new Schema(List.of("click"), List.of("x"), slots), count);
    Ids ids = Ids.zipf(2 * count, 1.05, 1);
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < count; i++) {
      batch.setLabel(0, random.nextInt(2));
      batch.setDense(0, (float) random.nextDouble());
      for (int slot = 0; slot < SLOTS; slot++) {
        batch.addId(slot, ids.next());
      }
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.none()),
        List.of(
            IdEncoding.verbatim(),
            IdEncoding.verbatim(),
            IdEncoding.verbatim(),
            IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }
}
