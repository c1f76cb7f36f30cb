package dev.tern.cli.data;

import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.choice.SeedChoice;
import dev.tern.cli.choice.WriteOptions;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.files.CriteoGenerator;
import dev.tern.files.DataConverter;
import dev.tern.files.DataWriter;
import dev.tern.files.Optimum;
import dev.tern.files.RowGenerator;
import dev.tern.files.TaobaoGenerator;
import dev.tern.internal.files.WholeFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code tern data generate}: writes rows of a known model, and the best metrics that can be
 * reached on them.
 */
@Command(
    name = "generate",
    description = {
      "Writes synthetic rows and the best AUC and log loss that any model can reach on them.",
      "Labels are drawn from a known probability of each row.",
      "criteo: label, 13 counts I1 to I13 of which some are missing, 26 ids C1 to C26 by a power"
          + " law.",
      "taobao: labels click and buy, day, price, user, item, category, and sequences item_history"
          + " and category_history of up to 50 items; items come and go from day to day.",
      "A row depends on seed, scale and its number alone: any number of files may be parts of one"
          + " set. FILE.optimum.json beside each file holds the best."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  tern data generate --rows 1000000 --out rows.csv",
      "  tern data generate --rows 500000 --eval-rows 100000 --scale 0.01 \\",
      "    --format parquet --out data/small",
      "  tern train data/small/train.yaml",
      "  tern data generate --rows 100000 --keys u32 --check none --out rows.norm"
    })
final class GenerateCommand implements Callable<Integer> {
  private static final long MAX_ROWS = 1L << 40;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--like",
      paramLabel = "NAME",
      description = "Data set to be like: criteo (default) or taobao.")
  private String like = "criteo";

  @Option(names = "--rows", required = true, paramLabel = "N", description = "Rows to write.")
  private long rows;

  @Option(
      names = "--eval-rows",
      paramLabel = "N",
      description = "Further rows to evaluate on, in a file of their own; takes a folder as --out.")
  private long evalRows;

  @Option(
      names = "--first-row",
      paramLabel = "N",
      description = "Number of the first row (default 0).")
  private long firstRow;

  @Mixin private SeedChoice seed = new SeedChoice();

  @Option(
      names = "--scale",
      paramLabel = "F",
      description = {
        "Factor on the data set's numbers of distinct ids (default 1). Criteo has 33.8 million in"
            + " 45.8 million rows, Taobao 5.2 million."
      })
  private double scale = 1;

  @Option(
      names = "--day-rows",
      paramLabel = "N",
      description = {
        "Rows of a day of taobao (default: all rows are of day 0). Each day one in twenty items is"
            + " replaced by a new one."
      })
  private long dayRows = MAX_ROWS;

  @Option(
      names = "--affinity",
      paramLabel = "F",
      description = {
        "How much taobao's purchases depend on what draws clicks: factor of the click's logit in"
            + " that of the purchase (default 0, little in common; 1: as much)."
      })
  private double affinity;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "PATH",
      description = {
        "File to write, where its name ends in .csv, .tsv, .libffm, .norm, .raw or .parquet; else a"
            + " folder for train.FORMAT, eval.FORMAT and train.yaml, which trains on them."
      })
  private Path out = Path.of("");

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description =
          "csv, libffm, norm, raw or parquet; else by the name of --out, csv in a folder.")
  private Optional<String> format = Optional.empty();

  @Mixin private WriteOptions write = new WriteOptions();

  /** Rows for one file. */
  private record Part(Path file, long firstRow, long rows) {
    Path optimum() {
      return file.resolveSibling(file.getFileName() + ".optimum.json");
    }
  }

  @Override
  public Integer call() {
    checkArguments();
    boolean folder = !DataOptions.tellsFormat(out);
    List<Part> parts = parts(folder);
    Path config = out.resolve("train.yaml");
    for (Part part : parts) {
      write.check(part.file(), format());
      write.check(part.optimum(), format());
    }
    if (folder) {
      write.check(config, format());
    }
    RowGenerator generator =
        isTaobao()
            ? TaobaoGenerator.of(seed.seed(), scale, dayRows).withAffinity(affinity)
            : CriteoGenerator.of(seed.seed(), scale);
    List<Path> done = new ArrayList<>();
    try (Progress progress = Progress.of(spec.commandLine().getErr())) {
      for (Part part : parts) {
        write(generator, part, done, progress);
      }
      if (folder) {
        WholeFile.write(config, configuration(parts));
        spec.commandLine().getOut().println("to train on them: tern train " + Format.path(config));
      }
    } catch (RuntimeException | Error e) {
      done.forEach(GenerateCommand::delete);
      throw e;
    }
    spec.commandLine().getOut().flush();
    return 0;
  }

  private void checkArguments() {
    if (!like.equals("criteo") && !isTaobao()) {
      throw new ConfigException(
          "--like: got " + like + ", expected criteo or taobao; give one of them, or nothing");
    }
    if (isTaobao() && !List.of("csv", "parquet").contains(format())) {
      throw new ConfigException(
          "--format: got "
              + format()
              + " with --like taobao, whose rows have columns of several values with names,"
              + " expected csv or parquet; give one of them");
    }
    checkRows();
    checkWorld();
    checkFiles();
  }

  private void checkRows() {
    requireRows("--rows", rows, 1);
    requireRows("--eval-rows", evalRows, 0);
    requireRows("--first-row", firstRow, 0);
    requireRows("--day-rows", dayRows, 1);
    if (dayRows < MAX_ROWS && !isTaobao()) {
      throw new ConfigException(
          "--day-rows: got "
              + dayRows
              + " with --like criteo, whose rows have no days, expected"
              + " --like taobao; leave one out");
    }
    if ((firstRow + rows + evalRows) / dayRows > Integer.MAX_VALUE) {
      throw new ConfigException(
          "--day-rows: got "
              + dayRows
              + ", which makes more than 2147483647 days, expected fewer; give more rows a day");
    }
  }

  /** What the rows are like. */
  private void checkWorld() {
    if (!(affinity >= 0 && affinity <= 10)) {
      throw new ConfigException(
          "--affinity: got "
              + affinity
              + ", expected 0 to 10; 0 shares little, 1 all of the click");
    }
    if (affinity != 0 && !isTaobao()) {
      throw new ConfigException(
          "--affinity: got "
              + affinity
              + " with --like criteo, whose rows have one label, expected --like taobao;"
              + " leave one out");
    }
    if (!(scale >= 1e-6 && scale <= 100)) {
      throw new ConfigException(
          "--scale: got "
              + scale
              + ", expected 0.000001 to 100; 1 gives as many distinct ids as the data set has");
    }
  }

  /** Where the rows go. */
  private void checkFiles() {
    if (evalRows > 0 && DataOptions.tellsFormat(out)) {
      throw new ConfigException(
          "--eval-rows: got the file "
              + out
              + " as --out, expected a folder for two files; give a name that ends in no format");
    }
    if (evalRows > 0 && write.isHugeCtr()) {
      throw new ConfigException(
          "--eval-rows: got "
              + evalRows
              + " with --hugectr, expected 0, as _metadata.json describes one set a folder;"
              + " generate them into a folder of their own by --first-row "
              + (firstRow + rows));
    }
  }

  private static void requireRows(String option, long got, long least) {
    if (got < least || got > MAX_ROWS) {
      throw new ConfigException(
          option
              + ": got "
              + got
              + ", expected a whole number from "
              + least
              + " to "
              + MAX_ROWS
              + "; give another");
    }
  }

  private String format() {
    return format.orElseGet(
        () -> DataOptions.tellsFormat(out) ? DataOptions.formatOf(out, "--format") : "csv");
  }

  private List<Part> parts(boolean folder) {
    if (!folder) {
      return List.of(new Part(out, firstRow, rows));
    }
    List<Part> parts = new ArrayList<>();
    parts.add(new Part(out.resolve("train." + format()), firstRow, rows));
    if (evalRows > 0) {
      parts.add(new Part(out.resolve("eval." + format()), firstRow + rows, evalRows));
    }
    return parts;
  }

  private void write(RowGenerator generator, Part part, List<Path> done, Progress progress) {
    String name = String.valueOf(part.file().getFileName());
    progress.begin("generate " + name, "rows", 0, part.rows());
    try (DataReader reader = generator.open(part.firstRow(), part.rows());
        DataWriter writer = write.create(part.file(), format(), reader.schema())) {
      DataConverter.convert(reader, writer, count -> progress.update(count, ""));
    }
    done.add(part.file());
    long judged = Math.min(part.rows(), RowGenerator.MAX_OPTIMUM_ROWS);
    progress.begin("optimum of " + name, "rows", 0, judged);
    List<String> labels = generator.schema().labels();
    Map<String, Optimum> optima = new LinkedHashMap<>();
    for (int label = 0; label < labels.size(); label++) {
      LongConsumer told = count -> progress.update(count, "");
      optima.put(labels.get(label), generator.optimum(label, part.firstRow(), judged, told));
    }
    WholeFile.write(part.optimum(), Optimum.toJson(optima));
    done.add(part.optimum());
    progress.close();
    PrintWriter print = spec.commandLine().getOut();
    String judging = judged < part.rows() ? " of the first " + Format.whole(judged) + " rows" : "";
    print.printf("%s: wrote %s rows", Format.path(part.file()), Format.whole(part.rows()));
    optima.forEach((label, optimum) ->
        print.printf(
            "%s%s positive; best reachable AUC %s, log loss %s%s%s",
            optima.size() == 1 ? ", " : "%n  %s: ".formatted(label),
            Format.fixed(optimum.positiveRate(), 4),
            Format.fixed(optimum.auc(), 4),
            Format.fixed(optimum.logLoss(), 4),
            optimum.recallAt10().isPresent()
                ? ", recall@10 " + Format.fixed(optimum.recallAt10().getAsDouble(), 4)
                : "",
            judging));
    print.println();
    print.flush();
  }

  private boolean isTaobao() {
    return like.equals("taobao");
  }

  /** What trains DIN on the files written. */
  private static final String TAOBAO =
      """
      data:
        label: {column: click}
        dense: {columns: [price]}
        sparse:
          - {columns: [user, item, category], encode: id}
          - {columns: [item_history], encode: id, separator: "|", table: item,
             sequence: {name: history, max_length: 50}}
          - {columns: [category_history], encode: id, separator: "|", table: category,
             sequence: {name: history, max_length: 50}}
      model: {type: din, embedding: 8, hidden: [64, 32], attention: [32, 16]}
      train: {batch: 1024, epochs: 2, optimizer: {type: adam, lr: 0.002}, memory: 2g}
      """;

  /** A configuration that trains on the files written: of Criteo's rows the quickstart's. */
  private String configuration(List<Part> parts) {
    List<String> values = new ArrayList<>();
    values.add("data.format=" + format());
    values.add("data.train=" + DataOptions.list(List.of(parts.getFirst().file())));
    values.add("data.eval=" + DataOptions.list(parts.stream().skip(1).map(Part::file).toList()));
    values.add("run.dir=" + out.resolve("run"));
    if (isTaobao()) {
      return Config.parse(TAOBAO, "generate", values).yaml();
    }
    if (format().equals("libffm")) {
      values.add("data.columns=I1..I13,C1..C26");
    } else if (!List.of("csv", "parquet").contains(format())) {
      values.add("data.key_type=" + write.keyType().name().toLowerCase(Locale.ROOT));
    }
    values.add("data.dense.columns=I1..I13");
    values.add("data.sparse.columns=C1..C26");
    return Config.quickstart("generate", values).yaml();
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException _) {
      // The first failure matters more than one of removing its files.
    }
  }
}
