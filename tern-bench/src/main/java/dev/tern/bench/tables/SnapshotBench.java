package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Combiner;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Checkpoints of one large table with row-wise Adagrad: bytes of files a second, written and read
 * back, checks included; and written while a thread does nothing but update rows, the worst that
 * can be done to a snapshot. What was read is written again first, what is written while rows
 * change must be the table before, both to the byte. Then a model's training with checkpoints, by
 * {@link TrainingSnapshots}. In a folder in memory, where there is one, as disks differ.
 */
public final class SnapshotBench implements AutoCloseable {
  private static final int BATCH = 4096;
  private static final float LR = 0.01f;

  /** Of updates without a save beside them. */
  private static final int STEPS = 500;

  /** Ids all over 64 bits, each once. */
  private static final long ODD = 0x9E3779B97F4A7C15L;

  private final Arguments arguments;
  private final int rows;
  private final int width;
  private final Path folder;
  private final Device device;
  private final Trainer trainer;
  private final EmbeddingTable table;
  private final Allocator allocator = Allocator.of(1L << 30);
  private final int[] offsets = IntStream.rangeClosed(0, BATCH).toArray();
  private final long gradients;
  private final long pooled;
  private final Lookup lookup = new Lookup();
  private final long[] ids = new long[BATCH];
  private final SplittableRandom random = new SplittableRandom(7);
  private long step;

  private SnapshotBench(Arguments arguments) throws IOException {
    this.arguments = arguments;
    rows = arguments.positive("--rows");
    width = arguments.positive("--width");
    folder = Files.createTempDirectory(Path.of(arguments.text("--folder")), "tern-snapshot");
    device = Device.cpu(1, 64L << 30);
    trainer = Trainer.create(device, encoder(), this::model, options());
    table = trainer.network().tables().tables().getFirst();
    gradients = allocator.allocate(4L * BATCH * width, "bench");
    pooled = allocator.allocate(4L * BATCH * width, "bench");
    for (int i = 0; i < BATCH * width; i++) {
      Memory.setFloat(gradients + 4L * i, (float) random.nextDouble(-1e-3, 1e-3));
    }
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--rows", "8000000");
    defaults.put("--width", "16");
    defaults.put("--rounds", "5");
    defaults.put("--peers", Machine.peers());
    Path memory = Path.of("/dev/shm");
    defaults.put(
        "--folder",
        Files.isDirectory(memory) ? memory.toString() : System.getProperty("java.io.tmpdir"));
    Arguments arguments = Arguments.parse("snapshot", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    try (SnapshotBench bench = new SnapshotBench(arguments)) {
      bench.run();
    } catch (IOException e) {
      throw new UncheckedIOException("snapshot bench: cannot write files", e);
    }
    try {
      TrainingSnapshots.run(arguments);
    } catch (IOException e) {
      throw new UncheckedIOException("snapshot bench: cannot write files", e);
    }
  }

  /** The sum of all embeddings: next to nothing beside the table. */
  private record Sum(int embeddingWidth) implements Model {
    @Override
    public Tensor logits(Features x) {
      return x.embedded().sum(2).sum(1);
    }
  }

  @SuppressWarnings("unused") // the form of a factory
  private Model model(Schema schema, Parameters parameters) {
    return new Sum(width);
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.rowWiseAdagrad(LR)).batch(BATCH);
  }

  private static FeatureEncoder encoder() {
    Batch batch = new Batch(new Schema(List.of("click"), List.of(), List.of(Slot.oneHot("id"))), 1);
    batch.addId(0, 1);
    batch.endRow();
    return FeatureEncoder.fit(
        Readers.inMemory(batch),
        List.of(),
        List.of(IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private void run() throws IOException {
    fill();
    Path saved = folder.resolve("saved");
    trainer.save(saved);
    check(saved);
    checkWhileUpdated(saved);
    int rounds = arguments.positive("--rounds");
    List<Double> writing = new ArrayList<>();
    List<Double> reading = new ArrayList<>();
    double bytes = bytes(saved);
    for (int round = 0; round < rounds; round++) {
      delete(saved);
      long start = System.nanoTime();
      trainer.save(saved);
      writing.add(bytes / (System.nanoTime() - start));
      start = System.nanoTime();
      Trainer restored = Trainer.resume(device, saved, this::model, options());
      reading.add(bytes / (System.nanoTime() - start));
      restored.close();
    }
    print("save", writing, "GB/s", List.of());
    print("restore", reading, "GB/s", List.of());
    writing.clear();
    List<Double> beside = new ArrayList<>();
    List<Double> alone = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      delete(saved);
      alone.add(update(() -> step % STEPS == 0));
      Saving saving = new Saving(saved);
      beside.add(update(saving::isDone));
      writing.add(bytes / saving.nanos());
    }
    print("save beside updates", writing, "GB/s", List.of());
    print("updates beside a save", beside, "M ids/s", alone);
  }

  /** A save on a thread of its own, which has begun. */
  private final class Saving {
    private final Thread thread;
    private long nanos;

    Saving(Path target) {
      Path writing = target.resolveSibling(target.getFileName() + ".writing");
      thread =
          Thread.ofPlatform()
              .start(() -> {
                long start = System.nanoTime();
                trainer.save(target);
                nanos = System.nanoTime() - start;
              });
      // From then on it is of this moment.
      while (!Files.exists(writing) && thread.isAlive()) {
        Thread.onSpinWait();
      }
    }

    boolean isDone() {
      return !thread.isAlive();
    }

    long nanos() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException("snapshot bench: got an interrupt while saving", e);
      }
      if (nanos == 0) {
        throw new IllegalStateException("snapshot bench: got no checkpoint; see above");
      }
      return nanos;
    }
  }

  /** Updates rows at random; returns for how many million ids a second. */
  private double update(BooleanSupplier done) {
    long ended = step;
    long start = System.nanoTime();
    do {
      for (int i = 0; i < BATCH; i++) {
        ids[i] = ODD * random.nextInt(rows);
      }
      train(BATCH);
    } while (!done.getAsBoolean());
    return 1e3 * BATCH * (step - ended) / (System.nanoTime() - start);
  }

  /** What is written while rows change is the table as it was before. */
  private void checkWhileUpdated(Path before) throws IOException {
    Path meanwhile = folder.resolve("meanwhile");
    Saving saving = new Saving(meanwhile);
    update(saving::isDone);
    saving.nanos();
    for (Path file : files(before)) {
      Path other = meanwhile.resolve(before.relativize(file).toString());
      if (Files.mismatch(file, other) >= 0) {
        throw new IllegalStateException("snapshot bench: got changed rows in " + other);
      }
    }
    delete(meanwhile);
  }

  private void fill() {
    for (int from = 0; from < rows; from += BATCH) {
      int count = Math.min(BATCH, rows - from);
      for (int i = 0; i < count; i++) {
        ids[i] = ODD * (from + i);
      }
      train(count);
    }
  }

  private void train(int count) {
    table.find(ids, count, lookup, true);
    BenchTables.pool(table, lookup, offsets, 0, count, Combiner.SUM, pooled, width);
    BenchTables.apply(table, lookup, offsets, count, Combiner.SUM, gradients, width, LR, ++step);
  }

  /** What is read and written again has the same bytes. */
  private void check(Path saved) throws IOException {
    Path again = folder.resolve("again");
    try (Trainer restored = Trainer.resume(device, saved, this::model, options())) {
      restored.save(again);
    }
    for (Path file : files(saved)) {
      Path copy = again.resolve(saved.relativize(file).toString());
      if (Files.mismatch(file, copy) >= 0) {
        throw new IllegalStateException("snapshot bench: got other bytes in " + copy);
      }
    }
    delete(again);
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      return below.filter(Files::isRegularFile).toList();
    }
  }

  static long bytes(Path folder) throws IOException {
    long bytes = 0;
    for (Path file : files(folder)) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  static void delete(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private void print(String name, List<Double> runs, String unit, List<Double> alone) {
    String full = String.format(Locale.ROOT, "%s, %d rows x %d", name, rows, width);
    Result result = new Result("snapshot", full, 1, runs, unit, "alone", alone);
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }

  @Override
  public void close() throws IOException {
    trainer.close();
    device.close();
    allocator.close();
    delete(folder);
  }
}
