package dev.tern.cli.choice;

import picocli.CommandLine.Option;

/** Command-line argument for what a command draws at random. */
public final class SeedChoice {
  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "Seed of all that is drawn at random: the same seed gives the same (default"
              + " ${DEFAULT-VALUE}).")
  private long seed = 1;

  /** The seed. */
  public long seed() {
    return seed;
  }
}
