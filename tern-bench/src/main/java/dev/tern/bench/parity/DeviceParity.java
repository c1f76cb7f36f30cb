package dev.tern.bench.parity;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
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
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Every model on a CUDA device beside the processor: the losses of each step and, after the last,
 * the bytes of a checkpoint; on the simulated device under each of its schedules of threads. With
 * dropout and Adam, so that random numbers and the optimizer's state count too.
 */
final class DeviceParity {
  private static final int STEPS = 20;
  private static final float DROPOUT = 0.1f;

  private DeviceParity() {}

  /** What a run left. */
  private record Run(float[] losses, List<Path> files, double seconds, double firstSeconds) {}

  static void run(String device, List<ModelConfig.Type> types) {
    List<ModelConfig.Type> apart = new ArrayList<>();
    int schedules = device.equals("simulated") ? SimulatedCuda.SCHEDULES : 1;
    Path folder = temporary();
    try {
      for (ModelConfig.Type type : types) {
        Path of = folder.resolve(type.name());
        Run here;
        try (Device cpu = Device.cpu(2, 1L << 30)) {
          here = train(cpu, type, of.resolve("cpu"));
        }
        Run there = here;
        int losses = 0;
        long bytes = 0;
        for (int schedule = 0; schedule < schedules; schedule++) {
          Path beside = of.resolve(device + schedule);
          if (schedules > 1) {
            SimulatedCuda.schedule(schedule);
          }
          try (Device cuda = Device.cuda(0, 2, 1L << 30, 1L << 30)) {
            there = train(cuda, type, beside);
          }
          for (int i = 0; i < STEPS; i++) {
            losses += Float.compare(here.losses[i], there.losses[i]) == 0 ? 0 : 1;
          }
          bytes += differing(of.resolve("cpu"), here.files, beside, there.files);
        }
        System.out.printf(
            Locale.ROOT,
            "%-14s %d steps%s, loss %.6f to %.6f: %d losses and %d bytes of the checkpoint differ;"
                + " first step %.2f s, others %.2f ms (processor %.2f ms)%n",
            type.name().toLowerCase(Locale.ROOT),
            STEPS,
            schedules > 1 ? " under " + schedules + " schedules" : "",
            there.losses[0],
            there.losses[STEPS - 1],
            losses,
            bytes,
            there.firstSeconds,
            1000 * there.seconds / (STEPS - 1),
            1000 * here.seconds / (STEPS - 1));
        if (losses + bytes > 0) {
          apart.add(type);
        }
      }
    } finally {
      if (schedules > 1) {
        SimulatedCuda.schedule(0);
      }
      delete(folder);
    }
    if (!apart.isEmpty()) {
      throw new IllegalStateException(
          "parity: got other bits on the device for %s, expected none".formatted(apart));
    }
  }

  private static Run train(Device device, ModelConfig.Type type, Path checkpoint) {
    Schema raw = ParityCases.schema(type);
    FeatureEncoder encoder = ParityCases.encoder(raw);
    SplittableRandom random = new SplittableRandom(7);
    ModelConfig plain = ParityCases.model(type);
    ModelConfig model = plain.hidden().isEmpty() ? plain : plain.withDropout(DROPOUT);
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(ParityCases.BATCH);
    float[] losses = new float[STEPS];
    double first = 0;
    long start = System.nanoTime();
    try (Trainer trainer = Trainer.create(device, encoder, model, options)) {
      Batch encoded = new Batch(encoder.schema(), ParityCases.BATCH);
      for (int step = 0; step < STEPS; step++) {
        encoder.apply(ParityCases.batch(raw, random), encoded);
        losses[step] = (float) trainer.step(encoded).loss();
        if (!Float.isFinite(losses[step])) {
          throw new IllegalStateException(
              "parity: got the loss %s of %s in step %d, expected a finite one"
                  .formatted(losses[step], type, step + 1));
        }
        if (step == 0) {
          first = (System.nanoTime() - start) / 1e9;
          start = System.nanoTime();
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      trainer.save(checkpoint);
      return new Run(losses, files(checkpoint), seconds, first);
    }
  }

  private static List<Path> files(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).map(folder::relativize).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot list " + folder, e);
    }
  }

  /** Bytes that differ; a file that only one of the two has counts as a whole. */
  private static long differing(Path first, List<Path> files, Path second, List<Path> others) {
    long bytes = files.equals(others) ? 0 : 1;
    try {
      for (Path file : files) {
        if (others.contains(file)) {
          byte[] a = Files.readAllBytes(first.resolve(file));
          byte[] b = Files.readAllBytes(second.resolve(file));
          bytes += Math.abs(a.length - b.length);
          for (int i = 0; i < Math.min(a.length, b.length); i++) {
            bytes += a[i] == b[i] ? 0 : 1;
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot compare checkpoints", e);
    }
    return bytes;
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("tern-device-parity");
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot make a folder", e);
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot remove " + folder, e);
    }
  }
}
