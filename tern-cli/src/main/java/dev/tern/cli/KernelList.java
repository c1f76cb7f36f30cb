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
import java.util.Set;
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
  private static final long MEMORY = 4L << 30;

  // What an H200 was measured to do (docs/gpu.md).
  private static final double TERAFLOPS = 42;
  private static final double TERABYTES = 3.7;
  private static final double LAUNCH_MICROS = 0.5;

  private static final Set<String> ON_THE_PROCESSOR =
      Set.of("copy of the batch", "lookup of rows", "update of rows");

  private KernelList() {}

  /** Trains for {@code seconds} and prints the costs of the second half, when code is compiled. */
  static void print(
      PrintWriter out, ModelConfig.Type type, int threads, int seconds, boolean isCuda) {
    if (seconds < 1) {
      throw new IllegalArgumentException(
          "--seconds: got " + seconds + ", expected at least 1; 20 shows compiled code");
    }
    Schema schema = schema(type);
    List<StepTime> before = new ArrayList<>();
    try (Device device =
            isCuda ? Device.cuda(0, threads, MEMORY, Long.MAX_VALUE) : Device.cpu(threads, MEMORY);
        Trainer trainer = trainer(device, type, schema)) {
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

  private static Trainer trainer(Device device, ModelConfig.Type type, Schema schema) {
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
    return Trainer.create(device, encoder, model(type), options);
  }

  /**
   * Prints what each part of a step would take on a GPU: the longer of its operations at the rate
   * of products and its bytes at the rate of copies, and a launch. Parts on the processor are left
   * out.
   */
  static void printEstimates(PrintWriter out, ModelConfig.Type type) {
    Schema schema = schema(type);
    List<StepTime> parts;
    try (Device device = Device.cpu(1, MEMORY);
        Trainer trainer = trainer(device, type, schema);
        Batch encoded = new Batch(trainer.encoder().schema(), BATCH)) {
      trainer.encoder().apply(batches(schema).getFirst(), encoded);
      trainer.step(encoded);
      parts = trainer.times();
    }
    out.printf(
        "%s, batch %,d: estimates for an NVIDIA H200, which did %.0f TFLOP/s in exact products,"
            + " %.1f TB/s and a launch in %.1f us%n",
        type.name().toLowerCase(Locale.ROOT), BATCH, TERAFLOPS, TERABYTES, LAUNCH_MICROS);
    double all = 0;
    for (StepTime part : parts) {
      if (ON_THE_PROCESSOR.contains(part.what())) {
        continue;
      }
      double work = Math.max(part.flops() / TERAFLOPS, part.bytes() / TERABYTES) / 1e6;
      double micros = LAUNCH_MICROS + work;
      all += micros;
      out.printf(
          Locale.ROOT,
          "%9.1f us %10.3f GFLOP %9.3f MB  bound by %-10s  %s%n",
          micros,
          part.flops() / 1e9,
          part.bytes() / 1e6,
          work < LAUNCH_MICROS
              ? "launch"
              : part.flops() / TERAFLOPS > part.bytes() / TERABYTES ? "arithmetic" : "memory",
          part.what());
    }
    out.printf(Locale.ROOT, "%9.1f us in all, without copies and tables%n", all);
    out.flush();
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
    boolean pair = type.isOfPairs();
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
