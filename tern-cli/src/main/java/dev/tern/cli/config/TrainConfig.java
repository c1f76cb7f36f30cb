package dev.tern.cli.config;

import dev.tern.base.ProductMath;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How the model is trained, and on what.
 *
 * @param options the engine's options, without folders of the run
 * @param hardware what computes
 * @param planSeconds how long to search for what a step that does not fit computes again; 0 for a
 *     search of a second or so
 * @param tableMemory what tables share of it, in bytes; 0 keeps all rows in memory
 * @param checkpointEvery when a checkpoint is written
 * @param beginning the weights that it begins with
 */
public record TrainConfig(
    TrainOptions options,
    Hardware hardware,
    double planSeconds,
    long tableMemory,
    Every checkpointEvery,
    Beginning beginning) {
  /**
   * What computes, and in how much memory.
   *
   * @param ordinal number of the CUDA device; empty for the processor
   * @param math how a CUDA device multiplies matrices
   * @param threads compute threads of the processor, at least 1
   * @param memory hard limit in bytes
   * @param activationMemory hard limit of the values of one step, in bytes; on the processor at
   *     most {@code memory}
   */
  public record Hardware(
      OptionalInt ordinal, ProductMath math, int threads, long memory, long activationMemory) {
    /** Opens the device. */
    public Device open() {
      return ordinal.isPresent()
          ? Device.cuda(ordinal.getAsInt(), threads, memory, activationMemory, math)
          : Device.cpu(threads, memory, activationMemory);
    }

    static Hardware of(Settings s) {
      int threads = s.get(TrainKeys.THREADS).intValue();
      long memory = s.get(TrainKeys.MEMORY);
      long step = s.get(TrainKeys.ACTIVATION_MEMORY);
      OptionalInt ordinal = Kind.CudaDevice.ordinal(s.get(TrainKeys.DEVICE));
      ProductMath math = ProductMath.valueOf(s.get(TrainKeys.DEVICE_MATH).toUpperCase(Locale.ROOT));
      if (ordinal.isEmpty() && math != ProductMath.EXACT) {
        throw new ConfigException(
            "train.device_math: got %s with train.device: cpu, expected exact; set train.device: cuda, or leave it out"
                .formatted(s.get(TrainKeys.DEVICE_MATH)));
      }
      // A device has memory of its own for the values of steps.
      long most = ordinal.isPresent() ? Long.MAX_VALUE : memory;
      return new Hardware(
          ordinal,
          math,
          threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
          memory,
          step == 0 ? most : Math.min(step, most));
    }

    @Override
    public String toString() {
      return (ordinal.isPresent() ? "cuda:" + ordinal.getAsInt() + ", " : "")
          + "threads "
          + threads;
    }
  }

  /**
   * What a run begins with.
   *
   * @param from the run or checkpoint whose weights it begins with; empty for weights at random
   * @param withState whether the state of its optimizers goes on too
   * @param vectors for tables by name the file of vectors that they begin with
   */
  public record Beginning(Optional<Path> from, boolean withState, Map<String, Path> vectors) {}

  static TrainConfig of(Settings s) {
    return new TrainConfig(
        TrainKeys.options(s),
        Hardware.of(s),
        s.get(TrainKeys.PLAN_SECONDS),
        s.get(TrainKeys.TABLE_MEMORY),
        s.get(TrainKeys.CHECKPOINT_EVERY),
        new Beginning(
            s.get(TrainKeys.FROM).stream().findFirst(),
            s.get(TrainKeys.FROM_STATE),
            TableKeys.vectors(s)));
  }

  /** Compute threads of the processor, at least 1. */
  public int threads() {
    return hardware.threads;
  }

  /** Hard limit in bytes. */
  public long memory() {
    return hardware.memory;
  }

  /** Hard limit of the values of one step, in bytes. */
  public long activationMemory() {
    return hardware.activationMemory;
  }

  /** How it is trained in one line. */
  public String summary() {
    Optimizer optimizer = options.optimizer();
    String rule = optimizer.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    return String.format(
        Locale.ROOT,
        "batch %,d, epochs %d, %s, learning rate %s, seed %d, %s",
        options.batch(),
        options.epochs(),
        rule,
        optimizer.lr(),
        options.seed(),
        hardware);
  }

  /** Whether every id has a row for good in each table. */
  public boolean keepsAllRows() {
    TableOptions tables = options.tables();
    return tables.rows().isAll() && tables.rowsOf().values().stream().allMatch(RowPolicy::isAll);
  }
}
