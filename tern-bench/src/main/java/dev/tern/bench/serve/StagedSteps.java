package dev.tern.bench.serve;

import dev.tern.bench.TrainBench;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All checkpoints of a training, full ones and deltas, in one folder: more than a run keeps at a
 * time. They can be put into the folder that a server follows, one by one.
 */
final class StagedSteps {
  private final Path folder;
  private final List<Path> steps;

  private StagedSteps(Path folder, List<Path> steps) {
    this.folder = folder;
    this.steps = steps;
  }

  /**
   * Trains a DeepFM.
   *
   * @param folder where everything is written
   * @param batch rows of a step, which decide how many table rows a delta has
   * @param most deltas between two full checkpoints
   * @param count steps after the first checkpoint
   */
  static StagedSteps train(
      Path folder, CriteoLike data, ModelConfig model, int batch, int most, int count)
      throws IOException {
    Path run = folder.resolve("run");
    Path staged = Files.createDirectories(folder.resolve("staged"));
    Batch[] batches = data.batches(count + 1, batch).toArray(Batch[]::new);
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(1e-3f))
            .batch(batch)
            .shuffleRows(0)
            .reportEvery(1)
            .checkpoints(run, 0)
            .deltas(new DeltaSchedule(1, Duration.ZERO, most));
    try (Device device = Device.cpu(2, 8L << 30);
        Trainer trainer = Trainer.create(device, data.encoder(), model, options)) {
      TrainBench.fill(trainer, data.sizes());
      trainer.fit(Readers.inMemory(batches), Optional.empty(), progress -> link(run, staged));
    }
    link(run, staged);
    List<Path> steps = new ArrayList<>();
    try (Stream<Path> names = Files.list(staged)) {
      names.sorted(Comparator.comparing(StagedSteps::step)).forEach(steps::add);
    }
    return new StagedSteps(folder, steps);
  }

  /** Number of steps. */
  int size() {
    return steps.size();
  }

  /** The step of training of one of them. */
  long step(int at) {
    return step(steps.get(at));
  }

  boolean isFull(int at) {
    return !steps.get(at).toString().endsWith(".delta");
  }

  /** Where one of them lies. */
  Path path(int at) {
    return steps.get(at);
  }

  /** The scores of rows, one a batch, by one of the steps, as bits of floats. */
  int[] scores(int at, List<Batch> rows) {
    try (Predictor predictor = Predictor.open(steps.get(at))) {
      return rows.stream()
          .mapToInt(row -> Float.floatToRawIntBits(predictor.score(row)[0]))
          .toArray();
    }
  }

  /** An empty folder to be followed. */
  Path followed() throws IOException {
    return Files.createDirectories(folder.resolve("followed"));
  }

  /** Puts one of the steps into the folder that is followed, whole at once. */
  void publish(int at) throws IOException {
    Path name = steps.get(at).getFileName();
    Path ahead = followed().resolve(name + ".writing");
    copy(steps.get(at), ahead);
    Files.move(ahead, followed().resolve(name));
  }

  private static long step(Path checkpoint) {
    return Long.parseLong(checkpoint.getFileName().toString().replaceAll("[^0-9]", ""));
  }

  private static void link(Path run, Path staged) {
    if (!Files.exists(run)) {
      return; // Nothing is written yet.
    }
    try (Stream<Path> names = Files.list(run)) {
      for (Path checkpoint : names.filter(Files::isDirectory).toList()) {
        String name = checkpoint.getFileName().toString();
        if (name.matches("step-[0-9]+([.]delta)?") && !Files.exists(staged.resolve(name))) {
          copy(checkpoint, staged.resolve(name));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("bench service: " + e.getMessage(), e);
    }
  }

  /** Links the files, which nobody changes. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.createLink(target, file);
        }
      }
    }
  }
}
