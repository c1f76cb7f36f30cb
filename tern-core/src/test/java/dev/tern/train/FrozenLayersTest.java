package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.nn.Activation;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs in which some layers stay as an earlier run left them. */
final class FrozenLayersTest {
  private static final Batch ROWS = PlantedRuns.planted(1, 700);
  private static final FeatureEncoder ENCODER = PlantedRuns.encoder(ROWS);
  private static final ModelConfig MODEL =
      ModelConfig.of(ModelConfig.Type.WDL, 4, 16, 8).withActivation(Activation.DICE, true);

  @TempDir Path folder;

  private static TrainOptions options(Optimizer optimizer) {
    return TrainOptions.of(optimizer).batch(100).weightDecay(weightDecay(optimizer)).clipNorm(0.5f);
  }

  private static float weightDecay(Optimizer optimizer) {
    return optimizer instanceof Optimizer.Ftrl ? 0 : 0.1f;
  }

  private Checkpoint saved(Device device) {
    Path saved = folder.resolve("saved");
    try (Trainer trainer = Trainer.create(device, ENCODER, MODEL, options(Optimizer.adam(0.01f)))) {
      trainer.fit(Readers.inMemory(ROWS));
      trainer.save(saved);
    }
    return Checkpoint.open(saved);
  }

  private static Map<String, float[]> values(Trainer trainer) {
    Map<String, float[]> values = new LinkedHashMap<>();
    for (Variable variable : trainer.network().variables()) {
      values.put(variable.name(), variable.toArray());
    }
    return values;
  }

  static List<Optimizer> optimizers() {
    return TrainerTest.optimizers().stream().filter(o -> !(o instanceof Optimizer.Ftrl)).toList();
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void frozenLayersStayAndTheOthersLearn(Optimizer optimizer) {
    TrainOptions options = options(optimizer).frozen(List.of("deep.0.*", "out.bias"));
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.warmStart(device, saved(device), ENCODER, MODEL, options)) {
      Map<String, float[]> before = values(trainer);
      trainer.fit(Readers.inMemory(ROWS));
      Map<String, float[]> after = values(trainer);
      assertThat(before.keySet()).anyMatch(name -> name.startsWith("deep.1."));
      before.forEach((name, values) -> {
        boolean frozen = name.startsWith("deep.0.") || name.equals("out.bias");
        if (frozen) {
          assertThat(after.get(name)).as(name).isEqualTo(values);
        } else {
          assertThat(after.get(name)).as(name).isNotEqualTo(values);
        }
      });
    }
  }

  @Test
  void tablesAloneLearnWhereAllLayersAreFrozen() {
    TrainOptions options = options(Optimizer.adam(0.01f)).frozen(List.of("*"));
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.warmStart(device, saved(device), ENCODER, MODEL, options)) {
      Map<String, float[]> before = values(trainer);
      double loss = trainer.evaluate(Readers.inMemory(ROWS)).logLoss();
      trainer.fit(Readers.inMemory(ROWS));
      values(trainer)
          .forEach((name, values) -> assertThat(values).as(name).isEqualTo(before.get(name)));
      assertThat(trainer.evaluate(Readers.inMemory(ROWS)).logLoss()).isLessThan(loss);
    }
  }

  @Test
  void aResumedRunHasTheSameFrozenLayers() {
    TrainOptions options = options(Optimizer.adam(0.01f)).frozen(List.of("deep.*"));
    Path half = folder.resolve("half");
    try (Device device = Device.cpu(2, 1L << 28)) {
      Checkpoint from = saved(device);
      Map<String, float[]> whole;
      try (Trainer trainer = Trainer.warmStart(device, from, ENCODER, MODEL, options.epochs(2))) {
        trainer.fit(Readers.inMemory(ROWS));
        whole = values(trainer);
      }
      try (Trainer trainer = Trainer.warmStart(device, from, ENCODER, MODEL, options)) {
        trainer.fit(Readers.inMemory(ROWS));
        trainer.save(half);
      }
      try (Trainer trainer = Trainer.resume(device, half, MODEL, options.epochs(2))) {
        trainer.fit(Readers.inMemory(ROWS));
        values(trainer)
            .forEach((name, values) -> assertThat(values).as(name).isEqualTo(whole.get(name)));
      }
      assertThatThrownBy(
              () -> Trainer.resume(device, half, MODEL, options(Optimizer.adam(0.01f))).close())
          .hasMessageContaining("half");
      TrainOptions sgd = options(Optimizer.sgd(0.01f));
      Path plain = folder.resolve("plain");
      try (Trainer trainer =
          Trainer.warmStart(device, from, ENCODER, MODEL, sgd.frozen(List.of("deep.*")))) {
        trainer.fit(Readers.inMemory(ROWS));
        trainer.save(plain);
      }
      // Without optimizer state the files do not tell.
      assertThatThrownBy(() -> Trainer.resume(device, plain, MODEL, sgd).close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got frozen [], expected [\"deep.*\"]");
      assertThatThrownBy(() ->
              Trainer.warmStartWithState(device, Checkpoint.open(half), ENCODER, MODEL, sgd)
                  .close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("frozen parameters");
    }
  }

  @Test
  void aNameThatIsNoParametersIsRefused() {
    TrainOptions options = options(Optimizer.adam(0.01f)).frozen(List.of("deep.*", "dep.*"));
    try (Device device = Device.cpu(1, 1L << 28)) {
      assertThatThrownBy(() -> Trainer.create(device, ENCODER, MODEL, options).close())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the frozen parameter dep.*, expected names of parameters");
    }
  }
}
