package dev.tern.cli.choice;

import dev.tern.cli.config.Config;
import java.util.List;
import picocli.CommandLine.Option;

/** Command-line argument for how files are read, where that differs from how a run read its own. */
public final class ReadingChoice {
  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "How files are read, where that differs from the run's, as in --set"
              + " data.delimiter=tab.")
  private List<String> overrides = List.of();

  /**
   * Each a key and its value.
   *
   * @param labelled whether labels are read, too
   * @throws dev.tern.cli.config.ConfigException if a key says more than how files are read
   */
  public List<String> overrides(boolean labelled) {
    Config.requireReading(overrides, labelled);
    return overrides;
  }
}
