package dev.tern.cli;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/** The {@code tern} command: its subcommands are listed in {@link Subcommand}. */
@Command(
    name = "tern",
    description = "Trains and serves click-through-rate models.",
    version = "tern 0.1.0-SNAPSHOT",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success",
      "1:the work failed: bad data, a full disk, too little memory",
      "2:wrong usage or configuration",
      "130:interrupted"
    })
public final class Main {
  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error.")
  private boolean debug;

  private Main() {}

  /** Runs the command and exits with its code: 0 success, 1 failure, 2 wrong usage. */
  public static void main(String[] args) {
    StandardError.take();
    PrintWriter out = new PrintWriter(System.out, true, System.out.charset());
    PrintWriter err = new PrintWriter(System.err, true, System.err.charset());
    int code = 1;
    try {
      code = run(out, err, args);
    } finally {
      ProcessEnd.reached();
    }
    System.exit(code);
  }

  /** Runs the command and returns its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    Main main = new Main();
    Failures failures = new Failures(() -> main.debug);
    CommandLine root = new CommandLine(main);
    Subcommand.wanted(args).forEach(each -> root.addSubcommand(each.command()));
    CommandLine command =
        root.registerConverter(long.class, text -> number(text, "a whole number", Long::valueOf))
            .registerConverter(double.class, text -> number(text, "a number", Double::valueOf))
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setOut(out)
            .setErr(err)
            .setParameterExceptionHandler(failures)
            .setExecutionExceptionHandler(failures);
    Optional.ofNullable(command.getSubcommands().get("bench"))
        .ifPresent(bench -> bench.setUnmatchedOptionsArePositionalParams(true));
    try {
      return command.execute(args);
    } catch (Error e) { // picocli hands on exceptions only
      return failures.report(command, e);
    }
  }

  private static <T> T number(String text, String expected, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("got " + text + ", expected " + expected);
    }
  }
}
