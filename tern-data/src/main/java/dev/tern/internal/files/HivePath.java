package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.TimeParser;
import dev.tern.data.encode.TimePart;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The columns that the folders of a file hold, as Hive, Spark and others write them: all rows of
 * {@code day=2026-01-01/country=de/part-0.csv} have these values of {@code day} and {@code
 * country}. Names and values may have characters as {@code %3A}. {@code __HIVE_DEFAULT_PARTITION__}
 * or nothing says that the value is missing. A column that the file itself has is read from there.
 */
public final class HivePath {
  private static final String MISSING = "__HIVE_DEFAULT_PARTITION__";

  private final Path file;
  private final Map<String, String> values;

  private HivePath(Path file, Map<String, String> values) {
    this.file = file;
    this.values = values;
  }

  /** The columns of the folders that {@code file} is in; the innermost one of a name counts. */
  public static HivePath of(Path file) {
    Map<String, String> values = new LinkedHashMap<>();
    Path folder = file.toAbsolutePath().normalize().getParent();
    for (Path part : folder == null ? Set.<Path>of() : folder) {
      String name = part.toString();
      int equals = name.indexOf('=');
      if (equals > 0) {
        String value = name.substring(equals + 1);
        values.put(decoded(name.substring(0, equals)), value.equals(MISSING) ? "" : decoded(value));
      }
    }
    return new HivePath(file, values);
  }

  /** {@code text} with each {@code %XX} as the byte of that number. */
  private static String decoded(String text) {
    if (text.indexOf('%') < 0) {
      return text;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int length = 0;
    for (int i = 0; i < bytes.length; i++) {
      int high = i + 2 < bytes.length ? Character.digit(bytes[i + 1], 16) : -1;
      int low = high < 0 ? -1 : Character.digit(bytes[i + 2], 16);
      boolean code = bytes[i] == '%' && low >= 0;
      bytes[length] = code ? (byte) (16 * high + low) : bytes[i];
      length++;
      i += code ? 2 : 0;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  /** The names of the columns, outermost first. */
  public Collection<String> columns() {
    return values.keySet();
  }

  /** Whether the folders hold {@code column}, or the times that it is a {@link TimePart} of. */
  public boolean has(String column) {
    return values.containsKey(column) || part(column).isPresent();
  }

  private Optional<TimePart> part(String column) {
    return TimePart.of(column).filter(_ -> values.containsKey(TimePart.source(column)));
  }

  /** The value of {@code column}, which the folders hold, as written; empty where it is missing. */
  public String text(String column) {
    String value = values.get(column);
    return value == null ? values.getOrDefault(TimePart.source(column), "") : value;
  }

  private boolean isMissing(String column, Set<String> missing) {
    return text(column).isEmpty() || missing.contains(text(column));
  }

  /**
   * The number in {@code column}; NaN where it is missing.
   *
   * @param missing texts that mean a missing value
   */
  public float number(String column, Set<String> missing) {
    if (isMissing(column, missing)) {
      return Float.NaN;
    }
    if (!values.containsKey(column)) {
      return part(column).orElseThrow().number(micros(column));
    }
    NumberParser numbers = new NumberParser();
    byte[] text = bytes(text(column));
    if (!numbers.parseFloat(text, 0, text.length) || Float.isInfinite(numbers.number())) {
      throw fault(
          column,
          TimeParser.parse(text(column)) == TimeParser.NONE
              ? "a finite number; make the column sparse"
              : "a number; of a time name parts, as in " + column + "@days");
    }
    return numbers.number();
  }

  private long micros(String column) {
    long micros = TimeParser.parse(text(column));
    if (micros == TimeParser.NONE) {
      throw fault(column, "a time such as 2026-01-31T08:30:00Z; name the folder so");
    }
    return micros;
  }

  /** The label in {@code column}, by the rule of {@code columns}; {@code policy} must accept it. */
  public float label(String column, Columns columns, ReadPolicy policy) {
    ReadPolicy.Labels may = policy.labels(column);
    if (may.optional() && isMissing(column, columns.missing())) {
      return Float.NaN;
    }
    boolean texts = !columns.positive().isEmpty() && policy.takesTexts(column);
    if (texts && !isMissing(column, columns.missing())) {
      return columns.positive().contains(text(column)) ? 1 : 0;
    }
    float label = number(column, columns.missing());
    if (!may.accepts(label)) {
      throw may.fault(where(column), '"' + Shown.line(text(column)) + '"');
    }
    return may.of(label);
  }

  /**
   * The ids in {@code column}, none or one: a value is one, whatever separates those of a field.
   *
   * @param missing texts that mean a missing value
   */
  public long[] ids(SparseColumn column, Set<String> missing, TextDictionary dictionary) {
    String name = column.name();
    boolean none = isMissing(name, missing);
    if (none && column.values() == SparseColumn.Values.INSTANT) {
      throw fault(name, "a time such as 2026-01-31T08:30:00Z; name the folder so");
    }
    if (none && !(column.text() && column.separator().isEmpty())) {
      return new long[0];
    }
    String value = text(name);
    if (!none && !values.containsKey(name)) {
      value = Long.toString(part(name).orElseThrow().whole(micros(name)));
    }
    byte[] text = bytes(none ? "" : value);
    if (column.text()) {
      long hash = TextHash.of(text, 0, text.length);
      dictionary.saw(hash, text, 0, text.length);
      return new long[] {hash};
    }
    NumberParser numbers = new NumberParser();
    boolean unsigned = column.values() == SparseColumn.Values.UNSIGNED;
    if (!numbers.parseInteger(text, 0, text.length)
        || numbers.integer() < 0 && (text[0] == '-') == unsigned) {
      throw fault(
          name,
          unsigned
              ? "an integer from 0 to 2^64 - 1; read the column as texts (data.sparse.values: text)"
              : "a 64-bit integer; read the column as texts, or set data.sparse.values: unsigned");
    }
    return new long[] {numbers.integer()};
  }

  /**
   * Refuses to copy rows to {@code parts} where that loses a column.
   *
   * @param header columns that the file itself has
   */
  public void requireKept(Collection<String> header, List<Path> parts) {
    for (String column : columns()) {
      for (Path part : header.contains(column) ? List.<Path>of() : parts) {
        Map<String, String> kept = of(part).values;
        if (!text(column).equals(kept.get(column))) {
          throw new DataException(
              ("%s: got the column %s in the name of a folder alone, which rows in %s would lose;"
                      + " write parts into a folder %s=%s, a split for each such folder, or"
                      + " convert the rows (tern data convert)")
                  .formatted(file, column, part, column, text(column)));
        }
      }
    }
  }

  private DataException fault(String column, String expected) {
    return new DataException(
        "%s: got \"%s\", expected %s".formatted(where(column), text(column), expected));
  }

  private String where(String column) {
    return file + ": folder of column " + column;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
