package dev.tern.cli.config;

import static dev.tern.files.SparseColumn.Values.TEXT;
import static dev.tern.files.SparseColumn.Values.UNSIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.TextOptions;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import dev.tern.train.TrainOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ConfigTest {
  static final String CENSUS =
      """
      data:
        format: csv
        train: data/adult.data
        eval: data/adult.test
        columns: [age, workclass, fnlwgt, education, income]
        label: {column: income, positive: [">50K", ">50K."]}
        dense: {columns: [age, fnlwgt], transform: log1p+standardize}
        sparse: {columns: [workclass, education], encode: vocabulary}
      model: {type: deepfm, embedding: 16, hidden: [128, 64], dropout: 0.1}
      run: {dir: runs/census}
      train: {batch: 256, epochs: 12, optimizer: {type: adam, lr: 0.002}, seed: 1, threads: 2, memory: 2g, evaluate_every: epoch}
      """;

  static Config census(String... overrides) {
    return Config.parse(CENSUS, "census.yaml", List.of(overrides));
  }

  @Test
  void valuesOfTheFileArriveInTheRecords() {
    Config config = census();
    assertThat(config.data().train()).containsExactly(Path.of("data/adult.data").toAbsolutePath());
    assertThat(config.data().positive()).containsExactly(">50K", ">50K.");
    assertThat(config.data().dense())
        .containsExactly(
            new DataConfig.Dense(
                List.of("age", "fnlwgt"),
                "log1p+standardize",
                List.of("auto"),
                32,
                0,
                DataConfig.Vectors.NONE));
    assertThat(config.data().sparse())
        .containsExactly(
            new DataConfig.Sparse(
                List.of("workclass", "education"),
                "vocabulary",
                TEXT,
                0,
                1,
                "",
                "",
                0,
                Optional.empty()));
    assertThat(config.model().hidden()).containsExactly(128, 64);
    assertThat(config.model().style().dropout()).isEqualTo(0.1f);
    assertThat(config.run().dir()).isEqualTo(Path.of("runs/census").toAbsolutePath());
    assertThat(config.train().options().batch()).isEqualTo(256);
    assertThat(config.train().options().optimizer()).isEqualTo(Optimizer.adam(0.002f));
    assertThat(config.train().options().schedule()).isEqualTo(LearningRate.constant(0.002f));
    assertThat(config.train().memory()).isEqualTo(2L << 30);
    assertThat(config.train().options().evaluateEvery()).isZero();
    assertThat(config.train().threads()).isEqualTo(2);
  }

  @Test
  void readingTheResolvedYamlGivesAnEqualConfiguration() {
    Config config = census();
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void rowPoliciesAreReadWithWhatTheyNeed() {
    assertThat(census().train().options().tables().rows()).isEqualTo(RowPolicy.ALL);
    RowPolicy rows =
        census(
                "model.admission.type=count",
                "model.admission.count=7",
                "model.admission.expected=5000",
                "model.eviction.type=least-frequent",
                "model.max_rows=1_000",
                "model.when_full=unknown")
            .train()
            .options()
            .tables()
            .rows();
    assertThat(rows)
        .isEqualTo(
            new RowPolicy(
                new Admission.ByCount(7, 5000),
                new Eviction.LeastFrequent(),
                1000,
                WhenFull.UNKNOWN));
    assertThat(
            census(
                    "model.admission.type=probability",
                    "model.admission.probability=0.25",
                    "model.eviction.type=small-norm",
                    "model.eviction.norm=0.5",
                    "model.eviction.steps=9")
                .train()
                .options()
                .tables()
                .rows())
        .isEqualTo(
            RowPolicy.ALL
                .withAdmission(new Admission.ByProbability(0.25))
                .withEviction(new Eviction.SmallNorm(0.5f, 9)));
    String[] keys = {
      "model.eviction.type=low-score", "model.eviction.decay=0.5", "model.eviction.score=2"
    };
    assertThat(census(keys).train().options().tables().rows())
        .isEqualTo(RowPolicy.ALL.withEviction(new Eviction.LowScore(0.5, 2)));
  }

  @ParameterizedTest
  @CsvSource({"90s, 90s", "120s, 2m", "36_00s, 1h", "48h, 2d", "25h, 25h", "36500d, 36500d"})
  void rowsGoAfterATimeThatIsReadAndWritten(String given, String written) {
    Config config = census("model.eviction.type=unseen-for", "model.eviction.time=" + given);
    var rule = (Eviction.UnseenFor) config.train().options().tables().rows().eviction();
    Duration expected = Duration.parse("PT" + given.replace("_", "").replace("36500d", "876000h"));
    assertThat(rule).isEqualTo(new Eviction.UnseenFor(expected));
    assertThat(config.yaml()).contains("time: " + written);
  }

  @Test
  void clicksHaveWeightsWhereIdsAreCountedOrScored() {
    RowPolicy rows =
        census(
                "model.admission.type=count",
                "model.admission.click_weight=5",
                "model.eviction.type=low-score",
                "model.eviction.show_weight=0.1",
                "model.eviction.click_weight=2.5")
            .train()
            .options()
            .tables()
            .rows();
    assertThat(rows.admission()).isEqualTo(new Admission.ByCount(10, 1_000_000, 5));
    assertThat(rows.eviction()).isEqualTo(new Eviction.LowScore(0.9999, 0.1f, 0.1f, 2.5f));
  }

  @Test
  void anOptimizerTakesItsOwnConstants() {
    assertThat(census("train.optimizer.type=rmsprop").train().options().optimizer())
        .isEqualTo(Optimizer.rmsProp(0.002f));
    String[] keys = {"train.optimizer.type=rmsprop", "train.optimizer.rho=0.9"};
    assertThat(census(keys).train().options().optimizer())
        .isEqualTo(new Optimizer.RmsProp(0.002f, 0.9f, 1e-8f));
    assertThat(census("train.optimizer.lazy=true").train().options().optimizer())
        .isEqualTo(Optimizer.lazyAdam(0.002f));
    assertThat(census("train.optimizer.lazy=false").train().options().optimizer())
        .isEqualTo(Optimizer.adam(0.002f));
    assertThat(census("train.optimizer.lazy=global").train().options().optimizer())
        .isEqualTo(new Optimizer.Adam(0.002f, 0.9f, 0.999f, 1e-8f, Untouched.DECAYED));
  }

  @Test
  void embeddingsAndTheirLinearWeightsTakeTheOptimizerOfAllOrTheirOwn() {
    TrainOptions same = census().train().options();
    assertThat(same.tables().optimizer()).isEqualTo(same.optimizer());
    assertThat(same.tables().firstPart()).isEmpty();
    TrainOptions own =
        census(
                "train.table_optimizer.type=adagrad",
                "train.table_optimizer.lr=0.05",
                "train.table_optimizer.initial=0.1",
                "train.linear_optimizer.type=ftrl",
                "train.linear_optimizer.lr=0.1",
                "train.linear_optimizer.l1=2")
            .train()
            .options();
    assertThat(own.optimizer()).isEqualTo(same.optimizer());
    assertThat(own.tables().optimizer()).isEqualTo(new Optimizer.Adagrad(0.05f, 0.1f, 1e-8f));
    assertThat(own.tables().firstPart()).contains(new Optimizer.Ftrl(0.1f, 0, 2, 0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "model.type=dcn | got one with model dcn, expected none, as it has no linear weights",
        "train.optimizer.lazy=false | set train.optimizer.lazy: true",
        "train.table_optimizer.type=adam | set train.table_optimizer.lazy: true",
        "train.linear_optimizer.type=adam | set train.linear_optimizer.lazy: true"
      })
  void anOptimizerOfLinearWeightsIsRefusedWhereItCannotBe(String key, String message) {
    String[] keys = {"train.optimizer.lazy=true", "train.linear_optimizer.type=sgd", key};
    assertThatThrownBy(() -> census(keys))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.linear_optimizer.type: got one")
        .hasMessageContaining(message);
  }

  @Test
  void unknownIdsHaveBucketsWhereSomeTrainWithoutARow() {
    assertThat(census().train().options().tables().unknown()).isEqualTo(UnknownRow.ZEROS);
    String[] counted = {
      "model.unknown=hash", "model.unknown_buckets=500", "model.admission.type=count"
    };
    assertThat(census(counted).train().options().tables().unknown())
        .isEqualTo(new UnknownRow.Hashed(500));
    String[] full = {"model.unknown=hash", "model.max_rows=10", "model.when_full=unknown"};
    assertThat(census(full).train().options().tables().unknown())
        .isEqualTo(new UnknownRow.Hashed(10_000));
    assertThatThrownBy(() -> census(full[0], full[1]))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("model.unknown: got hash where training gives each id a row")
        .hasMessageContaining("add model.admission, or model.max_rows with model.when_full");
    assertThatThrownBy(() -> census("model.unknown_buckets=5"))
        .hasMessageContaining("expected it only where model.unknown is hash");
    assertThatThrownBy(() -> census(full[0], full[1], full[2], "model.unknown_buckets=1048577"))
        .hasMessageContaining("1 to 1048576");
    String[] tiered = {"train.table_memory=64m", "train.optimizer.type=adagrad"};
    assertThatThrownBy(() -> census(tiered[0], tiered[1], full[0], full[1], full[2]))
        .hasMessageContaining("train.table_memory: got a limit with buckets for unknown ids");
  }

  @ParameterizedTest
  @CsvSource({
    "model.admission.count=5, expected it only where model.admission.type is count",
    "model.admission.type=some, 'expected one of always, count, probability'",
    "model.eviction.steps=5, expected it only where model.eviction.type is",
    "model.admission.click_weight=2, expected it only where model.admission.type is count",
    "model.eviction.click_weight=2, expected it only where model.eviction.type is low-score",
    "model.eviction.time=7d, expected it only where model.eviction.type is unseen-for",
    "model.eviction.type=least-recent, add model.max_rows",
    "model.max_rows=-1, a whole number of at least 0",
    "model.when_full=evict, 'expected one of error, unknown'"
  })
  void rowPoliciesThatMakeNoSenseAreErrors(String override, String message) {
    assertThatThrownBy(() -> census(override))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void severalGroupsOfColumnsAreReadAndWrittenBack() {
    String yaml =
        CENSUS.replace(
            "sparse: {columns: [workclass, education], encode: vocabulary}",
            "sparse: [{columns: workclass, encode: hash, buckets: 100}, {columns: [education],"
                + " separator: \"|\"}]");
    Config config = Config.parse(yaml, "two.yaml", List.of());
    assertThat(config.data().sparse())
        .containsExactly(
            new DataConfig.Sparse(
                List.of("workclass"), "hash", TEXT, 100, 1, "", "", 0, Optional.empty()),
            new DataConfig.Sparse(
                List.of("education"), "vocabulary", TEXT, 0, 1, "", "|", 0, Optional.empty()));
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void anOverrideReplacesAnyKey() {
    Config config =
        census(
            "train.batch=1024",
            "model.hidden=32,16",
            "data.train=a.csv,b.csv",
            "data.label.positive=[\"x, y\", \">50K\"]",
            "data.sparse.encode=hash",
            "data.sparse[0].buckets=7",
            "train.memory=512m",
            "train.evaluate_every=50",
            "data.delimiter=tab");
    assertThat(config.train().options().batch()).isEqualTo(1024);
    assertThat(config.model().hidden()).containsExactly(32, 16);
    assertThat(config.data().train())
        .extracting(path -> path.getFileName().toString())
        .containsExactly("a.csv", "b.csv");
    assertThat(config.data().positive()).containsExactly("x, y", ">50K");
    assertThat(config.data().sparse().getFirst())
        .isEqualTo(
            new DataConfig.Sparse(
                List.of("workclass", "education"),
                "hash",
                TEXT,
                7,
                1,
                "",
                "",
                0,
                Optional.empty()));
    assertThat(config.train().memory()).isEqualTo(512L << 20);
    assertThat(config.train().options().evaluateEvery()).isEqualTo(50);
    assertThat(config.data().csv().delimiter()).isEqualTo("\t");
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void howTextIsWrittenDownIsRead() {
    Config config =
        census(
            "data.delimiter=\\u0001",
            "data.skip_lines=1",
            "data.comment=#",
            "data.encoding=latin-1",
            "data.escapes=backslash",
            "data.missing_values=?,NA,NULL,\\N",
            "data.sparse.encode=id",
            "data.sparse.values=unsigned");
    assertThat(config.data().csv().delimiter()).isEqualTo("\u0001");
    assertThat(config.data().csv().escapes()).isEqualTo(CsvOptions.Escapes.ANYWHERE);
    assertThat(census("data.escapes=quoted").data().csv().escapes())
        .isEqualTo(CsvOptions.Escapes.QUOTED);
    assertThat(census().data().csv().escapes()).isEqualTo(CsvOptions.Escapes.NONE);
    assertThat(config.data().text())
        .isEqualTo(new TextOptions(1, "#", StandardCharsets.ISO_8859_1));
    assertThat(config.data().missing()).containsExactly("?", "NA", "NULL", "\\N");
    assertThat(config.data().sparse().getFirst().values()).isEqualTo(UNSIGNED);
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void markersOfMissingValuesAreTheirTextsWhateverYamlMakesOfThem() {
    String yaml =
        CENSUS.replace("  format: csv", "  format: csv\n  missing_values: [NULL, ~, NA, \"\", 0x]");
    assertThat(Config.parse(yaml, "census.yaml", List.of()).data().missing())
        .containsExactly("NULL", "~", "NA", "", "0x");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {"tab;9", "\\t;9", "space;32", "\\u0001;1", "\\x02;2", "|;124"})
  void oneCharacterDelimitsByItsNameOrItsCode(String written, int code) {
    Config config = census("data.delimiter=" + written);
    assertThat(config.data().csv().delimiter()).isEqualTo(String.valueOf((char) code));
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void anOverrideOfTheModelLeavesKeysOfTheOldModelBehind() {
    String dcn = CENSUS.replace("type: deepfm", "type: dcnv2, cross_layers: 4");
    assertThat(Config.parse(dcn, "dcn.yaml", List.of()).model().cross().layers()).isEqualTo(4);
    Config config = Config.parse(dcn, "dcn.yaml", List.of("model.type=wdl"));
    assertThat(config.modelName()).isEqualTo("wdl");
    assertThat(config.yaml()).doesNotContain("cross_layers");
  }

  @Test
  void aClipNormTooSmallForAFloatStillClips() {
    assertThat(clipNorm("1e-50")).isEqualTo(Float.MIN_VALUE);
    assertThat(clipNorm("0")).isZero();
  }

  private static float clipNorm(String value) {
    return Config.parse(CENSUS, "c.yaml", List.of("train.clip_norm=" + value))
        .train()
        .options()
        .clipNorm();
  }

  @Test
  void crossesOfLowRankActivationsClippingAndDecayAreRead() {
    Config config =
        Config.parse(
            CENSUS.replace("type: deepfm", "type: dcnv2, cross_rank: 8, cross_experts: 4"),
            "dcn.yaml",
            List.of(
                "model.activation=dice",
                "model.batch_norm=true",
                "train.clip_norm=10",
                "train.weight_decay=0.01"));
    assertThat(config.model().cross().rank()).isEqualTo(8);
    assertThat(config.model().cross().experts()).isEqualTo(4);
    assertThat(config.model().style().activation()).isEqualTo(Activation.DICE);
    assertThat(config.model().style().batchNorm()).isTrue();
    assertThat(config.modelSummary())
        .contains("cross layers of rank 8 and 4 experts")
        .endsWith(", dice, batch norm");
    assertThat(config.train().options().clipNorm()).isEqualTo(10);
    assertThat(config.train().options().weightDecay()).isEqualTo(0.01f);
    assertThat(Config.parse(config.yaml(), "config.yaml", List.of())).isEqualTo(config);
  }

  @Test
  void expertsWithoutARankAndDecayWithFtrlAreRefused() {
    String experts = CENSUS.replace("type: deepfm", "type: dcnv2, cross_experts: 4");
    assertThatThrownBy(() -> Config.parse(experts, "dcn.yaml", List.of()))
        .hasMessage(
            "dcn.yaml line 9: model.cross_experts: got 4 experts without a rank, expected one; add"
                + " model.cross_rank");
    List<String> ftrl = List.of("train.optimizer.type=ftrl", "train.weight_decay=0.1");
    assertThatThrownBy(() -> Config.parse(CENSUS, "census.yaml", ftrl))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("train.weight_decay: got 0.1 with ftrl, expected 0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          batch: 256          | bach: 256        | line 11: got the unknown key train.bach; did you mean train.batch?
          dropout: 0.1        | droput: 0.1      | line 9: got the unknown key model.droput; did you mean model.dropout?
          seed: 1,            | sead: 1,         | did you mean train.seed?
          run: {dir           | rum: {dir        | line 10: got the unknown key rum; did you mean run?
          seed: 1,            | hidden: [3],     | got the unknown key train.hidden; did you mean model.hidden?
          seed: 1,            | xyzzy: 1,        | got the unknown key train.xyzzy; use one of activation_memory, batch, checkpoint_every
          batch: 256          | batch: many      | line 11: train.batch: got many, expected a whole number from 1 to
          batch: 256          | batch: 0         | train.batch: got 0, expected a whole number from 1 to
          batch: 256          | batch: 1.5       | train.batch: got 1.5, expected a whole number
          batch: 256          | batch: [1]       | train.batch: got the list [1], expected a whole number
          batch: 256          | batch:           | train.batch: got nothing, expected a whole number
          batch: 256          | batch: {a: 1}    | train.batch: got keys and values, expected a whole number
          lr: 0.002           | lr: -1           | train.optimizer.lr: got -1, expected a number of at least 0
          type: adam          | type: adm        | expected one of sgd, momentum, nesterov, adagrad, rowwise-adagrad, rmsprop, adam, ftrl; did you mean adam?
          type: deepfm        | type: deepmf     | model.type: got deepmf, expected one of lr, fm, wdl, deepfm
          lr: 0.002           | momentum: 0.9    | got train.optimizer.momentum, expected it only where train.optimizer.type is momentum or nesterov, but that is adam; remove it
          memory: 2g          | memory: lots     | train.memory: got lots, expected bytes, at least 16m, as in 512m or 2g
          memory: 2g          | memory: 99999999t | train.memory: got 99999999t, expected bytes
          evaluate_every: epoch | evaluate_every: day | expected epoch, never or a number of steps
          hidden: [128, 64]   | hidden: [128, x] | model.hidden: got the list [128, x], expected a list of whole numbers from 1
          hidden: [128, 64]   | hidden: [[1], 2] | model.hidden: got a list in a list, expected a single value
          train: data/adult.data | eval: data/a  | got data.eval a second time (first in line 3), expected it once; remove one
          format: csv         | format: cvs      | line 2: data.format: got cvs, expected one of csv, libsvm, libffm, norm, raw, parquet, criteo-synthetic; did you mean csv?
          [age, fnlwgt], transform | [age, fnlwgtt], transform | line 7: data.dense.columns: got the column fnlwgtt, expected one of data.columns; did you mean fnlwgt?
          [age, fnlwgt], transform | [age, education], transform | data.sparse.columns: got the column education, which data.dense.columns has too
          model: {type: deepfm, embedding: 16, hidden: [128, 64], dropout: 0.1} | model: deepfm | line 9: model: got deepfm, expected keys and values
          """)
  void aBrokenFileIsRefusedWithLineAndRemedy(String good, String bad, String message) {
    assertThat(CENSUS).contains(good);
    assertThatThrownBy(() -> Config.parse(CENSUS.replace(good, bad), "census.yaml", List.of()))
        .isInstanceOf(ConfigException.class)
        .message()
        .startsWith("census.yaml line ")
        .contains(message);
  }

  @Test
  void aMissingKeyIsNamedWithTheWayToGiveIt() {
    assertThatThrownBy(() ->
            Config.parse(CENSUS.replace("train: data/adult.data", ""), "census.yaml", List.of()))
        .hasMessage(
            "census.yaml: got no data.train, expected a path or a list of paths; add it to the file"
                + " or give --set data.train=VALUE");
  }

  @Test
  void dlrmWidthsMustMeetTheEmbedding() {
    String dlrm = CENSUS.replaceAll("model:.*", "model: {type: dlrm, embedding: 8}");
    assertThatThrownBy(() -> Config.parse(dlrm, "x.yaml", List.of()))
        .hasMessageContaining("model.bottom: got the last width 16, expected 8 (model.embedding)");
  }

  @Test
  void everyDefaultIsReadBackAsItIsWritten() {
    for (Key<?> key : Keys.ALL) {
      key.writtenFallback().ifPresent(text -> assertReadBack(key, text));
    }
  }

  private static <T> void assertReadBack(Key<T> key, String text) {
    Raw.Source source = new Raw.Source("test", true);
    boolean quoted = text.startsWith("\"");
    Raw raw =
        key.kind().list()
            ? new Raw.Sequence(
                text.equals("[]")
                    ? List.of()
                    : List.of(text.substring(1, text.length() - 1).split(", ")).stream()
                        .map(t -> new Raw.Scalar(t, source))
                        .toList(),
                source)
            : new Raw.Scalar(
                quoted ? text.substring(1, text.length() - 1).replace("\\\"", "\"") : text, source);
    if (!text.equals("\"\"")) {
      assertThat(key.kind().read(raw)).as(key.path()).isEqualTo(key.fallback());
    }
  }

  @Test
  void helpNamesEveryKey() {
    assertThat(Config.help()).contains(Keys.ALL.stream().map(Key::path).toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plain",
        "a b",
        " a",
        ">50K",
        "\"",
        "\\",
        "a: b",
        "#",
        "'",
        "true",
        "1",
        "é\u2028\t\n\u0001\uD83D\uDE00",
        "-",
        "[x]",
        "a,b",
        "null",
        "~",
        "*"
      })
  void anyTextSurvivesBeingWrittenAndRead(String text) {
    String yaml = "data: {columns: [" + YamlText.quote(text) + "]}\n";
    Raw read = YamlFile.read(yaml, "x").get("data.columns");
    assertThat(((Raw.Sequence) read).items()).extracting(Raw.Scalar::text).containsExactly(text);
  }

  @Test
  void factorizationMachinesPairFeaturesAndThoseOfEarlierBuildsSlots(@TempDir Path temp)
      throws IOException {
    String text =
        """
        data: {format: libsvm, train: a.svm}
        model: {type: TYPE}
        run: {dir: run}
        """;
    for (String type : List.of("fm", "deepfm", "dcn")) {
      Path file = Files.writeString(temp.resolve(type), text.replace("TYPE", type));
      ModelConfig.Pairs standard =
          type.equals("dcn") ? ModelConfig.Pairs.SLOTS : ModelConfig.Pairs.FEATURES;
      assertThat(Config.load(file, List.of()).model().pairs()).isEqualTo(standard);
      assertThat(Config.loadEarlier(file).model().pairs()).isEqualTo(ModelConfig.Pairs.SLOTS);
      Config resumed = Config.loadResumed(file, List.of(), _ -> Optional.of(file));
      assertThat(resumed.model().pairs()).isEqualTo(ModelConfig.Pairs.SLOTS);
      Path written = Files.writeString(temp.resolve(type + "-written"), resumed.yaml());
      assertThat(Config.load(written, List.of()).model()).isEqualTo(resumed.model());
    }
    Path dcn = temp.resolve("dcn");
    assertThatThrownBy(() -> Config.load(dcn, List.of("model.pairs=features")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("model.pairs");
  }
}
