package dev.tern.spark;

import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.ml.Estimator;
import org.apache.spark.ml.param.DoubleParam;
import org.apache.spark.ml.param.IntArrayParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.param.StringArrayParam;
import org.apache.spark.ml.util.DefaultParamsReadable;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import scala.reflect.ClassTag;

/**
 * Trains a click-through-rate model on the rows of a DataFrame, by {@code numWorkers} tasks of
 * Spark together: each holds its share of the embedding rows and computes its share of each batch,
 * and they exchange over sockets of their own. The weights do not depend on how many workers there
 * are, on partitions, or on the order of the rows, to the bit.
 *
 * <pre>{@code
 * TernModel model =
 *     new TernClassifier()
 *         .setLabelCol("click").setDenseCols("age", "price").setSparseCols("user", "item")
 *         .setModelType("deepfm").setHiddenSizes(400, 400, 400)
 *         .setNumWorkers(8).setRunPath("/mnt/share/run1")
 *         .fit(clicks);
 * }</pre>
 *
 * <p>The run has a folder, {@code runPath}, that the driver and all executors reach by one path. If
 * it holds checkpoints of the same rows, {@code fit} goes on from the newest; so does a training
 * that lost a worker, which Spark begins again.
 *
 * <p>Numbers are standardized, and values numbered by a vocabulary of the rows.
 */
public final class TernClassifier extends Estimator<TernModel> implements DefaultParamsWritable {
  private static final long serialVersionUID = 1L;
  private static final int SECRET_BYTES = 32;

  private final String uid;
  private final Param<String> labelCol;
  private final StringArrayParam denseCols;
  private final StringArrayParam sparseCols;
  private final Param<String> modelType;
  private final IntParam embeddingSize;
  private final IntArrayParam hiddenSizes;
  private final IntParam batchSize;
  private final IntParam lanes;
  private final IntParam maxIter;
  private final DoubleParam stepSize;
  private final LongParam seed;
  private final IntParam numWorkers;
  private final LongParam workerMemory;
  private final IntParam checkpointInterval;
  private final Param<String> runPath;

  public TernClassifier() {
    this(Identifiable$.MODULE$.randomUID("tern"));
  }

  /** With an identifier, as Spark makes one that it reads. */
  public TernClassifier(String uid) {
    this.uid = uid;
    // Here, because field initializers run before uid is there, which parameters ask for.
    labelCol = new Param<>(this, "labelCol", "column of labels, 0 or 1");
    denseCols = new StringArrayParam(this, "denseCols", "columns of numbers");
    sparseCols = new StringArrayParam(this, "sparseCols", "columns of values or arrays of values");
    modelType = new Param<>(this, "modelType", "type of the model, such as deepfm or dcnv2");
    embeddingSize = new IntParam(this, "embeddingSize", "numbers of a vector");
    hiddenSizes = new IntArrayParam(this, "hiddenSizes", "widths of the hidden layers");
    batchSize = new IntParam(this, "batchSize", "rows of a step of all workers together");
    lanes = new IntParam(this, "lanes", "parts of a batch that workers share, a power of two");
    maxIter = new IntParam(this, "maxIter", "passes over the rows");
    stepSize = new DoubleParam(this, "stepSize", "learning rate");
    seed = new LongParam(this, "seed", "seed of initial weights, order of rows and dropout");
    numWorkers = new IntParam(this, "numWorkers", "tasks that train together");
    workerMemory = new LongParam(this, "workerMemory", "bytes outside the heap for each worker");
    checkpointInterval = new IntParam(this, "checkpointInterval", "steps between checkpoints");
    runPath = new Param<>(this, "runPath", "folder of the run, which all executors reach");
    defaults();
  }

  private void defaults() {
    setDefault(labelCol, "label");
    setDefault(denseCols, new String[0]);
    setDefault(sparseCols, new String[0]);
    setDefault(modelType, "deepfm");
    setDefault(embeddingSize, 16);
    setDefault(hiddenSizes, new int[] {400, 400, 400});
    setDefault(batchSize, 4096);
    setDefault(lanes, 8);
    setDefault(maxIter, 1);
    setDefault(stepSize, 0.001);
    setDefault(seed, 1L);
    setDefault(numWorkers, 2);
    setDefault(workerMemory, 1L << 30);
    setDefault(checkpointInterval, 500);
  }

  @Override
  public String uid() {
    return uid;
  }

  /** Column of labels, 0 or 1: {@code label}. */
  public Param<String> labelCol() {
    return labelCol;
  }

  /** Columns of numbers: none. */
  public StringArrayParam denseCols() {
    return denseCols;
  }

  /** Columns of values, or arrays of values: none. */
  public StringArrayParam sparseCols() {
    return sparseCols;
  }

  /** Type of the model, one of {@link dev.tern.model.ModelConfig.Type}: {@code deepfm}. */
  public Param<String> modelType() {
    return modelType;
  }

  /** Numbers of a vector: 16. */
  public IntParam embeddingSize() {
    return embeddingSize;
  }

  /** Widths of the hidden layers: 400, 400, 400. */
  public IntArrayParam hiddenSizes() {
    return hiddenSizes;
  }

  /** Rows of a step of all workers together: 4,096. */
  public IntParam batchSize() {
    return batchSize;
  }

  /** Parts of a batch that workers share, a power of two: 8. */
  public IntParam lanes() {
    return lanes;
  }

  /** Passes over the rows: 1. */
  public IntParam maxIter() {
    return maxIter;
  }

  /** Learning rate: 0.001. */
  public DoubleParam stepSize() {
    return stepSize;
  }

  /** Seed of initial weights, order of rows and dropout: 1. */
  public LongParam seed() {
    return seed;
  }

  /** Tasks that train together: 2. */
  public IntParam numWorkers() {
    return numWorkers;
  }

  /** Bytes outside the heap for each worker: 1 GiB. */
  public LongParam workerMemory() {
    return workerMemory;
  }

  /** Steps between checkpoints: 500. */
  public IntParam checkpointInterval() {
    return checkpointInterval;
  }

  /** Folder of the run, which all executors reach. */
  public Param<String> runPath() {
    return runPath;
  }

  /** See {@link #labelCol}. */
  public TernClassifier setLabelCol(String value) {
    set(labelCol, value);
    return this;
  }

  /** See {@link #denseCols}. */
  public TernClassifier setDenseCols(String... value) {
    set(denseCols, value);
    return this;
  }

  /** See {@link #sparseCols}. */
  public TernClassifier setSparseCols(String... value) {
    set(sparseCols, value);
    return this;
  }

  /** See {@link #modelType}. */
  public TernClassifier setModelType(String value) {
    set(modelType, value);
    return this;
  }

  /** See {@link #embeddingSize}. */
  public TernClassifier setEmbeddingSize(int value) {
    set(embeddingSize, value);
    return this;
  }

  /** See {@link #hiddenSizes}. */
  public TernClassifier setHiddenSizes(int... value) {
    set(hiddenSizes, value);
    return this;
  }

  /** See {@link #batchSize}. */
  public TernClassifier setBatchSize(int value) {
    set(batchSize, value);
    return this;
  }

  /** See {@link #lanes}. */
  public TernClassifier setLanes(int value) {
    set(lanes, value);
    return this;
  }

  /** See {@link #maxIter}. */
  public TernClassifier setMaxIter(int value) {
    set(maxIter, value);
    return this;
  }

  /** See {@link #stepSize}. */
  public TernClassifier setStepSize(double value) {
    set(stepSize, value);
    return this;
  }

  /** See {@link #seed}. */
  public TernClassifier setSeed(long value) {
    set(seed, value);
    return this;
  }

  /** See {@link #numWorkers}. */
  public TernClassifier setNumWorkers(int value) {
    set(numWorkers, value);
    return this;
  }

  /** See {@link #workerMemory}. */
  public TernClassifier setWorkerMemory(long value) {
    set(workerMemory, value);
    return this;
  }

  /** See {@link #checkpointInterval}. */
  public TernClassifier setCheckpointInterval(int value) {
    set(checkpointInterval, value);
    return this;
  }

  /** See {@link #runPath}. */
  public TernClassifier setRunPath(String value) {
    set(runPath, value);
    return this;
  }

  private <T> T value(Param<T> param) {
    return getOrDefault(param);
  }

  private int number(IntParam param) {
    return ((Number) getOrDefault(param)).intValue();
  }

  private Inputs inputs() {
    return new Inputs(value(labelCol), List.of(value(denseCols)), List.of(value(sparseCols)));
  }

  private Settings settings() {
    return new Settings(
        value(modelType),
        number(embeddingSize),
        IntStream.of(value(hiddenSizes)).boxed().toList(),
        number(batchSize),
        number(lanes),
        number(maxIter),
        ((Number) getOrDefault(stepSize)).doubleValue(),
        ((Number) getOrDefault(seed)).longValue(),
        ((Number) getOrDefault(workerMemory)).longValue(),
        number(checkpointInterval));
  }

  /**
   * Stages the rows, trains, and gives the model of the last step.
   *
   * @throws IllegalArgumentException if a column is missing or of another kind, or the folder of
   *     the run holds one of other rows
   */
  @Override
  public TernModel fit(Dataset<?> data) {
    Inputs inputs = inputs();
    Settings settings = settings();
    settings.require(number(numWorkers)); // Before rows move.
    if (!isSet(runPath)) {
      throw new IllegalArgumentException(
          "runPath: got none, expected a folder for rows and checkpoints that all executors reach;"
              + " call setRunPath");
    }
    RunFolder folder = RunFolder.of(value(runPath));
    Dataset<Row> staged = data.select(inputs.staged(data.schema()).toArray(Column[]::new));
    folder.stage(staged);
    // A run that goes on has its encoder.
    String encoder =
        folder.hasCheckpoint() ? "" : encoder(folder, inputs, staged.schema()).toJson();
    byte[] secret = new byte[SECRET_BYTES];
    new SecureRandom().nextBytes(secret);
    TrainTask task = new TrainTask(folder, inputs, staged.schema(), encoder, settings, secret);
    train(JavaSparkContext.fromSparkContext(data.sparkSession().sparkContext()), task);
    return copyValues(
        new TernModel(uid).setCheckpoint(folder.newest().toString()), ParamMap.empty());
  }

  private static FeatureEncoder encoder(RunFolder folder, Inputs inputs, StructType staged) {
    try (DataReader rows = TrainTask.rows(folder, inputs, staged.json())) {
      List<NumberEncoding> numbers =
          Collections.nCopies(inputs.dense().size(), NumberEncoding.standardize());
      List<IdEncoding> ids = Collections.nCopies(inputs.sparse().size(), IdEncoding.vocabulary());
      return FeatureEncoder.fit(rows, numbers, ids, TextDictionary.none(), _ -> {});
    }
  }

  private void train(JavaSparkContext spark, TrainTask task) {
    int workers = number(numWorkers);
    List<Integer> numbers = new ArrayList<>(IntStream.range(0, workers).boxed().toList());
    RDD<Integer> each = spark.parallelize(numbers, workers).rdd();
    RDD<Long> steps = each.barrier().mapPartitions(task, false, ClassTag.apply(Long.class));
    // Spark begins a stage of barrier tasks again only if another stage follows it.
    Object all = steps.repartition(1, null).collect();
    if (((Object[]) all).length != 1) {
      throw new IllegalStateException(
          "fit: got %s of the workers, expected the steps of one"
              .formatted(Arrays.toString((Object[]) all)));
    }
  }

  @Override
  public StructType transformSchema(StructType schema) {
    inputs().staged(schema);
    return TernModel.withScores(schema);
  }

  @Override
  public TernClassifier copy(ParamMap extra) {
    return defaultCopy(extra);
  }

  /** Reads what {@link #write} wrote. */
  public static MLReader<TernClassifier> read() {
    return new Reading().read();
  }

  /** The same, from a path. */
  public static TernClassifier load(String path) {
    return read().load(path);
  }

  private static final class Reading implements DefaultParamsReadable<TernClassifier> {}
}
