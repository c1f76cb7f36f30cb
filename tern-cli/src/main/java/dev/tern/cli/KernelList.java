package dev.tern.cli;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepTime;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The parts of a model's training step and their costs, with the kernels generated for it. Measured
 * in a few seconds of training on random rows of 13 numbers and 26 ids, or what the model takes.
 */
final class KernelList {
  private static final int NUMBERS = 13;
  private static final int SLOTS = 26;
  private static final int IDS = 10_000;
  private static final int LENGTH = 50;
  private static final int BATCH = 2048;
  private static final int BATCHES = 8;

  private KernelList() {}

  /** Trains for {@code seconds} and prints the costs of the second half, when code is compiled. */
  static void print(PrintWriter out, ModelConfig.Type type, int threads, int seconds) {
    if (seconds < 1) {
      throw new IllegalArgumentException(
          "--seconds: got " + seconds + ", expected at least 1; 20 shows compiled code");
    }
    Schema schema = schema(type);
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(schema, List.of()),
            Collections.nCopies(schema.denseDim(), NumberEncoding.none()),
            Collections.nCopies(schema.slotCount(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(1e-3f))
            .batch(BATCH)
            .epochs(Integer.MAX_VALUE)
            .shuffleRows(0)
            .reportEvery(1);
    List<StepTime> before = new ArrayList<>();
    try (Device device = Device.cpu(threads, 4L << 30);
        Trainer trainer = Trainer.create(device, encoder, model(type), options)) {
      long start = System.nanoTime();
      Progress.Listener listener =
          progress -> {
            double passed = (System.nanoTime() - start) / 1e9;
            if (before.isEmpty() && passed > seconds / 2.0) {
              before.addAll(trainer.times());
            }
            if (passed > seconds) {
              trainer.requestStop();
            }
          };
      trainer.fit(Readers.inMemory(schema, batches(schema)), Optional.empty(), listener);
      out.printf(
          "%s, batch %,d, %d threads: one training step, part by part%n",
          type.name().toLowerCase(Locale.ROOT), BATCH, threads);
      List<StepTime> after = trainer.times();
      // With less than a step in the second half, the costs of all steps are printed.
      boolean late = !before.isEmpty() && after.get(0).runs() > before.get(0).runs();
      for (int i = 0; i < after.size(); i++) {
        out.println(late ? after.get(i).since(before.get(i)) : after.get(i));
      }
      out.flush();
    }
  }

  private static ModelConfig model(ModelConfig.Type type) {
    ModelConfig model = ModelConfig.of(type, 16, 400, 400, 400);
    return type == ModelConfig.Type.TWOTOWER
        ? ModelConfig.of(type, 16, 400, 400, 64).withMatching(Matching.of("C1", "C2", "C3", "I1"))
        : model;
  }

  private static Schema schema(ModelConfig.Type type) {
    List<String> numbers = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    boolean pair = type == ModelConfig.Type.NEUMF || type == ModelConfig.Type.GMF;
    for (int i = 1; i <= (pair ? 0 : NUMBERS); i++) {
      numbers.add("I" + i);
    }
    for (int i = 1; i <= (pair ? 2 : SLOTS); i++) {
      slots.add(Slot.oneHot("C" + i));
    }
    if (type.readsSequences()) {
      slots.add(Slot.ragged("history").withTable("C1").in(Sequence.last("history", LENGTH)));
    }
    List<String> labels = type.hasTowers() ? List.of("click", "buy") : List.of("click");
    return new Schema(labels, numbers, slots);
  }

  private static long id(SplittableRandom random) {
    return (long) (IDS * Math.pow(random.nextDouble(), 4));
  }

  private static List<Batch> batches(Schema schema) {
    SplittableRandom random = new SplittableRandom(1);
    List<Batch> batches = new ArrayList<>();
    for (int b = 0; b < BATCHES; b++) {
      Batch batch = new Batch(schema, BATCH);
      for (int row = 0; row < BATCH; row++) {
        boolean click = random.nextInt(4) == 0;
        for (int label = 0; label < schema.labelDim(); label++) {
          batch.setLabel(label, click && (label == 0 || random.nextBoolean()) ? 1 : 0);
        }
        for (int i = 0; i < schema.denseDim(); i++) {
          batch.setDense(i, (float) random.nextDouble(-1, 1));
        }
        for (int slot = 0; slot < schema.slotCount(); slot++) {
          boolean one = schema.slots().get(slot).hotness() == 1;
          for (int i = one ? 1 : random.nextInt(LENGTH + 1); i > 0; i--) {
            batch.addId(slot, id(random));
          }
        }
        batch.endRow();
      }
      batches.add(batch);
    }
    return batches;
  }
}
