package dev.tern.predict;

import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Runs whose checkpoints are all kept, to be brought into a served folder one by one. */
final class ServedRuns {
  /** Rows with ids that training saw and others. */
  static final Batch ROWS = DeltaRuns.manyIds(2, 120);

  private ServedRuns() {}

  /**
   * Trains for 24 steps. The checkpoints are a full one after the first {@code every} steps, then
   * changes after every so many, or a full one where changes are many, and at last step-24.
   */
  static Path archive(Path folder, TrainOptions options, int every) {
    return archive(folder, options, every, DeltaRuns.MODEL);
  }

  /** The same with another model. */
  static Path archive(Path folder, TrainOptions options, int every, ModelConfig model) {
    Path run = folder.resolve("run");
    Path archive = folder.resolve("archive");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device,
                PlantedRuns.encoder(DeltaRuns.ROWS),
                model,
                options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(every, 100)))) {
      Files.createDirectories(archive);
      trainer.fit(
          Readers.inMemory(DeltaRuns.ROWS),
          Optional.empty(),
          progress -> {
            if (progress.step() % every == 0) {
              trainer.save(folder.resolve("other")); // waits for what is being written
              keep(run, archive);
            }
          });
      keep(run, archive);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return archive;
  }

  private static void keep(Path run, Path archive) {
    if (!Files.isDirectory(run)) {
      return;
    }
    try {
      for (String name : DeltaRuns.names(run)) {
        if (!Files.exists(archive.resolve(name))) {
          copy(run.resolve(name), archive.resolve(name));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }

  /** Brings checkpoints into a folder as training does: whole, by a rename. */
  static void deliver(Path archive, Path served, String... names) {
    try {
      Files.createDirectories(served);
      for (String name : names) {
        Path writing = served.resolve(name + ".writing");
        copy(archive.resolve(name), writing);
        Files.move(writing, served.resolve(name), StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void remove(Path served, String... names) {
    try {
      for (String name : names) {
        AtomicFolder.delete(served.resolve(name));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a predictor of a checkpoint gives. */
  static float[] expected(Path archive, String name, ScoreOptions options) {
    try (Predictor predictor = Predictor.open(archive.resolve(name), options)) {
      return predictor.score(ROWS);
    }
  }

  static float[] scores(ServedModel model) {
    try (ModelVersion version = model.pin()) {
      return version.score(ROWS);
    }
  }

  /** Whether a checkpoint holds changes alone, of all tables. */
  static boolean isOfChanges(Path checkpoint) {
    boolean changes = true;
    for (int table = 0; table < 3; table++) {
      try (SafeTensors file =
          SafeTensors.open(checkpoint.resolve("tables/" + table + ".safetensors"))) {
        changes &= file.names().contains("gone");
      }
    }
    return changes;
  }

  static long step(String name) {
    return Long.parseLong(name.replaceAll("[^0-9]", ""));
  }

  /** Names of the changes of steps, every two. */
  static String delta(int step) {
    return "step-" + step + ".delta";
  }

  /** The checkpoints in a folder, by their steps. */
  static List<String> names(Path folder) {
    try {
      return DeltaRuns.names(folder).stream()
          .sorted(Comparator.comparing(ServedRuns::step))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
