package dev.tern.bench;

import dev.tern.data.Batch;
import dev.tern.data.Readers;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepProfile;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One process of {@link BudgetBench}: trains some steps in a given memory and prints, in one line,
 * {@code bytes withoutLimit median digest loss outside}: of the memory that the values of a step
 * lie in, with and without the limit; the median milliseconds of a step after the first half; a
 * digest of all that was trained, tables and optimizer state included; the last loss; and the most
 * bytes that the process held at a time beyond the Java heap, the JVM's own memory, weights, tables
 * and what it held before it began to train. Where the memory does not do it prints {@value
 * #REFUSED}.
 */
final class BudgetRun {
  private static final int DISTINCT_BATCHES = 2;
  private static final long DEVICE_BYTES = 12L << 30;

  /** What it prints where the memory does not do. */
  static final String REFUSED = "refused";

  private BudgetRun() {}

  /** Model, threads, batch, steps, bytes for a step's values, folder of the peers. */
  public static void main(String[] args) throws IOException {
    Main.vectorsAtOnce();
    ModelConfig model = BudgetBench.model(args[0]);
    int threads = Integer.parseInt(args[1]);
    int batch = Integer.parseInt(args[2]);
    int steps = Integer.parseInt(args[3]);
    long limit = Long.parseLong(args[4]);
    CriteoLike data = new CriteoLike(Path.of(args[5], "criteo_cardinalities.json"), 100_000, 1);
    Resident resident = new Resident();
    // Compiled code and what compilers hold are there before memory is looked at.
    train(model, threads, data, 64, 60, DEVICE_BYTES, resident);
    resident.begin();
    try {
      System.out.println(train(model, threads, data, batch, steps, limit, resident));
    } catch (OutOfBudgetException e) {
      System.err.println(e.getMessage());
      System.out.println(REFUSED);
    }
    System.exit(0);
  }

  private static String train(
      ModelConfig model,
      int threads,
      CriteoLike data,
      int batch,
      int steps,
      long limit,
      Resident resident)
      throws IOException {
    List<Batch> batches = data.batches(DISTINCT_BATCHES, batch);
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(1e-3f))
            .batch(batch)
            .epochs(Integer.MAX_VALUE)
            .shuffleRows(0)
            .reportEvery(1);
    double[] millis = new double[steps];
    long[] last = {0};
    double[] loss = {0};
    Path folder = Files.createTempDirectory("tern-budget");
    try (Device device = Device.cpu(threads, DEVICE_BYTES, limit);
        Trainer trainer = Trainer.create(device, TrainBench.encoder(data), model, options)) {
      trainer.fit(
          Readers.repeat(Readers.inMemory(data.schema(), batches), Integer.MAX_VALUE),
          Optional.empty(),
          progress -> {
            long now = System.nanoTime();
            int step = (int) progress.step();
            millis[step - 1] = (now - last[0]) / 1e6;
            last[0] = now;
            loss[0] = progress.loss();
            StepProfile profile = trainer.profile();
            resident.note(device.memoryInUse() - profile.bytes());
            if (step == steps) {
              trainer.requestStop();
            }
          });
      StepProfile profile = trainer.profile();
      trainer.save(folder.resolve("end"));
      double[] late = Arrays.copyOfRange(millis, steps / 2, steps);
      double median = Result.median(Arrays.stream(late).boxed().toList());
      return "%d %d %.2f %s %s %d"
          .formatted(
              profile.bytes(),
              profile.withoutBudget(),
              median,
              digest(folder),
              loss[0],
              resident.most());
    } finally {
      delete(folder);
    }
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
