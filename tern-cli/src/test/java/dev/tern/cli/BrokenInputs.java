package dev.tern.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

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

  static Case bad(String name, Preparation preparation, String... said) {
    return new Case(name, 1, preparation, List.of(said));
  }

  static Case wrong(String name, Preparation preparation, String... said) {
    return new Case(name, 2, preparation, List.of(said));
  }

  static List<Case> all() {
    List<Case> all = new ArrayList<>();
    all.addAll(BrokenFiles.csv());
    all.addAll(BrokenFiles.libsvm());
    all.addAll(BrokenFiles.binary());
    all.addAll(BrokenFiles.parquet());
    all.addAll(BrokenSettings.configuration());
    all.addAll(BrokenSettings.runs());
    all.addAll(BrokenSettings.arguments());
    return all;
  }

  static String run(Path in) {
    return in.resolve("run").toString();
  }

  static String out(Path in) {
    return in.resolve("out.csv").toString();
  }

  /** Rows y,a,c: row i is {@code i%2,i,c(i%7)}. */
  static Path rows(Path in) throws IOException {
    return edited(in, "", "");
  }

  static Path edited(Path in, String from, String to) throws IOException {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 1; i <= ROWS; i++) {
      text.append("%d,%d,c%d\n".formatted(i % 2, i, i % 7));
    }
    int at = text.indexOf(from);
    return Files.writeString(
        in.resolve("rows.csv"), text.replace(at, at + from.length(), to).toString());
  }

  static Path flipped(Path file, double where) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) (bytes.length * where)] ^= 0x40;
    return Files.write(file, bytes);
  }

  static List<String> convert(Path in, Path rows, String name, String... more) {
    List<String> command = new ArrayList<>(List.of("data", "convert", rows.toString()));
    for (String value : List.of("label.column=y", "dense.columns=a", "sparse.columns=c")) {
      command.addAll(List.of("--set", "data." + value));
    }
    command.addAll(List.of("--out", in.resolve(name).toString()));
    command.addAll(List.of(more));
    return command;
  }

  static List<String> train(Path in, Path rows, String... values) throws IOException {
    return train(in, rows, text -> text, values);
  }

  static List<String> train(Path in, Path rows, UnaryOperator<String> edit, String... values)
      throws IOException {
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

  static void run(List<String> command) {
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
