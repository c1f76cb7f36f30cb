package dev.tern.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code tern} command: its subcommands are classes of this package, listed here. */
@Command(
    name = "tern",
    description = "Trains and serves click-through-rate models.",
    version = "tern 0.1.0-SNAPSHOT",
    mixinStandardHelpOptions = true,
    subcommands = {InfoCommand.class, CommandLine.HelpCommand.class})
public final class Main {
  private Main() {}

  /** Runs the command and exits with its code: 0 success, 1 failure, 2 wrong usage. */
  public static void main(String[] args) {
    hideIncubatorWarning();
    System.exit(new CommandLine(new Main()).execute(args));
  }

  /**
   * Takes the JVM's line about the incubating vector module off the terminal: it precedes any other
   * output, and no option of the JVM turns it off.
   */
  private static void hideIncubatorWarning() {
    if (Boolean.getBoolean("tern.terminal")) {
      System.err.print("\u001b[1A\u001b[2K");
      System.err.flush();
    }
  }
}
