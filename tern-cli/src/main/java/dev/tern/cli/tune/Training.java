package dev.tern.cli.tune;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.Watch;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Trains on behalf of the commands of this room. */
public interface Training {
  /** Begins to show what is done on {@code err}. */
  Session begin(PrintWriter err);

  /** Trains one run after another. */
  interface Session extends Watch {
    /** Trains as {@code config} says, and goes on with what its folder has already. */
    Result train(Config config);
  }

  /**
   * How a run ended.
   *
   * @param best its best evaluation, where there was one
   * @param lines its metrics
   * @param stopped whether it was interrupted
   */
  record Result(Optional<MetricsLine> best, List<MetricsLine> lines, boolean stopped) {
    /** Keeps a copy of the lines. */
    public Result {
      lines = List.copyOf(lines);
    }

    /** Seconds of training and evaluation. */
    public double seconds() {
      return lines.isEmpty() ? 0 : lines.getLast().seconds();
    }
  }

  /** The metrics of a run. */
  static Path metrics(Path run) {
    return run.resolve("metrics.jsonl");
  }
}
