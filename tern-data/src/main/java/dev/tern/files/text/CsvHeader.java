package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The names of a CSV file's columns.
 *
 * @param names in the order of the fields
 * @param listed whether the options name the columns; false: the first line does
 */
record CsvHeader(Path file, List<String> names, boolean listed) {
  /** The names that {@code options} list, else those in the first line of {@code input}. */
  static CsvHeader of(Path file, CsvInput input, CsvOptions options) {
    boolean listed = !options.header().isEmpty();
    return new CsvHeader(file, listed ? options.header() : read(file, input), listed);
  }

  private static List<String> read(Path file, CsvInput input) {
    if (!input.next()) {
      throw new DataException(
          file + ": got no lines, expected the names of columns in the first; check the file");
    }
    if (!input.problem().isEmpty()) {
      throw new DataException(input.where(input.problemAt()) + ": " + input.problem());
    }
    String[] names = new String[input.fields()];
    for (int i = 0; i < names.length; i++) {
      names[i] = input.text(i);
    }
    return List.of(names);
  }

  int width() {
    return names.size();
  }

  boolean has(String name) {
    return names.contains(name);
  }

  /** The field of each column in {@code wanted}. */
  int[] find(List<String> wanted) {
    int[] found = new int[wanted.size()];
    for (int i = 0; i < found.length; i++) {
      String name = wanted.get(i);
      found[i] = names.indexOf(name);
      if (found[i] < 0) {
        throw new DataException(
            "%s: got no column %s, expected it among %s; %s"
                .formatted(file, Shown.excerpt(name), Shown.list(names), hint(name)));
      }
      if (names.lastIndexOf(name) != found[i]) {
        throw new DataException(
            "%s: got two columns named %s, expected one; rename one of them".formatted(file, name));
      }
    }
    return found;
  }

  /** What may help where the file lacks {@code name}. */
  private String hint(String name) {
    for (String other : names) {
      if (bare(other).equals(bare(name))) {
        return "did you mean %s?%s"
            .formatted(
                Shown.quoted(other),
                other.equals(other.strip()) ? "" : " A list in YAML can say so: [\"name \"]");
      }
    }
    if (names.getFirst().startsWith("sep=")) {
      String separator = names.getFirst().substring("sep=".length());
      return "its first line is a note of Excel: set data.skip_lines: 1"
          + (separator.isEmpty() ? "" : ", and data.delimiter to what the note says");
    }
    if (names.stream().anyMatch(other -> other.indexOf('\uFFFD') >= 0)) {
      return "its first line is not UTF-8: set data.encoding, as in latin-1";
    }
    return delimiter()
        .orElse(
            "check its name, the delimiter and whether the first line names the columns"
                + " (data.skip_lines leaves out what stands before it)");
  }

  /** What the delimiter may be where the first line was not cut. */
  private Optional<String> delimiter() {
    for (String delimiter : List.of("\t", ";", "|", ",")) {
      if (width() == 1 && names.getFirst().contains(delimiter)) {
        return Optional.of(
            "its first line holds \"%s\", which the delimiter (data.delimiter) may be"
                .formatted(Shown.line(delimiter)));
      }
    }
    return Optional.empty();
  }

  /** {@code name} in small letters, without what nobody sees at its ends. */
  private static String bare(String name) {
    return name.replaceAll("^[^\\p{L}\\p{N}_]+|[^\\p{L}\\p{N}_]+$", "").toLowerCase(Locale.ROOT);
  }

  /**
   * Whether the record of {@code input} holds the names, as a line does that joining files left, or
   * one of names beside a list of them. A file of one column may hold its name as a value.
   */
  boolean isIn(CsvInput input) {
    if (input.fields() != width() || width() == 1) {
      return false;
    }
    for (int i = 0; i < width(); i++) {
      if (!input.text(i).equalsIgnoreCase(names.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** The fault of a record that {@link #isIn} finds. */
  DataException again(CsvInput input) {
    String got =
        listed && input.isFirst()
            ? "the names of the columns, expected a row; leave data.columns out, or set"
                + " data.skip_lines: "
                + input.line()
            : "the names of the columns again, expected a row; take out the line, which joined"
                + " files may leave";
    return new DataException(input.where(input.recordStart()) + ": got " + got);
  }

  /** {@code fault} of the record of {@code input}, told as what it may be. */
  DataException told(DataException fault, CsvInput input) {
    if (isIn(input)) {
      return again(input);
    }
    return listed && input.isFirst()
        ? new DataException(
                fault.getMessage()
                    + "; if the line holds names of columns, leave data.columns out or set"
                    + " data.skip_lines: "
                    + input.line(),
                fault)
            .losing(fault.rows())
        : fault;
  }

  /** The fault of a record with another number of fields. */
  DataException badWidth(CsvInput input) {
    return new DataException(
        "%s: got %s fields, expected %s%s"
            .formatted(
                input.where(input.recordStart()), input.fields(), width(), widthAdvice(input)));
  }

  private String widthAdvice(CsvInput input) {
    int last = input.fields() - 1;
    if (input.holdsReturn()) {
      return "; it holds \\r, with which old Macs end lines: convert the file, as with tr '\\r'"
          + " '\\n'";
    }
    if (input.holdsNul()) {
      return "; it holds bytes of 0, as of a file that was not written to its end: fetch it again";
    }
    if (last == width() && input.start(last) == input.end(last)) {
      return "; it ends with a delimiter, behind which a field begins: take it out, or name that"
          + " field too";
    }
    return listed
        ? " as data.columns lists; mend the line, check the delimiter, or list the columns of this"
            + " file alone, as in data.columns=a,b where it has no label"
        : "; mend the line or check the delimiter";
  }
}
