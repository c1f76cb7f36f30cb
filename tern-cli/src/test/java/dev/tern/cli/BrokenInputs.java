package dev.tern.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;

/**
 * Inputs that are broken on purpose, with the command that meets each and what it must answer. As a
 * program it prepares them all in a folder, for a script to run the commands.
 */
final class BrokenInputs {
  private static final int ROWS = 60;

  private BrokenInputs() {}

  /** Makes the input in {@code folder} and returns the command. */
  @FunctionalInterface
  interface Preparation {
    List<String> in(Path folder) throws IOException;
  }

  /**
   * A broken input.
   *
   * @param name what is broken
   * @param code the exit code
   * @param preparation makes it
   * @param said what the error must contain
   */
  record Case(String name, int code, Preparation preparation, List<String> said) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case bad(String name, Preparation preparation, String... said) {
    return new Case(name, 1, preparation, List.of(said));
  }

  private static Case wrong(String name, Preparation preparation, String... said) {
    return new Case(name, 2, preparation, List.of(said));
  }

  static List<Case> all() {
    List<Case> all = new ArrayList<>();
    all.addAll(csv());
    all.addAll(binary());
    all.addAll(parquet());
    all.addAll(configuration());
    all.addAll(runs());
    all.addAll(arguments());
    return all;
  }

  private static List<Case> csv() {
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
            "column y: got label \"\", expected 0 or 1"),
        bad(
            "CSV: text where ids are integers",
            in -> train(in, rows(in), "data.sparse.encode=id"),
            "rows.csv: line 2, byte ",
            "column c: got \"c1\", expected a 64-bit integer id"),
        bad(
            "CSV: damaged gzip",
            in -> train(in, flipped(gzip(in), 0.5)),
            "rows.csv.gz: line ",
            " of the uncompressed text: got ",
            "expected whole gzip data"),
        bad(
            "CSV: gzip that ends early",
            in -> train(in, cut(gzip(in), 40)),
            "rows.csv.gz: line ",
            "expected whole gzip data"),
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
            "a folder in place of a file",
            in -> train(in, in),
            ": got an error reading it (Is a directory), expected a file"),
        bad(
            "evaluation rows that lack a column",
            in ->
                train(
                    in,
                    rows(in),
                    "data.eval=" + Files.writeString(in.resolve("eval.csv"), "y,a\n0,1\n")),
            "eval.csv: got no column c"));
  }

  private static List<Case> binary() {
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

  private static final String NO_DENSE = "data.dense.columns=";
  private static final String NO_SPARSE = "data.sparse.columns=";

  private static List<Case> parquet() {
    return List.of(
        bad(
            "Parquet: the footer is cut",
            in -> train(in, cut(converted(in, "rows.parquet"), 20), "data.format=parquet"),
            "rows.parquet: footer: ",
            "expected"),
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
                    "data.sparse.columns=y"),
            "rows.parquet: column y: got FLOAT, expected"),
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
            "rows.csv: footer: got a file that does not end with PAR1"),
        bad(
            "Parquet: a broken _metadata.json",
            in -> {
              converted(in, "rows.parquet");
              Files.writeString(in.resolve("_metadata.json"), "{\"file_stats\": [");
              return train(in, in, "data.format=parquet", NO_DENSE, NO_SPARSE);
            },
            "_metadata.json: line 1, column "));
  }

  private static List<Case> configuration() {
    return List.of(
        wrong(
            "configuration: an unknown key",
            in -> configured(in, text -> text.replace("batch:", "bacth:")),
            "train.yaml line 8: got the unknown key train.bacth; did you mean train.batch?"),
        wrong(
            "configuration: a bad value",
            in -> configured(in, text -> text.replace("batch: 16", "batch: many")),
            "train.yaml line 8: train.batch: got many, expected a whole number from 1 to"),
        wrong(
            "configuration: a value out of range",
            in -> train(in, rows(in), "train.threads=5000"),
            "--set train.threads=5000: train.threads: got 5000, expected a whole number from 0"),
        wrong(
            "configuration: broken YAML",
            in -> configured(in, text -> text.replace("{columns: [a]}", "{columns: [a}")),
            "train.yaml line 5: got broken YAML",
            "check indent, quotes and brackets"),
        wrong(
            "configuration: brackets nested deeply",
            in -> configured(in, text -> text.replace("[a]", "[".repeat(20_000))),
            "train.yaml: got broken YAML (brackets or indents nested thousands deep), expected"),
        wrong(
            "configuration: a file of rows",
            in -> List.of("train", rows(in).toString()),
            "rows.csv line 1: the file: got y,a,c 1",
            "... (",
            " characters), expected keys and values"),
        wrong(
            "configuration: no training files",
            in -> train(in, rows(in), "data.train="),
            "--set data.train=: data.train: got nothing, expected a path or a list of paths"),
        wrong(
            "configuration: an unknown model",
            in -> train(in, rows(in), "model.type=deepfmm"),
            "model.type: got deepfmm, expected one of wdl, deepfm",
            "did you mean deepfm?"),
        wrong(
            "configuration: a column that data.columns lacks",
            in -> train(in, rows(in), "data.columns=y,a,b"),
            "data.sparse.columns: got the column c, expected one of data.columns",
            "y, a, b"),
        wrong(
            "configuration: a missing key",
            in -> configured(in, text -> text.replace("type: fm, ", "")),
            "train.yaml: got no model.type, expected one of",
            "--set model.type=VALUE"),
        wrong(
            "configuration: a key of another model",
            in -> configured(in, text -> text.replace("type: fm,", "type: fm, cross_layers: 2,")),
            "train.yaml line 7: got model.cross_layers, expected it only where model.type is"),
        wrong(
            "configuration: an absent file",
            in -> List.of("train", in.resolve("no.yaml").toString()),
            "no.yaml: got no such file, expected a configuration; check the path"),
        wrong(
            "configuration: --set without a value",
            in -> train(in, rows(in), "train.batch"),
            "--set train.batch: got no key and value, expected key=value"),
        bad(
            "a memory budget that is too small",
            in -> train(in, rows(in), "train.memory=16m", "model.embedding=4096", "model.type=wdl"),
            "memory",
            "expected",
            "train.memory"));
  }

  private static List<Case> runs() {
    return List.of(
        bad(
            "a run folder that cannot be made",
            in -> train(in, rows(in), "run.dir=" + rows(in).resolve("run")),
            "rows.csv/run: got an error writing it",
            "expected a folder that can be written"),
        bad(
            "a run folder with an earlier run",
            in -> {
              trained(in);
              return train(in, in.resolve("rows.csv"));
            },
            "got a folder with an earlier run, expected a new one; give --resume"),
        wrong(
            "--resume of a run configured otherwise",
            in -> {
              trained(in);
              List<String> command =
                  new ArrayList<>(train(in, in.resolve("rows.csv"), "train.batch=7"));
              command.add("--resume");
              return command;
            },
            "config.yaml: got another configuration for --resume (train.batch: 7, was 16)"),
        bad(
            "a run folder with files of somebody else",
            in -> {
              Path file = Files.createDirectories(in.resolve("run")).resolve("report.html");
              Files.writeString(file, "mine");
              return train(in, rows(in));
            },
            "run: got a folder that holds report.html and no run of Tern's, expected a new or"),
        wrong(
            "predictions onto the rows to score",
            in -> {
              trained(in);
              String rows = rows(in).toString();
              return List.of("predict", run(in), rows, "--overwrite", "--out", rows);
            },
            "rows.csv: got a file to write that is an input, expected another"),
        bad(
            "no rows to evaluate on",
            in -> {
              trained(in);
              Path empty = Files.writeString(in.resolve("no.csv"), "y,a,c\n");
              return List.of("evaluate", run(in), empty.toString());
            },
            "no.csv: got no rows, expected some to evaluate on"),
        bad(
            "a checkpoint with one byte changed",
            in -> predict(in, flipped(weights(trained(in)), 0.9)),
            "0.safetensors: got SHA-256",
            "expected",
            "damaged"),
        bad(
            "a checkpoint that lacks a file",
            in -> {
              Path weights = weights(trained(in));
              Files.delete(weights);
              return predict(in, weights);
            },
            "0.safetensors: got no such file, expected one as manifest.json says",
            "damaged"),
        bad(
            "a checkpoint with a broken manifest",
            in -> {
              Path weights = weights(trained(in));
              Files.writeString(weights.resolveSibling("../manifest.json"), "{\"format\":");
              return predict(in, weights);
            },
            "manifest.json: got the end of the text at line 1",
            "damaged"),
        wrong(
            "a checkpoint that is none",
            in -> List.of("predict", in.toString(), rows(in).toString(), "--out", out(in)),
            "got no config.yaml in it or above it, expected a run's folder"),
        bad(
            "rows to score that lack a column",
            in -> {
              trained(in);
              Path bare = Files.writeString(in.resolve("new.csv"), "a\n1\n2\n");
              return List.of("predict", run(in), bare.toString(), "--out", out(in));
            },
            "new.csv: got no column c, expected it among [a]"),
        bad(
            "rows to score of another model's columns",
            in -> {
              trained(in);
              Path other = Files.writeString(in.resolve("new.csv"), "b,c\n1,c1\n");
              List<String> command = new ArrayList<>(predict(in, other));
              command.set(2, other.toString());
              command.addAll(List.of("--set", "data.dense.columns=b"));
              return command;
            },
            "rows: got 0 labels, numbers [b], slots [c], expected those of training"),
        bad(
            "predictions into an absent place",
            in -> {
              trained(in);
              return List.of("predict", run(in), rows(in).toString(), "--out", rows(in) + "/p.csv");
            },
            "p.csv: got an error creating it (",
            "expected a folder that can be written"));
  }

  private static List<Case> arguments() {
    return List.of(
        wrong(
            "an unknown command",
            in -> List.of("trian", "x.yaml"),
            "Unmatched argument",
            "did you mean train?"),
        wrong(
            "an unknown option",
            in -> List.of("train", "x.yaml", "--resme"),
            "--resme",
            "did you mean --resume?"),
        wrong(
            "a missing option",
            in -> List.of("predict", "run", "rows.csv"),
            "Missing required option: '--out=FILE'",
            "tern predict --help"),
        wrong(
            "generate: a number of rows out of range",
            in -> List.of("data", "generate", "--rows", "0", "--out", out(in)),
            "--rows: got 0, expected a whole number from 1 to"),
        wrong(
            "convert: a file that is there already",
            in -> convert(in, rows(in), "rows.csv"),
            "rows.csv: got a file that is there already, expected a new one; give --overwrite"),
        wrong(
            "a name that tells no format",
            in -> List.of("data", "inspect", in.resolve("x.bin").toString()),
            "x.bin: got a name that tells no format, expected .csv"));
  }

  private static String run(Path in) {
    return in.resolve("run").toString();
  }

  private static String out(Path in) {
    return in.resolve("out.csv").toString();
  }

  /** Rows y,a,c: row i is {@code i%2,i,c(i%7)}. */
  private static Path rows(Path in) throws IOException {
    return edited(in, "", "");
  }

  private static Path edited(Path in, String from, String to) throws IOException {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 1; i <= ROWS; i++) {
      text.append("%d,%d,c%d\n".formatted(i % 2, i, i % 7));
    }
    int at = text.indexOf(from);
    return Files.writeString(
        in.resolve("rows.csv"), text.replace(at, at + from.length(), to).toString());
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

  private static Path trained(Path in) throws IOException {
    run(train(in, rows(in)));
    return in.resolve("run");
  }

  /** The file of the table's rows in the only checkpoint. */
  private static Path weights(Path run) throws IOException {
    try (var files = Files.walk(run)) {
      return files.filter(f -> f.endsWith("tables/0.safetensors")).findFirst().orElseThrow();
    }
  }

  private static List<String> predict(Path in, Path unused) throws IOException {
    return List.of("predict", run(in), rows(in).toString(), "--out", out(in));
  }

  private static Path flipped(Path file, double where) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) (bytes.length * where)] ^= 0x40;
    return Files.write(file, bytes);
  }

  private static Path cut(Path file, int bytes) throws IOException {
    byte[] all = Files.readAllBytes(file);
    return Files.write(file, Arrays.copyOf(all, all.length - bytes));
  }

  private static List<String> convert(Path in, Path rows, String name, String... more) {
    List<String> command = new ArrayList<>(List.of("data", "convert", rows.toString()));
    for (String value : List.of("label.column=y", "dense.columns=a", "sparse.columns=c")) {
      command.addAll(List.of("--set", "data." + value));
    }
    command.addAll(List.of("--out", in.resolve(name).toString()));
    command.addAll(List.of(more));
    return command;
  }

  private static String[] norm(String... more) {
    List<String> all = new ArrayList<>(List.of("data.format=norm", "data.sparse.encode=id"));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private static String[] raw(String keys) {
    return new String[] {"data.format=raw", "data.sparse.encode=id", "data.key_type=" + keys};
  }

  private static List<String> train(Path in, Path rows, String... values) throws IOException {
    return train(in, rows, text -> text, values);
  }

  private static List<String> configured(Path in, UnaryOperator<String> edit) throws IOException {
    return train(in, rows(in), edit);
  }

  private static List<String> train(
      Path in, Path rows, UnaryOperator<String> edit, String... values) throws IOException {
    String yaml =
        """
        data:
          format: csv
          train: "%s"
          label: {column: y}
          dense: {columns: [a]}
          sparse: {columns: [c]}
        model: {type: fm, embedding: 4}
        train: {batch: 16, threads: 1, memory: 64m}
        run: {dir: "%s"}
        """;
    Path config = in.resolve("train.yaml");
    Files.writeString(config, edit.apply(yaml.formatted(rows, in.resolve("run"))));
    List<String> command = new ArrayList<>(List.of("train", config.toString()));
    for (String value : values) {
      command.addAll(List.of("--set", value));
    }
    return command;
  }

  /** Training whose checkpoint is some hundred kilobytes. */
  static List<String> wideModel(Path in, Path run) throws IOException {
    return train(in, rows(in), "model.embedding=2048", "run.dir=" + run);
  }

  private static void run(List<String> command) {
    StringWriter err = new StringWriter();
    PrintWriter out = new PrintWriter(new StringWriter());
    if (Main.run(out, new PrintWriter(err), command.toArray(String[]::new)) != 0) {
      throw new IllegalStateException(command + ": " + err);
    }
  }

  /**
   * Prepares every case in a folder of its own under the folder given, with its name in the file
   * {@code name} and its command in the file {@code command}, an argument a line.
   */
  public static void main(String[] args) throws IOException {
    int number = 0;
    for (Case broken : all()) {
      number++;
      Path folder = Files.createDirectories(Path.of(args[0], "%02d".formatted(number)));
      List<String> command = broken.preparation().in(folder);
      Files.writeString(folder.resolve("name"), broken.name() + "\n");
      Files.write(folder.resolve("command"), command);
    }
  }
}
