package dev.tern.bench.memory;

import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One process of {@link BudgetBench}: trains some steps in a given memory, one for each line that
 * it reads. After a step it prints {@code bytes millis}: of the memory that the values of a step
 * lie in, and how long it took; after the last one and one more line {@code bytes digest loss
 * outside}: a digest of all that was trained, tables and optimizer state included; the last loss;
 * and the most bytes that the process held at a time beyond the Java heap, the JVM's own memory,
 * weights, tables and what it held before it began to train. Where the memory does not do it prints
 * {@value #REFUSED}.
 */
final class BudgetRun {
  private static final int DISTINCT_BATCHES = 2;
  private static final long DEVICE_BYTES = 12L << 30;

  /** What it prints where the memory does not do. */
  static final String REFUSED = "refused";

  private final ModelConfig model;
  private final int threads;
  private final CriteoLike data;
  private final Resident resident = new Resident();
  private final BufferedReader turns =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private BudgetRun(ModelConfig model, int threads, CriteoLike data) {
    this.model = model;
    this.threads = threads;
    this.data = data;
  }

  /**
   * Model, threads, batch, steps, bytes for a step's values, folder of the peers, seconds to search
   * for a schedule.
   */
  public static void main(String[] args) throws IOException {
    CriteoLike data = new CriteoLike(Path.of(args[5], "criteo_cardinalities.json"), 100_000, 1);
    BudgetRun run = new BudgetRun(BudgetBench.model(args[0]), Integer.parseInt(args[1]), data);
    // Compiled code and what compilers hold are there before memory is looked at.
    run.train(64, 60, DEVICE_BYTES, 0, (bytes, millis) -> {});
    run.resident.begin();
    run.awaitTurn();
    int steps = Integer.parseInt(args[3]);
    try {
      System.out.println(
          run.train(
              Integer.parseInt(args[2]),
              steps,
              Long.parseLong(args[4]),
              Double.parseDouble(args[6]),
              run::report));
    } catch (OutOfBudgetException e) {
      System.err.println(e.getMessage());
      System.out.println(REFUSED);
    }
    System.exit(0);
  }

  /** Takes the bytes that a step takes and how long it took. */
  @FunctionalInterface
  private interface Steps {
    void done(long bytes, double millis);
  }

  /** Tells of a step and waits for the next turn. */
  private void report(long bytes, double millis) {
    System.out.printf(Locale.ROOT, "%d %.3f%n", bytes, millis);
    awaitTurn();
  }

  private void awaitTurn() {
    try {
      if (turns.readLine() == null) {
        System.exit(1); // who gave the turns is gone
      }
    } catch (IOException e) {
      throw new UncheckedIOException("budget: cannot read turns", e);
    }
  }

  private String train(int batch, int steps, long limit, double planSeconds, Steps listener)
      throws IOException {
    Path folder = Files.createTempDirectory("tern-budget");
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(1e-3f))
            .batch(batch)
            .epochs(Integer.MAX_VALUE)
            .shuffleRows(0)
            .reportEvery(1)
            .planSearch(search(planSeconds, folder.resolve("schedule.json")));
    long[] last = {System.nanoTime()};
    double[] loss = {0};
    try (Device device = Device.cpu(threads, DEVICE_BYTES, limit);
        Trainer trainer = Trainer.create(device, data.encoder(), model, options)) {
      trainer.fit(
          Readers.repeat(Readers.inMemory(data.schema(), batches), Integer.MAX_VALUE),
          Optional.empty(),
          progress -> {
            double millis = (System.nanoTime() - last[0]) / 1e6;
            loss[0] = progress.metrics().logLoss();
            long bytes = trainer.profile().bytes();
            resident.note(device.memoryInUse() - bytes);
            listener.done(bytes, millis);
            if (progress.step() == steps) {
              trainer.requestStop();
            }
            last[0] = System.nanoTime();
          });
      trainer.save(folder.resolve("end"));
      return "%d %s %s %d"
          .formatted(trainer.profile().bytes(), digest(folder), loss[0], resident.most());
    } finally {
      delete(folder);
    }
  }

  private static PlanSearch search(double seconds, Path file) {
    return seconds == 0
        ? PlanSearch.QUICK
        : PlanSearch.of(
            seconds,
            file,
            new PlanSearch.Listener() {
              @Override
              public void searching(double elapsed, long looked, double slowdown) {}

              @Override
              public void note(String line) {
                System.err.println(line);
              }
            });
  }

  private static String digest(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        if (!file.toString().endsWith(".json")) {
          digest.update(Files.readAllBytes(file));
        }
      }
      return HexFormat.of().formatHex(digest.digest(), 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("digest: every JVM has SHA-256", e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    }
  }
}
