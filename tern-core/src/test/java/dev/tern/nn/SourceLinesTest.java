package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.SourceLines;
import dev.tern.tensor.StepProfile;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Layers of this package are no part of the engine here: the test is the model and the layer. */
final class SourceLinesTest {
  private static final String FILE = "SourceLinesTest.java:";

  @AutoClose private final Device device = Device.cpu(1, 1 << 24);
  @AutoClose private final Variable x = Variable.zeros(device, "x", Shape.of(32, 48));
  @AutoClose private final Variable w = Variable.zeros(device, "w", Shape.of(48, 16));

  /** A line below this one, {@code below} lines further down. */
  private static int line(int below) {
    StackWalker.StackFrame caller =
        StackWalker.getInstance().walk(stack -> stack.skip(1).findFirst().orElseThrow());
    return caller.getLineNumber() + below;
  }

  private List<StepProfile.Step> steps(Supplier<List<Tensor>> outputs, boolean isRecorded) {
    Supplier<List<StepProfile.Step>> work =
        () -> {
          try (Computation computation = Computation.of(device, outputs.get(), Map.of())) {
            computation.run();
            return computation.profile().steps();
          }
        };
    return isRecorded ? SourceLines.recorded(work) : work.get();
  }

  private static StepProfile.Source only(List<StepProfile.Step> steps, String what) {
    List<StepProfile.Source> sources = sources(steps, what);
    assertThat(sources).as(what).hasSize(1);
    return sources.get(0);
  }

  private static List<StepProfile.Source> sources(List<StepProfile.Step> steps, String what) {
    return steps.stream().filter(s -> s.what().contains(what)).findFirst().orElseThrow().sources();
  }

  private Tensor layer() {
    return x.tensor().matmul(w.tensor());
  }

  @Test
  void aStepNamesTheLineThatWroteItAndThoseThatCalledIt() {
    int here = line(1);
    StepProfile.Source source = only(steps(() -> List.of(layer()), true), "matmul");
    assertThat(source.ops()).containsExactly("matmul");
    assertThat(source.lines().get(0)).isEqualTo(FILE + (here - 6));
    assertThat(source.lines().get(1)).isEqualTo(FILE + here);
    assertThat(source.isGradient()).isFalse();
  }

  @Test
  void aGradientNamesTheLineOfWhatItIsTheGradientOf() {
    int here = line(4);
    List<StepProfile.Step> steps =
        steps(
            () -> {
              Tensor y = x.tensor().matmul(w.tensor());
              Tensor loss = y.tanh().sum();
              return Tensor.gradients(loss, List.of(w.tensor()));
            },
            true);
    List<StepProfile.Source> ofProductAndWhatFollows = sources(steps, "matmul 32x48 ");
    StepProfile.Source product = ofProductAndWhatFollows.get(0);
    StepProfile.Source gradient = only(steps, "matmul 48x32t");
    assertThat(product.lines().get(0)).isEqualTo(FILE + here);
    assertThat(product.isGradient()).isFalse();
    assertThat(ofProductAndWhatFollows.get(1).lines().get(0)).isEqualTo(FILE + (here + 1));
    assertThat(gradient.lines()).isEqualTo(product.lines());
    assertThat(gradient.isGradient()).isTrue();
  }

  @Test
  void aFusedKernelNamesEachOfItsLinesOnce() {
    int here = line(5);
    List<StepProfile.Step> steps =
        steps(
            () -> {
              Tensor y = x.tensor();
              y = y.exp().mul(3);
              y = y.tanh();
              return List.of(y);
            },
            true);
    assertThat(steps).hasSize(1);
    List<StepProfile.Source> sources = steps.get(0).sources();
    assertThat(sources.stream().map(source -> source.lines().get(0)))
        .containsExactly(FILE + here, FILE + (here + 1));
    assertThat(sources.get(0).ops()).containsExactly("exp", "mul");
    assertThat(sources.get(1).ops()).containsExactly("tanh");
  }

  @Test
  void equalProgramsWrittenOnOtherLinesNameTheirOwn() {
    Supplier<List<Tensor>> first = () -> List.of(x.tensor().exp());
    Supplier<List<Tensor>> second = () -> List.of(x.tensor().exp());
    steps(first, false);
    String a = only(steps(first, true), "exp").lines().get(0);
    String b = only(steps(second, true), "exp").lines().get(0);
    assertThat(a).isNotEqualTo(b);
  }

  @Test
  void withoutRecordingNoStepKnowsALine() {
    assertThat(steps(() -> List.of(layer()), true).get(0).sources()).isNotEmpty();
    assertThat(steps(() -> List.of(layer()), false))
        .isNotEmpty()
        .allMatch(step -> step.sources().isEmpty());
  }

  @Test
  void stepsThatRunAgainNameTheLineToo() {
    try (Device small = Device.cpu(1, 1 << 24, 16 * 4 * 64 * 64);
        Variable in = Variable.zeros(small, "in", Shape.of(64, 64));
        Variable by = Variable.zeros(small, "by", Shape.of(64, 64))) {
      List<StepProfile.Step> again =
          SourceLines.recorded(() -> {
            Tensor y = in.tensor();
            for (int i = 0; i < 10; i++) {
              y = y.matmul(by.tensor()).tanh();
            }
            List<Tensor> gradients = Tensor.gradients(y.sum(), List.of(by.tensor()));
            try (Computation computation = Computation.of(small, gradients, Map.of())) {
              computation.run();
              return computation.profile().steps();
            }
          });
      assertThat(again.stream().filter(StepProfile.Step::isAgain)).isNotEmpty();
      assertThat(again).noneMatch(step -> step.sources().isEmpty());
    }
  }
}
