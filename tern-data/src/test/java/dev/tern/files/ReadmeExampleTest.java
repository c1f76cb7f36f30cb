package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.train.StepResult;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import dev.tern.train.TrainingBatches;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Java examples of README and of {@code docs/java.md}: what stands there between two markers is
 * the code here between {@code // example:} and {@code // end}, which runs.
 */
final class ReadmeExampleTest {
  private static final Path README = Path.of("../README.md");
  private static final Path SOURCE = Path.of("src/test/java/dev/tern/files/ReadmeExampleTest.java");
  private static final List<String> CITIES = List.of("Oslo", "Lima", "Accra", "Hanoi");

  @TempDir Path folder;

  // example: train
  static float trainAndScore(List<Path> clicks, List<Path> held, Path checkpoint) {
    var columns =
        new Columns(
            List.of("clicked"),
            Set.of(),
            List.of("age", "price"),
            List.of(SparseColumn.text("city"), SparseColumn.text("item")));
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 8, 32, 16);
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(4);
    try (Device device = Device.cpu(2, 1L << 30);
        DataReader train = CsvReader.open(clicks, CsvOptions.csv(), columns);
        DataReader test = CsvReader.open(held, CsvOptions.csv(), columns)) {
      var numbers = List.of(NumberEncoding.standardize(), NumberEncoding.log1pStandardize());
      var ids = List.of(IdEncoding.vocabulary(), IdEncoding.vocabulary());
      var encoder = FeatureEncoder.fit(train, numbers, ids, TextDictionary.none(), rows -> {});
      try (Trainer trainer = Trainer.create(device, encoder, model, options)) {
        trainer.fit(train);
        System.out.println("AUC " + trainer.evaluate(test).auc());
        trainer.save(checkpoint);
      }
    }
    try (Predictor predictor = Predictor.open(checkpoint)) {
      return predictor.score(Map.of("age", 39, "price", 4.5, "city", "Oslo", "item", "i7"));
    }
  }

  // end

  // example: gated
  /** A hidden layer over all features, each scaled by a gate that looks at all of them. */
  record GatedModel(Linear gate, Linear hidden, Linear out) implements Model {
    static final int WIDTH = 8;

    static GatedModel create(Schema schema, Parameters parameters) {
      int inputs = schema.slotCount() * WIDTH + schema.denseDim();
      return new GatedModel(
          new Linear(parameters, "gate", inputs, inputs),
          new Linear(parameters, "hidden", inputs, 32),
          new Linear(parameters, "out", 32, 1));
    }

    @Override
    public int embeddingWidth() {
      return WIDTH;
    }

    @Override
    public Tensor logits(Features x) {
      Tensor all = x.flat(x.embedded());
      Tensor gated = all.mul(gate.apply(all).sigmoid());
      return out.apply(hidden.apply(gated).tanh()).reshape(-1);
    }
  }

  // end

  // example: model
  /** Logistic regression on all features, each scaled by a gate that looks at all of them. */
  record Gated(Linear gate, Linear out) implements Model {
    static Gated create(Schema schema, Parameters parameters) {
      int n = schema.slotCount() * 8 + schema.denseDim();
      return new Gated(new Linear(parameters, "gate", n, n), new Linear(parameters, "out", n, 1));
    }

    public int embeddingWidth() {
      return 8;
    }

    public Tensor logits(Features x) {
      Tensor all = x.flat(x.embedded());
      return out.apply(all.mul(gate.apply(all).sigmoid())).reshape(-1);
    }
  }

  // end

  // example: loop
  static void loop(Trainer trainer, DataReader train, DataReader test, Path folder) {
    try (TrainingBatches batches = trainer.batches(train)) {
      while (trainer.epoch() < 4) {
        for (Batch batch : batches) {
          StepResult result = trainer.step(batch);
          if (result.step() % 20 == 0) {
            System.out.printf("step %d  loss %.4f%n", result.step(), result.loss());
          }
        }
        System.out.println("AUC " + trainer.evaluate(test).auc());
        trainer.save(folder.resolve("step-" + trainer.step()));
      }
    }
  }

  // end

  @ParameterizedTest
  @ValueSource(strings = {"train", "model", "loop", "gated"})
  void theDocumentsHoldTheCodeThatRunsHere(String example) throws IOException {
    Path page = example.equals("gated") ? Path.of("../docs/java.md") : README;
    assertThat(between(page, "<!-- example: " + example + " -->\n```java\n", "```\n"))
        .isEqualTo(between(SOURCE, "  // example: " + example + "\n", "\n  // end\n").indent(-2));
  }

  private static String between(Path file, String start, String end) throws IOException {
    Matcher matcher =
        Pattern.compile(Pattern.quote(start) + "(.*?)" + Pattern.quote(end), Pattern.DOTALL)
            .matcher(Files.readString(file));
    assertThat(matcher.find()).as("%s holds %s", file, start).isTrue();
    return matcher.group(1);
  }

  /** Rows whose clicks grow with price and depend on the city. */
  private Path clicks(String name, int rows, long seed) throws IOException {
    Random random = new Random(seed);
    StringBuilder csv = new StringBuilder("clicked,age,price,city,item\n");
    for (int i = 0; i < rows; i++) {
      double price = random.nextDouble() * 10;
      int city = random.nextInt(CITIES.size());
      double logit = 0.6 * (price - 5) + 1.5 * (city - 1.5);
      int clicked = random.nextDouble() < 1 / (1 + Math.exp(-logit)) ? 1 : 0;
      int item = random.nextInt(20);
      int age = 18 + random.nextInt(60);
      csv.append(
          String.format(
              Locale.ROOT, "%d,%d,%.3f,%s,i%d\n", clicked, age, price, CITIES.get(city), item));
    }
    return Files.writeString(folder.resolve(name), csv);
  }

  @Test
  void theTrainingExampleTrainsSavesAndScores() throws IOException {
    Path train = clicks("train.csv", 4000, 1);
    Path test = clicks("test.csv", 1000, 2);
    Path checkpoint = folder.resolve("checkpoint");
    float score = trainAndScore(List.of(train), List.of(test), checkpoint);
    // Planted: logit 0.6 * -0.5 + 1.5 * -1.5.
    assertThat(score).isBetween(0.02f, 0.25f);
    try (Predictor predictor = Predictor.open(checkpoint)) {
      Map<String, Object> dear = Map.of("age", 39, "price", 9.5, "city", "Hanoi", "item", "i7");
      assertThat(predictor.score(dear)).isGreaterThan(0.9f);
    }
  }

  @Test
  void theModelsOfOnesOwnLearnAndScoreFromTheirCheckpoints() throws IOException {
    learnsAndScores(Gated::create);
    learnsAndScores(GatedModel::create);
  }

  private void learnsAndScores(ModelFactory factory) throws IOException {
    Path train = clicks("train.csv", 4000, 1);
    Path test = clicks("test.csv", 1000, 2);
    Path saved = Files.createTempDirectory(folder, "own").resolve("checkpoint");
    Columns columns =
        new Columns(
            List.of("clicked"),
            Set.of(),
            List.of("price"),
            List.of(SparseColumn.text("city"), SparseColumn.text("item")));
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(4);
    try (Device device = Device.cpu(2, 1L << 28);
        DataReader rows = CsvReader.open(List.of(train), CsvOptions.csv(), columns);
        DataReader held = CsvReader.open(List.of(test), CsvOptions.csv(), columns)) {
      FeatureEncoder encoder =
          FeatureEncoder.fit(
              rows,
              List.of(NumberEncoding.standardize()),
              List.of(IdEncoding.vocabulary(), IdEncoding.vocabulary()),
              TextDictionary.none(),
              read -> {});
      try (Trainer trainer = Trainer.create(device, encoder, factory, options)) {
        trainer.fit(rows);
        assertThat(trainer.evaluate(held).auc()).isGreaterThan(0.85);
        trainer.save(saved);
      }
    }
    try (Predictor predictor = Predictor.open(saved, factory)) {
      assertThat(predictor.score(Map.of("price", 9.5, "city", "Hanoi", "item", "i7")))
          .isGreaterThan(predictor.score(Map.of("price", 0.5, "city", "Oslo", "item", "i7")));
    }
  }

  @Test
  void theLoopOfOnesOwnKeepsACheckpointOfEachEpoch() throws IOException {
    Columns columns =
        new Columns(
            List.of("clicked"),
            Set.of(),
            List.of("price"),
            List.of(SparseColumn.text("city"), SparseColumn.text("item")));
    List<Path> clicks = List.of(clicks("train.csv", 4000, 1));
    List<Path> held = List.of(clicks("test.csv", 1000, 2));
    try (DataReader train = CsvReader.open(clicks, CsvOptions.csv(), columns);
        DataReader test = CsvReader.open(held, CsvOptions.csv(), columns)) {
      FeatureEncoder encoder =
          FeatureEncoder.fit(
              train,
              List.of(NumberEncoding.standardize()),
              List.of(IdEncoding.vocabulary(), IdEncoding.vocabulary()),
              TextDictionary.none(),
              read -> {});
      ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 8, 32, 16);
      TrainOptions options = TrainOptions.of(Optimizer.adam(0.01f)).batch(128);
      try (Device device = Device.cpu(2, 1L << 30);
          Trainer trainer = Trainer.create(device, encoder, model, options)) {
        loop(trainer, train, test, folder);
        assertThat(trainer.evaluate(test).auc()).isGreaterThan(0.85);
      }
    }
    assertThat(Checkpoint.openLatest(folder).step()).isEqualTo(128);
  }
}
