package dev.tern.bench.fuzz;

import dev.tern.data.Schema;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.TextOptions;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Sound text of few rows, in notations drawn at random. */
final class TextSets {
  private static final List<String> DELIMITERS = List.of(",", "\t", "||", "::", "\u0001", ";");
  private static final List<String> NOTES = List.of("a note", "a \"note", "a,b", "");

  private final SplittableRandom random;

  TextSets(SplittableRandom random) {
    this.random = random;
  }

  /** Options of CSV files whose columns are {@code names} and one that is not read. */
  CsvOptions csv(List<String> names) {
    List<String> header = new ArrayList<>(names);
    header.add("more");
    return new CsvOptions(
        DELIMITERS.get(random.nextInt(DELIMITERS.size())),
        random.nextInt(4) == 0 ? header : List.of(),
        random.nextBoolean(),
        random.nextInt(4) != 0,
        CsvOptions.Escapes.values()[random.nextInt(3)],
        lines(true));
  }

  /** Options of files of features: with comments of their own. */
  LibsvmOptions libsvm() {
    LibsvmOptions options = LibsvmOptions.libsvm().withText(lines(false));
    return switch (random.nextInt(3)) {
      case 0 -> options;
      case 1 -> options.skippingUnnamed().ignoringValues();
      default -> options.weighing();
    };
  }

  private TextOptions lines(boolean comments) {
    Charset encoding =
        switch (random.nextInt(6)) {
          case 0 -> StandardCharsets.ISO_8859_1;
          case 1 -> StandardCharsets.UTF_16;
          default -> StandardCharsets.UTF_8;
        };
    int skipped = random.nextInt(3) == 0 ? random.nextInt(1, 4) : 0;
    return new TextOptions(skipped, comments && random.nextInt(3) == 0 ? "# " : "", encoding);
  }

  /**
   * The text of {@code plain}, written with commas and a line of names, in the notation of {@code
   * options}; with the marker {@code NA} in place of some numbers, and one column more.
   */
  String csv(String plain, CsvOptions options) {
    StringBuilder text = preamble(options.text());
    List<String> rows = plain.lines().toList();
    for (int i = options.header().isEmpty() ? 0 : 1; i < rows.size(); i++) {
      if (!options.text().comment().isEmpty() && random.nextInt(8) == 0) {
        text.append(options.text().comment()).append(note()).append('\n');
      }
      String row = i > 0 && random.nextInt(8) == 0 ? withMarker(rows.get(i)) : rows.get(i);
      text.append(row.replace(",", options.delimiter()));
      text.append(options.delimiter()).append(i == 0 ? "more" : more(options)).append('\n');
    }
    return text.toString();
  }

  /** {@code row} with a missing number in its third field. */
  private static String withMarker(String row) {
    String[] fields = row.split(",", -1);
    fields[2] = "NA";
    return String.join(",", fields);
  }

  /** Text of the column that is not read. */
  private String more(CsvOptions options) {
    int kind = random.nextInt(16);
    if (options.quotes() && kind < 4) {
      return List.of("\"x\ny\"", "\"\"", "\"a \"\"b\"\"\"", "\"" + options.delimiter() + "\"")
          .get(kind);
    }
    CsvOptions.Escapes escapes = options.escapes();
    if (escapes == CsvOptions.Escapes.ANYWHERE && kind >= 4 && kind < 8) {
      return List.of("a\\" + options.delimiter() + "b", "a\\\nb", "\\\\", "\\N").get(kind - 4);
    }
    boolean inQuotes = escapes != CsvOptions.Escapes.NONE && options.quotes();
    return inQuotes && kind == 8 ? "\"a\\\"\n\\\\\"" : "z";
  }

  private StringBuilder preamble(TextOptions options) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < options.skipLines(); i++) {
      text.append(note()).append('\n');
    }
    return text;
  }

  private String note() {
    return NOTES.get(random.nextInt(NOTES.size()));
  }

  /** {@code rows} lines of features, some with a query, and comments. */
  String libsvm(int rows, LibsvmOptions options) {
    StringBuilder text = preamble(options.text());
    for (int row = 0; row < rows; row++) {
      text.append(random.nextInt(6) == 0 ? " # " + note() + "\n" : "");
      text.append(random.nextBoolean() ? "1" : "-1").append(" qid:").append(row / 4);
      text.append(" 2:").append(random.nextInt(8) == 0 ? "NA" : String.valueOf(row));
      for (int k = random.nextInt(4), id = 2; k > 0; k--) {
        id += random.nextInt(1, 50);
        text.append(' ').append(id).append(":1");
      }
      text.append(random.nextInt(6) == 0 ? " # " + note() : "").append('\n');
    }
    return text.toString();
  }

  /** The columns of {@link #csv(String, CsvOptions)}, and the day that a folder names, if so. */
  static Columns columns(Schema schema, boolean folders) {
    Columns own = Columns.of(schema).withMissing(Set.of("NA"));
    if (!folders) {
      return own;
    }
    List<String> dense = new ArrayList<>(own.dense());
    dense.add("day@days");
    List<SparseColumn> sparse = new ArrayList<>(own.sparse());
    sparse.add(SparseColumn.text("day"));
    return new Columns(own.labels(), own.positive(), dense, sparse, own.missing());
  }
}
