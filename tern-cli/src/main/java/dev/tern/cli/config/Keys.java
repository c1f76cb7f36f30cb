package dev.tern.cli.config;

import dev.tern.embedding.config.UnknownRow;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every configuration key, in the order they are written. A key with a condition stands after the
 * key it depends on. Long because it is a table: one declaration a key.
 *
 * <p>The sections {@link #GROUPS} may hold a list: {@code data.sparse[1].encode} is the key {@code
 * data.sparse.encode} of the second group.
 */
final class Keys {
  private static final Kind<Long> COUNT = new Kind.Whole(0, Long.MAX_VALUE);
  static final Kind<Double> FACTOR = new Kind.Real(0, Double.MAX_VALUE);
  private static final Kind<Double> NUMBER = new Kind.Real(-Float.MAX_VALUE, Float.MAX_VALUE);
  static final Kind<Double> SHARE = new Kind.Real(0, 0.9999999);
  private static final Kind<String> NAME = new Kind.Text("a name", false);
  private static final Kind<Character> CHARACTER = new Kind.Letter();
  private static final Kind<List<String>> NAMES = new Kind.Columns();
  private static final Kind<List<Path>> FILES = new Kind.Files("a path or a list of paths", true);
  private static final Kind<List<Path>> SOME_FILES =
      new Kind.Files("a path or a list of paths", false);
  private static final Kind<List<Integer>> WIDTHS = new Kind.Wholes(new Kind.Whole(1, 1 << 20));
  private static final String[] FILE_FORMATS = {
    "csv", "libsvm", "libffm", "norm", "raw", "parquet"
  };
  private static final String[] PERCEPTRONS = {
    "wdl", "deepfm", "dcn", "dcnv2", "deepcrossing", "transformer"
  };
  private static final String[] NETWORKS = {"wdl", "deepfm", "dcn", "dcnv2", "dlrm"};

  static final Key<String> FORMAT =
      Key.required(
          "data.format",
          Kind.Choice.of("csv", "libsvm", "libffm", "norm", "raw", "parquet", "criteo-synthetic"),
          "Format of the files.");
  static final Key<List<Path>> TRAIN =
      Key.required("data.train", SOME_FILES, "Training files; * and ? match names.")
          .when(FORMAT, FILE_FORMATS);
  static final Key<List<Path>> EVAL =
      Key.of("data.eval", FILES, List.of(), "Evaluation files; none for no evaluation.")
          .when(FORMAT, FILE_FORMATS);
  static final Key<Long> READ_THREADS =
      Key.of(
              "data.threads",
              new Kind.Whole(1, 64),
              1L,
              "Threads that read files; rows and their order do not depend on it.")
          .when(FORMAT, FILE_FORMATS);
  static final Key<String> BAD_RECORDS =
      Key.of(
              "data.bad_records",
              Kind.Choice.of("error", "skip"),
              "error",
              "What becomes of a record that is damaged or has values out of range: an error, or"
                  + " it is left out and counted. Rows to be scored are never left out.")
          .when(FORMAT, FILE_FORMATS);
  static final Key<Long> MOST_BAD =
      Key.of(
              "data.most_bad",
              new Kind.Whole(0, 1 << 20),
              1000L,
              "Bad records that are left out; one more is an error.")
          .when(BAD_RECORDS, "skip");
  static final Key<List<String>> COLUMNS =
      Key.of(
              "data.columns",
              NAMES,
              List.of(),
              "Names of all columns, in order; none where the first line holds them. In libffm"
                  + " names of fields from 0 on, in libsvm of features from 1 on; none for their"
                  + " numbers.")
          .when(FORMAT, "csv", "libsvm", "libffm");
  static final Key<Character> DELIMITER =
      Key.of("data.delimiter", CHARACTER, ',', "What separates fields.").when(FORMAT, "csv");
  static final Key<Boolean> QUOTES =
      Key.of(
              "data.quotes",
              new Kind.Flag(),
              true,
              "Fields may be in double quotes; false takes a quote as it is.")
          .when(FORMAT, "csv");
  static final Key<Boolean> TRIM =
      Key.of("data.trim", new Kind.Flag(), true, "Spaces around fields are dropped.")
          .when(FORMAT, "csv");
  static final Key<String> UNNAMED =
      Key.of(
              "data.unnamed",
              Kind.Choice.of("error", "skip"),
              "error",
              "What becomes of features that no column takes.")
          .when(FORMAT, "libsvm", "libffm");
  static final Key<String> ID_VALUES =
      Key.of(
              "data.id_values",
              Kind.Choice.of("one", "ignore"),
              "one",
              "Values of features that are ids: 1 (a feature with 0 is absent), or any, which are"
                  + " ignored.")
          .when(FORMAT, "libsvm", "libffm");
  static final Key<String> KEY_TYPE =
      Key.of(
              "data.key_type",
              Kind.Choice.of("detect", "u32", "i32", "i64"),
              "detect",
              "Type of the ids in the files; detect finds it out in Norm and means u32 in Raw.")
          .when(FORMAT, "norm", "raw");
  static final Key<String> LABEL_TYPE =
      Key.of("data.label_type", Kind.Choice.of("float", "int"), "float", "Type of the labels.")
          .when(FORMAT, "raw");
  static final Key<String> DENSE_TYPE =
      Key.of(
              "data.dense_type",
              Kind.Choice.of("float", "int", "int-log"),
              "float",
              "Type of the dense numbers; int-log reads an integer x as log(x + 1).")
          .when(FORMAT, "raw");
  static final Key<Long> ROWS =
      Key.of("data.rows", new Kind.Whole(1, 1L << 40), 500_000L, "Training rows to generate.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Long> EVAL_ROWS =
      Key.of("data.eval_rows", COUNT, 100_000L, "Evaluation rows to generate.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Long> DATA_SEED =
      Key.of("data.seed", COUNT, 1L, "Seed of the generated rows.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Double> SCALE =
      Key.of(
              "data.scale",
              new Kind.Real(1e-6, 100),
              1.0,
              "Factor on Criteo's numbers of distinct ids.")
          .when(FORMAT, "criteo-synthetic");

  static final Key<String> LABEL =
      Key.of("data.label.column", NAME, "label", "Column of the label.");
  static final Key<List<String>> POSITIVE =
      Key.of(
              "data.label.positive",
              new Kind.Texts("a list of values"),
              List.of(),
              "Texts that mean a positive label, all others a negative one; none where the column"
                  + " holds 0 and 1, or in libsvm and libffm -1 and 1.")
          .when(FORMAT, "csv", "libsvm", "libffm", "parquet");

  static final Key<List<String>> DENSE_COLUMNS =
      Key.of(
          "data.dense.columns",
          NAMES,
          List.of(),
          "Columns of numbers; none for all that the file has. In libsvm features, as in 7; in"
              + " libffm features of fields, as in 3:17.");
  static final Key<String> TRANSFORM =
      Key.of(
          "data.dense.transform",
          Kind.Choice.of("none", "log1p", "standardize", "log1p+standardize", "bucketize"),
          "none",
          "What is done to the numbers; fitted on the training files.");
  static final Key<Long> DENSE_BUCKETS =
      Key.of(
              "data.dense.buckets",
              new Kind.Whole(2, 1 << 16),
              32L,
              "Buckets of about equally many rows.")
          .when(TRANSFORM, "bucketize");
  static final Key<Double> MISSING =
      Key.of(
          "data.dense.missing",
          NUMBER,
          0.0,
          "What stands for a missing number after the transform; 0 is the mean of standardized"
              + " numbers.");

  static final Key<List<String>> SPARSE_COLUMNS =
      Key.of(
          "data.sparse.columns",
          NAMES,
          List.of(),
          "Columns of categories or ids; none for all that the file has. In libffm fields, as in 3;"
              + " in libsvm one name for all features that are no numbers.");
  static final Key<String> ENCODE =
      Key.of(
          "data.sparse.encode",
          Kind.Choice.of("vocabulary", "hash", "id"),
          "vocabulary",
          "How values become ids: numbered as they occur in training, hashed into buckets, or"
              + " 64-bit integers as they are.");
  static final Key<String> VALUES =
      Key.of(
              "data.sparse.values",
              Kind.Choice.of("text", "integer"),
              "text",
              "What the fields hold; with encode id always integers.")
          .when(FORMAT, "csv", "parquet");
  static final Key<Long> SPARSE_BUCKETS =
      Key.of("data.sparse.buckets", COUNT, 0L, "Buckets of the hash; 0 for all 64 bits.")
          .when(ENCODE, "hash");
  static final Key<Long> MIN_COUNT =
      Key.of(
              "data.sparse.min_count",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Times a value must occur in training to be known.")
          .when(ENCODE, "vocabulary");
  static final Key<String> TABLE =
      Key.of(
          "data.sparse.table",
          new Kind.Text("the name of a column", true),
          "",
          "Column whose embedding table these columns use too, with the same encode, values,"
              + " buckets and min_count; none for a table each.");
  static final Key<String> SEPARATOR =
      Key.of(
              "data.sparse.separator",
              new Kind.Text("the text between two values", true),
              "",
              "Separates several values in one field; none for one value.")
          .when(FORMAT, "csv", "parquet");
  static final Key<Long> HOTNESS =
      Key.of(
              "data.sparse.hotness",
              new Kind.Whole(0, 1 << 16),
              0L,
              "Ids of each row; 0 for any number in Norm and for 1 in Raw.")
          .when(FORMAT, "norm", "raw");

  static final Key<String> MODEL =
      Key.required(
          "model.type",
          Kind.Choice.of(
              "wdl", "deepfm", "dcn", "dcnv2", "dlrm", "deepcrossing", "transformer", "fm", "lr"),
          "The model.");
  static final Key<Long> EMBEDDING =
      Key.of("model.embedding", new Kind.Whole(1, 4096), 16L, "Width of the embedding of an id.")
          .when(
              MODEL, "wdl", "deepfm", "dcn", "dcnv2", "dlrm", "deepcrossing", "transformer", "fm");
  static final Key<List<Integer>> HIDDEN =
      Key.of("model.hidden", WIDTHS, List.of(400, 400, 400), "Widths of the hidden layers.")
          .when(MODEL, PERCEPTRONS);
  static final Key<Long> HEADS =
      Key.of(
              "model.heads",
              new Kind.Whole(1, 256),
              2L,
              "Heads of attention; they divide model.embedding.")
          .when(MODEL, "transformer");
  static final Key<Long> CROSS_LAYERS =
      Key.of("model.cross_layers", new Kind.Whole(1, 64), 3L, "Cross layers.")
          .when(MODEL, "dcn", "dcnv2");
  static final Key<Long> CROSS_RANK =
      Key.of(
              "model.cross_rank",
              new Kind.Whole(0, 1 << 20),
              0L,
              "Rank of the cross layers' matrices; 0 for full ones.")
          .when(MODEL, "dcnv2");
  static final Key<Long> CROSS_EXPERTS =
      Key.of(
              "model.cross_experts",
              new Kind.Whole(0, 64),
              0L,
              "Experts of that rank in each cross layer; 0 for one matrix without gates.")
          .when(MODEL, "dcnv2");
  static final Key<List<Integer>> BOTTOM =
      Key.of(
              "model.bottom",
              WIDTHS,
              List.of(512, 256, 16),
              "Widths of the layers over dense numbers; the last is model.embedding.")
          .when(MODEL, "dlrm");
  static final Key<List<Integer>> TOP =
      Key.of(
              "model.top",
              WIDTHS,
              List.of(512, 256, 1),
              "Widths of the layers over the interactions; the last is 1.")
          .when(MODEL, "dlrm");
  static final Key<Double> DROPOUT =
      Key.of(
              "model.dropout",
              new Kind.Real(0, 0.99),
              0.0,
              "Share of hidden units left out in training.")
          .when(MODEL, PERCEPTRONS);
  static final Key<String> ACTIVATION =
      Key.of(
              "model.activation",
              Kind.Choice.of("relu", "prelu", "dice"),
              "relu",
              "What follows the linear part of a hidden layer.")
          .when(MODEL, NETWORKS);
  static final Key<Boolean> BATCH_NORM =
      Key.of(
              "model.batch_norm",
              new Kind.Flag(),
              false,
              "Batch normalization before each activation.")
          .when(MODEL, NETWORKS);
  static final Key<String> COMBINER =
      Key.of(
          "model.combiner",
          Kind.Choice.of("sum", "mean", "sqrtn"),
          "sum",
          "How the embeddings of several ids in one field become one: their sum, or that by the"
              + " number of ids or its square root.");
  static final Key<String> UNKNOWN =
      Key.of(
          "model.unknown",
          Kind.Choice.of("zeros", "initial", "mean", "hash"),
          "zeros",
          "Row of an id that has none, such as one that training has not seen: zeros, the row it"
              + " would start from, the mean row, or one of model.unknown_buckets rows, by its"
              + " hash, which learn from ids that training leaves without a row.");
  static final Key<Long> UNKNOWN_BUCKETS =
      Key.of(
              "model.unknown_buckets",
              new Kind.Whole(1, UnknownRow.Hashed.MOST),
              10_000L,
              "Rows of a table that ids without one share.")
          .when(UNKNOWN, "hash");

  static final Key<String> TABLE_STORAGE =
      Key.of(
          "model.table_storage",
          Kind.Choice.of("f32", "f16", "bf16"),
          "f32",
          "How embeddings lie in memory and in checkpoints; f16 and bf16 take half the bytes. They"
              + " are computed with in f32.");

  static final RowKeys ROW_RULES = RowKeys.of("model");
  static final Key<List<String>> TABLE_COLUMNS =
      Key.required(
          "model.tables.columns",
          new Kind.Columns(),
          "Columns whose tables have rules of their own, those beside this key, in the place of"
              + " model.admission, eviction, max_rows and when_full.");
  static final RowKeys TABLE_RULES = RowKeys.of("model.tables");

  static final Key<Path> DIR =
      Key.required(
          "run.dir",
          new Kind.File("a path"),
          "Folder of the run: configuration, metrics, checkpoints, report.");

  static final Key<Long> BATCH =
      Key.of("train.batch", new Kind.Whole(1, 1 << 24), 4096L, "Rows of a step.");
  static final Key<Long> EPOCHS =
      Key.of("train.epochs", new Kind.Whole(1, 1 << 20), 1L, "Passes over the training files.");
  static final OptimizerKeys OPTIMIZER =
      OptimizerKeys.of("train.optimizer", "adam", "The optimizer of all weights.");
  static final OptimizerKeys TABLE_OPTIMIZER =
      OptimizerKeys.orSame(
          "train.table_optimizer",
          "The optimizer of embeddings; its learning rate follows the schedule in proportion.");
  static final OptimizerKeys LINEAR_OPTIMIZER =
      OptimizerKeys.orSame(
          "train.linear_optimizer",
          "The optimizer of the linear weight of each id, in a model that has one beside"
              + " embeddings; the same is that of embeddings.");

  static final Key<String> SCHEDULE =
      Key.of(
          "train.schedule.type",
          Kind.Choice.of("constant", "warmup-decay"),
          "constant",
          "The learning rate over the steps; warmup-decay rises to it, then falls to end_lr.");
  static final Key<Long> WARMUP_STEPS =
      Key.of(
              "train.schedule.warmup_steps",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Steps of the rise.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Long> DECAY_START =
      Key.of(
              "train.schedule.decay_start",
              COUNT,
              0L,
              "Step at which the fall begins; 0 for no fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Long> DECAY_STEPS =
      Key.of(
              "train.schedule.decay_steps",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Steps of the fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Double> DECAY_POWER =
      Key.of("train.schedule.decay_power", new Kind.Real(1, 100), 2.0, "Power of the fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Double> END_LR =
      Key.of("train.schedule.end_lr", FACTOR, 0.0, "Learning rate after the fall.")
          .when(SCHEDULE, "warmup-decay");

  static final Key<Double> WEIGHT_L2 =
      Key.of("train.l2", FACTOR, 0.0, "Factor of half the sum of squared weights in the loss.");
  static final Key<Double> WEIGHT_DECAY =
      Key.of(
          "train.weight_decay",
          FACTOR,
          0.0,
          "Share of weights, times the learning rate, taken off in each step, apart from the"
              + " gradient; not of embeddings.");
  static final Key<Double> CLIP_NORM =
      Key.of(
          "train.clip_norm",
          FACTOR,
          0.0,
          "Largest norm of the gradient of all weights but embeddings; 0 for any.");
  static final Key<Double> ROW_CLIP_NORM =
      Key.of(
          "train.rows.clip_norm",
          FACTOR,
          0.0,
          "Largest norm of the gradient of each row of an embedding; 0 for any.");
  static final Key<Double> ROW_LOW =
      Key.of(
          "train.rows.low",
          NUMBER,
          (double) -Float.MAX_VALUE,
          "Least weight of an embedding after an update.");
  static final Key<Double> ROW_HIGH =
      Key.of(
          "train.rows.high",
          NUMBER,
          (double) Float.MAX_VALUE,
          "Greatest weight of an embedding after an update.");
  static final Key<Long> SHUFFLE =
      Key.of(
          "train.shuffle",
          new Kind.Whole(0, 1 << 28),
          65_536L,
          "Rows of a block that is shuffled; 0 keeps the order of the files.");
  static final Key<Long> SEED =
      Key.of("train.seed", COUNT, 1L, "Seed of weights, dropout and shuffling.");
  static final Key<Long> THREADS =
      Key.of(
          "train.threads",
          new Kind.Whole(0, 1024),
          0L,
          "Compute threads; 0 for one per processor.");
  static final Key<Long> MEMORY =
      Key.of(
          "train.memory",
          new Kind.Bytes(16L << 20),
          2L << 30,
          "Hard limit on memory for weights, tables and steps.");
  static final Key<Long> ACTIVATION_MEMORY =
      Key.of(
          "train.activation_memory",
          new Kind.Bytes(0),
          0L,
          "Hard limit on memory for the values of one step: what does not fit is dropped and"
              + " computed again, which changes no bit; 0 for what train.memory leaves.");
  static final Key<Double> PLAN_SECONDS =
      Key.of(
          "train.plan_seconds",
          new Kind.Real(0, 86_400),
          0.0,
          "Seconds to search for what a step drops and computes again, where its values do not fit:"
              + " steps become faster and change no bit. The result is kept in run.dir and used on"
              + " resume; 0 for a search of a second or so.");
  static final Key<Long> TABLE_MEMORY =
      Key.of(
          "train.table_memory",
          new Kind.Bytes(0),
          0L,
          "Of train.memory, what embedding tables share: rows without room lie in files in run.dir,"
              + " which changes no bit; 0 keeps all rows in memory.");
  static final Key<Every> EVALUATE_EVERY =
      Key.of(
          "train.evaluate_every",
          new Kind.Often(),
          Every.EPOCH,
          "When the evaluation files are scored: epoch, never or a number of steps.");
  static final Key<Every> CHECKPOINT_EVERY =
      Key.of(
          "train.checkpoint_every",
          new Kind.Often(),
          Every.EPOCH,
          "When a checkpoint is written: epoch, never or a number of steps.");
  static final Key<Long> DELTA_STEPS =
      Key.of(
          "train.delta.steps",
          COUNT,
          0L,
          "Steps after which a checkpoint of what changed since the one before is written; 0 for"
              + " none. Small with lazy optimizers, where each step changes few rows.");
  static final Key<Double> DELTA_SECONDS =
      Key.of(
          "train.delta.seconds",
          new Kind.Real(0, 1e6),
          0.0,
          "Seconds after which one is written; 0 for none.");
  static final Key<Long> DELTA_MOST =
      Key.of(
          "train.delta.most",
          new Kind.Whole(1, 10_000),
          100L,
          "Checkpoints of changes that may follow a full one; also as soon as they are larger than"
              + " it the next is full.");
  static final Key<Long> EARLY_STOP =
      Key.of(
          "train.early_stop",
          COUNT,
          0L,
          "Evaluations without a better AUC after which training ends; 0 for never.");
  static final Key<Long> LOG_EVERY =
      Key.of(
          "train.log_every",
          new Kind.Whole(1, Long.MAX_VALUE),
          100L,
          "Steps between two lines of training metrics.");

  /** All keys, in the order they are read and written. */
  static final List<Key<?>> ALL =
      Stream.of(
              keys(
                  FORMAT,
                  TRAIN,
                  EVAL,
                  READ_THREADS,
                  BAD_RECORDS,
                  MOST_BAD,
                  COLUMNS,
                  DELIMITER,
                  QUOTES,
                  TRIM,
                  UNNAMED,
                  ID_VALUES,
                  KEY_TYPE,
                  LABEL_TYPE,
                  DENSE_TYPE,
                  ROWS,
                  EVAL_ROWS,
                  DATA_SEED,
                  SCALE,
                  LABEL,
                  POSITIVE,
                  DENSE_COLUMNS,
                  TRANSFORM,
                  DENSE_BUCKETS,
                  MISSING,
                  SPARSE_COLUMNS,
                  ENCODE,
                  VALUES,
                  SPARSE_BUCKETS,
                  MIN_COUNT,
                  TABLE,
                  SEPARATOR,
                  HOTNESS,
                  MODEL,
                  EMBEDDING,
                  HIDDEN,
                  HEADS,
                  CROSS_LAYERS,
                  CROSS_RANK,
                  CROSS_EXPERTS,
                  BOTTOM,
                  TOP,
                  DROPOUT,
                  ACTIVATION,
                  BATCH_NORM,
                  COMBINER,
                  UNKNOWN,
                  UNKNOWN_BUCKETS,
                  TABLE_STORAGE),
              ROW_RULES.all(),
              keys(TABLE_COLUMNS),
              TABLE_RULES.all(),
              keys(DIR, BATCH, EPOCHS),
              OPTIMIZER.all(),
              TABLE_OPTIMIZER.all(),
              LINEAR_OPTIMIZER.all(),
              keys(
                  SCHEDULE,
                  WARMUP_STEPS,
                  DECAY_START,
                  DECAY_STEPS,
                  DECAY_POWER,
                  END_LR,
                  WEIGHT_L2,
                  WEIGHT_DECAY,
                  CLIP_NORM,
                  ROW_CLIP_NORM,
                  ROW_LOW,
                  ROW_HIGH,
                  SHUFFLE,
                  SEED,
                  THREADS,
                  MEMORY,
                  ACTIVATION_MEMORY,
                  PLAN_SECONDS,
                  TABLE_MEMORY,
                  EVALUATE_EVERY,
                  CHECKPOINT_EVERY,
                  DELTA_STEPS,
                  DELTA_SECONDS,
                  DELTA_MOST,
                  EARLY_STOP,
                  LOG_EVERY))
          .flatMap(List::stream)
          .toList();

  /** The keys of the section {@code data}. */
  static final List<Key<?>> DATA =
      ALL.stream().filter(key -> key.path().startsWith("data.")).toList();

  /** Keys that say how files are read, whatever is done with the rows. */
  static final List<Key<?>> READING =
      List.of(
          FORMAT,
          COLUMNS,
          DELIMITER,
          QUOTES,
          TRIM,
          UNNAMED,
          ID_VALUES,
          KEY_TYPE,
          LABEL_TYPE,
          DENSE_TYPE,
          LABEL,
          POSITIVE,
          DENSE_COLUMNS,
          SPARSE_COLUMNS,
          VALUES,
          SEPARATOR,
          HOTNESS);

  /** Sections that may hold a list of groups. */
  static final List<String> GROUPS = List.of("data.dense", "data.sparse", "model.tables");

  /** Keys that a resumed run may change: its weights after the same steps stay the same. */
  static final Set<String> MAY_CHANGE =
      Stream.of(
              TRAIN,
              EVAL,
              READ_THREADS,
              DIR,
              EPOCHS,
              THREADS,
              MEMORY,
              ACTIVATION_MEMORY,
              PLAN_SECONDS,
              TABLE_MEMORY,
              EVALUATE_EVERY,
              CHECKPOINT_EVERY,
              DELTA_STEPS,
              DELTA_SECONDS,
              DELTA_MOST,
              EARLY_STOP,
              LOG_EVERY)
          .map(Key::path)
          .collect(Collectors.toUnmodifiableSet());

  private static final Set<String> SECTIONS = sections();
  private static final Pattern INDEX = Pattern.compile("\\[\\d+]");

  private Keys() {}

  private static List<Key<?>> keys(Key<?>... keys) {
    return List.of(keys);
  }

  /** The key of {@code path}, where indices of groups are ignored. */
  static Optional<Key<?>> find(String path) {
    String plain = plain(path);
    return ALL.stream().filter(key -> key.path().equals(plain)).findFirst();
  }

  /** The section of groups in which a key stands. */
  static Optional<String> groupsOf(Key<?> key) {
    return GROUPS.stream().filter(section -> key.path().startsWith(section + ".")).findFirst();
  }

  /** Whether {@code path} names a section. */
  static boolean isSection(String path) {
    return SECTIONS.contains(plain(path));
  }

  /** {@code path} without the indices of groups. */
  static String plain(String path) {
    return INDEX.matcher(path).replaceAll("");
  }

  /**
   * What to do about {@code path}, which is neither a key nor a section: the nearest name, or those
   * that could stand there.
   */
  static String advice(String path) {
    String plain = plain(path);
    Optional<String> near = nearest(plain);
    if (near.isPresent()) {
      return "did you mean " + near.get() + "?";
    }
    return members(plain.contains(".") ? plain.substring(0, plain.lastIndexOf('.')) : "");
  }

  /** "use one of" and what stands in {@code section}. */
  static String members(String section) {
    String prefix = section.isEmpty() ? "" : section + ".";
    Set<String> here = new TreeSet<>();
    for (String name : names()) {
      if (name.startsWith(prefix)) {
        here.add(name.substring(prefix.length()).split("\\.", 2)[0]);
      }
    }
    return "use one of " + String.join(", ", here);
  }

  /**
   * The nearest key or section: by its name within the same section first, then by its name alone,
   * then by the whole path.
   */
  private static Optional<String> nearest(String path) {
    int dot = path.lastIndexOf('.');
    String prefix = path.substring(0, dot + 1);
    String last = path.substring(dot + 1);
    List<String> siblings =
        names().stream()
            .filter(n -> n.startsWith(prefix) && n.indexOf('.', prefix.length()) < 0)
            .map(n -> n.substring(prefix.length()))
            .toList();
    return Names.nearest(last, siblings)
        .map(prefix::concat)
        .or(() ->
            names().stream()
                .filter(n -> n.endsWith("." + last))
                .min(Comparator.comparingInt(n -> Names.edits(path, n))))
        .or(() -> Names.nearest(path, names()));
  }

  private static Set<String> names() {
    Set<String> names = new LinkedHashSet<>(SECTIONS);
    ALL.forEach(key -> names.add(key.path()));
    return names;
  }

  private static Set<String> sections() {
    Set<String> sections = new LinkedHashSet<>();
    for (Key<?> key : ALL) {
      for (int dot = key.path().indexOf('.'); dot >= 0; dot = key.path().indexOf('.', dot + 1)) {
        sections.add(key.path().substring(0, dot));
      }
    }
    return sections;
  }
}
