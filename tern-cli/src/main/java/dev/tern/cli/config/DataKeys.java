package dev.tern.cli.config;

import dev.tern.data.encode.NumberEncoding;
import dev.tern.model.Loss;
import java.nio.file.Path;
import java.util.List;

/**
 * The keys of the section {@code data}: files, their format, columns. {@link DataConfig} reads
 * them.
 */
final class DataKeys {
  private static final Key.Section KEYS = new Key.Section();
  private static final String[] FILE_FORMATS = {
    "csv", "libsvm", "libffm", "norm", "raw", "parquet"
  };
  private static final Kind<List<Path>> FILES = new Kind.Files("a path or a list of paths", true);
  private static final Kind<List<Path>> SOME_FILES =
      new Kind.Files("a path or a list of paths", false);
  static final Key<String> FORMAT =
      KEYS.required(
              "data.format",
              Kind.Choice.of(
                  "csv", "libsvm", "libffm", "norm", "raw", "parquet", "criteo-synthetic"),
              "Format of the files.")
          .reading();
  static final Key<List<Path>> TRAIN =
      KEYS.required("data.train", SOME_FILES, "Training files; * and ? match names.")
          .when(FORMAT, FILE_FORMATS)
          .mayChange();
  static final Key<List<Path>> EVAL =
      KEYS.key("data.eval", FILES, List.of(), "Evaluation files; none for no evaluation.")
          .when(FORMAT, FILE_FORMATS)
          .mayChange();
  static final Key<String> TIME =
      KEYS.key(
              "data.time",
              new Kind.Text("the name of a column", true),
              "",
              "Column that says when each row happened: a time or date as in 2026-01-31T08:30:00Z,"
                  + " or a number of seconds, milliseconds, microseconds or nanoseconds since 1970."
                  + " A run reads it once before it trains, says which times its rows have, and"
                  + " warns where training rows are later than evaluation rows. It is no feature;"
                  + " none for rows without times.")
          .when(FORMAT, "csv", "parquet")
          .mayChange();
  static final Key<String> EVAL_FROM =
      KEYS.key(
              "data.eval_from",
              new Kind.Moment(),
              "",
              "Time from which on the rows of the training files are evaluated on, in the place of"
                  + " data.eval; rows before are trained on. UTC unless it says otherwise; none for"
                  + " training on all rows.")
          .when(FORMAT, "csv", "parquet");
  static final Key<Long> READ_THREADS =
      KEYS.key(
              "data.threads",
              new Kind.Whole(1, 64),
              1L,
              "Threads that read files; rows and their order do not depend on it.")
          .when(FORMAT, FILE_FORMATS)
          .mayChange()
          .reading();
  static final Key<String> BAD_RECORDS =
      KEYS.key(
              "data.bad_records",
              Kind.Choice.of("error", "skip"),
              "error",
              "What becomes of a record that is damaged or has values out of range: an error, or"
                  + " it is left out and counted. Rows to be scored are never left out.")
          .when(FORMAT, FILE_FORMATS)
          .reading();
  static final Key<Long> MOST_BAD =
      KEYS.key(
              "data.most_bad",
              new Kind.Whole(0, 1 << 20),
              1000L,
              "Rows that are left out, all that a fault costs; one more is an error.")
          .when(BAD_RECORDS, "skip")
          .reading();
  static final Key<List<String>> COLUMNS =
      KEYS.key(
              "data.columns",
              Kind.NAMES,
              List.of(),
              "Names of all columns, in order; none where the first line holds them. In libffm"
                  + " names of fields from 0 on, in libsvm of features from 1 on; none for their"
                  + " numbers.")
          .when(FORMAT, "csv", "libsvm", "libffm")
          .reading();
  static final Key<String> DELIMITER =
      KEYS.key(
              "data.delimiter",
              new Kind.Delimiter(),
              ",",
              "What separates fields: 1 to 16 characters; tab, space, or a code as in \\u0001 stand"
                  + " for one.")
          .when(FORMAT, "csv")
          .reading();
  static final Key<Boolean> QUOTES =
      KEYS.key(
              "data.quotes",
              new Kind.Flag(),
              true,
              "Fields may be in double quotes; false takes a quote as it is.")
          .when(FORMAT, "csv")
          .reading();
  static final Key<String> ESCAPES =
      KEYS.key(
              "data.escapes",
              Kind.Choice.of("none", "backslash", "quoted"),
              "none",
              "What makes a quote, a delimiter or an end of line a part of a field, beside quotes"
                  + " around it: backslash as Hive and MySQL write it; quoted, a backslash in"
                  + " quotes alone, as Spark does.")
          .when(FORMAT, "csv")
          .reading();
  static final Key<Boolean> TRIM =
      KEYS.key("data.trim", new Kind.Flag(), true, "Spaces around fields are dropped.")
          .when(FORMAT, "csv")
          .reading();
  static final Key<Long> SKIP_LINES =
      KEYS.key(
              "data.skip_lines",
              new Kind.Whole(0, 1 << 20),
              0L,
              "Lines at the beginning of each file that are left out, whatever they hold; the next"
                  + " one is the first.")
          .when(FORMAT, "csv", "libsvm", "libffm")
          .reading();
  static final Key<String> COMMENT =
      KEYS.key(
              "data.comment",
              new Kind.Text("what a comment begins with", true),
              "",
              "Lines that begin with it are left out; none for no comments.")
          .when(FORMAT, "csv")
          .reading();
  static final Key<String> ENCODING =
      KEYS.key(
              "data.encoding",
              Kind.Choice.of("utf-8", "latin-1", "windows-1252", "utf-16", "utf-16le", "utf-16be"),
              "utf-8",
              "What the characters of the files are written in.")
          .when(FORMAT, "csv", "libsvm", "libffm")
          .reading();
  static final Key<List<String>> MISSING_VALUES =
      KEYS.key(
              "data.missing_values",
              new Kind.Texts("a list of texts"),
              List.of(),
              "Texts that mean a missing value, as an empty field does. In libsvm and libffm of"
                  + " numbers, in parquet of texts.")
          .when(FORMAT, "csv", "libsvm", "libffm", "parquet")
          .reading();
  static final Key<String> UNNAMED =
      KEYS.key(
              "data.unnamed",
              Kind.Choice.of("error", "skip"),
              "error",
              "What becomes of features that no column takes.")
          .when(FORMAT, "libsvm", "libffm")
          .reading();
  static final Key<String> ID_VALUES =
      KEYS.key(
              "data.id_values",
              Kind.Choice.of("one", "ignore", "weight"),
              "one",
              "Values of features that are ids: 1; or any, which are ignored or are the weights by"
                  + " which embeddings are multiplied. A feature with 0 is absent.")
          .when(FORMAT, "libsvm", "libffm")
          .reading();
  static final Key<String> KEY_TYPE =
      KEYS.key(
              "data.key_type",
              Kind.Choice.of("detect", "u32", "i32", "i64"),
              "detect",
              "Type of the ids in the files; detect finds it out in Norm and means u32 in Raw.")
          .when(FORMAT, "norm", "raw")
          .reading();
  static final Key<String> LABEL_TYPE =
      KEYS.key("data.label_type", Kind.Choice.of("float", "int"), "float", "Type of the labels.")
          .when(FORMAT, "raw")
          .reading();
  static final Key<String> HAS_LABELS =
      KEYS.key(
              "data.has_labels",
              Kind.Choice.of("detect", "yes", "no"),
              "detect",
              "Whether rows to be scored have labels, which are not read then; detect finds it out"
                  + " where the size of the files or what they hold tells.")
          .when(FORMAT, "raw")
          .reading();
  static final Key<String> DENSE_TYPE =
      KEYS.key(
              "data.dense_type",
              Kind.Choice.of("float", "int", "int-log"),
              "float",
              "Type of the dense numbers; int-log reads an integer x as log(x + 1).")
          .when(FORMAT, "raw")
          .reading();
  static final Key<Long> LARGEST_PAGE =
      KEYS.key(
              "data.largest_page",
              new Kind.Bytes(1),
              1L << 30,
              "Bytes that a page of a Parquet file may have; a reading thread holds a page of each"
                  + " column.")
          .when(FORMAT, "parquet")
          .mayChange()
          .reading();
  static final Key<Long> ROWS =
      KEYS.key("data.rows", new Kind.Whole(1, 1L << 40), 500_000L, "Training rows to generate.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Long> EVAL_ROWS =
      KEYS.key("data.eval_rows", Kind.COUNT, 100_000L, "Evaluation rows to generate.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Long> DATA_SEED =
      KEYS.key("data.seed", Kind.COUNT, 1L, "Seed of the generated rows.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<Double> SCALE =
      KEYS.key(
              "data.scale",
              new Kind.Real(1e-6, 100),
              1.0,
              "Factor on Criteo's numbers of distinct ids.")
          .when(FORMAT, "criteo-synthetic");
  static final Key<String> LABEL =
      KEYS.key("data.label.column", Kind.NAME, "label", "Column of the label.").reading();
  static final Key<List<String>> LABELS =
      KEYS.required(
              "data.labels.columns",
              Kind.NAMES,
              "Columns of labels, where a model predicts several, in the place of"
                  + " data.label.column.")
          .reading();
  static final Key<String> WEIGHT =
      KEYS.key(
              "data.weight",
              new Kind.Text("the name of a column", true),
              "",
              "Column of numbers that says how often each row counts in the loss and in metrics:"
                  + " finite, 0 or more. It is no feature, and rows to be scored need none. In norm"
                  + " and raw it is a label, the last unless data.labels names its place; none for"
                  + " rows that count once.")
          .when(FORMAT, "csv", "parquet", "norm", "raw")
          .reading();
  static final Key<String> LOSS =
      KEYS.key(
              "data.labels.loss",
              Kind.Choice.of(
                  "bce", "soft-bce", "mse", "mae", "huber", "poisson", "focal", "softmax", "bpr"),
              "bce",
              "What training minimizes for these labels: cross entropy of labels 0 and 1, or of"
                  + " labels from 0 to 1; the squared, absolute or Huber error of numbers; Poisson"
                  + " loss of counts; focal loss of labels 0 and 1; cross entropy of classes; bpr,"
                  + " the order of the rows of each value of data.group, labelled 1 before 0.")
          .reading();
  static final Key<Long> CLASSES =
      KEYS.key(
              "data.labels.classes",
              new Kind.Whole(2, Loss.OfClass.MOST_CLASSES),
              2L,
              "Classes of these labels, each a whole number from 0 to below this; the model has a"
                  + " probability for each.")
          .when(LOSS, "softmax")
          .reading();
  static final Key<String> MISSING_LABEL =
      KEYS.key(
              "data.labels.missing",
              new Kind.Text("empty or a number", true),
              "",
              "Rows may lack these labels, and count for the others alone: empty where the field is"
                  + " empty, null, NaN or one of data.missing_values; or a number that says so,"
                  + " too, such as -1. None where each row has them.")
          .reading();
  static final Key<Double> DELTA =
      KEYS.key(
              "data.labels.delta",
              new Kind.Real(1e-6, 1e6),
              1.0,
              "Error from which on the loss huber is linear.")
          .when(LOSS, "huber");
  static final Key<Double> GAMMA =
      KEYS.key(
              "data.labels.gamma",
              new Kind.Real(0, 20),
              2.0,
              "How much less rows count in the loss focal that are predicted well.")
          .when(LOSS, "focal");
  static final Key<Double> ALPHA =
      KEYS.key(
              "data.labels.alpha",
              new Kind.Real(1e-6, 0.999999),
              0.25,
              "Weight of the label 1 in the loss focal; that of 0 is the rest to 1.")
          .when(LOSS, "focal");
  static final Key<Double> LABEL_WEIGHT =
      KEYS.key(
          "data.labels.weight",
          new Kind.Real(1e-6, 1e6),
          1.0,
          "Factor of the loss of each of these labels in the loss of the model.");
  static final Key<Double> POSITIVE_WEIGHT =
      KEYS.key(
          "data.labels.positive_weight",
          new Kind.Real(1e-6, 1e6),
          1.0,
          "Factor of the losses of rows labelled 1; scores then hold for data with so many"
              + " times as many of them.");
  static final Key<Double> NEGATIVE_RATE =
      KEYS.key(
          "data.labels.negative_rate",
          new Kind.Real(1e-9, 1),
          1.0,
          "Share of the rows labelled 0 that the training files have kept. Scores and evaluations"
              + " are of data with all of them.");
  static final Key<String> WITHIN =
      KEYS.key(
          "data.labels.within",
          new Kind.Text("the name of a label", true),
          "",
          "Another label: rows where it is 1 count for these labels, and others do not; none for"
              + " all rows. As in buy within click.");
  static final Key<List<String>> POSITIVE =
      KEYS.key(
              "data.label.positive",
              new Kind.Texts("a list of values"),
              List.of(),
              "Texts that mean a positive label, all others a negative one, in each column of"
                  + " labels; none where the column holds 0 and 1, or in libsvm and libffm -1 and"
                  + " 1.")
          .when(FORMAT, "csv", "libsvm", "libffm", "parquet")
          .reading();
  static final Key<String> GROUP =
      KEYS.key(
              "data.group",
              new Kind.Text("the name of a column", true),
              "",
              "Column with one value a row, such as a user's id, whose rows are ranked against each"
                  + " other: evaluations also have figures by group (GAUC, NDCG). The model reads"
                  + " it only where data.sparse names it, too; none for no groups.")
          .mayChange()
          .reading();
  static final Key<List<String>> DENSE_COLUMNS =
      KEYS.key(
              "data.dense.columns",
              Kind.NAMES,
              List.of(),
              "Columns of numbers; none for all that the file has. In libsvm features, as in 7; in"
                  + " libffm features of fields, as in 3:17.")
          .reading();
  static final Key<String> TRANSFORM =
      KEYS.key(
              "data.dense.transform",
              Kind.Choice.of(
                  "auto", "none", "log1p", "standardize", "log1p+standardize", "bucketize"),
              "auto",
              "What is done to the numbers; fitted on the training files. auto standardizes; of"
                  + " the columns that data.dense.log1p says it takes log(1 + x) first.")
          .before("none");
  static final Key<List<String>> LOG1P =
      KEYS.key(
              "data.dense.log1p",
              Kind.NAMES,
              List.of("auto"),
              "Columns of which auto takes log(1 + x); auto for those without a negative number and"
                  + " with a skewness above 2. A run's config.yaml says which they were.")
          .when(TRANSFORM, "auto")
          .mayChange();
  static final Key<Long> DENSE_BUCKETS =
      KEYS.key(
              "data.dense.buckets",
              new Kind.Whole(2, 1 << 16),
              32L,
              "Buckets of about equally many rows.")
          .when(TRANSFORM, "bucketize");
  static final Key<Double> MISSING =
      KEYS.key(
          "data.dense.missing",
          Kind.NUMBER,
          0.0,
          "What stands for a missing number after the transform; 0 is the mean of standardized"
              + " numbers.");
  static final Key<String> VECTOR =
      KEYS.key(
          "data.dense.vector",
          Kind.Choice.of("none", "field", "buckets", "piecewise"),
          "none",
          "What gives these numbers an embedding, as a slot of their own: field multiplies one"
              + " vector with the transformed number, buckets have a vector each, piecewise is"
              + " linear in the number between bins. A missing number has a vector of its own.");
  static final Key<Boolean> BESIDE =
      KEYS.key(
              "data.dense.beside",
              new Kind.Flag(),
              false,
              "Whether these are numbers, too, beside their embedding.")
          .when(VECTOR, "field", "buckets", "piecewise");
  static final Key<Long> BINS =
      KEYS.key(
              "data.dense.bins",
              new Kind.Whole(2, NumberEncoding.Pieces.MOST),
              16L,
              "Bins of about equally many training rows each.")
          .when(VECTOR, "buckets", "piecewise");
  static final Key<List<Double>> BOUNDARIES =
      KEYS.key(
              "data.dense.boundaries",
              new Kind.Reals(Kind.NUMBER),
              List.of(),
              "Ascending numbers between which the bins lie, in the place of data.dense.bins; of"
                  + " piecewise also the ends of the first and the last bin. A number on a boundary"
                  + " is in the upper bin; none for quantiles of the training files.")
          .when(VECTOR, "buckets", "piecewise");
  static final Key<Long> DENSE_EMBEDDING =
      KEYS.key(
              "data.dense.embedding",
              new Kind.Whole(0, 4096),
              0L,
              "Width of the embeddings of these numbers in a model that reads embeddings side by"
                  + " side; 0 for what model.embedding says.")
          .when(VECTOR, "field", "buckets", "piecewise");
  static final Key<List<String>> SPARSE_COLUMNS =
      KEYS.key(
              "data.sparse.columns",
              Kind.NAMES,
              List.of(),
              "Columns of categories or ids; none for all that the file has. In libffm fields, as"
                  + " in 3; in libsvm one name for all features that are no numbers.")
          .reading();
  static final Key<String> ENCODE =
      KEYS.key(
          "data.sparse.encode",
          Kind.Choice.of("vocabulary", "hash", "id"),
          "vocabulary",
          "How values become ids: numbered as they occur in training, hashed into buckets, or"
              + " 64-bit integers as they are.");
  static final Key<String> VALUES =
      KEYS.key(
              "data.sparse.values",
              Kind.Choice.of("text", "integer", "unsigned"),
              "text",
              "What the fields hold: texts, integers below 2^63, or unsigned ones below 2^64; with"
                  + " encode id always integers.")
          .when(FORMAT, "csv", "parquet")
          .reading();
  static final Key<String> SPARSE_COMBINER =
      KEYS.key(
          "data.sparse.combiner",
          Kind.Choice.of("model", "sum", "mean", "sqrtn"),
          "model",
          "How the embeddings of several ids in one of these columns become one; model for what"
              + " model.combiner says.");
  static final Key<Long> SPARSE_EMBEDDING =
      KEYS.key(
          "data.sparse.embedding",
          new Kind.Whole(0, 4096),
          0L,
          "Width of the embeddings of these columns, and of those that use their tables, in a model"
              + " that reads embeddings side by side; 0 for what model.embedding says.");
  static final Key<Long> SPARSE_BUCKETS =
      KEYS.key("data.sparse.buckets", Kind.COUNT, 0L, "Buckets of the hash; 0 for all 64 bits.")
          .when(ENCODE, "hash");
  static final Key<Long> MIN_COUNT =
      KEYS.key(
              "data.sparse.min_count",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Times a value must occur in training to be known. Values that are not read as"
                  + " model.unknown says, in training as in scoring.")
          .when(ENCODE, "vocabulary");
  static final Key<String> TABLE =
      KEYS.key(
          "data.sparse.table",
          new Kind.Text("the name of a column", true),
          "",
          "Column whose embedding table these columns use too, with the same encode, values,"
              + " buckets and min_count; none for a table each.");
  static final Key<String> SEPARATOR =
      KEYS.key(
              "data.sparse.separator",
              new Kind.Text("the text between two values", true),
              "",
              "Separates several values in one field; none for one value.")
          .when(FORMAT, "csv", "parquet")
          .reading();
  static final Key<Long> SEQUENCE_LENGTH =
      KEYS.key(
          "data.sparse.sequence.max_length",
          new Kind.Whole(0, 1 << 16),
          0L,
          "Makes these columns a sequence, of which models such as din read the values one by one:"
              + " as many as this of each row, and no more. 0 for columns that are no sequence,"
              + " whose values are pooled.");
  static final Key<String> SEQUENCE_KEEP =
      KEYS.key(
          "data.sparse.sequence.keep",
          Kind.Choice.of("last", "first"),
          "last",
          "Which values of a longer sequence are kept.");
  static final Key<String> SEQUENCE_NAME =
      KEYS.key(
          "data.sparse.sequence.name",
          new Kind.Text("a name", true),
          "",
          "Name of the sequence; none for the name of the first of these columns. Columns of one"
              + " name are one sequence: each row has equally many values in each.");
  static final Key<Long> HOTNESS =
      KEYS.key(
              "data.sparse.hotness",
              new Kind.Whole(0, 1 << 16),
              0L,
              "Ids of each row; 0 for any number in Norm and for 1 in Raw.")
          .when(FORMAT, "norm", "raw")
          .reading();

  private DataKeys() {}

  /** In the order they are read and written. */
  static List<Key<?>> all() {
    return List.copyOf(KEYS.keys());
  }
}
