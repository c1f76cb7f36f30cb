package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.nn.Activation;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Training whose step has less memory than its values take. */
final class BudgetedTrainingTest {
  private static final int ROWS = 512;
  private static final int STEPS = 3;
  private static final long MEMORY = 1L << 28;
  private static final Optimizer ADAM = Optimizer.lazyAdam(0.01f);
  private static final FeatureEncoder ENCODER = PlantedRuns.encoder(PlantedRuns.planted(1, 100));

  /** Weights and losses after some steps, with the memory that a step had. */
  private record Result(List<Float> numbers, long memory) {}

  private static Result train(ModelConfig model, TrainOptions options, long stepBytes) {
    return train(model, options, stepBytes, PlanSearch.QUICK);
  }

  private static Result train(
      ModelConfig model, TrainOptions options, long stepBytes, PlanSearch search) {
    TableOptions tables = TableOptions.of(ADAM);
    try (Device device = Device.cpu(2, MEMORY, stepBytes);
        Network network = Network.create(device, ENCODER.schema(), model, tables, 1);
        DenseOptimizer optimizer = new DenseOptimizer(device, options, network.parameters());
        BatchLookup lookup = network.newLookup();
        TrainStep step = new TrainStep(network, optimizer, lookup, ROWS, List.of(), search);
        Batch batch = new Batch(ENCODER.schema(), ROWS)) {
      List<Float> numbers = new ArrayList<>();
      for (int i = 1; i <= STEPS; i++) {
        ENCODER.apply(PlantedRuns.planted(i, ROWS), batch);
        optimizer.prepare(i, 0.01f);
        step.find(batch, batch, i);
        numbers.add(step.update(i, 0.01f));
      }
      for (float logit : step.logits()) {
        numbers.add(logit);
      }
      for (Variable variable : network.variables()) {
        for (long at = 0; at < variable.shape().elements(); at++) {
          numbers.add(Memory.getFloat(variable.memory().address() + 4 * at));
        }
      }
      return new Result(numbers, step.computation().memory());
    }
  }

  private static ModelConfig residual(int units) {
    return ModelConfig.of(ModelConfig.Type.DEEPCROSSING, 4, widths(units, 32));
  }

  private static Integer[] widths(int layers, int width) {
    return Collections.nCopies(layers, width).toArray(Integer[]::new);
  }

  static List<Arguments> models() {
    TrainOptions plain = TrainOptions.of(ADAM);
    return List.of(
        Arguments.of(residual(12), plain, 0.35),
        Arguments.of(residual(12).withDropout(0.2f), plain.clipNorm(0.1f), 0.35),
        Arguments.of(
            ModelConfig.of(ModelConfig.Type.TRANSFORMER, 8, 16, 16, 16).withHeads(2), plain, 0.5),
        Arguments.of(
            ModelConfig.of(ModelConfig.Type.DCNV2, 4, 32, 32, 32)
                .withCross(3, 2)
                .withActivation(Activation.DICE, true)
                .withDropout(0.1f),
            plain,
            0.5),
        Arguments.of(ModelConfig.of(ModelConfig.Type.DEEPFM, 4, widths(10, 64)), plain, 0.5),
        Arguments.of(
            ModelConfig.of(ModelConfig.Type.DLRM, 4, widths(10, 128))
                .withBottom(16)
                .withCrossLayers(3),
            plain,
            0.45));
  }

  @ParameterizedTest
  @MethodSource("models")
  void lessMemoryChangesNoBit(ModelConfig model, TrainOptions options, double least) {
    Result whole = train(model, options, MEMORY);
    for (double share : new double[] {0.95, 0.8, least}) {
      long budget = (long) (share * whole.memory);
      Result result = train(model, options, budget);
      assertThat(result.memory).isLessThanOrEqualTo(budget);
      assertThat(result.numbers).isEqualTo(whole.numbers);
    }
  }

  @Test
  void aLongerSearchChangesNoBitAndItsScheduleIsUsedOnResume(@TempDir Path folder) {
    TrainOptions options = TrainOptions.of(ADAM);
    Path file = folder.resolve("schedule.json");
    List<String> notes = new ArrayList<>();
    PlanSearch.Listener listener =
        new PlanSearch.Listener() {
          @Override
          public void searching(double seconds, long looked, double slowdown) {
            assertThat(slowdown).isGreaterThanOrEqualTo(1);
          }

          @Override
          public void note(String line) {
            notes.add(line);
          }
        };
    Result whole = train(residual(12), options, MEMORY);
    long budget = (long) (0.5 * whole.memory);
    for (String note : List.of("schedule found: ", "schedule of " + file)) {
      PlanSearch search = PlanSearch.of(0.5, file, listener);
      Result result = train(residual(12), options, budget, search);
      assertThat(result.memory).isLessThanOrEqualTo(budget);
      assertThat(result.numbers).isEqualTo(whole.numbers);
      assertThat(notes.removeLast()).startsWith(note);
      assertThat(notes).isEmpty();
    }
    train(residual(11), options, budget, PlanSearch.of(0.5, file, listener));
    assertThat(notes).hasSize(2);
    assertThat(notes.getFirst()).contains("got the schedule of another step");
  }

  @Test
  void aThirdOfTheMemoryIsEnoughForADeepNetwork() {
    TrainOptions options = TrainOptions.of(ADAM);
    Result whole = train(residual(24), options, MEMORY);
    long budget = (long) (0.35 * whole.memory);
    Result result = train(residual(24), options, budget);
    assertThat(result.memory).isLessThanOrEqualTo(budget);
    assertThat(result.numbers).isEqualTo(whole.numbers);
  }

  @Test
  void aBudgetThatHoldsNoStepIsRefusedByName() {
    TrainOptions options = TrainOptions.of(ADAM);
    assertThatThrownBy(() -> train(residual(4), options, 100_000))
        .isInstanceOf(OutOfBudgetException.class)
        .hasMessageContaining("lacks a place")
        .hasMessageContaining("expected room; raise the memory budget by at least");
  }
}
