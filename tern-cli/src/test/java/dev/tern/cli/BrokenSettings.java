package dev.tern.cli;

import static dev.tern.cli.BrokenInputs.bad;
import static dev.tern.cli.BrokenInputs.convert;
import static dev.tern.cli.BrokenInputs.flipped;
import static dev.tern.cli.BrokenInputs.out;
import static dev.tern.cli.BrokenInputs.rows;
import static dev.tern.cli.BrokenInputs.run;
import static dev.tern.cli.BrokenInputs.train;
import static dev.tern.cli.BrokenInputs.wrong;

import dev.tern.cli.BrokenInputs.Case;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The broken inputs that are configurations, run folders and arguments. */
final class BrokenSettings {
  private BrokenSettings() {}

  static List<Case> configuration() {
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
            "model.type: got deepfmm, expected one of lr, fm, wdl, deepfm",
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

  static List<Case> runs() {
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
            "0.safetensors: got digest",
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
        bad(
            "a checkpoint that is none",
            in -> List.of("predict", in.toString(), rows(in).toString(), "--out", out(in)),
            "got no checkpoint, expected a folder with manifest.json or a run's folder"),
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
            "rows: got 0 labels, numbers [b], slots [c], expected the columns of training"),
        bad(
            "predictions into an absent place",
            in -> {
              trained(in);
              return List.of("predict", run(in), rows(in).toString(), "--out", rows(in) + "/p.csv");
            },
            "p.csv: got an error creating it (",
            "expected a folder that can be written"));
  }

  static List<Case> arguments() {
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

  private static List<String> configured(Path in, UnaryOperator<String> edit) throws IOException {
    return train(in, rows(in), edit);
  }
}
