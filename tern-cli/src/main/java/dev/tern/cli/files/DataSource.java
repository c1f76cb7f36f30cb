package dev.tern.cli.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Watch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.files.Columns;
import dev.tern.files.CriteoGenerator;
import dev.tern.files.FileColumn;
import dev.tern.files.KeptTexts;
import dev.tern.files.Optimum;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.LibsvmReader;
import dev.tern.internal.files.InputFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;

/** Opens the files that a configuration describes, and fits its encodings. */
public final class DataSource {
  private final DataConfig config;
  private final ReadPolicy policy;
  private final TextDictionary dictionary;
  private final SkippedRecords skipped;
  private final ColumnChoice choice;

  /**
   * Readers of {@code config}, which says what becomes of bad records.
   *
   * @param dictionary what is told every text read
   */
  public DataSource(DataConfig config, TextDictionary dictionary) {
    this(config, new SkippedRecords(config.mostBad().orElse(0)), dictionary);
  }

  private DataSource(DataConfig config, SkippedRecords skipped, TextDictionary dictionary) {
    this(
        config,
        config.mostBad().isPresent() ? ReadPolicy.STRICT.withFaults(skipped) : ReadPolicy.STRICT,
        dictionary,
        ColumnChoice.of(config),
        skipped);
  }

  /**
   * Readers of {@code config} that treat bad records in a way of their own.
   *
   * @param policy what they accept
   * @param dictionary what is told every text read
   */
  public DataSource(DataConfig config, ReadPolicy policy, TextDictionary dictionary) {
    this(config, policy, dictionary, ColumnChoice.of(config), new SkippedRecords(0));
  }

  private DataSource(
      DataConfig config,
      ReadPolicy policy,
      TextDictionary dictionary,
      ColumnChoice choice,
      SkippedRecords skipped) {
    this.config = config;
    this.skipped = skipped;
    this.policy = withValues(policy.withThreads(config.threads()), config);
    this.dictionary = dictionary;
    this.choice = choice;
  }

  private static ReadPolicy withValues(ReadPolicy policy, DataConfig config) {
    ReadPolicy all = policy;
    for (Map.Entry<String, ReadPolicy.Labels> label : config.values().entrySet()) {
      all = all.withLabel(label.getKey(), label.getValue());
    }
    return all;
  }

  /** Readers that keep no texts. */
  public static DataSource of(DataConfig config) {
    return new DataSource(config, TextDictionary.none());
  }

  /** Readers that stop at the first fault, whatever the configuration says, and keep no texts. */
  public static DataSource strict(DataConfig config) {
    return new DataSource(config, ReadPolicy.STRICT, TextDictionary.none());
  }

  /** These readers of CSV, and {@code rows} is told which take several lines; one thread reads. */
  public DataSource watched(LongRows rows) {
    return config.format().equals("csv")
        ? new DataSource(
            config, policy.withFaults(rows.over(policy.faults())), dictionary, choice, skipped)
        : this;
  }

  /** Prints how many bad records were left out, if any were. */
  public void noteSkipped(Watch progress) {
    skipped
        .first()
        .ifPresent(fault ->
            progress.note(
                "left out "
                    + Format.whole(skipped.count())
                    + " rows for "
                    + Format.whole(skipped.faults())
                    + " faults, the first: "
                    + fault.getMessage()
                    + "; tern data verify lists them"));
  }

  /** The raw rows to train on. */
  public DataReader train() {
    return train(Optional.empty());
  }

  /** The raw rows to train on, with the column of groups whose rows are compared, if any. */
  public DataReader train(Optional<String> group) {
    return isSynthetic()
        ? generator().open(0, config.synthetic().rows())
        : labelled(
            config.times().evalFrom().isEmpty()
                ? grouped(group, config.train()).open(config.train())
                : between(
                    grouped(group, config.train()),
                    Long.MIN_VALUE,
                    config.times().evalFrom().getAsLong()));
  }

  /** The training files' rows of {@code of} from one time to before another. */
  private DataReader between(DataSource of, long from, long end) {
    String column = config.times().column().orElseThrow();
    requireTimes(config.train());
    return Readers.between(
        of.with(RowTimes.column(column)).open(config.train()), RowTimes.slot(column), from, end);
  }

  private void requireTimes(List<Path> paths) {
    if (!takesMore(paths)) {
      throw new ConfigException(
          "data.time: got %s of files that say by themselves which columns are read, expected names of columns; give data.dense.columns and data.sparse.columns"
              .formatted(config.times().column().orElseThrow()));
    }
  }

  /** Says which times the rows have, if they have any; refuses rows without one. */
  public void times(Progress progress) {
    Optional<String> column = config.times().column();
    if (column.isEmpty()) {
      return;
    }
    RowTimes times = new RowTimes(column.get(), config.times().evalFrom());
    requireTimes(config.train());
    for (List<Path> paths : List.of(config.train(), config.eval())) {
      if (paths.isEmpty()) {
        continue;
      }
      try (DataReader reader = timesAlone(filesOf(paths), RowTimes.column(column.get()))) {
        progress.begin("read times", "rows", 0, reader.rowCount().orElse(0));
        times.read(reader, paths == config.eval(), rows -> progress.update(rows, ""));
      }
    }
    times.notes().forEach(progress::note);
  }

  private DataReader timesAlone(List<Path> files, Columns column) {
    // What is left out here is counted when rows are read as a whole.
    ReadPolicy alone =
        config.mostBad().isPresent()
            ? policy.withFaults(new SkippedRecords(config.mostBad().getAsInt()))
            : policy;
    TextDictionary none = TextDictionary.none();
    return config.format().equals("csv")
        ? CsvReader.open(files, FileOptions.csv(config), column, alone, none)
        : ParquetReader.open(files, FileOptions.parquet(config), column, alone, none);
  }

  /** {@code read} with their weights as such, where they have some. */
  private DataReader weighted(DataReader read) {
    if (config.weight().isEmpty() || policy.labels().equals(ReadPolicy.Labels.NONE)) {
      return read;
    }
    String column = config.weight().get();
    List<String> labels = read.schema().labels();
    if (!labels.contains(column) || labels.size() == 1) {
      read.close();
      throw new ConfigException(
          "data.weight: got the column %s of files with the labels %s, expected one of them, and another that is a label; name it as the files do"
              .formatted(column, labels));
    }
    return Readers.weighted(read, column);
  }

  /** {@code read} with the label that the configuration names, if it names one of several. */
  private DataReader labelled(DataReader read) {
    DataReader rows = weighted(read);
    List<String> labels = rows.schema().labels();
    String first = config.labels().getFirst();
    return config.labels().size() == 1 && labels.contains(first)
        ? Readers.withLabel(rows, first)
        : rows;
  }

  /** {@code rows} with one label, where the model's rows have one. */
  private DataReader labelled(DataReader rows, FeatureEncoder encoder) {
    List<String> wanted = encoder.rawSchema().labels();
    DataReader one = wanted.size() == 1 ? labelled(rows) : weighted(rows);
    List<String> labels = one.schema().labels();
    return labels.size() > 1 && wanted.size() == 1 && labels.contains(wanted.getFirst())
        ? Readers.withLabel(one, wanted.getFirst())
        : one;
  }

  /** The raw rows to evaluate on; empty if none are configured. */
  public Optional<DataReader> eval() {
    DataConfig.Synthetic synthetic = config.synthetic();
    if (isSynthetic()) {
      return synthetic.evalRows() == 0
          ? Optional.empty()
          : Optional.of(generator().open(synthetic.rows(), synthetic.evalRows()));
    }
    if (!config.evaluates()) {
      return Optional.empty();
    }
    List<Path> files = config.evalFiles();
    DataSource grouped = grouped(config.group(), files);
    OptionalLong from = config.times().evalFrom();
    return Optional.of(
        labelled(
            from.isEmpty()
                ? grouped.open(files)
                : between(grouped, from.getAsLong(), Long.MAX_VALUE)));
  }

  /** The metrics of a perfect model on the rows of {@link #eval}; empty if unknown. */
  public Optional<Optimum> optimum() {
    DataConfig.Synthetic synthetic = config.synthetic();
    return isSynthetic() && synthetic.evalRows() > 0
        ? Optional.of(generator().optimum(0, synthetic.rows(), synthetic.evalRows(), done -> {}))
        : Optional.empty();
  }

  private boolean isSynthetic() {
    return config.format().equals("criteo-synthetic");
  }

  private CriteoGenerator generator() {
    return CriteoGenerator.of(config.synthetic().seed(), config.synthetic().scale());
  }

  /** The raw rows of {@code paths}, which may hold patterns. */
  public DataReader open(List<Path> paths) {
    List<Path> files = filesOf(paths);
    return prepared(plain(files), files);
  }

  /**
   * {@code rows} of {@code files} with all columns and the labels of the model, if there is one.
   */
  private DataReader prepared(DataReader rows, List<Path> files) {
    DataReader equal = Readers.withEqualLengths(rows, choice.ofSequences(), FileNames.of(files));
    return choice.model().isPresent() ? labelled(choice.whole(equal), choice.model().get()) : equal;
  }

  /** As {@link #open}, with the texts of the columns that {@code kept} names for each row. */
  public DataReader open(List<Path> paths, KeptTexts kept) {
    List<Path> files = filesOf(paths);
    return switch (config.format()) {
      case "csv" ->
          prepared(
              CsvReader.open(files, FileOptions.csv(config), choice.columns(), policy, kept),
              files);
      case "parquet" ->
          prepared(
              ParquetReader.open(
                  files, FileOptions.parquet(config), choice.columns(), policy, kept),
              files);
      default ->
          throw new ConfigException(
              "--keep: got "
                  + config.format()
                  + " files, whose columns are no texts with names, expected csv or parquet; join"
                  + " the predictions in the order of the rows");
    };
  }

  /** The files to read of {@code paths}; of HugeCTR's Parquet, what describes them. */
  private List<Path> filesOf(List<Path> paths) {
    List<Path> named = files(paths);
    requireNamed(named);
    List<Path> files = isHugeCtr(paths) ? named : InputFiles.of(paths, kind());
    InputFiles.requireOnce(files);
    requireSeekable(files);
    return files;
  }

  private DataReader plain(List<Path> files) {
    return switch (config.format()) {
      case "csv" ->
          CsvReader.open(files, FileOptions.csv(config), choice.columns(), policy, dictionary);
      case "libsvm", "libffm" -> libsvm(files);
      case "norm" -> records().norm(files);
      case "raw" -> records().raw(files);
      case "parquet" -> parquet(files);
      default ->
          throw new ConfigException(
              "data.format: got "
                  + config.format()
                  + ", whose rows stand in no file, expected csv, libsvm, libffm, norm, raw or"
                  + " parquet; give --set data.format=FORMAT");
    };
  }

  /**
   * The records of {@code paths}, to be copied to {@code parts} as they are.
   *
   * @param key their key, if they have one
   * @param parts files to write; none to read keys alone
   */
  public RecordCopy copy(List<Path> paths, Optional<SparseColumn> key, List<Path> parts) {
    files(paths); // Each is there.
    List<Path> files = InputFiles.of(paths, kind());
    InputFiles.requireOnce(files);
    Columns column = Columns.ofKey(key, Set.copyOf(config.missing()));
    return switch (config.format()) {
      case "csv" -> CsvReader.copy(files, FileOptions.csv(config), column, policy, parts);
      case "norm" -> NormReader.copy(files, records().normOptions(), key, policy, parts);
      case "raw" -> {
        RawOptions raw = records().rawOptions();
        boolean labelled = config.binary().labelled().orElse(true);
        yield RawReader.copy(files, labelled ? raw : raw.withoutLabels(), key, policy, parts);
      }
      case "parquet" ->
          ParquetReader.copy(files, FileOptions.parquet(config), column, policy, parts);
      default -> LibsvmReader.copy(files, FileOptions.libsvm(config), column, policy, parts);
    };
  }

  /**
   * The raw rows of {@code paths} with one slot more, the last: what {@link #order} calls the times
   * of {@code column}, 64 bits wide. Formats without such columns have the rows alone.
   */
  public DataReader openTimed(List<Path> paths, String column) {
    if (!isTimed()) {
      return open(paths);
    }
    List<Path> files = filesOf(paths);
    Columns named = choice.columns();
    List<SparseColumn> sparse = new ArrayList<>(named.sparse());
    sparse.add(SparseColumn.time(column));
    Columns timed =
        new Columns(named.labels(), named.positive(), named.dense(), sparse, named.missing());
    return config.format().equals("csv")
        ? CsvReader.open(files, FileOptions.csv(config), timed, policy, dictionary)
        : ParquetReader.open(files, FileOptions.parquet(config), timed, policy, dictionary);
  }

  /** What a reader of times calls the order of those in {@code column}. */
  public String order(String column) {
    return isTimed() ? SparseColumn.time(column).name() : column;
  }

  /** Whether any column may be read in the order of its times, as in files with columns. */
  public boolean isTimed() {
    return config.format().equals("csv") || config.format().equals("parquet") && choice.areNamed();
  }

  /**
   * The columns of the first of {@code paths}, if it names them but neither the file nor the
   * configuration says which are labels, numbers and ids. Otherwise none.
   */
  public List<FileColumn> unnamed(List<Path> paths) {
    if (choice.areNamed() || choice.model().isPresent()) {
      return List.of();
    }
    Path first = isHugeCtr(paths) ? files(paths).getFirst() : first(paths.getFirst());
    return switch (config.format()) {
      case "csv" -> CsvReader.columns(first, FileOptions.csv(config));
      case "libffm" -> LibsvmReader.columns(first, FileOptions.libsvm(config));
      case "parquet" -> ParquetReader.isHugeCtr(first) ? List.of() : ParquetReader.columns(first);
      default -> List.of();
    };
  }

  /** The label {@code name} of the first training row as the file has it, where that is known. */
  Optional<String> firstLabel(String name) {
    if (!config.format().equals("csv")) {
      return Optional.empty();
    }
    try {
      Path first = first(config.train().getFirst());
      return CsvReader.columns(first, FileOptions.csv(config)).stream()
          .filter(column -> column.name().equals(name))
          .map(FileColumn::content)
          .findFirst();
    } catch (DataException _) {
      return Optional.empty(); // It is for a message alone.
    }
  }

  private void requireNamed(List<Path> files) {
    List<FileColumn> columns = files.isEmpty() ? List.of() : unnamed(files);
    if (!columns.isEmpty()) {
      throw new ConfigException(
          files.getFirst()
              + ": got columns "
              + Shown.list(columns.stream().map(FileColumn::name).toList())
              + " but neither data.dense.columns nor data.sparse.columns, expected some of them as"
              + " features; name them, as in "
              + NAMING);
    }
  }

  /** Refuses a pipe where the format is read here and there. */
  private void requireSeekable(List<Path> files) {
    for (Path file : policy.once() && !isText() ? files : List.<Path>of()) {
      if (Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file)) {
        throw new ConfigException(
            file
                + ": got a pipe for the format "
                + config.format()
                + ", which is not read from front to back, expected a file; write it to one, or"
                + " give rows of csv, libsvm or libffm with --set data.format=FORMAT");
      }
    }
  }

  private boolean isText() {
    return List.of("csv", "libsvm", "libffm").contains(config.format());
  }

  /** How columns are named on the command line. */
  public static final String NAMING =
      "--set data.label.column=NAME --set data.dense.columns=NAME,NAME --set"
          + " data.sparse.columns=NAME,NAME";

  /** Fits the encodings of {@code config} on a pass of {@code training}. */
  public FeatureEncoder fit(DataReader training, LongConsumer progress) {
    return fit(training, Optional.empty(), progress);
  }

  /** Fits encodings that grow from the ones of {@code earlier}, if there is one. */
  public FeatureEncoder fit(
      DataReader training, Optional<FeatureEncoder> earlier, LongConsumer progress) {
    return new Encodings(config, dictionary).fit(training, earlier, progress);
  }

  private DataReader libsvm(List<Path> files) {
    try {
      return LibsvmReader.open(files, FileOptions.libsvm(config), choice.libsvm(), policy);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }

  private DataReader parquet(List<Path> files) {
    return isHugeCtr(files)
        ? ParquetReader.openHugeCtr(files, FileOptions.parquet(config), policy)
        : ParquetReader.open(
            files, FileOptions.parquet(config), choice.columns(), policy, dictionary);
  }

  /** Whether {@code paths} are Parquet that says by itself which columns are what. */
  private boolean isHugeCtr(List<Path> paths) {
    return config.format().equals("parquet")
        && !choice.areNamed()
        && (choice.model().isEmpty() || ParquetReader.isHugeCtr(files(paths).getFirst()));
  }

  /** The first file of {@code path}. */
  private Path first(Path path) {
    return InputFiles.of(List.of(path), kind()).getFirst();
  }

  /** The same files read without labels, as for new rows. */
  public DataSource withoutLabels() {
    return new DataSource(config, policy.withoutLabels(), dictionary, choice, skipped);
  }

  /** The same files read in one pass, so that files of lines may be pipes. */
  public DataSource once() {
    return new DataSource(config, policy.readOnce(), dictionary, choice, skipped);
  }

  /** The same files read for a trained model; its columns are the default. */
  public DataSource forModel(FeatureEncoder encoder) {
    return forModel(encoder, Set.of());
  }

  /**
   * The same files for a trained model, of whose columns only {@code names} are read where files
   * name them, as in CSV and Parquet; others are missing in each row.
   */
  public DataSource forModel(FeatureEncoder encoder, Set<String> names) {
    return choosing(choice.forModel(encoder, names));
  }

  /** The same files with the numbers and ids of {@code more}; of CSV and Parquet alone. */
  public DataSource with(Columns more) {
    return choosing(choice.with(more));
  }

  private DataSource choosing(ColumnChoice other) {
    return new DataSource(config, policy, dictionary, other, skipped);
  }

  /**
   * Whether files have names for all their columns, so that {@link #with} may add some and {@link
   * #open(List, KeptTexts)} may keep texts.
   */
  public boolean takesMore(List<Path> paths) {
    return config.format().equals("csv") || config.format().equals("parquet") && !isHugeCtr(paths);
  }

  /** These readers, which read the column of groups as texts where they do not read it. */
  public DataSource grouped(Optional<String> group, List<Path> paths) {
    return group
        .filter(_ -> takesMore(paths))
        .map(column -> choosing(choice.withText(column)))
        .orElse(this);
  }

  /** The columns that are read. */
  public ColumnChoice choice() {
    return choice;
  }

  private RecordFiles records() {
    return new RecordFiles(config, choice, policy);
  }

  /** {@code paths}, with the standard input for {@code -}. */
  public static List<Path> inputs(List<Path> paths) {
    return paths.stream()
        .map(path -> path.toString().equals("-") ? Path.of("/dev/stdin") : path)
        .toList();
  }

  /** The files and folders that match {@code paths}, which may hold patterns; each exists. */
  public static List<Path> files(List<Path> paths) {
    List<Path> files = InputFiles.named(paths);
    InputFiles.requireOnce(files);
    return files;
  }

  /** What stands in a folder of this format, and what its files hold. */
  private InputFiles.Kind kind() {
    return switch (config.format()) {
      case "csv", "libsvm", "libffm" -> InputFiles.Kind.TEXT;
      case "parquet" -> InputFiles.Kind.PARQUET;
      default -> InputFiles.Kind.RECORDS;
    };
  }

  /** The error for no rows to evaluate on. */
  DataException withoutEvaluation() {
    return config.times().evalFrom().isEmpty()
        ? withoutRows(config.eval())
        : new DataException(
            "data.eval_from: got a time after all rows of the training files, expected some rows"
                + " from it on; give an earlier one");
  }

  /** The error for evaluation files without rows. */
  public static DataException withoutRows(List<Path> paths) {
    Object names = paths.size() == 1 ? paths.getFirst() : Shown.list(paths);
    return new DataException(names + ": got no rows, expected some to evaluate on; check the file");
  }
}
