package dev.tern.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.param.Param;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training and scoring on a Spark of two processors in this process. */
final class TernClassifierTest {
  private static SparkSession spark;

  @TempDir Path folder;

  @BeforeAll
  static void begin() {
    spark =
        SparkSession.builder()
            .master("local[2]")
            .appName("tern")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "3")
            .getOrCreate();
    spark.sparkContext().setLogLevel("ERROR");
  }

  @AfterAll
  static void end() {
    spark.stop();
  }

  /** Rows with nulls, texts, whole numbers and arrays; clicks follow the item and the age. */
  private static Dataset<Row> clicks(int rows) {
    StructType schema =
        new StructType()
            .add("click", DataTypes.BooleanType)
            .add("age", DataTypes.DoubleType)
            .add("user", DataTypes.LongType)
            .add("item", DataTypes.StringType)
            .add("tags", DataTypes.createArrayType(DataTypes.StringType));
    List<Row> all = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      @Nullable Double age = i % 7 == 0 ? null : i % 50 + 0.25;
      @Nullable String item = i % 11 == 0 ? null : "item " + i % 13;
      @Nullable Object tags = i % 5 == 0 ? null : List.of("t" + i % 3, "t" + i % 4).toArray();
      all.add(RowFactory.create(i % 13 < 5 ^ i % 50 > 40, age, (long) (i % 17), item, tags));
    }
    return spark.createDataFrame(all, schema);
  }

  private TernClassifier classifier(String run, int workers) {
    return new TernClassifier()
        .setLabelCol("click")
        .setDenseCols("age")
        .setSparseCols("user", "item", "tags")
        .setEmbeddingSize(4)
        .setHiddenSizes(8)
        .setBatchSize(128)
        .setLanes(4)
        .setMaxIter(2)
        .setStepSize(0.01)
        .setNumWorkers(workers)
        .setWorkerMemory(1L << 27)
        .setRunPath(folder.resolve(run).toString());
  }

  private Map<String, String> weights(TernModel model, String name) throws IOException {
    Path whole = folder.resolve(name);
    Checkpoint.open(Path.of(model.getCheckpoint())).reshard(whole, 1);
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> below = Files.walk(whole)) {
      for (Path each : (Iterable<Path>) below.filter(Files::isRegularFile)::iterator) {
        files.put(
            whole.relativize(each).toString(), Arrays.hashCode(Files.readAllBytes(each)) + "");
      }
    }
    return files;
  }

  @Test
  void weightsDependNeitherOnWorkersNorOnPartitionsAndScoresAreThePredictors() throws Exception {
    Dataset<Row> clicks = clicks(1000);
    TernModel two = classifier("of two [1]", 2).fit(clicks.repartition(5));
    TernModel one = classifier("one", 1).fit(clicks.coalesce(1));
    assertThat(weights(two, "of two")).isEqualTo(weights(one, "of one"));

    List<Row> scored = two.transform(clicks).collectAsList();
    int right = 0;
    try (Predictor predictor = Predictor.open(Path.of(two.getCheckpoint()))) {
      for (Row row : scored) {
        Map<String, Object> values = new HashMap<>();
        for (String name : List.of("age", "user", "item", "tags")) {
          if (!row.isNullAt(row.fieldIndex(name))) {
            values.put(
                name, name.equals("tags") ? row.getList(row.fieldIndex(name)) : row.getAs(name));
          }
        }
        Vector probability = row.getAs("probability");
        assertThat((float) probability.apply(1)).isEqualTo(predictor.score(values));
        right += row.<Boolean>getAs("click") == (row.<Double>getAs("prediction") == 1) ? 1 : 0;
      }
    }
    assertThat(right).as("of %d predictions", scored.size()).isGreaterThan(650);
  }

  @Test
  void aPipelineIsSavedReadBackAndScoresAlike() throws Exception {
    Dataset<Row> clicks = clicks(300);
    PipelineModel model =
        new Pipeline().setStages(new PipelineStage[] {classifier("run", 2)}).fit(clicks);
    String saved = folder.resolve("saved").toString();
    model.write().save(saved);
    List<Row> expected = model.transform(clicks).select("probability").collectAsList();
    try (Stream<Path> run = Files.walk(folder.resolve("run"))) {
      run.toList().reversed().forEach(path -> path.toFile().delete());
    }
    assertThat(PipelineModel.load(saved).transform(clicks).select("probability").collectAsList())
        .isEqualTo(expected);
    TernClassifier same = classifier("run", 2);
    same.write().save(folder.resolve("estimator").toString());
    TernClassifier read = TernClassifier.load(folder.resolve("estimator").toString());
    for (Param<?> param : same.params()) {
      assertThat(read.getOrDefault(read.getParam(param.name())))
          .as(param.name())
          .isEqualTo(same.getOrDefault(param));
    }
  }

  @Test
  void aRunGoesOnWithMoreEpochsAndRefusesOtherRows() throws Exception {
    Dataset<Row> clicks = clicks(300);
    TernModel whole = classifier("whole", 2).setMaxIter(3).fit(clicks);
    classifier("parts", 2).setMaxIter(1).fit(clicks);
    TernModel parts = classifier("parts", 1).setMaxIter(3).fit(clicks.repartition(4));
    assertThat(weights(parts, "parts once")).isEqualTo(weights(whole, "whole once"));
    assertThatThrownBy(() -> classifier("parts", 2).fit(clicks(301)))
        .hasMessageContaining("got other rows than those of the run");
  }

  @Test
  void filesThatTernDidNotStageStayAndRowsWhoseNullsChangedPlacesAreOthers() throws Exception {
    Path data = Files.createDirectories(folder.resolve("own/data"));
    Files.writeString(data.resolve("mine"), "mine");
    assertThatThrownBy(() -> classifier("own", 2).fit(clicks(10)))
        .hasMessageContaining("where something lies that Tern did not stage");
    assertThat(data.resolve("mine")).hasContent("mine");
    StructType pairs = new StructType().add("a", DataTypes.LongType).add("b", DataTypes.LongType);
    RunFolder run = RunFolder.of(folder.resolve("pairs").toString());
    run.stage(spark.createDataFrame(List.of(RowFactory.create(null, 5L)), pairs));
    assertThatThrownBy(
            () -> run.stage(spark.createDataFrame(List.of(RowFactory.create(5L, null)), pairs)))
        .hasMessageContaining("got other rows than those of the run");
    run.stage(spark.createDataFrame(List.of(RowFactory.create(null, 5L)), pairs));
    assertThatThrownBy(() -> classifier("none", 2).fit(clicks(0)))
        .hasMessageContaining("got no rows");
  }

  @Test
  void whatCannotBeTrainedOnIsRefusedBeforeRowsMove() {
    Dataset<Row> clicks = clicks(10);
    assertThatThrownBy(() -> classifier("run", 2).setDenseCols("item").fit(clicks))
        .hasMessageContaining("column item: got string for a column of numbers");
    assertThatThrownBy(() -> classifier("run", 2).setSparseCols("age").fit(clicks))
        .hasMessageContaining("column age: got double, expected whole numbers, texts, or arrays");
    assertThatThrownBy(() -> classifier("run", 2).setLabelCol("clicked").fit(clicks))
        .hasMessageContaining("column clicked: got rows with the columns");
    assertThatThrownBy(() -> classifier("run", 2).setModelType("deepfn").fit(clicks))
        .hasMessageContaining("modelType: got deepfn, expected one of");
    assertThatThrownBy(() -> classifier("run", 2).setRunPath("hdfs://cluster/run").fit(clicks))
        .hasMessageContaining("runPath: got hdfs://cluster/run");
    assertThatThrownBy(() -> classifier("run", 3).setLanes(2).fit(clicks))
        .hasMessageContaining("got 2 lanes of batches of 128 rows for 3 workers");
    assertThat(folder).isEmptyDirectory();
  }
}
