package dev.tern.internal.plan;

import static dev.tern.internal.plan.EpilogueFusionTest.assertBitsOfTheKernelAfterTheProduct;
import static dev.tern.internal.plan.EpilogueFusionTest.leaf;
import static dev.tern.internal.plan.EpilogueFusionTest.product;
import static dev.tern.internal.plan.EpilogueFusionTest.reading;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Products whose rows the next kernel takes, so that they are never in memory as a whole. */
final class ProductFusionTest {
  /** Rows, terms and columns, and how many products; large enough for rows not to be kept. */
  private static final int[][] SIZES = {
    {5003, 17, 33, 1},
    {1200, 40, 200, 1},
    {10000, 5, 16, 1},
    {9001, 16, 8, 1},
    {4000, 600, 65, 1},
    {40, 8, 40, 100},
    {5, 7, 3, 5000},
    {64, 16, 63, 130},
  };

  static Stream<EpilogueFusionTest.Case> kernels() {
    return EpilogueFusionTest.kernels();
  }

  private static Optional<Step.MatMulThen> passing(Program program) {
    return Programs.plan(program, 2).steps().stream()
        .filter(Step.MatMulThen.class::isInstance)
        .map(Step.MatMulThen.class::cast)
        .filter(Step.MatMulThen::passesRows)
        .findFirst();
  }

  private static Node sumOverRows(Node x) {
    return Nodes.reduce(Op.Reduce.Kind.SUM, x, 0, 1);
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void bitsAreThoseOfTheKernelAfterTheProduct(EpilogueFusionTest.Case kernel) {
    for (int[] sizes : SIZES) {
      Node product = product(sizes);
      Program program = reading(kernel.kernel().apply(product));
      assertThat(passing(program)).as("%s after %s", kernel, product.shape()).isPresent();
      assertBitsOfTheKernelAfterTheProduct(kernel, product, program);
    }
  }

  /** As in the gradients of an activation and a bias. */
  @Test
  void aSumOverRowsIsTheSameWhetherRowsArePassedOnOrReadFromMemory() {
    for (int[] sizes : SIZES) {
      if (sizes[3] > 1) {
        continue;
      }
      Node product = product(sizes);
      Node hidden = leaf(6, product.shape());
      List<float[]> expected = Programs.run(masked(known(product), hidden), 1);
      Program program = masked(product, hidden);
      assertThat(passing(program)).as("sum of %s", product.shape()).isPresent();
      for (int threads = 1; threads <= 3; threads++) {
        List<float[]> got = Programs.run(program, threads);
        assertThat(got.get(0))
            .as("%s by %d threads", product.shape(), threads)
            .isEqualTo(expected.get(0));
        assertThat(got.get(1))
            .as("sum of %s by %d threads", product.shape(), threads)
            .isEqualTo(expected.get(1));
      }
    }
  }

  /** A leaf with the value of a node. */
  private static Node known(Node node) {
    return Leaves.of(node.shape(), Programs.run(reading(node), 1).getFirst());
  }

  private static Program masked(Node gradient, Node hidden) {
    Node isPositive = Nodes.binary(Op.Binary.LT, Nodes.full(hidden.shape(), 0), hidden);
    Node masked = Nodes.select(isPositive, gradient, Nodes.full(hidden.shape(), 0));
    return reading(masked, sumOverRows(masked));
  }

  @Test
  void aSumOfFewRowsIsOneOverMemory() {
    Node product = product(new int[] {300, 20, 3000, 1});
    Program program = reading(sumOverRows(product));
    assertThat(passing(program)).isEmpty();
    assertThat(Programs.run(program, 2).getFirst())
        .isEqualTo(Programs.run(reading(sumOverRows(known(product))), 1).getFirst());
  }

  @Test
  void theResultTakesNoMemory() {
    Node product = product(new int[] {4000, 20, 100, 1});
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.unary(Op.Unary.TANH, product), 1, 2);
    assertThat(Programs.plan(reading(sum), 2).arenaBytes()).isLessThan(4 * 4000 * 100 / 2);
  }

  @Test
  void aResultThatIsReadElsewhereIsKept() {
    Node product = product(new int[] {4000, 20, 30, 1});
    Node result = Nodes.unary(Op.Unary.RELU, product);
    assertThat(passing(reading(result, product))).isEmpty();
    Node other = Nodes.matmul(Nodes.transpose(product, 0, 1), leaf(4, Shape.of(4000, 3)));
    assertThat(passing(reading(result, other))).isEmpty();
    Node view = Nodes.reshape(product, Shape.of(2000, 60));
    assertThat(passing(reading(result, view))).isEmpty();
  }

  @Test
  void whatTheProductReadsIsNotWrittenOverWhileItRuns() {
    Node weight = leaf(3, Shape.of(2000, 30));
    Node product = Nodes.matmul(weight, leaf(4, Shape.of(30, 30)));
    Node moved = Nodes.add(weight, product);
    assertThat(passing(Program.of(List.of(), List.of(new Program.Update(weight, moved)))))
        .isEmpty();
  }

  /** What the kernel also reads and nobody needs then is as large as what the product reads. */
  @Test
  void aValueThatTheProductReadsIsNotWrittenOverByTheKernel() {
    Node x = Nodes.unary(Op.Unary.TANH, leaf(3, Shape.of(2000, 30)));
    Node result = Nodes.add(Nodes.matmul(x, leaf(4, Shape.of(30, 30))), x);
    Node known = known(x);
    Node apart = known(Nodes.matmul(known, leaf(4, Shape.of(30, 30))));
    Program program = reading(result);
    assertThat(passing(program)).isPresent();
    assertThat(Programs.run(program, 2).getFirst())
        .isEqualTo(Programs.run(reading(Nodes.add(apart, known)), 1).getFirst());
  }

  @Test
  void aKernelThatReadsOtherRowsReadsThemFromMemory() {
    Node product = product(new int[] {900, 20, 900, 1});
    Node result = Nodes.add(product, Nodes.transpose(product, 0, 1));
    assertThat(passing(reading(result))).isEmpty();
  }

  @Test
  void ofTwoProductsThatAKernelReadsOneIsPassedOn() {
    int[] sizes = {4000, 20, 30, 1};
    Node first = product(sizes);
    Node second = Nodes.matmul(leaf(5, Shape.of(4000, 9)), leaf(6, Shape.of(9, 30)));
    Program program = reading(Nodes.mul(first, second));
    assertThat(Programs.plan(program, 2).steps()).hasSize(2);
    assertThat(passing(program)).isPresent();
    assertThat(Programs.run(program, 2).getFirst())
        .isEqualTo(Programs.run(reading(Nodes.mul(known(first), known(second))), 1).getFirst());
  }

  @Test
  void whatIsComputedAgainWithinABudgetHasTheSameBits() {
    Node x = leaf(1, Shape.of(3000, 20));
    List<Node> hidden = new ArrayList<>();
    for (int layer = 0; layer < 6; layer++) {
      Node wide = Nodes.matmul(x, leaf(layer, Shape.of(20, 80)));
      hidden.add(Nodes.unary(Op.Unary.RELU, wide));
      x = Nodes.add(x, Nodes.matmul(hidden.getLast(), leaf(7, Shape.of(80, 20))));
    }
    List<Node> results = new ArrayList<>();
    for (Node each : hidden.reversed()) {
      Node back = Nodes.matmul(x, leaf(8, Shape.of(20, 80)));
      Node isPositive = Nodes.binary(Op.Binary.LT, Nodes.full(each.shape(), 0), each);
      Node masked = Nodes.select(isPositive, back, Nodes.full(each.shape(), 0));
      results.add(sumOverRows(masked));
      x = Nodes.add(x, Nodes.matmul(masked, leaf(9, Shape.of(80, 20))));
    }
    results.add(x);
    Program program = reading(results.toArray(Node[]::new));
    long whole = Programs.plan(program, 2).arenaBytes();
    Plan plan = Planner.plan(program, 2, whole * 6 / 10, ScheduleFinder.QUICK);
    assertThat(plan.again()).contains(true);
    assertThat(plan.steps())
        .anyMatch(step -> step instanceof Step.MatMulThen both && both.passesRows());
    List<float[]> expected = Programs.run(program, 2);
    List<float[]> got = Programs.run(program, 2, whole * 6 / 10);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(got.get(i)).isEqualTo(expected.get(i));
    }
  }

  /** A weight may be written only after all that reads it, so its update has to wait. */
  @Test
  void aGradientDoesNotWaitForItsUpdateWithWhatItReadsForTheLastTime() {
    Node weight = leaf(2, Shape.of(3000, 64));
    Node x = Nodes.unary(Op.Unary.TANH, leaf(1, Shape.of(1500, 3000)));
    Node dy = Nodes.mul(Nodes.matmul(x, weight), 2);
    Node gradient = Nodes.matmul(Nodes.transpose(x, 0, 1), dy);
    Node dx = Nodes.matmul(dy, Nodes.transpose(weight, 0, 1));
    Node moved = Nodes.sub(weight, Nodes.mul(gradient, 0.5f));
    Program program = Program.of(List.of(dx), List.of(new Program.Update(weight, moved)));
    assertThat(Programs.plan(program, 2).arenaBytes()).isLessThan(3 * 4L * 1500 * 3000 / 2);
  }

  /** The kernel needs two values of which the product and what follows need one each. */
  @Test
  void whereABudgetHasNoRoomForBothTheyStayTwoSteps() {
    Shape shape = Shape.of(2000, 100);
    Node x = Nodes.unary(Op.Unary.TANH, leaf(1, shape));
    Node rest = Nodes.unary(Op.Unary.TANH, leaf(2, shape));
    Node sum = Nodes.add(rest, Nodes.matmul(x, leaf(3, Shape.of(100, 100))));
    Node turned = Nodes.transpose(sum, 0, 1);
    Program program = reading(Nodes.matmul(turned, x), Nodes.matmul(turned, rest));
    assertThat(passing(program)).isPresent();
    long budget = 4L * shape.elements() * 5 / 2 + MatMul.scratchBytes(100, 100, 2000, 2);
    Plan plan = Planner.plan(program, 2, budget, ScheduleFinder.QUICK);
    assertThat(plan.arenaBytes()).isLessThanOrEqualTo(budget);
    assertThat(plan.again()).contains(true);
    List<float[]> expected = Programs.run(program, 2);
    List<float[]> got = Programs.run(program, 2, budget);
    assertThat(got.get(0)).isEqualTo(expected.get(0));
    assertThat(got.get(1)).isEqualTo(expected.get(1));
  }
}
