package dev.tern.cli;

import static dev.tern.cli.BrokenInputs.bad;
import static dev.tern.cli.BrokenInputs.convert;
import static dev.tern.cli.BrokenInputs.edited;
import static dev.tern.cli.BrokenInputs.flipped;
import static dev.tern.cli.BrokenInputs.rows;
import static dev.tern.cli.BrokenInputs.run;
import static dev.tern.cli.BrokenInputs.train;
import static dev.tern.cli.BrokenInputs.wrong;

import dev.tern.cli.BrokenInputs.Case;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** The broken inputs that are files of rows, by format. */
final class BrokenFiles {
  private static final String NO_DENSE = "data.dense.columns=";
  private static final String NO_SPARSE = "data.sparse.columns=";

  private BrokenFiles() {}

  static List<Case> csv() {
    return List.of(
        bad(
            "CSV: a column is missing",
            in -> train(in, rows(in), "data.dense.columns=a,age"),
            "rows.csv: got no column age, expected it among [y, a, c]"),
        bad(
            "CSV: a bad number in line 17",
            in -> train(in, edited(in, "16,", "sixteen,")),
            "rows.csv: line 17, byte ",
            "column a: got \"sixteen\", expected a number"),
        bad(
            "CSV: too few fields in a line",
            in -> train(in, edited(in, "16,c2", "16")),
            "rows.csv: line 17, byte ",
            "got 2 fields, expected 3"),
        bad(
            "CSV: a quote is never closed",
            in -> train(in, edited(in, "16,c2", "16,\"c2")),
            "rows.csv: line 17, byte ",
            "quote"),
        bad(
            "CSV: a label of 2",
            in -> train(in, edited(in, "1,15,", "2,15,")),
            "rows.csv: line 16, byte ",
            "column y: got label \"2\", expected 0 or 1"),
        bad(
            "CSV: a label that is no number",
            in -> train(in, edited(in, "1,15,", "NaN,15,")),
            "rows.csv: line 16, byte ",
            "column y: got label \"NaN\", expected 0 or 1"),
        bad(
            "CSV: no label",
            in -> train(in, edited(in, "1,15,", ",15,")),
            "rows.csv: line 16, byte ",
            "column y: got no label, expected one"),
        bad(
            "CSV: text where ids are integers",
            in -> train(in, rows(in), "data.sparse.encode=id"),
            "rows.csv: line 2, byte ",
            "column c: got \"c1\", expected a 64-bit integer id"),
        bad(
            "CSV: damaged gzip",
            in -> train(in, flipped(gzip(in), 0.5)),
            "rows.csv.gz: byte ",
            ": gzip member 1 from byte 0: got damaged data",
            "expected whole gzip data"),
        bad(
            "CSV: gzip that ends early",
            in -> train(in, cut(gzip(in), 40)),
            "rows.csv.gz: byte ",
            "got the end of the file, expected the rest of its data"),
        bad(
            "CSV: an empty file",
            in -> train(in, Files.createFile(in.resolve("rows.csv"))),
            "rows.csv: got no lines, expected the names of columns"),
        bad(
            "CSV: names but no rows",
            in -> train(in, Files.writeString(in.resolve("rows.csv"), "y,a,c\n")),
            "train: got no rows"),
        bad(
            "an absent file",
            in -> train(in, in.resolve("absent.csv")),
            "absent.csv: got no such file, expected data; check the path"),
        bad(
            "a pattern that nothing matches",
            in -> train(in, in.resolve("*.csv")),
            "*.csv: got no file that matches"),
        bad(
            "a folder with a file of another kind",
            in -> train(in, in),
            "train.yaml: got no column y, expected it among [data:]"),
        bad(
            "evaluation rows that lack a column",
            in ->
                train(
                    in,
                    rows(in),
                    "data.eval=" + Files.writeString(in.resolve("eval.csv"), "y,a\n0,1\n")),
            "eval.csv: got no column c"));
  }

  static List<Case> libsvm() {
    return List.of(
        bad(
            "LIBSVM: a line without a colon",
            in -> train(in, features(in, "9:1 12:1", "9:1 12"), svm()),
            "rows.svm: line 12, byte ",
            "got \"12\", expected feature:value"),
        bad(
            "LIBSVM: a value that is no number",
            in -> train(in, features(in, " 12:1", " 12:one"), svm()),
            "rows.svm: line 12, byte ",
            "got \"12:one\", expected feature:value"),
        bad(
            "LIBSVM: a weight where ids have none",
            in -> train(in, features(in, " 12:1", " 12:0.5"), svm()),
            "rows.svm: line 12, byte ",
            "got \"12:0.5\", expected the value 1"),
        bad(
            "LIBSVM: a feature twice",
            in -> train(in, features(in, " 12:1", " 12:1 12:1"), svm()),
            "rows.svm: line 12, byte ",
            "each once"),
        bad(
            "LIBSVM: a label of 2",
            in -> train(in, features(in, "-1 1:12 9:1", "2 1:12 9:1"), svm()),
            "rows.svm: line 12, byte ",
            "got label \"2\", expected 0 or 1"),
        bad(
            "LIBFFM: a file of LIBSVM",
            in ->
                train(
                    in,
                    features(in, "", ""),
                    "data.format=libffm",
                    "data.dense.columns=2",
                    "data.sparse.columns=1"),
            "rows.svm: line 1, byte 3: got \"1:1\", expected field:feature:value",
            "set data.format to libsvm"),
        wrong(
            "LIBFFM: columns that are no fields",
            in -> train(in, features(in, "", ""), "data.format=libffm"),
            "libffm: got the column a, expected a field, as in 3"));
  }

  static List<Case> binary() {
    return List.of(
        bad(
            "Norm: another key width than said",
            in -> train(in, converted(in, "rows.norm"), norm("data.key_type=u32")),
            "rows.norm: record 1, byte ",
            "expected",
            "U32 keys but fits I64"),
        bad(
            "Norm: a checksum that does not fit",
            in -> train(in, flipped(converted(in, "rows.norm"), 0.5), norm()),
            "rows.norm: record 29, byte ",
            "got checksum"),
        bad(
            "Norm: the last record is cut",
            in -> train(in, cut(converted(in, "rows.norm"), 5), norm()),
            "rows.norm: record 60, byte ",
            "expected"),
        bad(
            "Norm: more records announced than there are",
            in -> train(in, cut(converted(in, "rows.norm"), 27 * 3), norm()),
            "rows.norm: ",
            "expected"),
        bad(
            "Norm: a file of another format",
            in -> train(in, rows(in), norm()),
            "rows.csv: ",
            "expected",
            "Norm"),
        bad(
            "Norm: an empty file",
            in -> train(in, Files.createFile(in.resolve("rows.norm")), norm()),
            "rows.norm: ",
            "expected"),
        bad(
            "Norm: a list with an absent file",
            in -> train(in, Files.writeString(in.resolve("list.txt"), "1\nno.norm\n"), norm()),
            "no.norm: got no such file"),
        bad(
            "Raw: the file is no whole number of samples",
            in -> train(in, cut(converted(in, "rows.raw"), 5), raw("i64")),
            "rows.raw: ",
            "bytes",
            "expected"),
        bad(
            "Raw: another key width than said",
            in -> train(in, converted(in, "rows.raw"), raw("u32")),
            "rows.raw: ",
            "expected"),
        wrong(
            "Raw: the columns are not named",
            in -> train(in, converted(in, "rows.raw"), "data.format=raw", NO_DENSE, NO_SPARSE),
            "data.sparse.columns: got no names for Raw files"),
        bad(
            "Norm: an id too large for the keys asked for",
            in -> convert(in, rows(in), "out.norm", "--keys", "u32"),
            "out.norm: row 1, slot c: got id ",
            "expected one that a U32 key holds"));
  }

  static List<Case> parquet() {
    return List.of(
        bad(
            "Parquet: the footer is cut",
            in -> train(in, cut(converted(in, "rows.parquet"), 20), "data.format=parquet"),
            "rows.parquet: got a Parquet file without its end, expected"),
        bad(
            "Parquet: a damaged footer",
            in -> train(in, flipped(converted(in, "rows.parquet"), 0.9), "data.format=parquet"),
            "rows.parquet: ",
            "got",
            "damaged"),
        bad(
            "Parquet: a damaged page",
            in -> train(in, flipped(converted(in, "rows.parquet"), 0.1), "data.format=parquet"),
            "rows.parquet: column a, byte "),
        bad(
            "Parquet: nulls among the labels",
            in ->
                train(
                    in,
                    nulls(in),
                    "data.format=parquet",
                    "data.label.column=a",
                    "data.dense.columns=y"),
            "rows.parquet: row 8, column a: got null, expected"),
        bad(
            "Parquet: a column of another type",
            in ->
                train(
                    in,
                    converted(in, "rows.parquet"),
                    "data.format=parquet",
                    "data.label.column=c",
                    "data.sparse.columns=y",
                    "data.sparse.separator=;"),
            "rows.parquet: column y: got FLOAT, expected a LIST"),
        bad(
            "Parquet: a column is missing",
            in ->
                train(
                    in,
                    converted(in, "rows.parquet"),
                    "data.format=parquet",
                    "data.dense.columns=age"),
            "rows.parquet: got no column age"),
        bad(
            "Parquet: labels other than 0 and 1",
            in ->
                train(
                    in,
                    converted(in, "rows.parquet"),
                    "data.format=parquet",
                    "data.label.column=a",
                    "data.dense.columns=y"),
            "rows.parquet: row 2, column a: got label 2.0, expected 0 or 1"),
        bad(
            "Parquet: a file of another format",
            in -> train(in, rows(in), "data.format=parquet"),
            "that does not end with PAR1, expected a Parquet file"),
        bad(
            "Parquet: a broken _metadata.json",
            in -> {
              converted(in, "rows.parquet");
              Files.writeString(in.resolve("_metadata.json"), "{\"file_stats\": [");
              return train(in, in, "data.format=parquet", NO_DENSE, NO_SPARSE);
            },
            "_metadata.json: line 1, column "));
  }

  /** Rows: row i is {@code ±1 1:i 9:1 (10 + i % 7):1}. */
  private static Path features(Path in, String from, String to) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 60; i++) {
      text.append(
          "%s 1:%d 9:1 %d:1\n".formatted(i % 2 == 0 ? "-1" : "+1", i, i == 12 ? 12 : 20 + i % 7));
    }
    int at = text.indexOf(from);
    return Files.writeString(
        in.resolve("rows.svm"), text.replace(at, at + from.length(), to).toString());
  }

  private static String[] svm() {
    return new String[] {"data.format=libsvm", "data.dense.columns=1", "data.sparse.columns=c"};
  }

  private static Path gzip(Path in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(Files.readAllBytes(rows(in)));
    }
    return Files.write(in.resolve("rows.csv.gz"), bytes.toByteArray());
  }

  /** The rows in the format of {@code name}. */
  private static Path converted(Path in, String name) throws IOException {
    run(convert(in, rows(in), name));
    return in.resolve(name);
  }

  /** Rows of which a is null in row 8. */
  private static Path nulls(Path in) throws IOException {
    Path csv = edited(in, "0,8,", "0,,");
    run(convert(in, csv, "rows.parquet"));
    return in.resolve("rows.parquet");
  }

  private static Path cut(Path file, int bytes) throws IOException {
    byte[] all = Files.readAllBytes(file);
    return Files.write(file, Arrays.copyOf(all, all.length - bytes));
  }

  private static String[] norm(String... more) {
    List<String> all = new ArrayList<>(List.of("data.format=norm", "data.sparse.encode=id"));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private static String[] raw(String keys) {
    return new String[] {"data.format=raw", "data.sparse.encode=id", "data.key_type=" + keys};
  }
}
