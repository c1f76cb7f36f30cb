package dev.tern.cli;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.FileOptions;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
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
import dev.tern.files.records.NormOptions;
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
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/** Opens the files that a configuration describes, and fits its encodings. */
final class DataSource {
  private final DataConfig config;
  private final ReadPolicy policy;
  private final TextDictionary dictionary;
  private final Optional<FeatureEncoder> model;
  private final SkippedRecords skipped;

  /** The columns that are read; all where it is empty. */
  private final Set<String> only;

  /**
   * Readers of {@code config}, which says what becomes of bad records.
   *
   * @param dictionary what is told every text read
   */
  DataSource(DataConfig config, TextDictionary dictionary) {
    this(config, new SkippedRecords(config.mostBad().orElse(0)), dictionary);
  }

  private DataSource(DataConfig config, SkippedRecords skipped, TextDictionary dictionary) {
    this(
        config,
        config.mostBad().isPresent() ? ReadPolicy.STRICT.withFaults(skipped) : ReadPolicy.STRICT,
        dictionary,
        Optional.empty(),
        skipped,
        Set.of());
  }

  /**
   * Readers of {@code config} that treat bad records in a way of their own.
   *
   * @param policy what they accept
   * @param dictionary what is told every text read
   */
  DataSource(DataConfig config, ReadPolicy policy, TextDictionary dictionary) {
    this(config, policy, dictionary, Optional.empty(), new SkippedRecords(0), Set.of());
  }

  private DataSource(
      DataConfig config,
      ReadPolicy policy,
      TextDictionary dictionary,
      Optional<FeatureEncoder> model,
      SkippedRecords skipped,
      Set<String> only) {
    this.config = config;
    this.skipped = skipped;
    this.only = only;
    this.policy = withWeights(policy.withThreads(config.threads()), config);
    this.dictionary = dictionary;
    this.model = model;
  }

  private static ReadPolicy withWeights(ReadPolicy policy, DataConfig config) {
    return config
        .weight()
        .map(column -> policy.withLabel(column, ReadPolicy.Labels.WEIGHT))
        .orElse(policy);
  }

  /** Readers that keep no texts. */
  static DataSource of(DataConfig config) {
    return new DataSource(config, TextDictionary.none());
  }

  /** Readers that stop at the first fault, whatever the configuration says, and keep no texts. */
  static DataSource strict(DataConfig config) {
    return new DataSource(config, ReadPolicy.STRICT, TextDictionary.none());
  }

  /** These readers of CSV, and {@code rows} is told which take several lines; one thread reads. */
  DataSource watched(LongRows rows) {
    return config.format().equals("csv")
        ? new DataSource(
            config, policy.withFaults(rows.over(policy.faults())), dictionary, model, skipped, only)
        : this;
  }

  /** Prints how many bad records were left out, if any were. */
  void noteSkipped(Progress progress) {
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
  DataReader train() {
    return isSynthetic()
        ? generator().open(0, config.synthetic().rows())
        : labelled(open(config.train()));
  }

  /** {@code read} with their weights as such, where they have some. */
  private DataReader weighted(DataReader read) {
    if (config.weight().isEmpty() || policy.labels() == ReadPolicy.Labels.NONE) {
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
  Optional<DataReader> eval() {
    DataConfig.Synthetic synthetic = config.synthetic();
    if (isSynthetic()) {
      return synthetic.evalRows() == 0
          ? Optional.empty()
          : Optional.of(generator().open(synthetic.rows(), synthetic.evalRows()));
    }
    return config.eval().isEmpty() ? Optional.empty() : Optional.of(labelled(open(config.eval())));
  }

  /** The metrics of a perfect model on the rows of {@link #eval}; empty if unknown. */
  Optional<Optimum> optimum() {
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
  DataReader open(List<Path> paths) {
    DataReader rows = opened(filesOf(paths));
    return model.isPresent() ? labelled(whole(rows), model.get()) : rows;
  }

  /** As {@link #open}, with the texts of the columns that {@code kept} names for each row. */
  DataReader open(List<Path> paths, KeptTexts kept) {
    List<Path> files = filesOf(paths);
    return switch (config.format()) {
      case "csv" -> whole(CsvReader.open(files, FileOptions.csv(config), columns(), policy, kept));
      case "parquet" ->
          whole(ParquetReader.open(files, FileOptions.parquet(config), columns(), policy, kept));
      default ->
          throw new ConfigException(
              "--keep: got "
                  + config.format()
                  + " files, whose columns are no texts with names, expected csv or parquet; join"
                  + " the predictions in the order of the rows");
    };
  }

  /** {@code rows} with all columns of the model, where some were not read. */
  private DataReader whole(DataReader rows) {
    return only.isEmpty() ? rows : Readers.withColumns(rows, model.orElseThrow().rawSchema());
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

  private DataReader opened(List<Path> files) {
    return Readers.withEqualLengths(plain(files), columnsOfSequences(), Scoring.name(files));
  }

  /** The columns of each sequence: of the model, or else as configured. */
  private List<List<String>> columnsOfSequences() {
    if (model.isEmpty()) {
      return config.columnsOfSequences();
    }
    Schema schema = model.get().rawSchema();
    List<String> names = schema.slotNames();
    return schema.sequences().values().stream()
        .map(slots -> slots.stream().map(names::get).filter(this::isRead).toList())
        .filter(columns -> !columns.isEmpty())
        .toList();
  }

  private DataReader plain(List<Path> files) {
    return switch (config.format()) {
      case "csv" -> CsvReader.open(files, FileOptions.csv(config), columns(), policy, dictionary);
      case "libsvm", "libffm" -> libsvm(files);
      case "norm" -> NormReader.open(files, normOptions(), policy);
      case "raw" -> raw(files);
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
  RecordCopy copy(List<Path> paths, Optional<SparseColumn> key, List<Path> parts) {
    files(paths); // Each is there.
    List<Path> files = InputFiles.of(paths, kind());
    InputFiles.requireOnce(files);
    Columns column = Columns.ofKey(key, Set.copyOf(config.missing()));
    return switch (config.format()) {
      case "csv" -> CsvReader.copy(files, FileOptions.csv(config), column, policy, parts);
      case "norm" -> NormReader.copy(files, normOptions(), key, policy, parts);
      case "raw" -> {
        RawOptions raw = rawOptions();
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
  DataReader openTimed(List<Path> paths, String column) {
    if (!isTimed()) {
      return open(paths);
    }
    List<Path> files = filesOf(paths);
    Columns named = columns();
    List<SparseColumn> sparse = new ArrayList<>(named.sparse());
    sparse.add(SparseColumn.time(column));
    Columns timed =
        new Columns(named.labels(), named.positive(), named.dense(), sparse, named.missing());
    return config.format().equals("csv")
        ? CsvReader.open(files, FileOptions.csv(config), timed, policy, dictionary)
        : ParquetReader.open(files, FileOptions.parquet(config), timed, policy, dictionary);
  }

  /** What a reader of times calls the order of those in {@code column}. */
  String order(String column) {
    return isTimed() ? SparseColumn.time(column).name() : column;
  }

  /** Whether any column may be read in the order of its times, as in files with columns. */
  boolean isTimed() {
    return config.format().equals("csv") || config.format().equals("parquet") && namesColumns();
  }

  /**
   * The columns of the first of {@code paths}, if it names them but neither the file nor the
   * configuration says which are labels, numbers and ids. Otherwise none.
   */
  List<FileColumn> unnamed(List<Path> paths) {
    if (namesColumns() || model.isPresent()) {
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
  static final String NAMING =
      "--set data.label.column=NAME --set data.dense.columns=NAME,NAME --set"
          + " data.sparse.columns=NAME,NAME";

  /** Fits the encodings of {@code config} on a pass of {@code training}. */
  FeatureEncoder fit(DataReader training, LongConsumer progress) {
    return fit(training, Optional.empty(), progress);
  }

  /** Fits encodings that grow from the ones of {@code earlier}, if there is one. */
  FeatureEncoder fit(DataReader training, Optional<FeatureEncoder> earlier, LongConsumer progress) {
    Schema schema = training.schema();
    List<NumberEncoding> numbers = schema.dense().stream().map(this::numberEncoding).toList();
    List<IdEncoding> ids = schema.slots().stream().map(this::idEncoding).toList();
    try {
      FeatureEncoder fitted =
          earlier.isPresent()
              ? earlier.get().grown(training, numbers, ids, config.tables(), dictionary, progress)
              : FeatureEncoder.fit(training, numbers, ids, config.tables(), dictionary, progress);
      return fitted.withSequences(config.sequences());
    } catch (IllegalArgumentException e) {
      throw new ConfigException("data.sparse: " + e.getMessage(), e);
    }
  }

  private NumberEncoding numberEncoding(String column) {
    return config
        .group(column)
        .map(group -> encoding(group, column))
        .orElseGet(NumberEncoding::auto);
  }

  private static NumberEncoding encoding(DataConfig.Dense group, String column) {
    return switch (group.transform()) {
      case "bucketize" -> NumberEncoding.quantiles(group.buckets());
      case "auto" ->
          group.findsLog1p()
              ? new NumberEncoding.Auto(group.missing())
              : new NumberEncoding.Scaled(group.log1p().contains(column), true, group.missing());
      case String transform ->
          new NumberEncoding.Scaled(
              transform.startsWith("log1p"), transform.endsWith("standardize"), group.missing());
    };
  }

  private IdEncoding idEncoding(Slot slot) {
    Optional<DataConfig.Sparse> group =
        config.sparse().stream()
            .filter(g -> g.columns().contains(slot.name()))
            .findFirst()
            .or(() -> config.sparse().stream().filter(g -> g.columns().isEmpty()).findFirst());
    return group.map(DataConfig.Sparse::encoding).orElseGet(IdEncoding::verbatim);
  }

  private DataReader libsvm(List<Path> files) {
    try {
      return LibsvmReader.open(files, FileOptions.libsvm(config), libsvmColumns(), policy);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The columns as named; features that are no numbers are ids, whatever their column's name. */
  private Columns libsvmColumns() {
    Columns named = columns();
    boolean ids = named.dense().isEmpty() || !config.sparse().isEmpty();
    boolean fields = config.format().equals("libffm");
    return fields || !named.sparse().isEmpty() || !ids
        ? named
        : new Columns(
            named.labels(),
            named.positive(),
            named.dense(),
            List.of(SparseColumn.unsigned("features")),
            named.missing());
  }

  private DataReader parquet(List<Path> files) {
    return isHugeCtr(files)
        ? ParquetReader.openHugeCtr(files, FileOptions.parquet(config), policy)
        : ParquetReader.open(files, FileOptions.parquet(config), columns(), policy, dictionary);
  }

  /** Whether {@code paths} are Parquet that says by itself which columns are what. */
  private boolean isHugeCtr(List<Path> paths) {
    return config.format().equals("parquet")
        && !namesColumns()
        && (model.isEmpty() || ParquetReader.isHugeCtr(files(paths).getFirst()));
  }

  /** The first file of {@code path}. */
  private Path first(Path path) {
    return InputFiles.of(List.of(path), kind()).getFirst();
  }

  /** The same files read without labels, as for new rows. */
  DataSource withoutLabels() {
    return new DataSource(config, policy.withoutLabels(), dictionary, model, skipped, only);
  }

  /** The same files read in one pass, so that files of lines may be pipes. */
  DataSource once() {
    return new DataSource(config, policy.readOnce(), dictionary, model, skipped, only);
  }

  /** The same files read for a trained model; its columns are the default. */
  DataSource forModel(FeatureEncoder encoder) {
    return new DataSource(config, policy, dictionary, Optional.of(encoder), skipped, only);
  }

  /**
   * The same files for a trained model, of whose columns only {@code names} are read where files
   * name them, as in CSV and Parquet; others are missing in each row.
   */
  DataSource forModel(FeatureEncoder encoder, Set<String> names) {
    return new DataSource(config, policy, dictionary, Optional.of(encoder), skipped, names);
  }

  private boolean isRead(String column) {
    return only.isEmpty() || only.contains(column);
  }

  private Columns columns() {
    Columns all = allColumns();
    return only.isEmpty()
        ? all
        : new Columns(
            all.labels(),
            all.positive(),
            all.dense().stream().filter(this::isRead).toList(),
            all.sparse().stream().filter(column -> isRead(column.name())).toList(),
            all.missing());
  }

  private Columns allColumns() {
    if (!namesColumns() && model.isPresent()) {
      return columns(model.get());
    }
    List<SparseColumn> sparse = new ArrayList<>();
    for (DataConfig.Sparse group : config.sparse()) {
      for (String name : group.columns()) {
        sparse.add(new SparseColumn(name, group.values(), group.separator()));
      }
    }
    return new Columns(
        config.columnsOfLabels(),
        Set.copyOf(config.positive()),
        denseNames(),
        sparse,
        Set.copyOf(config.missing()));
  }

  private Columns columns(FeatureEncoder encoder) {
    List<SparseColumn> sparse = new ArrayList<>();
    List<Slot> slots = encoder.rawSchema().slots();
    String other = config.sparse().isEmpty() ? "" : config.sparse().getFirst().separator();
    Map<String, String> separators = encoder.reading().map(Reading::separators).orElse(Map.of());
    for (int s = 0; s < slots.size(); s++) {
      boolean text = encoder.slots().get(s).text();
      boolean unsigned = slots.get(s).unsigned();
      String name = slots.get(s).name();
      String separator = other.isEmpty() ? separators.getOrDefault(name, "") : other;
      SparseColumn column = new SparseColumn(name, text, separator);
      sparse.add(
          unsigned && !text
              ? new SparseColumn(name, SparseColumn.Values.UNSIGNED, separator)
              : column);
    }
    return new Columns(
        config.columnsOfLabels(),
        Set.copyOf(config.positive()),
        encoder.rawSchema().dense(),
        sparse,
        Set.copyOf(config.missing()));
  }

  private List<String> denseNames() {
    return config.dense().stream().flatMap(group -> group.columns().stream()).toList();
  }

  private NormOptions normOptions() {
    boolean named = namesColumns() || model.isPresent() && !hasNormNames(schema(0));
    NormOptions options = FileOptions.norm(config);
    return named ? options.withSchema(schema(0)) : options;
  }

  /** Whether columns have the names that Norm files give them, which then may have more labels. */
  private static boolean hasNormNames(Schema schema) {
    return schema.dense().equals(numbered("dense", schema.denseDim()))
        && schema.slotNames().equals(numbered("slot", schema.slotCount()));
  }

  private static List<String> numbered(String name, int count) {
    return IntStream.range(0, count).mapToObj(i -> name + i).toList();
  }

  private DataReader raw(List<Path> files) {
    RawOptions options = rawOptions();
    Optional<Boolean> labelled = config.binary().labelled();
    if (policy.labels() != ReadPolicy.Labels.NONE || labelled.isEmpty()) {
      return RawReader.open(files, options, policy);
    }
    return RawReader.openAs(files, labelled.get() ? options : options.withoutLabels(), policy);
  }

  private RawOptions rawOptions() {
    if (!namesColumns() && model.isEmpty()) {
      throw new ConfigException(
          "data.sparse.columns: got no names for Raw files, which do not say what they hold,"
              + " expected data.dense.columns and data.sparse.columns; add them, as in C1..C26");
    }
    return FileOptions.raw(config, schema(1));
  }

  private boolean namesColumns() {
    return !denseNames().isEmpty()
        || config.sparse().stream().anyMatch(group -> !group.columns().isEmpty());
  }

  /** The named columns; {@code hotness} is for slots without one. */
  private Schema schema(int hotness) {
    if (!namesColumns() && model.isPresent()) {
      return ofFiles(model.get().rawSchema());
    }
    List<Slot> slots = new ArrayList<>();
    for (DataConfig.Sparse group : config.sparse()) {
      for (String name : group.columns()) {
        slots.add(new Slot(name, group.hotness() == 0 ? hotness : group.hotness()));
      }
    }
    return new Schema(config.columnsOfLabels(), denseNames(), slots);
  }

  /** The columns of files from which rows of {@code schema} come: weights are among the labels. */
  private Schema ofFiles(Schema schema) {
    return config.weight().isPresent()
        ? schema.withWeight(Optional.empty()).withLabels(config.columnsOfLabels())
        : schema.withWeight(Optional.empty());
  }

  /** {@code paths}, with the standard input for {@code -}. */
  static List<Path> inputs(List<Path> paths) {
    return paths.stream()
        .map(path -> path.toString().equals("-") ? Path.of("/dev/stdin") : path)
        .toList();
  }

  /** The files and folders that match {@code paths}, which may hold patterns; each exists. */
  static List<Path> files(List<Path> paths) {
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

  /** The error for evaluation files without rows. */
  static DataException withoutRows(List<Path> paths) {
    Object names = paths.size() == 1 ? paths.getFirst() : Shown.list(paths);
    return new DataException(names + ": got no rows, expected some to evaluate on; check the file");
  }
}
