package dev.tern.cli;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A script that has the shell fish complete commands and options; picocli writes those for bash and
 * zsh. It has a line a command and a line an option. Words that are no options say in which command
 * the cursor stands, as commands stand before their arguments.
 */
final class FishCompletion {
  private static final int LONGEST = 80;

  /** Where the first sentence of a description ends, or what says a default begins. */
  private static final Pattern END = Pattern.compile("\\.(\\s|$)|;? *\\(?(by )?default \\$|%n");

  private static final String FUNCTIONS =
      """
      # Whether the words before the cursor are these commands and no more.
      function __%1$s_at
          set -l words (printf '%%s\\n' (commandline -opc)[2..-1] | string match -v -- '-*')
          test "$words" = "$argv"
      end
      # Whether the words before the cursor begin with these commands.
      function __%1$s_in
          set -l words (printf '%%s\\n' (commandline -opc)[2..-1] | string match -v -- '-*')
          string match -q -- "$argv *" "$words "
      end
      """;

  private final StringBuilder out = new StringBuilder();
  private final String name;

  private FishCompletion(String name) {
    this.name = name;
  }

  /** The script for a command with all of its subcommands. */
  static String script(CommandSpec root) {
    FishCompletion script = new FishCompletion(root.name());
    script.out.append(FUNCTIONS.formatted(root.name()));
    script.command(root, "");
    return script.out.toString();
  }

  private void command(CommandSpec spec, String path) {
    String at = "-n '__" + name + "_at" + (path.isEmpty() ? "" : " " + path) + "'";
    String in = path.isEmpty() ? at : "-n '__" + name + "_in " + path + "'";
    spec.subcommands()
        .forEach((sub, command) -> {
          CommandSpec own = command.getCommandSpec();
          if (sub.equals(own.name())) { // Not by an alias.
            line("%s -f -a %s%s", at, sub, description(own.usageMessage().description()));
          }
        });
    for (OptionSpec option : spec.options()) {
      if (!option.hidden()) {
        line("%s%s%s%s", in, names(option), argument(option), description(option.description()));
      }
    }
    spec.subcommands()
        .forEach((sub, command) -> {
          CommandSpec own = command.getCommandSpec();
          if (sub.equals(own.name())) {
            command(own, path.isEmpty() ? sub : path + " " + sub);
          }
        });
  }

  private void line(String format, Object... values) {
    out.append("complete -c ")
        .append(name)
        .append(' ')
        .append(format.formatted(values))
        .append('\n');
  }

  private static String names(OptionSpec option) {
    StringBuilder all = new StringBuilder();
    for (String each : option.names()) {
      boolean isLong = each.startsWith("--");
      all.append(isLong ? " -l " : " -s ").append(each.substring(isLong ? 2 : 1));
    }
    return all.toString();
  }

  /** Values to choose from; names of files where the value may be one. */
  private static String argument(OptionSpec option) {
    if (option.arity().max() == 0) {
      return "";
    }
    List<String> choices = new ArrayList<>();
    Optional.ofNullable(option.completionCandidates())
        .ifPresent(all -> all.forEach(each -> choices.add(each.toLowerCase(Locale.ROOT))));
    if (!choices.isEmpty()) {
      return " -x -a " + quoted(String.join(" ", choices));
    }
    return isFile(option) ? " -r" : " -x";
  }

  private static boolean isFile(OptionSpec option) {
    for (Class<?> type : option.auxiliaryTypes()) {
      if (type == Path.class || type == File.class || type == String.class) {
        return true;
      }
    }
    return false;
  }

  private static String description(String... lines) {
    String text = CommandLine.Help.Ansi.OFF.string(String.join(" ", lines));
    var end = END.matcher(text);
    String first = (end.find() ? text.substring(0, end.start()) : text).strip();
    String cut = first.length() <= LONGEST ? first : first.substring(0, LONGEST - 3) + "...";
    return cut.isEmpty() ? "" : " -d " + quoted(cut);
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
