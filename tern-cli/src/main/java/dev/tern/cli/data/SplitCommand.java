package dev.tern.cli.data;

import dev.tern.cli.choice.DataOptions;
import dev.tern.cli.choice.SeedChoice;
import dev.tern.cli.choice.WriteOptions;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileOptions;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.DataSplit;
import dev.tern.files.DataWriter;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.InputFiles;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern data split}: divides the rows of files among several files. */
@Command(
    name = "split",
    description = {
      "Deals the rows of files out to several: at random, by a key or by time.",
      "Rows are copied as they are, with all columns, text byte for byte, if the parts have the"
          + " format of the files. Else, with --keys, --check or --hugectr, and where a list of"
          + " files names Parquet, they are converted as by tern data convert: text becomes its"
          + " 64-bit hash. Files are put in place once all rows are written."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  tern data split rows.norm --part train.norm=90 --part eval.norm=10",
      "  tern data split rows.csv --part train.csv=0.8 --part eval.csv=0.2 \\",
      "    --config rows.yaml --by key --column user",
      "  tern data split rows.parquet --part days1to6.parquet=6 --part day7.parquet=1 \\",
      "    --config rows.yaml --by time --column day"
    })
final class SplitCommand implements Callable<Integer> {
  private static final List<String> COPIED =
      List.of("csv", "libsvm", "libffm", "norm", "raw", "parquet");

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOptions data = new DataOptions();

  @Option(
      names = "--part",
      required = true,
      paramLabel = "FILE=SHARE",
      description = "File to write and its share of the rows, in proportion to all; several.")
  private List<String> parts = List.of();

  @Option(
      names = "--by",
      paramLabel = "WAY",
      description = {
        "random (default); key: rows of one key go to one part; or time: earlier rows go to"
            + " earlier parts."
      })
  private String by = "random";

  @Option(
      names = "--column",
      paramLabel = "NAME",
      description = {
        "With --by key or time any column of the files; in files without names of columns, and if"
            + " rows are converted by key, one that is configured."
      })
  private Optional<String> column = Optional.empty();

  @Mixin private SeedChoice seed = new SeedChoice();

  @Option(
      names = "--to",
      paramLabel = "FORMAT",
      description = "csv, libsvm, libffm, norm, raw or parquet; else by the name of each part.")
  private Optional<String> to = Optional.empty();

  @Mixin private WriteOptions write = new WriteOptions();

  /** A file to write and what share of the rows it gets. */
  private record Part(Path file, String format, double share) {}

  @Override
  public Integer call() {
    List<Part> files = parts.stream().map(this::part).toList();
    checkWay();
    DataConfig config = data.resolve();
    check(files, DataSource.files(config.train()));
    long[] rows = copies(files, config) ? copy(files, config) : convert(files, config);
    PrintWriter out = spec.commandLine().getOut();
    for (int p = 0; p < rows.length; p++) {
      out.println(Format.path(files.get(p).file()) + ": wrote " + Format.whole(rows[p]) + " rows");
    }
    out.flush();
    return 0;
  }

  /** Whether records can go to the parts as they are: formats are the same, options are none. */
  private boolean copies(List<Part> files, DataConfig config) {
    return COPIED.contains(config.format())
        && (!config.format().equals("parquet")
            || config.train().stream().allMatch(SplitCommand::isParquet))
        && files.stream()
            .allMatch(part ->
                part.format().equals(config.format())
                    && !write.asksFor(part.format())
                    && (!part.format().equals("csv")
                        || data.isConfigured()
                        || hasDelimiter(part.file(), config)));
  }

  /** Whether rows come from {@code path} itself, which a list of files only names. */
  private static boolean isParquet(Path path) {
    return InputFiles.named(List.of(path)).stream()
        .allMatch(file -> Files.isDirectory(file) || InputFiles.isParquet(file));
  }

  /** Whether the name of {@code part} asks for the fields of the input, between TABs or not. */
  private static boolean hasDelimiter(Path part, DataConfig config) {
    return DataOptions.isTabbed(part)
        ? config.csv().delimiter().equals("\t")
        : !DataOptions.isTabbed(config.train().getFirst());
  }

  private long[] copy(List<Part> files, DataConfig config) {
    DataSource source = DataSource.of(config);
    Optional<SparseColumn> key =
        column.map(name ->
            by.equals("time") ? FileOptions.time(config, name) : FileOptions.key(config, name));
    List<Path> targets = files.stream().map(Part::file).toList();
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        RecordCopy records = source.copy(config.train(), key, targets)) {
      DataSplit split =
          split(
              files,
              records.schema(),
              key.map(SparseColumn::name),
              shares -> {
                progress.begin("read times", "rows", 0, 0);
                try (RecordCopy times = source.copy(config.train(), key, List.of())) {
                  return DataSplit.byTime(shares, times, done -> progress.update(done, ""));
                }
              });
      progress.begin("split", "rows", 0, records.rowCount().orElse(0));
      long[] rows = split.copy(records, done -> progress.update(done, ""));
      source.noteSkipped(progress);
      records.notes().forEach(progress::note);
      return rows;
    }
  }

  private long[] convert(List<Part> files, DataConfig config) {
    List<DataWriter> writers = new ArrayList<>();
    DataSource source = DataSource.of(config);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        DataReader reader = open(source, config)) {
      DataSplit split =
          split(
              files,
              reader.schema(),
              column,
              shares -> {
                progress.begin("read times", "rows", 0, 0);
                try (DataReader times = open(source, config)) {
                  return DataSplit.byTime(
                      shares,
                      times,
                      source.order(column.orElseThrow()),
                      done -> progress.update(done, ""));
                }
              });
      Schema written = by.equals("time") ? untimed(source, reader.schema()) : reader.schema();
      for (Part part : files) {
        writers.add(write.create(part.file(), part.format(), written));
      }
      progress.begin("split", "rows", 0, reader.rowCount().orElse(0));
      long[] rows = split.write(reader, writers, done -> progress.update(done, ""));
      source.noteSkipped(progress);
      return rows;
    } finally {
      writers.reversed().forEach(DataWriter::close);
    }
  }

  /** The split as asked for, where {@code schema} is of what it looks at, {@code key} by a key. */
  private DataSplit split(
      List<Part> files, Schema schema, Optional<String> key, Function<double[], DataSplit> byTime) {
    double[] shares = files.stream().mapToDouble(Part::share).toArray();
    try {
      return switch (by) {
        case "random" -> DataSplit.atRandom(shares, seed.seed());
        case "key" -> DataSplit.byKey(shares, seed.seed(), schema, key.orElseThrow());
        default -> byTime.apply(shares);
      };
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }

  private void checkWay() {
    if (!List.of("random", "key", "time").contains(by)) {
      throw new ConfigException(
          "--by: got " + by + ", expected random, key or time; give one of them");
    }
    if (by.equals("random") && column.isPresent()) {
      throw new ConfigException(
          "--column: got one with --by random, expected --by key or time; say which");
    }
    if (!by.equals("random") && column.isEmpty()) {
      throw new ConfigException(
          "--by: got %s without a column, expected --column; name it".formatted(by));
    }
  }

  /** The rows, by time with a slot more that has the times. */
  private DataReader open(DataSource source, DataConfig config) {
    return by.equals("time")
        ? source.openTimed(config.train(), column.orElseThrow())
        : source.open(config.train());
  }

  /** {@code schema} without the slot that has the times. */
  private static Schema untimed(DataSource source, Schema schema) {
    return source.isTimed()
        ? new Schema(
            schema.labels(), schema.dense(), schema.slots().subList(0, schema.slotCount() - 1))
        : schema;
  }

  private Part part(String text) {
    int sign = text.lastIndexOf('=');
    try {
      double share = Double.parseDouble(text.substring(sign + 1));
      if (sign > 0 && share > 0 && Double.isFinite(share)) {
        Path file = Path.of(text.substring(0, sign));
        return new Part(file, to.orElseGet(() -> DataOptions.formatOf(file, "--to")), share);
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw new ConfigException(
        "--part: got "
            + text
            + ", expected a file and its share, a number above 0, as in train.parquet=0.9");
  }

  private void check(List<Part> files, List<Path> inputs) {
    for (Part part : files) {
      write.check(part.file(), part.format());
      WriteOptions.requireNoInput(part.file(), inputs);
    }
    long folders =
        files.stream().map(part -> part.file().toAbsolutePath().getParent()).distinct().count();
    if (write.isHugeCtr() && folders < files.size()) {
      throw new ConfigException(
          "--part: got files of one folder with --hugectr, expected a folder for each, as"
              + " _metadata.json describes one set a folder; give other folders");
    }
    long different =
        files.stream().map(part -> part.file().toAbsolutePath().normalize()).distinct().count();
    if (different < files.size()) {
      throw new ConfigException(
          "--part: got a file twice among %s, expected another for each part".formatted(parts));
    }
  }
}
