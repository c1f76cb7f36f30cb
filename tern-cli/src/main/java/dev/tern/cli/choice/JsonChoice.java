package dev.tern.cli.choice;

import picocli.CommandLine.Option;

/** Command-line argument for results that programs read. */
public final class JsonChoice {
  @Option(
      names = "--json",
      description = "Print a line of JSON for each result, in the place of tables and text.")
  private boolean json;

  /** Whether JSON is asked for. */
  public boolean isGiven() {
    return json;
  }
}
