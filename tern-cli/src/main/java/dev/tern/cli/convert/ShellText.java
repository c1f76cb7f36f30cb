package dev.tern.cli.convert;

import dev.tern.base.Shown;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Words of commands that a reader may copy into a shell. */
final class ShellText {
  /** Words that no shell splits or expands. */
  private static final Pattern PLAIN =
      Pattern.compile("[A-Za-z0-9_./:=,+@%][A-Za-z0-9_./:=,+@%-]*");

  private ShellText() {}

  /** {@code word} in single quotes where it needs them, on one line. */
  static String quote(String word) {
    String line = Shown.line(word);
    return PLAIN.matcher(line).matches() ? line : "'" + line.replace("'", "'\\''") + "'";
  }

  static String quote(Path path) {
    return quote(path.toString());
  }
}
