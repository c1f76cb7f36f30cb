package dev.tern.cli.config;

import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.optim.Optimizer;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How the model is trained, and on what.
 *
 * @param options the engine's options, without folders of the run
 * @param threads compute threads, at least 1
 * @param memory hard limit in bytes
 * @param activationMemory hard limit of the values of one step, in bytes, at most {@code memory}
 * @param planSeconds how long to search for what a step that does not fit computes again; 0 for a
 *     search of a second or so
 * @param tableMemory what tables share of it, in bytes; 0 keeps all rows in memory
 * @param checkpointEvery when a checkpoint is written
 * @param beginning the weights that it begins with
 */
public record TrainConfig(
    TrainOptions options,
    int threads,
    long memory,
    long activationMemory,
    double planSeconds,
    long tableMemory,
    Every checkpointEvery,
    Beginning beginning) {
  /**
   * What a run begins with.
   *
   * @param from the run or checkpoint whose weights it begins with; empty for weights at random
   * @param withState whether the state of its optimizers goes on too
   * @param vectors for tables by name the file of vectors that they begin with
   */
  public record Beginning(Optional<Path> from, boolean withState, Map<String, Path> vectors) {}

  static TrainConfig of(Settings s) {
    int threads = s.get(TrainKeys.THREADS).intValue();
    return new TrainConfig(
        TrainKeys.options(s),
        threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
        s.get(TrainKeys.MEMORY),
        activationMemory(s.get(TrainKeys.ACTIVATION_MEMORY), s.get(TrainKeys.MEMORY)),
        s.get(TrainKeys.PLAN_SECONDS),
        s.get(TrainKeys.TABLE_MEMORY),
        s.get(TrainKeys.CHECKPOINT_EVERY),
        new Beginning(
            s.get(TrainKeys.FROM).stream().findFirst(),
            s.get(TrainKeys.FROM_STATE),
            ModelKeys.vectors(s)));
  }

  /** How it is trained in one line. */
  public String summary() {
    Optimizer optimizer = options.optimizer();
    String rule = optimizer.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    return String.format(
        Locale.ROOT,
        "batch %,d, epochs %d, %s, learning rate %s, seed %d, threads %d",
        options.batch(),
        options.epochs(),
        rule,
        optimizer.lr(),
        options.seed(),
        threads);
  }

  /** Whether every id has a row for good in each table. */
  public boolean keepsAllRows() {
    TableOptions tables = options.tables();
    return tables.rows().isAll() && tables.rowsOf().values().stream().allMatch(RowPolicy::isAll);
  }

  private static long activationMemory(long configured, long memory) {
    return configured == 0 ? memory : Math.min(configured, memory);
  }
}
