package dev.tern.cli.config;

import dev.tern.data.Sequence;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.TextOptions;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Files and columns.
 *
 * @param format {@code csv}, {@code libsvm}, {@code libffm}, {@code norm}, {@code raw}, {@code
 *     parquet} or {@code criteo-synthetic}
 * @param train training files or patterns; empty for generated rows
 * @param eval evaluation files or patterns; empty for no evaluation
 * @param times the times of rows
 * @param threads threads that read
 * @param mostBad bad records to leave out before one is an error; none where the first is
 * @param text what the lines of text files are written in, and which are no records
 * @param csv what CSV files need
 * @param libsvm what LIBSVM and LIBFFM files need
 * @param binary what Norm and Raw files need
 * @param parquet what Parquet files need
 * @param synthetic what generated rows need
 * @param listed columns of labels, in order, and that of weights if it has a place among them
 * @param weight column of the weights of rows; empty for rows that count once
 * @param values what labels may be that are not 0 or 1 in each row, by name
 * @param positive texts that mean a positive label; empty where the columns hold 0 and 1
 * @param missing texts that mean a missing value
 * @param dense groups of columns of numbers; empty for none, or in files that know their columns
 *     for all
 * @param sparse groups of columns of categories or ids; empty as for {@code dense}
 * @param group the column by whose values evaluations group rows, if any
 */
public record DataConfig(
    String format,
    List<Path> train,
    List<Path> eval,
    Times times,
    int threads,
    OptionalInt mostBad,
    TextOptions text,
    Csv csv,
    Libsvm libsvm,
    Binary binary,
    Parquet parquet,
    Synthetic synthetic,
    List<String> listed,
    Optional<String> weight,
    Map<String, ReadPolicy.Labels> values,
    List<String> positive,
    List<String> missing,
    List<Dense> dense,
    List<Sparse> sparse,
    Optional<String> group) {
  /** What {@code data.labels.missing} is where no number stands for a missing label. */
  static final String EMPTY = "empty";

  /**
   * The times of rows.
   *
   * @param column that has them, if any
   * @param evalFrom microseconds since 1970 from which on rows of training files are evaluated on;
   *     empty where all are trained on
   */
  public record Times(Optional<String> column, OptionalLong evalFrom) {}

  /**
   * CSV and TSV files.
   *
   * @param columns names of all columns; empty where the first line holds them
   * @param delimiter what separates fields
   * @param trim whether spaces around fields are dropped
   * @param quotes whether fields may be quoted
   * @param escapes what a backslash does
   */
  public record Csv(
      List<String> columns,
      String delimiter,
      boolean trim,
      boolean quotes,
      CsvOptions.Escapes escapes) {}

  /**
   * LIBSVM and LIBFFM files.
   *
   * @param names of features from 1 on or of fields from 0 on; empty where they go by numbers
   * @param skipUnnamed whether features that no column takes are left out
   * @param values what values of ids are: {@code one}, {@code ignore} or {@code weight}
   */
  public record Libsvm(List<String> names, boolean skipUnnamed, String values) {}

  /**
   * Norm and Raw files.
   *
   * @param keyType {@code detect}, {@code u32}, {@code i32} or {@code i64}
   * @param intLabels whether labels are integers (Raw)
   * @param denseType {@code float}, {@code int} or {@code int-log} (Raw)
   * @param labelled whether rows to be scored have labels; empty: find it out (Raw)
   */
  public record Binary(
      String keyType, boolean intLabels, String denseType, Optional<Boolean> labelled) {}

  /**
   * Parquet files.
   *
   * @param largestPage bytes that a page may have
   */
  public record Parquet(long largestPage) {}

  /**
   * Generated rows.
   *
   * @param rows training rows
   * @param evalRows evaluation rows
   * @param seed of ids, numbers and labels
   * @param scale factor on Criteo's numbers of distinct ids
   */
  public record Synthetic(long rows, long evalRows, long seed, double scale) {}

  /**
   * Columns of numbers with the same encoding.
   *
   * @param columns names; empty for all that the file has and no other group names
   * @param transform {@code auto}, {@code none}, {@code log1p}, {@code standardize}, {@code
   *     log1p+standardize} or {@code bucketize}
   * @param log1p with {@code auto} the columns of which the logarithm is taken, or {@code auto}
   * @param buckets of {@code bucketize}
   * @param missing what stands for a missing number
   * @param vectors how they have embeddings
   */
  public record Dense(
      List<String> columns,
      String transform,
      List<String> log1p,
      int buckets,
      float missing,
      Vectors vectors) {
    /** Whether the training files say of which columns the logarithm is taken. */
    public boolean findsLog1p() {
      return transform.equals("auto") && log1p.equals(DataKeys.LOG1P.fallback().orElseThrow());
    }

    /** How the numbers of a column become features. */
    public NumberEncoding encoding(String column) {
      NumberEncoding number =
          switch (transform) {
            case "bucketize" -> NumberEncoding.quantiles(buckets);
            case "auto" ->
                findsLog1p()
                    ? new NumberEncoding.Auto(missing)
                    : new NumberEncoding.Scaled(log1p.contains(column), true, missing);
            case String other ->
                new NumberEncoding.Scaled(
                    other.startsWith("log1p"), other.endsWith("standardize"), missing);
          };
      return vectors.kind.equals("none")
          ? number
          : vectors.beside
              ? new NumberEncoding.Beside(number, vectors.encoding(number))
              : vectors.encoding(number);
    }
  }

  /**
   * How numbers have embeddings.
   *
   * @param kind {@code none}, {@code field}, {@code buckets} or {@code piecewise}
   * @param beside whether they are numbers, too
   * @param bins of about equally many rows
   * @param boundaries of bins; empty for {@code bins}
   */
  public record Vectors(String kind, boolean beside, int bins, List<Float> boundaries) {
    /** No embeddings. */
    public static final Vectors NONE = new Vectors("none", false, 16, List.of());

    private NumberEncoding encoding(NumberEncoding number) {
      boolean told = !boundaries.isEmpty();
      return switch (kind) {
        case "field" -> new NumberEncoding.Field(number);
        case "buckets" ->
            told ? new NumberEncoding.Boundaries(boundaries) : new NumberEncoding.Quantiles(bins);
        default ->
            told ? new NumberEncoding.PiecesBetween(boundaries) : new NumberEncoding.Pieces(bins);
      };
    }
  }

  /**
   * Columns of categories or ids with the same encoding.
   *
   * @param columns names; empty for all that the file has and no other group names
   * @param encode {@code vocabulary}, {@code hash} or {@code id}
   * @param values what each value is
   * @param buckets of {@code hash}; 0 for all 64 bits
   * @param minCount times a value must occur in training to enter the vocabulary
   * @param table column whose table these use; empty for a table each
   * @param separator between several values of one field; empty for one value
   * @param hotness ids of each row; 0 for any number, or 1 in Raw files
   * @param sequence the sequence that the columns form; empty where their values are pooled
   */
  public record Sparse(
      List<String> columns,
      String encode,
      SparseColumn.Values values,
      long buckets,
      long minCount,
      String table,
      String separator,
      int hotness,
      Optional<Sequence> sequence) {
    /** Whether values are text. */
    public boolean text() {
      return values == SparseColumn.Values.TEXT;
    }

    /** How the values become ids. */
    public IdEncoding encoding() {
      return switch (encode) {
        case "vocabulary" ->
            new IdEncoding.Vocabulary(text(), minCount, IdEncoding.Vocabulary.MAX_SIZE);
        case "hash" ->
            buckets > 0 ? new IdEncoding.Hashed(text(), buckets) : new IdEncoding.Verbatim(text());
        default -> new IdEncoding.Verbatim(text());
      };
    }
  }

  /**
   * Reads the section {@code data} alone and ignores the other sections.
   *
   * @param yaml a configuration, or empty for none
   * @param name stands for the file in messages
   * @param overrides {@code key=value} each, put over the text's values in order
   * @throws ConfigException as for {@link Config#load}
   */
  public static DataConfig parse(String yaml, String name, List<String> overrides) {
    Map<String, Raw> written = yaml.isEmpty() ? Map.of() : YamlFile.read(yaml, name);
    Settings settings =
        Settings.resolve(name, written, overrides, DataKeys.all(), new Settings.Absent.Default());
    Checks.data(settings);
    return of(settings);
  }

  /**
   * Reads what a checkpoint says about how the files of its training were read, in order to read
   * others for the model.
   *
   * @param reading what {@link Config#reading} wrote, or {@code {}} for nothing
   * @param name stands for the file in messages
   * @param overrides {@code key=value} each, put over it in order
   * @throws ConfigException as for {@link Config#load}
   */
  public static DataConfig saved(String reading, String name, List<String> overrides) {
    Map<String, Raw> written = ReadingKeys.read(reading, name);
    Settings.Absent before = new Settings.Absent.Before();
    String format =
        Settings.resolve(name, written, overrides, List.of(DataKeys.FORMAT), before)
            .get(DataKeys.FORMAT);
    List<String> all = new ArrayList<>(overrides);
    if (!format.equals("criteo-synthetic")) {
      all.add("data.train=none"); // The command names the files.
    }
    Settings settings = Settings.resolve(name, written, all, DataKeys.all(), before);
    Checks.columns(settings, false);
    return of(settings);
  }

  /**
   * What a checkpoint keeps of how files are read, for {@link #saved}.
   *
   * @param yaml a configuration, of which the section {@code data} is read
   * @param name stands for it in messages
   * @param overrides {@code key=value} each, put over it in order
   */
  public static String reading(String yaml, String name, List<String> overrides) {
    List<String> all = new ArrayList<>(overrides);
    all.add("data.train=none"); // Whoever reads names the files.
    Settings settings =
        Settings.resolve(
            name, YamlFile.read(yaml, name), all, DataKeys.all(), new Settings.Absent.Default());
    Checks.columns(settings, false);
    return ReadingKeys.write(YamlFile.read(settings.toYaml(), name));
  }

  static DataConfig of(Settings s) {
    String format = s.get(DataKeys.FORMAT);
    return new DataConfig(
        format,
        format.equals("criteo-synthetic") ? List.of() : s.get(DataKeys.TRAIN),
        s.get(DataKeys.EVAL),
        times(s),
        s.get(DataKeys.READ_THREADS).intValue(),
        s.get(DataKeys.BAD_RECORDS).equals("skip")
            ? OptionalInt.of(s.get(DataKeys.MOST_BAD).intValue())
            : OptionalInt.empty(),
        new TextOptions(
            s.get(DataKeys.SKIP_LINES).intValue(),
            s.get(DataKeys.COMMENT),
            Charset.forName(s.get(DataKeys.ENCODING).replace("latin-1", "iso-8859-1"))),
        new Csv(
            s.get(DataKeys.COLUMNS),
            s.get(DataKeys.DELIMITER),
            s.get(DataKeys.TRIM),
            s.get(DataKeys.QUOTES),
            escapes(s.get(DataKeys.ESCAPES))),
        new Libsvm(
            s.get(DataKeys.COLUMNS),
            s.get(DataKeys.UNNAMED).equals("skip"),
            s.get(DataKeys.ID_VALUES)),
        new Binary(
            s.get(DataKeys.KEY_TYPE),
            s.get(DataKeys.LABEL_TYPE).equals("int"),
            s.get(DataKeys.DENSE_TYPE),
            s.get(DataKeys.HAS_LABELS).equals("detect")
                ? Optional.empty()
                : Optional.of(s.get(DataKeys.HAS_LABELS).equals("yes"))),
        new Parquet(s.get(DataKeys.LARGEST_PAGE)),
        new Synthetic(
            s.get(DataKeys.ROWS),
            s.get(DataKeys.EVAL_ROWS),
            s.get(DataKeys.DATA_SEED),
            s.get(DataKeys.SCALE)),
        columnsOfLabels(s),
        weight(s),
        values(s),
        s.get(DataKeys.POSITIVE),
        s.get(DataKeys.MISSING_VALUES),
        IntStream.range(0, s.groups("data.dense")).mapToObj(i -> dense(s, i)).toList(),
        IntStream.range(0, s.groups("data.sparse")).mapToObj(i -> sparse(s, i)).toList(),
        Optional.of(s.get(DataKeys.GROUP)).filter(name -> !name.isEmpty()));
  }

  private static Times times(Settings s) {
    String from = s.get(DataKeys.EVAL_FROM);
    return new Times(
        Optional.of(s.get(DataKeys.TIME)).filter(name -> !name.isEmpty()),
        from.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Kind.Moment.micros(from)));
  }

  /** The columns of labels, and of weights among them: the groups' columns, or else the one. */
  private static List<String> columnsOfLabels(Settings s) {
    List<String> several =
        s.all("data.labels").stream().flatMap(g -> g.get(DataKeys.LABELS).stream()).toList();
    return several.isEmpty() ? List.of(s.get(DataKeys.LABEL)) : several;
  }

  /** The columns of what a model predicts. */
  static List<String> labels(Settings s) {
    Optional<String> weight = weight(s);
    return columnsOfLabels(s).stream().filter(name -> !weight.equals(Optional.of(name))).toList();
  }

  /** What labels may be by the losses of their groups, where that is not 0 or 1. */
  private static Map<String, ReadPolicy.Labels> values(Settings s) {
    Map<String, ReadPolicy.Labels> values = new TreeMap<>();
    for (Settings.Group group : s.all("data.labels")) {
      String missing = group.get(DataKeys.MISSING_LABEL);
      ReadPolicy.Labels always = values(group);
      for (String label : group.get(DataKeys.LABELS)) {
        ReadPolicy.Labels all =
            switch (missing) {
              case "" -> always;
              case EMPTY -> always.optionally();
              default -> always.optionally(Float.parseFloat(missing));
            };
        if (!all.equals(ReadPolicy.Labels.BINARY)) {
          values.put(label, all);
        }
      }
    }
    weight(s).ifPresent(column -> values.put(column, ReadPolicy.Labels.WEIGHT));
    return values;
  }

  private static ReadPolicy.Labels values(Settings.Group group) {
    return switch (group.get(DataKeys.LOSS)) {
      case "bce", "focal", "bpr" -> ReadPolicy.Labels.BINARY;
      case "soft-bce" -> ReadPolicy.Labels.SHARE;
      case "poisson" -> ReadPolicy.Labels.COUNT;
      case "softmax" -> ReadPolicy.Labels.classes(group.get(DataKeys.CLASSES).intValue());
      default -> ReadPolicy.Labels.FINITE;
    };
  }

  static Optional<String> weight(Settings s) {
    return Optional.of(s.get(DataKeys.WEIGHT)).filter(name -> !name.isEmpty());
  }

  private static CsvOptions.Escapes escapes(String name) {
    return switch (name) {
      case "backslash" -> CsvOptions.Escapes.ANYWHERE;
      case "quoted" -> CsvOptions.Escapes.QUOTED;
      default -> CsvOptions.Escapes.NONE;
    };
  }

  private static Dense dense(Settings s, int i) {
    return new Dense(
        s.get(DataKeys.DENSE_COLUMNS, i),
        s.get(DataKeys.TRANSFORM, i),
        s.get(DataKeys.LOG1P, i),
        s.get(DataKeys.DENSE_BUCKETS, i).intValue(),
        s.get(DataKeys.MISSING, i).floatValue(),
        new Vectors(
            s.get(DataKeys.VECTOR, i),
            s.get(DataKeys.BESIDE, i),
            s.get(DataKeys.BINS, i).intValue(),
            s.get(DataKeys.BOUNDARIES, i).stream().map(Double::floatValue).toList()));
  }

  private static Sparse sparse(Settings s, int i) {
    String encode = s.get(DataKeys.ENCODE, i);
    return new Sparse(
        s.get(DataKeys.SPARSE_COLUMNS, i),
        encode,
        values(s, i),
        s.get(DataKeys.SPARSE_BUCKETS, i),
        s.get(DataKeys.MIN_COUNT, i),
        s.get(DataKeys.TABLE, i),
        s.get(DataKeys.SEPARATOR, i),
        s.get(DataKeys.HOTNESS, i).intValue(),
        sequence(s, i));
  }

  private static Optional<Sequence> sequence(Settings s, int i) {
    int length = s.get(DataKeys.SEQUENCE_LENGTH, i).intValue();
    List<String> columns = s.get(DataKeys.SPARSE_COLUMNS, i);
    boolean told =
        !s.get(DataKeys.SEQUENCE_NAME, i).isEmpty()
            || s.get(DataKeys.SEQUENCE_KEEP, i).equals("first");
    if (length == 0 && told) {
      throw new ConfigException(
          "data.sparse.sequence: got a name or an end to keep without max_length for "
              + String.join(", ", columns)
              + ", expected how many values are kept; add it, as in sequence: {max_length: 50}");
    }
    if (length == 0) {
      return Optional.empty();
    }
    boolean text = s.get(DataKeys.FORMAT).equals("csv");
    if (text && s.get(DataKeys.SEPARATOR, i).isEmpty()) {
      throw new ConfigException(
          "data.sparse.sequence: got no separator for "
              + String.join(", ", columns)
              + ", whose fields hold several values, expected what stands between them; add it, as"
              + " in separator: \"|\"");
    }
    if (columns.isEmpty()) {
      throw new ConfigException(
          "data.sparse.sequence.max_length: got "
              + length
              + " for all columns that no other group names, expected names; give the columns of"
              + " the sequence in data.sparse.columns");
    }
    String name = s.get(DataKeys.SEQUENCE_NAME, i);
    Sequence.Keep keep =
        s.get(DataKeys.SEQUENCE_KEEP, i).equals("last") ? Sequence.Keep.LAST : Sequence.Keep.FIRST;
    return Optional.of(new Sequence(name.isEmpty() ? columns.getFirst() : name, length, keep));
  }

  private static SparseColumn.Values values(Settings s, int i) {
    return switch (s.get(DataKeys.FORMAT)) {
      case "csv", "parquet" ->
          switch (s.get(DataKeys.VALUES, i)) {
            case "unsigned" -> SparseColumn.Values.UNSIGNED;
            case "integer" -> SparseColumn.Values.SIGNED;
            default ->
                s.get(DataKeys.ENCODE, i).equals("id")
                    ? SparseColumn.Values.SIGNED
                    : SparseColumn.Values.TEXT;
          };
      case "libsvm", "libffm" -> SparseColumn.Values.UNSIGNED;
      default -> SparseColumn.Values.SIGNED;
    };
  }

  /** The columns of what a model predicts. */
  public List<String> labels() {
    return listed.stream().filter(name -> !weight.equals(Optional.of(name))).toList();
  }

  /** Whether a label is 0 or 1 in each row that has it. */
  public boolean isWhole(String label) {
    return !values.containsKey(label) || values.get(label).kind() == ReadPolicy.Labels.Kind.BINARY;
  }

  /** The columns that files have as labels: those of labels and of weights. */
  public List<String> columnsOfLabels() {
    return weight.isEmpty() || listed.contains(weight.get())
        ? listed
        : Stream.concat(listed.stream(), weight.stream()).toList();
  }

  /** For each column that shares a table: the column whose table it uses. */
  public Map<String, String> tables() {
    Map<String, String> tables = new TreeMap<>();
    for (Sparse group : sparse) {
      for (String column : group.table().isEmpty() ? List.<String>of() : group.columns()) {
        tables.put(column, group.table());
      }
    }
    return tables;
  }

  /** For each column that is part of a sequence: the sequence. */
  public Map<String, Sequence> sequences() {
    Map<String, Sequence> sequences = new TreeMap<>();
    for (Sparse group : sparse) {
      group
          .sequence()
          .ifPresent(sequence -> group.columns().forEach(name -> sequences.put(name, sequence)));
    }
    return sequences;
  }

  /** The columns of each sequence. */
  public List<List<String>> columnsOfSequences() {
    Map<String, List<String>> columns = new TreeMap<>();
    sequences()
        .forEach((column, sequence) ->
            columns.computeIfAbsent(sequence.name(), _ -> new ArrayList<>()).add(column));
    return List.copyOf(columns.values());
  }

  /** The group of a column of numbers: the group that names it, or the group of all others. */
  public Optional<Dense> group(String column) {
    return dense.stream()
        .filter(group -> group.columns().contains(column))
        .findFirst()
        .or(() -> dense.stream().filter(group -> group.columns().isEmpty()).findFirst());
  }

  /** Whether the training files say what is done to the numbers of a column. */
  public boolean choosesTransform(String column) {
    return group(column).map(Dense::findsLog1p).orElse(true);
  }

  /** Whether there are rows to evaluate on. */
  public boolean evaluates() {
    return train.isEmpty() ? synthetic.evalRows > 0 : !eval.isEmpty() || times.evalFrom.isPresent();
  }

  /** The files that rows to evaluate on are read from; empty for none, and for generated rows. */
  public List<Path> evalFiles() {
    return times.evalFrom.isPresent() ? train : eval;
  }

  /** The data in one line. */
  public String summary() {
    if (train.isEmpty()) {
      return String.format(
          Locale.ROOT,
          "%s, %,d rows to train, %,d to evaluate, seed %d",
          format,
          synthetic.rows,
          synthetic.evalRows,
          synthetic.seed);
    }
    return format
        + ", training "
        + names(train)
        + (eval.isEmpty() ? "" : ", evaluation " + names(eval))
        + (times.evalFrom.isEmpty() ? "" : ", evaluation from " + instant(times.evalFrom));
  }

  private static String instant(OptionalLong micros) {
    return Instant.EPOCH.plus(micros.getAsLong(), ChronoUnit.MICROS).toString();
  }

  private static String names(List<Path> paths) {
    String first = String.valueOf(paths.getFirst().getFileName());
    return paths.size() == 1 ? first : first + " and " + (paths.size() - 1) + " more";
  }
}
