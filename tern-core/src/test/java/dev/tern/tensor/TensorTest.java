package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Reference;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TensorTest {
  static Tensor random(long seed, int... sizes) {
    Shape shape = Shape.of(sizes);
    Random random = new Random(seed);
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-2, 2);
    }
    return Tensor.of(shape, values);
  }

  @Test
  void exampleOfTheClassDocComputesWhatItSays() {
    Tensor x = Tensor.of(Shape.of(2, 3), 1, 2, 3, 4, 5, 6);
    assertThat(x.mul(2).add(1).sum(1).toArray()).containsExactly(15, 33);
  }

  @Test
  void broadcastingAlignsAtTheEnd() {
    Tensor x = Tensor.of(Shape.of(2, 1, 2), 1, 2, 3, 4);
    Tensor y = Tensor.of(Shape.of(3, 1), 10, 20, 30);
    assertThat(x.add(y).shape()).isEqualTo(Shape.of(2, 3, 2));
    assertThat(x.add(y).toArray()).containsExactly(11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34);
  }

  @Test
  void viewsMoveNoDataAndReadRight() {
    Tensor x = Tensor.of(Shape.of(2, 3), 1, 2, 3, 4, 5, 6);
    assertThat(x.transpose(0, 1).toArray()).containsExactly(1, 4, 2, 5, 3, 6);
    assertThat(x.slice(1, 1, 3).toArray()).containsExactly(2, 3, 5, 6);
    assertThat(x.transpose(0, 1).reshape(-1).toArray()).containsExactly(1, 4, 2, 5, 3, 6);
    assertThat(Tensor.concat(1, List.of(x, x.slice(1, 0, 1))).toArray())
        .containsExactly(1, 2, 3, 1, 4, 5, 6, 4);
  }

  @Test
  void aConcatOfViewsConstantsAndComputedPartsIsInOrder() {
    Tensor x = random(1, 5, 4);
    Tensor joined =
        Tensor.concat(
            1,
            List.of(
                x.mul(2),
                Tensor.full(Shape.of(5, 2), 7),
                x.transpose(0, 1).reshape(5, 4),
                x.matmul(random(2, 4, 3))));
    assertThat(joined.shape()).isEqualTo(Shape.of(5, 13));
    float[] all = joined.toArray();
    float[] doubled = x.mul(2).toArray();
    assertThat(all[13]).isEqualTo(doubled[4]);
    assertThat(all[4]).isEqualTo(7);
    assertThat(all[13 * 4 + 6]).isEqualTo(x.transpose(0, 1).toArray()[16]);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000})
  void sumsAndMaximaOfEverySizeAgreeWithALoop(int n) {
    Tensor x = random(n, 3, n);
    double sum = 0;
    float largest = Float.NEGATIVE_INFINITY;
    float[] values = x.toArray();
    for (int i = 0; i < n; i++) {
      sum += values[n + i];
      largest = Math.max(largest, values[n + i]);
    }
    assertThat(x.sum(1).toArray()[1]).isCloseTo((float) sum, within(1e-5f * (n + 1)));
    assertThat(x.max(1).toArray()[1]).isEqualTo(largest);
    assertThat(x.sum(0).shape()).isEqualTo(Shape.of(n));
  }

  private static org.assertj.core.data.Offset<Float> within(float bound) {
    return org.assertj.core.data.Offset.offset(bound);
  }

  @Test
  void reductionOverManyRowsDoesNotDependOnHowItIsCut() {
    Tensor x = random(3, 5000, 40);
    float[] columns = x.sum(0).toArray();
    float[] values = x.toArray();
    for (int j = 0; j < 40; j++) {
      double sum = 0;
      for (int i = 0; i < 5000; i++) {
        sum += values[i * 40 + j];
      }
      assertThat(columns[j]).isCloseTo((float) sum, within(2e-2f));
    }
    assertThat(x.sum().item()).isCloseTo((float) sum(columns), within(1e-1f));
  }

  private static double sum(float[] values) {
    double sum = 0;
    for (float value : values) {
      sum += value;
    }
    return sum;
  }

  @Test
  void softmaxRowsSumToOneAndDoNotOverflow() {
    Tensor x = Tensor.of(Shape.of(2, 3), 1000, 1001, 1002, -5, 0, 5);
    float[] rows = x.softmax(1).sum(1).toArray();
    assertThat(rows[0]).isCloseTo(1, within(1e-6f));
    assertThat(rows[1]).isCloseTo(1, within(1e-6f));
    assertThat(x.logSoftmax(1).toArray()[2]).isCloseTo(-0.40760595f, within(1e-4f));
  }

  @Test
  void anglesOfPointsAreThoseOfAtan2() {
    float[] y = {0, 0, 1, 1, 1, 0, -1, -1, -1, 3e-5f, -3e20f, -0f};
    float[] x = {0, 1, 1, 0, -1, -1, -1, 0, 1, -2e4f, 1e20f, 5};
    Shape shape = Shape.of(y.length);
    float[] angles = Tensor.of(shape, y).atan2(Tensor.of(shape, x)).toArray();
    for (int i = 0; i < y.length; i++) {
      assertThat(angles[i]).isCloseTo((float) Math.atan2(y[i], x[i]), within(4e-7f));
    }
    Tensor point = Tensor.of(Shape.of(1), 2);
    Tensor axis = Tensor.zeros(Shape.of(1));
    Tensor angle = axis.atan2(point);
    assertThat(Tensor.gradients(angle.sum(), List.of(axis)).get(0).toArray()).containsExactly(0.5f);
  }

  @Test
  void mismatchedSizesNameTheOpAndBothShapes() {
    Tensor x = random(1, 2, 3);
    assertThatThrownBy(() -> x.add(random(1, 4)))
        .hasMessageContaining("ADD")
        .hasMessageContaining("[2, 3] and [4]");
    assertThatThrownBy(() -> x.matmul(x)).hasMessageContaining("matmul: got [2, 3] x [2, 3]");
    assertThatThrownBy(() -> Tensor.of(Shape.of(2), 1)).hasMessageContaining("expected 2");
  }

  @Test
  void gatherOutsideTheTableIsAnErrorThatNamesTheIndex() {
    Tensor rows = random(1, 4, 2).gather(Tensor.ofLongs(Shape.of(2), 0, 4));
    assertThatThrownBy(rows::toArray).hasMessageContaining("got index 4 at position 1");
  }

  record Case(String name, UnaryOperator<Tensor> function, int... sizes) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case unary(String name, UnaryOperator<Tensor> function) {
    return new Case(name, function, 17);
  }

  private static Case positive(String name, UnaryOperator<Tensor> function) {
    return unary(name, x -> function.apply(x.square().add(0.3f)));
  }

  @Test
  void noGradientPassesWhatIsDetached() {
    Tensor x = Tensor.of(Shape.of(2), 3, -4);
    Tensor loss = x.mul(x.detach()).sum();
    assertThat(x.detach().toArray()).containsExactly(3, -4);
    assertThat(Tensor.gradients(loss, List.of(x)).get(0).toArray()).containsExactly(3, -4);
  }

  static Stream<Case> differentiable() {
    Tensor w = random(11, 6, 5);
    Tensor labels = random(12, 17).gt(Tensor.scalar(0)).mul(1);
    Tensor index = Tensor.ofLongs(Shape.of(3), 2, 0, 2);
    Tensor offsets = Tensor.ofInts(Shape.of(5), 0, 2, 2, 5, 5);
    return Stream.of(
        unary("neg", Tensor::neg),
        unary("exp", Tensor::exp),
        unary("expm1", Tensor::expm1),
        positive("log", Tensor::log),
        positive("log1p", Tensor::log1p),
        unary("tanh", Tensor::tanh),
        unary("sigmoid", Tensor::sigmoid),
        unary("softplus", Tensor::softplus),
        unary("erf", Tensor::erf),
        unary("sin of pi x", Tensor::sinPi),
        unary("cos of pi x", Tensor::cosPi),
        unary("atan", Tensor::atan),
        unary("atan2 of its numbers", x -> x.atan2(x.mul(3).add(1))),
        unary("atan2 of others", x -> random(14, 17).atan2(x)),
        unary("relu", Tensor::relu),
        positive("sqrt", Tensor::sqrt),
        positive("rsqrt", Tensor::rsqrt),
        positive("reciprocal", Tensor::reciprocal),
        unary("square", Tensor::square),
        unary("abs", Tensor::abs),
        unary("copy", x -> new Tensor(Nodes.unary(Op.Unary.COPY, x.node()))),
        unary("cast to itself", x -> new Tensor(Nodes.recast(x.node()))),
        unary("sign", x -> x.sign().mul(x)),
        unary("less or equal", x -> x.le(Tensor.scalar(0.05f)).mul(x)),
        unary("equal", x -> x.eq(x.mul(2)).add(1).mul(x)),
        unary("add and sub", x -> x.add(x.mul(3)).sub(x.square())),
        unary("mul and div", x -> x.mul(x).div(x.square().add(1))),
        unary("max and min", x -> x.max(x.mul(2).add(0.1f)).min(x.add(1.05f))),
        unary("select", x -> x.gt(Tensor.scalar(0.05f)).select(x.mul(2), x.square())),
        unary("not", x -> x.lt(Tensor.scalar(0)).not().mul(x)),
        unary("bce with logits", x -> x.bceWithLogits(labels)),
        new Case("sum keeps", x -> x.mul(x.sumKeep(1)), 4, 5),
        new Case("sum of the middle", x -> x.square().sum(1), 3, 4, 5),
        new Case("max over rows", x -> x.max(1), 4, 5),
        new Case("pair sums", Tensor::pairSums, 3, 5, 4),
        new Case("softmax", x -> x.softmax(1).mul(random(5, 4, 5)), 4, 5),
        new Case("log softmax", x -> x.logSoftmax(-1).mul(random(5, 4, 5)), 4, 5),
        new Case(
            "layer norm",
            x -> x.layerNorm(random(6, 5), random(7, 5), 1e-3f).mul(random(5, 4, 5)),
            4,
            5),
        new Case("reshape", x -> x.reshape(2, 10).mul(random(8, 2, 10)), 4, 5),
        new Case("transpose", x -> x.transpose(0, 1).mul(random(8, 5, 4)), 4, 5),
        new Case("broadcast", x -> x.broadcast(Shape.of(3, 4, 5)).mul(random(9, 3, 4, 5)), 4, 1),
        new Case("slices that tile", FromSlices::tiled, 4, 6),
        new Case("slices that overlap", x -> x.slice(1, 1, 4).mul(x.slice(1, 2, 5)), 4, 6),
        new Case("concat", x -> Tensor.concat(1, List.of(x, x.square(), x.slice(1, 0, 2))), 4, 5),
        new Case("matmul left", x -> x.matmul(w).square(), 4, 6),
        new Case("matmul right", x -> random(13, 4, 6).matmul(x).square(), 6, 5),
        new Case("matmul transposed", x -> x.transpose(0, 1).matmul(x), 4, 3),
        new Case("matmul of batches", x -> x.matmul(x.transpose(1, 2)).square(), 3, 4, 5),
        new Case("gather", x -> x.gather(index).square(), 4, 3),
        new Case("scatter add", x -> Tensor.scatterAdd(index, x, 4).square(), 3, 2),
        new Case(
            "segment sum", x -> Ragged.of(x, offsets).pool(SequencePooling.SUM).square(), 6, 3),
        new Case(
            "segment max", x -> Ragged.of(x, offsets).pool(SequencePooling.MAX, 2).square(), 6, 3),
        new Case(
            "gru", x -> Ragged.of(x, offsets).gru(w.slice(0, 0, 1).slice(1, 0, 3)).values(), 6, 3),
        new Case("dot interaction", x -> x.dotInteraction().square(), 3, 4, 5));
  }

  /** Ops that take no gradient from what follows on them, and why. */
  private static final Map<String, String> WITHOUT =
      Map.of(
          "Leaf", "has no inputs",
          "Constant", "has no inputs",
          "Uniform", "its seed is an integer",
          "Index", "gives whole numbers",
          "DotInteractionGradient", "refuses, see secondGradientsAreRefusedWhereThereAreNone",
          "PairSumsGradient", "refuses, see secondGradientsAreRefusedWhereThereAreNone",
          "GruGradient", "refuses, see secondGradientsAreRefusedWhereThereAreNone");

  @Test
  void everyOpHasAGradientThatIsCheckedOrSaysWhyNot() {
    Set<String> seen = new TreeSet<>(WITHOUT.keySet());
    differentiable().forEach(op -> addOps(op, seen));
    assertThat(seen).containsExactlyInAnyOrderElementsOf(names(Op.class).toList());
  }

  /** The ops through which the case's result depends on its argument. */
  private static void addOps(Case op, Set<String> seen) {
    Tensor x = random(21, op.sizes);
    Set<Node> reached = Collections.newSetFromMap(new IdentityHashMap<>());
    reached.add(x.node());
    for (Node node : Program.of(List.of(op.function.apply(x).node()), List.of()).nodes()) {
      if (node.inputs().stream().anyMatch(reached::contains)) {
        reached.add(node);
        seen.add(
            switch (node.op()) {
              case Op.Reduce reduce -> "Reduce." + reduce.kind();
              case Enum<?> constant -> constant.name();
              case Op other -> other.getClass().getSimpleName();
            });
      }
    }
  }

  private static Stream<String> names(Class<?> op) {
    if (op == Op.Reduce.class) {
      return Stream.of(Op.Reduce.Kind.values()).map(kind -> "Reduce." + kind);
    }
    if (op.isEnum()) {
      return Stream.of(op.getEnumConstants()).map(constant -> ((Enum<?>) constant).name());
    }
    return op.isSealed()
        ? Stream.of(op.getPermittedSubclasses()).flatMap(TensorTest::names)
        : Stream.of(op.getSimpleName());
  }

  @Test
  void secondGradientsAreRefusedWhereThereAreNone() {
    Tensor x = random(1, 2, 3, 4);
    for (Tensor result : List.of(x.dotInteraction(), x.pairSums())) {
      Tensor gradient = Tensor.gradients(result.square().sum(), List.of(x)).get(0);
      assertThatThrownBy(() -> Tensor.gradients(gradient.sum(), List.of(x)))
          .hasMessageContaining("expected an op that can be differentiated");
    }
    Tensor gates = random(2, 4, 3);
    Ragged states = Ragged.of(gates, Levels.ofLengths(new int[] {4})).gru(random(3, 1, 3));
    Tensor slopes = Tensor.gradients(states.values().sum(), List.of(gates)).get(0);
    assertThatThrownBy(() -> Tensor.gradients(slopes.sum(), List.of(gates)))
        .hasMessageContaining("expected an op that can be differentiated");
  }

  private static final class FromSlices {
    static Tensor tiled(Tensor x) {
      return x.slice(1, 0, 2).mul(x.slice(1, 2, 4)).add(x.slice(1, 4, 6));
    }
  }

  @ParameterizedTest
  @MethodSource("differentiable")
  void gradientsAgreeWithFiniteDifferences(Case op) {
    checkGradient(op.function, random(21, op.sizes), op.sizes);
  }

  static void checkGradient(Function<Tensor, Tensor> function, Tensor x, int... sizes) {
    Tensor weights = random(22, function.apply(x).shape().toArray());
    Function<Tensor, Tensor> loss = t -> function.apply(t).mul(weights).sum();
    float[] gradient = Tensor.gradients(loss.apply(x), List.of(x)).get(0).toArray();
    float[] values = x.toArray();
    float h = 0x1p-8f;
    for (int i = 0; i < values.length; i++) {
      float[] up = values.clone();
      float[] down = values.clone();
      up[i] += h;
      down[i] -= h;
      double difference =
          (exact(loss.apply(Tensor.of(Shape.of(sizes), up)))
                  - exact(loss.apply(Tensor.of(Shape.of(sizes), down))))
              / ((double) up[i] - down[i]);
      assertThat((double) gradient[i])
          .as("element %d", i)
          .isCloseTo(
              difference, org.assertj.core.data.Offset.offset(1e-3 * (1 + Math.abs(difference))));
    }
  }

  /** Sums in double precision: those of floats would hide small errors of a gradient. */
  private static double exact(Tensor scalar) {
    Program program = Program.of(List.of(scalar.node()), List.of());
    return Reference.evaluate(program).get(0)[0];
  }
}
