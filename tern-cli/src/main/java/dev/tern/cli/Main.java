package dev.tern.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code tern} command. */
@Command(name = "tern", version = "tern 0.1.0-SNAPSHOT", mixinStandardHelpOptions = true)
public final class Main {
  private Main() {}

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
