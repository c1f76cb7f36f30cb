package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Products and the kernels that take their rows as they become final. */
final class EpilogueFusionTest {
  /** Rows, terms and columns, and how many products. */
  private static final int[][] SIZES = {
    {2, 2, 2, 1},
    {7, 8, 9, 1},
    {6, 3, 64, 1},
    {97, 17, 33, 1},
    {300, 40, 200, 1},
    {1000, 5, 16, 1},
    {40, 600, 65, 1},
    {61, 9, 4100, 1},
    {13, 1200, 1000, 1},
    {40, 8, 40, 9},
    {5, 7, 3, 4},
    {64, 16, 63, 130},
  };

  record Case(String name, UnaryOperator<Node> kernel) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> kernels() {
    return Stream.of(
        new Case("bias and relu", x -> Nodes.unary(Op.Unary.RELU, Nodes.add(x, row(x)))),
        new Case("a factor", x -> Nodes.mul(x, 3)),
        new Case("a residual", x -> Nodes.add(x, leaf(9, x.shape()))),
        new Case("softmax", EpilogueFusionTest::softmax));
  }

  static Node row(Node x) {
    return leaf(8, Shape.of(x.shape().size(-1)));
  }

  static Node softmax(Node x) {
    int last = x.shape().rank() - 1;
    Node largest = Nodes.reduce(Op.Reduce.Kind.MAX, x, last, last + 1);
    Node powers = Nodes.unary(Op.Unary.EXP, Nodes.sub(x, largest));
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, powers, last, last + 1);
    return Nodes.mul(powers, Nodes.unary(Op.Unary.RECIPROCAL, sum));
  }

  static Node leaf(int seed, Shape shape) {
    Random random = new Random(seed);
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    return Leaves.of(shape, values);
  }

  static Node product(int[] sizes) {
    int m = sizes[0];
    int k = sizes[1];
    int n = sizes[2];
    int batch = sizes[3];
    Node a = leaf(1, batch == 1 ? Shape.of(m, k) : Shape.of(batch, m, k));
    Node b = leaf(2, batch == 1 ? Shape.of(k, n) : Shape.of(batch, k, n));
    return Nodes.matmul(a, b);
  }

  static Program reading(Node... outputs) {
    return Program.of(List.of(outputs), List.of());
  }

  private static boolean isJoined(Program program) {
    return Programs.plan(program, 2).steps().stream().anyMatch(Step.MatMulThen.class::isInstance);
  }

  /** The kernel on the product computed before. */
  private static float[] apart(Case kernel, Node product) {
    float[] values = Programs.run(reading(product), 1).getFirst();
    Node known = Leaves.of(product.shape(), values);
    return Programs.run(reading(kernel.kernel().apply(known)), 1).getFirst();
  }

  static void assertBitsOfTheKernelAfterTheProduct(Case kernel, Node product, Program program) {
    float[] expected = apart(kernel, product);
    for (int threads = 1; threads <= 3; threads++) {
      assertThat(Programs.run(program, threads).getFirst())
          .as("%s after %s by %d threads", kernel, product.shape(), threads)
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void bitsAreThoseOfTheKernelAfterTheProduct(Case kernel) {
    for (int[] sizes : SIZES) {
      Node product = product(sizes);
      Program program = reading(kernel.kernel().apply(product));
      assertThat(Programs.plan(program, 2).steps())
          .as("%s after %s", kernel, product.shape())
          .singleElement()
          .isInstanceOf(Step.MatMulThen.class);
      assertBitsOfTheKernelAfterTheProduct(kernel, product, program);
    }
  }

  @Test
  void aProductThatOthersReadIsKept() {
    Node product = product(new int[] {50, 20, 30, 1});
    Node result = Nodes.unary(Op.Unary.RELU, product);
    Program program = reading(result, product);
    assertThat(isJoined(program)).isTrue();
    List<float[]> got = Programs.run(program, 2);
    assertThat(got.get(1)).isEqualTo(Programs.run(reading(product), 1).getFirst());
    for (int i = 0; i < got.get(1).length; i++) {
      assertThat(got.get(0)[i]).isEqualTo(Math.max(0, got.get(1)[i]));
    }
  }

  @Test
  void whatIsComputedOfEachRowIsWrittenAsWell() {
    Node product = product(new int[] {200, 20, 30, 1});
    Node sums = Nodes.reduce(Op.Reduce.Kind.SUM, product, 1, 2);
    Node result = Nodes.mul(product, sums);
    Program program = reading(result, sums);
    assertThat(isJoined(program)).isTrue();
    Node known = Leaves.of(product.shape(), Programs.run(reading(product), 1).getFirst());
    Node knownSums = Nodes.reduce(Op.Reduce.Kind.SUM, known, 1, 2);
    List<float[]> expected = Programs.run(reading(Nodes.mul(known, knownSums), knownSums), 1);
    List<float[]> got = Programs.run(program, 3);
    assertThat(got.get(0)).isEqualTo(expected.get(0));
    assertThat(got.get(1)).isEqualTo(expected.get(1));
  }

  @Test
  void anUpdateOfAWeightIsWrittenAsItsGradientBecomesFinal() {
    Node weight = leaf(3, Shape.of(40, 50));
    Node gradient = product(new int[] {40, 30, 50, 1});
    Node moved = Nodes.sub(weight, Nodes.mul(gradient, 0.5f));
    Program program = Program.of(List.of(), List.of(new Program.Update(weight, moved)));
    assertThat(isJoined(program)).isTrue();
  }

  @Test
  void whatTheProductReadsIsNotWrittenOverWhileItRuns() {
    Node weight = leaf(3, Shape.of(60, 60));
    Node product = Nodes.matmul(weight, leaf(4, Shape.of(60, 60)));
    Program program =
        Program.of(List.of(), List.of(new Program.Update(weight, Nodes.add(weight, product))));
    assertThat(isJoined(program)).isFalse();
  }

  @Test
  void aKernelThatReadsOtherRowsWaitsForTheProduct() {
    Node product = product(new int[] {70, 20, 70, 1});
    Node result = Nodes.add(product, Nodes.transpose(product, 0, 1));
    assertThat(isJoined(reading(result))).isFalse();
  }

  @Test
  void aSumOverRowsWaitsForTheProduct() {
    Node product = product(new int[] {70, 20, 30, 1});
    assertThat(isJoined(reading(Nodes.reduce(Op.Reduce.Kind.SUM, product, 0, 1)))).isFalse();
  }

  /** A budget below what the plan would take has it laid out by a schedule. */
  @Test
  void aResultThatIsWrittenOverIsNoSecondValueInMemory() {
    Node x = product(new int[] {500, 20, 100, 1});
    List<Node> hidden = new ArrayList<>();
    for (int layer = 0; layer < 6; layer++) {
      Node wide = Nodes.matmul(x, leaf(layer, Shape.of(100, 400)));
      hidden.add(Nodes.unary(Op.Unary.TANH, wide));
      x = Nodes.matmul(hidden.getLast(), leaf(7, Shape.of(400, 100)));
    }
    Node result = hidden.removeLast();
    for (Node each : hidden.reversed()) {
      result = Nodes.matmul(Nodes.mul(result, each), leaf(9, Shape.of(400, 400)));
    }
    Program program = reading(result);
    long whole = Programs.plan(program, 2).arenaBytes();
    Plan plan = Planner.plan(program, 2, whole * 3 / 4, ScheduleFinder.QUICK);
    assertThat(plan.again()).contains(true);
    assertThat(plan.steps()).anyMatch(Step.MatMulThen.class::isInstance);
    for (int step = 0; step < plan.steps().size(); step++) {
      int at = step;
      long live =
          plan.allocations().stream()
              .filter(life -> life.from() <= at && at < life.to())
              .mapToLong(Plan.Allocation::bytes)
              .sum();
      assertThat(live).as("bytes in step %d", step).isLessThanOrEqualTo(plan.arenaBytes());
    }
  }

  @Test
  void stepsOfAPlanAndLivesOfItsValuesAreCountedAnew() {
    Node hidden = Nodes.unary(Op.Unary.RELU, product(new int[] {50, 20, 30, 1}));
    Node result = Nodes.unary(Op.Unary.TANH, Nodes.matmul(hidden, leaf(5, Shape.of(30, 40))));
    Plan plan = Programs.plan(reading(result), 2);
    assertThat(plan.steps()).hasSize(2).allMatch(Step.MatMulThen.class::isInstance);
    assertThat(plan.again()).hasSize(2);
    assertThat(plan.attributions()).hasSize(2);
    assertThat(plan.allocations())
        .filteredOn(allocation -> allocation.content() == Plan.Content.VALUE)
        .extracting(Plan.Allocation::from, Plan.Allocation::to)
        .containsExactly(tuple(0, 2), tuple(1, 2));
  }
}
