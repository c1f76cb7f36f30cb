package dev.tern.cli.choice;

import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.ScoreOptions;
import picocli.CommandLine.Option;

/** Command-line argument for how a model that scores keeps its tables. */
public final class TablesChoice {
  @Option(
      names = "--tables",
      paramLabel = "FORMAT",
      description =
          "How rows of embedding tables lie in memory: stored, or int8 in about a byte a weight"
              + " (default ${DEFAULT-VALUE}).",
      defaultValue = "stored")
  private RowFormat tables = RowFormat.STORED;

  /** The usual options of a model that scores, but for its tables. */
  public ScoreOptions options() {
    return ScoreOptions.DEFAULT.withTables(tables);
  }
}
