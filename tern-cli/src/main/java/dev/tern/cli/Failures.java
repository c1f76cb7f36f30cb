package dev.tern.cli;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Names;
import dev.tern.cli.run.RunException;
import dev.tern.internal.memory.OutOfBudgetException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Turns exceptions of commands into one message on the error stream and an exit code. Prints a
 * stack trace only if the user asked for it.
 */
record Failures(BooleanSupplier debug)
    implements IExecutionExceptionHandler, IParameterExceptionHandler {
  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult result) {
    return report(command, e);
  }

  /** Prints the message of {@code e} and returns the exit code. */
  int report(CommandLine command, Throwable e) {
    print(command, message(e));
    if (debug.getAsBoolean()) {
      e.printStackTrace(command.getErr());
    }
    return e instanceof ConfigException ? ExitCode.USAGE : ExitCode.SOFTWARE;
  }

  private static String message(Throwable e) {
    return switch (e) {
      case ConfigException _, RunException _, DataException _ -> text(e);
      case OutOfBudgetException _ ->
          text(e) + " (the budgets are train.memory and train.activation_memory)";
      case IllegalArgumentException _, IllegalStateException _, UncheckedIOException _ -> text(e);
      case OutOfMemoryError _ ->
          "java: got a full heap ("
              + e.getMessage()
              + "), expected room; give java more, as in TERN_JAVA_OPTS=-Xmx4g";
      default ->
          "an error in Tern itself: " + e + "; run again with --debug and report what it prints";
    };
  }

  /** The message of {@code e}, with the key of what it advises to change. */
  private static String text(Throwable e) {
    String text = e.getMessage() == null ? e.toString() : e.getMessage();
    return text.contains("lower the learning rate")
        ? text + " (the learning rate is train.optimizer.lr)"
        : text;
  }

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    print(command, e.getMessage() + suggestion(e) + "; " + name + " --help shows what there is");
    if (debug.getAsBoolean()) {
      e.printStackTrace(command.getErr());
    }
    return ExitCode.USAGE;
  }

  private static String suggestion(ParameterException e) {
    if (!(e instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return "";
    }
    List<String> names = new ArrayList<>(e.getCommandLine().getSubcommands().keySet());
    names.addAll(e.getCommandLine().getCommandSpec().optionsMap().keySet());
    return Names.nearest(unmatched.getUnmatched().getFirst(), names)
        .map(near -> "; did you mean " + near + "?")
        .orElse("");
  }

  private static void print(CommandLine command, String message) {
    String label = command.getColorScheme().ansi().string("@|bold,red error:|@ ");
    command.getErr().println(label + Shown.message(message));
    command.getErr().flush();
  }
}
