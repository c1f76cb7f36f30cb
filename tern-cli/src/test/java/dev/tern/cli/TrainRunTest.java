package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DType;
import dev.tern.base.ProductMath;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.KeyPaths;
import dev.tern.cli.config.TrainConfig;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Variant;
import dev.tern.nn.Activation;
import dev.tern.nn.Form;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import dev.tern.tensor.Device;
import dev.tern.train.Monitor;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the engine is told of a configuration. */
final class TrainRunTest {
  private static final String DATA =
      """
      data:
        format: csv
        train: train.csv
        columns: [label, age, city]
        label: {column: label}
        dense: {columns: [age]}
        sparse: {columns: [city]}
      run: {dir: runs/dlrm}
      """;

  private static final String DLRM =
      DATA + "model: {type: dlrm, embedding: 8, bottom: [64, 8], top: [32, 16, 1]}\n";

  @Test
  void theLastWidthsOfDlrmAreLayersOfTheModelAndNotAddedToIt() {
    ModelConfig model = Config.parse(DLRM, "dlrm.yaml", List.of()).model();
    assertThat(model.type()).isEqualTo(ModelConfig.Type.DLRM);
    assertThat(model.bottom()).containsExactly(64);
    assertThat(model.hidden()).containsExactly(32, 16);
  }

  private record Told(
      TrainOptions options,
      ModelConfig model,
      OptionalInt ordinal,
      ProductMath math,
      int threads,
      long memory,
      long stepMemory,
      double planSeconds,
      TrainConfig.Beginning beginning) {
    static Told of(List<String> settings) {
      Config config = Config.parse(DATA + "model: {type: deepfm}\n", "c.yaml", settings);
      TrainConfig.Hardware hardware = config.train().hardware();
      if (hardware.ordinal().isEmpty()) {
        try (Device device = TrainRun.device(config.train())) {
          assertThat(device.threads()).isEqualTo(hardware.threads());
          assertThat(device.memoryBudget()).isEqualTo(hardware.memory());
        }
      }
      return new Told(
          TrainRun.options(config, Path.of("checkpoints")),
          config.model(),
          hardware.ordinal(),
          hardware.math(),
          hardware.threads(),
          hardware.memory(),
          hardware.activationMemory(),
          config.train().planSeconds(),
          config.train().beginning());
    }
  }

  /**
   * A key that is set.
   *
   * @param context settings that the key needs, separated by spaces
   * @param got what it becomes
   */
  private record Setting(
      String key, String value, String context, Function<Told, Object> got, Object expected) {
    List<String> others() {
      return context.isEmpty() ? List.of() : List.of(context.split(" "));
    }

    List<String> all() {
      List<String> all = new ArrayList<>(others());
      all.add(key + "=" + value);
      return all;
    }

    @Override
    public String toString() {
      return key + "=" + value;
    }
  }

  private static Setting setting(
      String key, String value, Function<Told, Object> got, Object expected) {
    return new Setting(key, value, "", got, expected);
  }

  static List<Setting> settings() {
    List<Setting> all = new ArrayList<>(model());
    all.addAll(rows());
    all.addAll(optimizer());
    all.addAll(training());
    all.addAll(resources());
    return all;
  }

  private static List<Setting> model() {
    String dlrm = "model.type=dlrm model.bottom=64,16 model.top=32,1";
    String cross = "model.type=dcnv2";
    return List.of(
        setting("model.type", "wdl", t -> t.model.type(), ModelConfig.Type.WDL),
        setting("model.embedding", "12", t -> t.model.embedding(), 12),
        setting("model.hidden", "30,20", t -> t.model.hidden(), List.of(30, 20)),
        new Setting(
            "model.attention",
            "9,7",
            "model.type=din",
            t -> t.model.interaction().attention(),
            List.of(9, 7)),
        new Setting(
            "model.feed_forward",
            "11",
            "model.type=bst",
            t -> t.model.interaction().attention(),
            List.of(11)),
        new Setting("model.heads", "4", "model.type=transformer", t -> t.model.heads(), 4),
        new Setting(
            "model.pairs", "slots", "model.type=fm", t -> t.model.pairs(), ModelConfig.Pairs.SLOTS),
        new Setting("model.cross_layers", "5", cross, t -> t.model.cross().layers(), 5),
        new Setting("model.cross_rank", "6", cross, t -> t.model.cross().rank(), 6),
        new Setting(
            "model.cross_experts",
            "7",
            cross + " model.cross_rank=6",
            t -> t.model.cross().experts(),
            7),
        new Setting(
            "model.towers",
            "9,7",
            "model.type=mmoe",
            t -> t.model.towers().hidden(),
            List.of(9, 7)),
        new Setting(
            "model.graph",
            "src/test/resources/dev/tern/cli/graph.json",
            "model.type=graph",
            t -> t.model.variant().graph().orElseThrow().logits(),
            List.of("sum")),
        new Setting(
            "model.wide_only",
            "city,age",
            "model.type=wdl",
            t -> t.model.interaction().wideDeep().wideOnly(),
            List.of("city", "age")),
        new Setting(
            "model.deep_only",
            "C1..C2",
            "model.type=wdl",
            t -> t.model.interaction().wideDeep().deepOnly(),
            List.of("C1", "C2")),
        towers("model.item_columns", "C2,I1", m -> m.itemColumns(), List.of("C2", "I1")),
        towers("model.temperature", "0.2", m -> m.temperature(), 0.2f),
        towers("model.normalized", "false", m -> m.normalized(), false),
        towers("model.corrected", "false", m -> m.corrected(), false),
        towers("model.negatives", "7", m -> m.sampled().negatives(), 7),
        new Setting(
            "model.pool",
            "900",
            "model.type=twotower model.item_columns=C1 model.negatives=7",
            t -> t.model.matching().sampled(),
            new Matching.Sampled(7, 900)),
        new Setting("model.experts", "5", "model.type=mmoe", t -> t.model.towers().experts(), 5),
        new Setting(
            "model.gates", "6", "model.type=mmoe", t -> t.model.towers().gate(), List.of(6)),
        variant("model.second", "9", "finalmlp", v -> v.second(), List.of(9)),
        variant("model.units", "9", "afm", v -> v.units(), 9),
        variant("model.vectors", "9", "xdeepfm", v -> v.vectors(), 9),
        variant("model.reduction", "5", "fibinet", v -> v.reduction(), 5),
        variant("model.levels", "2", "ple", v -> v.levels(), 2),
        variant("model.auxiliary", "0.5", "dien", v -> v.auxiliary(), 0.5f),
        variant("model.products", "both", "pnn", v -> v.form(), Form.BOTH),
        variant("model.bilinear", "field", "fibinet", v -> v.form(), Form.FIELD),
        variant("model.structure", "parallel", "gdcn", v -> v.form(), Form.PARALLEL),
        new Setting("model.bottom", "48,24,16", dlrm, t -> t.model.bottom(), List.of(48, 24)),
        new Setting("model.top", "28,14,1", dlrm, t -> t.model.hidden(), List.of(28, 14)),
        setting("model.dropout", "0.25", t -> t.model.style().dropout(), 0.25f),
        setting("model.activation", "dice", t -> t.model.style().activation(), Activation.DICE),
        setting("model.batch_norm", "true", t -> t.model.style().batchNorm(), true),
        setting("model.combiner", "sqrtn", t -> t.options.tables().combiner(), Combiner.SQRTN),
        setting("model.table_storage", "bf16", t -> t.options.tables().storage(), DType.BF16));
  }

  private static Setting variant(
      String key, String value, String type, Function<Variant, Object> got, Object expected) {
    return new Setting(
        key, value, "model.type=" + type, t -> got.apply(t.model.variant()), expected);
  }

  private static Setting towers(
      String key, String value, Function<Matching, Object> got, Object expected) {
    String type = "model.type=twotower model.item_columns=C1";
    return new Setting(key, value, type, t -> got.apply(t.model.matching()), expected);
  }

  private static List<Setting> rows() {
    List<Setting> all = new ArrayList<>();
    all.add(setting("model.unknown", "mean", t -> t.options.tables().unknown(), UnknownRow.MEAN));
    all.add(
        new Setting(
            "model.unknown_buckets",
            "17",
            "model.admission.type=count model.unknown=hash",
            t -> t.options.tables().unknown(),
            new UnknownRow.Hashed(17)));
    all.addAll(new RowSettings("model", "", t -> t.options.tables().rows()).all());
    String columns = "model.tables.columns=city";
    RowSettings own =
        new RowSettings(
            "model.tables",
            columns + " ",
            t -> Objects.requireNonNull(t.options.tables().rowsOf().get("city")));
    all.addAll(own.all());
    all.addAll(ownOptions(columns));
    all.add(
        new Setting(
            "model.tables.trainable",
            "false",
            columns + " train.from=runs/day1",
            t -> t.options.tables().frozenOf(),
            Set.of("city")));
    all.add(
        new Setting(
            "model.tables.init",
            "/v.txt",
            columns,
            t -> t.beginning.vectors(),
            Map.of("city", Path.of("/v.txt"))));
    all.add(
        setting(
            "model.tables.columns",
            "city",
            t -> t.options.tables().rowsOf().keySet(),
            Set.of("city")));
    return all;
  }

  private static OwnOptions own(Told told) {
    return told.options.tables().own().getOrDefault("city", OwnOptions.NONE);
  }

  private static List<Setting> ownOptions(String columns) {
    String initial = "model.initializer";
    String own = "model.tables.initializer";
    Function<Told, Object> rules = t -> t.options.tables().rowsOf().get("city").maxRows();
    return List.of(
        new Setting(
            "model.tables.storage",
            "bf16",
            columns,
            t -> own(t).storage(),
            Optional.of(DType.BF16)),
        new Setting("model.tables.l2", "0.5", columns, t -> own(t).l2(), Optional.of(0.5f)),
        new Setting("model.tables.rules", "same", columns + " model.max_rows=9", rules, 9L),
        setting(
            initial + ".type",
            "normal",
            t -> t.options.tables().initial(),
            new InitialWeights.Normal(0.0173f)),
        setting(
            initial + ".scale",
            "0.25",
            t -> t.options.tables().initial(),
            new InitialWeights.Uniform(0.25f)),
        new Setting(
            own + ".type",
            "zeros",
            columns,
            t -> own(t).initial(),
            Optional.of(InitialWeights.ZEROS)),
        new Setting(
            own + ".scale",
            "-0.5",
            columns + " " + own + ".type=constant",
            t -> own(t).initial(),
            Optional.of(new InitialWeights.Constant(-0.5f))));
  }

  /**
   * Of one of the sections that say which ids have rows, and where the engine has it.
   *
   * @param context settings that the section needs
   */
  private record RowSettings(String section, String context, Function<Told, RowPolicy> got) {
    List<Setting> all() {
      List<Setting> all = new ArrayList<>(admission());
      all.addAll(eviction());
      all.add(of("max_rows", "77", "", RowPolicy::maxRows, 77L));
      all.add(of("when_full", "unknown", "", RowPolicy::whenFull, WhenFull.UNKNOWN));
      return all;
    }

    private Setting of(
        String key, String value, String type, Function<RowPolicy, Object> part, Object expected) {
      String others = context + (type.isEmpty() ? "" : section + "." + type);
      return new Setting(
          section + "." + key, value, others.strip(), t -> part.apply(got.apply(t)), expected);
    }

    private Setting admission(String key, String value, String type, Admission expected) {
      return of("admission." + key, value, type, RowPolicy::admission, expected);
    }

    private Setting eviction(String key, String value, String type, Eviction expected) {
      return of("eviction." + key, value, type, RowPolicy::eviction, expected);
    }

    private List<Setting> admission() {
      String count = "admission.type=count";
      return List.of(
          admission("type", "count", "", new Admission.ByCount(10, 1_000_000)),
          admission("count", "3", count, new Admission.ByCount(3, 1_000_000)),
          admission("expected", "500", count, new Admission.ByCount(10, 500)),
          admission("click_weight", "4", count, new Admission.ByCount(10, 1_000_000, 4)),
          admission(
              "probability",
              "0.25",
              "admission.type=probability",
              new Admission.ByProbability(0.25)));
    }

    private List<Setting> eviction() {
      String scored = "eviction.type=low-score";
      Function<RowPolicy, Object> time = rows -> ((Eviction.UnseenFor) rows.eviction()).time();
      return List.of(
          eviction("type", "unseen", "", new Eviction.Unseen(100_000)),
          eviction("steps", "9", "eviction.type=unseen", new Eviction.Unseen(9)),
          of("eviction.time", "3h", "eviction.type=unseen-for", time, Duration.ofHours(3)),
          eviction(
              "norm", "0.5", "eviction.type=small-norm", new Eviction.SmallNorm(0.5f, 100_000)),
          eviction("decay", "0.5", scored, new Eviction.LowScore(0.5, 0.1f)),
          eviction("score", "0.25", scored, new Eviction.LowScore(0.9999, 0.25f)),
          eviction("show_weight", "0.75", scored, new Eviction.LowScore(0.9999, 0.1f, 0.75f, 1)),
          eviction("click_weight", "2.5", scored, new Eviction.LowScore(0.9999, 0.1f, 1, 2.5f)));
    }
  }

  private static List<Setting> optimizer() {
    List<Setting> all = new ArrayList<>();
    all.addAll(
        optimizer(
            "train.optimizer",
            t -> List.of(t.options.optimizer(), t.options.tables().optimizer())));
    all.addAll(optimizer("train.table_optimizer", t -> List.of(t.options.tables().optimizer())));
    all.addAll(
        optimizer("train.linear_optimizer", t -> t.options.tables().firstPart().stream().toList()));
    all.addAll(optimizer("model.tables.optimizer", t -> own(t).optimizer().stream().toList()));
    return all;
  }

  private static List<Setting> optimizer(String section, Function<Told, List<Optimizer>> got) {
    float lr = 0.001f;
    float eps = 1e-8f;
    Untouched kept = section.contains("linear") ? Untouched.KEPT : Untouched.UPDATED;
    OptimizerSettings settings = new OptimizerSettings(section, got);
    return List.of(
        settings.of("sgd", "type", "momentum", new Optimizer.Momentum(lr, 0.9f)),
        settings.of("sgd", "lr", "0.5", new Optimizer.Sgd(0.5f)),
        settings.of("momentum", "momentum", "0.5", new Optimizer.Momentum(lr, 0.5f)),
        settings.of("adagrad", "initial", "0.25", new Optimizer.Adagrad(lr, 0.25f, eps)),
        settings.of("rmsprop", "rho", "0.75", new Optimizer.RmsProp(lr, 0.75f, eps)),
        settings.of("adam", "beta1", "0.5", new Optimizer.Adam(lr, 0.5f, 0.999f, eps, kept)),
        settings.of("adam", "beta2", "0.75", new Optimizer.Adam(lr, 0.9f, 0.75f, eps, kept)),
        settings.of("adam", "eps", "0.125", new Optimizer.Adam(lr, 0.9f, 0.999f, 0.125f, kept)),
        settings.of(
            "adam", "lazy", "global", new Optimizer.Adam(lr, 0.9f, 0.999f, eps, Untouched.DECAYED)),
        settings.of("ftrl", "beta", "0.5", new Optimizer.Ftrl(lr, 0.5f, 0, 0)),
        settings.of("ftrl", "l1", "0.25", new Optimizer.Ftrl(lr, 0, 0.25f, 0)),
        settings.of("ftrl", "l2", "0.75", new Optimizer.Ftrl(lr, 0, 0, 0.75f)));
  }

  /** Of one of the sections that name an optimizer, and where the engine has it. */
  private record OptimizerSettings(String section, Function<Told, List<Optimizer>> got) {
    Setting of(String rule, String key, String value, Optimizer expected) {
      String context = section + ".type=" + rule;
      if (section.contains("model.tables")) {
        context += " model.tables.columns=city";
      }
      if (section.contains("linear")) {
        context += " train.optimizer.lazy=true";
        context += rule.equals("adam") ? " " + section + ".lazy=true" : "";
      }
      return new Setting(
          section + "." + key,
          value,
          context,
          got::apply,
          section.equals("train.optimizer") ? List.of(expected, expected) : List.of(expected));
    }
  }

  private static Setting schedule(String key, String value, LearningRate expected) {
    return new Setting(
        "train.schedule." + key,
        value,
        key.equals("type") ? "" : "train.schedule.type=warmup-decay",
        t -> t.options.schedule(),
        expected);
  }

  private static List<Setting> training() {
    float lr = 0.001f;
    return List.of(
        schedule("type", "warmup-decay", new LearningRate.WarmupDecay(lr, 1, 0, 1, 2, 0)),
        schedule("warmup_steps", "11", new LearningRate.WarmupDecay(lr, 11, 0, 1, 2, 0)),
        schedule("decay_start", "12", new LearningRate.WarmupDecay(lr, 1, 12, 1, 2, 0)),
        schedule("decay_steps", "13", new LearningRate.WarmupDecay(lr, 1, 0, 13, 2, 0)),
        schedule("decay_power", "3.5", new LearningRate.WarmupDecay(lr, 1, 0, 1, 3.5f, 0)),
        schedule("end_lr", "0.25", new LearningRate.WarmupDecay(lr, 1, 0, 1, 2, 0.25f)),
        setting("train.batch", "321", t -> t.options.batch(), 321),
        setting("train.lanes", "8", t -> t.options.lanes(), 8),
        setting("train.epochs", "5", t -> t.options.epochs(), 5),
        setting("train.l2", "0.125", t -> t.options.l2(), 0.125f),
        setting("train.weight_decay", "0.25", t -> t.options.weightDecay(), 0.25f),
        setting("train.clip_norm", "0.5", t -> t.options.clipNorm(), 0.5f),
        new Setting(
            "train.rows.l2_all",
            "true",
            "train.l2=0.01",
            t -> t.options.tables().l2OfAllRows(),
            true),
        setting("train.rows.clip_norm", "0.75", t -> t.options.tables().limits().clipNorm(), 0.75f),
        setting("train.rows.low", "-2.5", t -> t.options.tables().limits().low(), -2.5f),
        setting("train.rows.high", "3.5", t -> t.options.tables().limits().high(), 3.5f),
        setting("train.shuffle", "99", t -> t.options.shuffleRows(), 99),
        setting("train.seed", "8", t -> t.options.seed(), 8L),
        setting("train.evaluate_every", "41", t -> t.options.evaluateEvery(), 41L),
        setting("train.checkpoint_every", "42", t -> t.options.checkpointEvery(), 42L),
        setting("train.delta.steps", "43", t -> t.options.deltas().steps(), 43L),
        setting(
            "train.delta.seconds", "1.5", t -> t.options.deltas().time(), Duration.ofMillis(1500)),
        setting("train.delta.most", "44", t -> t.options.deltas().most(), 44),
        setting(
            "train.monitor",
            "log_loss",
            t -> t.options.monitor(),
            Monitor.of(Monitor.Figure.LOG_LOSS)),
        new Setting(
            "train.recall_at",
            "20",
            "model.type=twotower model.item_columns=C1",
            t -> t.options.recallAt(),
            20),
        setting("train.monitor_task", "label", t -> t.options.monitor().task(), "label"),
        setting("train.early_stop", "6", t -> t.options.earlyStop(), 6),
        setting("train.log_every", "45", t -> t.options.reportEvery(), 45L));
  }

  private static List<Setting> resources() {
    Path dir = Path.of("runs/dlrm").toAbsolutePath();
    return List.of(
        setting("train.device", "cuda", t -> t.ordinal, OptionalInt.of(0)),
        setting("train.device", "cuda:3", t -> t.ordinal, OptionalInt.of(3)),
        new Setting(
            "train.device_math", "bf16", "train.device=cuda", t -> t.math, ProductMath.BF16),
        setting("train.threads", "0", t -> t.threads, Runtime.getRuntime().availableProcessors()),
        setting("train.threads", "3", t -> t.threads, 3),
        setting("train.memory", "64m", t -> t.memory, 64L << 20),
        setting("train.activation_memory", "8m", t -> t.stepMemory, 8L << 20),
        setting("train.plan_seconds", "30", t -> t.planSeconds, 30.0),
        new Setting(
            "model.frozen",
            "deep.*",
            "train.from=runs/before",
            t -> t.options.frozen(),
            List.of("deep.*")),
        new Setting(
            "train.from_state",
            "true",
            "train.from=runs/before",
            t -> t.beginning.withState(),
            true),
        setting(
            "train.from",
            "runs/before",
            t -> t.beginning.from(),
            Optional.of(Path.of("runs/before").toAbsolutePath())),
        new Setting(
            "train.table_memory",
            "5m",
            "train.optimizer.lazy=true",
            t ->
                t.options
                    .tier()
                    .<Object>map(tier -> List.of(tier.folder(), tier.memory()))
                    .orElse("none"),
            List.of(dir, 5L << 20)));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void theEngineIsToldWhatAKeySays(Setting setting) {
    assertThat(setting.got.apply(Told.of(setting.all()))).isEqualTo(setting.expected);
    if (!setting.value.equals("0")) {
      assertThat(setting.got.apply(Told.of(setting.others())))
          .as("without the key")
          .isNotEqualTo(setting.expected);
    }
  }

  @Test
  void everyKeyOfModelAndTrainingIsAmongThese() {
    Set<String> keys = new TreeSet<>(KeyPaths.below("model"));
    keys.addAll(KeyPaths.below("train"));
    assertThat(settings().stream().map(Setting::key)).containsAll(keys).allMatch(keys::contains);
    assertThat(Told.of(List.of()).options().checkpoints()).contains(Path.of("checkpoints"));
  }
}
