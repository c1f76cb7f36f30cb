package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Gradients;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Reference;
import dev.tern.internal.memory.Memory;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Kernels that pass several times over each row. */
final class RowProgramTest {
  private static final int[] SIZES = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};

  private record Case(String name, UnaryOperator<Node> layer) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> layers() {
    return Stream.of(
        new Case("softmax", RowProgramTest::softmax),
        new Case("log-softmax", RowProgramTest::logSoftmax),
        new Case("norm", RowProgramTest::norm),
        new Case("scaled by its dot product", RowProgramTest::crossed),
        new Case("share of the largest", RowProgramTest::share));
  }

  private static Node row(Op.Reduce.Kind kind, Node x) {
    return Nodes.reduce(kind, x, x.shape().rank() - 1, x.shape().rank());
  }

  private static Node softmax(Node x) {
    Node largest = Nodes.unary(Op.Unary.DETACH, row(Op.Reduce.Kind.MAX, x));
    Node powers = Nodes.unary(Op.Unary.EXP, Nodes.sub(x, largest));
    Node sum = row(Op.Reduce.Kind.SUM, powers);
    return Nodes.mul(powers, Nodes.unary(Op.Unary.RECIPROCAL, sum));
  }

  private static Node logSoftmax(Node x) {
    Node shifted = Nodes.sub(x, row(Op.Reduce.Kind.MAX, x));
    Node sum = row(Op.Reduce.Kind.SUM, Nodes.unary(Op.Unary.EXP, shifted));
    return Nodes.sub(shifted, Nodes.unary(Op.Unary.LOG, sum));
  }

  private static Node norm(Node x) {
    float share = 1f / Math.max(1, x.shape().size(-1));
    Node centred = Nodes.sub(x, Nodes.mul(row(Op.Reduce.Kind.SUM, x), share));
    Node squares = Nodes.unary(Op.Unary.SQUARE, centred);
    Node variance = Nodes.mul(row(Op.Reduce.Kind.SUM, squares), share);
    Node scale = Nodes.unary(Op.Unary.RSQRT, Nodes.add(variance, Nodes.constant(0.1f)));
    return Nodes.mul(centred, scale);
  }

  private static Node crossed(Node x) {
    Node weights = leaf(new Random(4), Shape.of(1, x.shape().size(-1)));
    return Nodes.add(x, Nodes.mul(x, row(Op.Reduce.Kind.SUM, Nodes.mul(x, weights))));
  }

  private static Node share(Node x) {
    Node largest = row(Op.Reduce.Kind.MAX, Nodes.unary(Op.Unary.ABS, x));
    return Nodes.binary(Op.Binary.DIV, x, Nodes.add(largest, Nodes.constant(1)));
  }

  private static Node leaf(Random random, Shape shape) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    return Leaves.of(shape, values);
  }

  /** The layer of {@code x}, and the gradient of a weighted sum of its elements. */
  private static Program both(Case layer, Node x) {
    Node result = layer.layer().apply(x);
    Node weights = leaf(new Random(3), x.shape());
    Node loss = Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.mul(result, weights), 0, x.shape().rank());
    loss = Nodes.reshape(loss, Shape.SCALAR);
    return Program.of(List.of(result, Gradients.of(loss, List.of(x)).get(0)), List.of());
  }

  private static void compare(String name, Program program, int threads) {
    List<double[]> expected = Reference.evaluate(program);
    List<float[]> got = Programs.run(program, threads);
    for (int i = 0; i < expected.size(); i++) {
      for (int at = 0; at < expected.get(i).length; at++) {
        double value = expected.get(i)[at];
        assertThat((double) got.get(i)[at])
            .as("%s, output %d, element %d", name, i, at)
            .isCloseTo(value, org.assertj.core.data.Offset.offset(2e-5 * (1 + Math.abs(value))));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layers")
  void layersAndTheirGradientsAgreeWithTheReference(Case layer) {
    for (int columns : SIZES) {
      for (Shape shape : List.of(Shape.of(5, columns), Shape.of(2, 3, columns))) {
        Node x = leaf(new Random(columns), shape);
        compare(layer + " of " + shape, both(layer, x), 1);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layers")
  void oneRowIsNotCutIntoChunks(Case layer) {
    Node x = leaf(new Random(1), Shape.of(8000));
    Node row = Nodes.reshape(x, Shape.of(1, 8000));
    compare(layer + " of a vector", both(layer, row), 2);
  }

  @ParameterizedTest
  @MethodSource("layers")
  void layersSeenThroughATransposeAgreeWithTheReference(Case layer) {
    Node x = Nodes.transpose(leaf(new Random(2), Shape.of(33, 12)), 0, 1);
    compare(layer + " of columns", both(layer, x), 1);
  }

  @ParameterizedTest
  @MethodSource("layers")
  void bitsDoNotDependOnTheNumberOfThreads(Case layer) {
    Program program = both(layer, leaf(new Random(2), Shape.of(900, 77)));
    List<float[]> first = Programs.run(program, 1);
    for (int threads : new int[] {2, 3}) {
      List<float[]> other = Programs.run(program, threads);
      for (int i = 0; i < first.size(); i++) {
        assertThat(other.get(i)).containsExactly(first.get(i));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("layers")
  void aLayerAndItsGradientAreOneKernel(Case layer) {
    Plan plan = Programs.plan(both(layer, leaf(new Random(2), Shape.of(20, 30))), 1);
    assertThat(plan.steps()).hasSize(1).allMatch(step -> step instanceof Step.Fused);
  }

  @Test
  void aLongRowIsReducedByAKernelOfItsOwn() {
    Case layer = new Case("softmax", RowProgramTest::softmax);
    Program program = both(layer, leaf(new Random(2), Shape.of(2, 9000)));
    assertThat(Programs.plan(program, 1).steps().size()).isGreaterThan(1);
    compare("a long row", program, 2);
  }

  /** What an early pass writes must not take the place of what a later pass reads. */
  @Test
  void resultsOfEarlyPassesDoNotOverwriteInputs() {
    Node x = leaf(new Random(5), Shape.of(40, 50));
    Node y = leaf(new Random(6), Shape.of(50, 50));
    Node product = Nodes.matmul(x, y);
    Node early = Nodes.mul(product, 2);
    Node late = Nodes.add(product, row(Op.Reduce.Kind.SUM, early));
    compare("early", Program.of(List.of(early, late), List.of()), 1);
  }

  @Test
  void aVariableTakesItsOwnSoftmax() {
    Node x = leaf(new Random(5), Shape.of(40, 50));
    Node early = Nodes.mul(x, 0.5f);
    Node late = softmax(early);
    for (Node value : List.of(early, late)) {
      Program program = Program.of(List.of(late), List.of(new Program.Update(x, value)));
      List<double[]> outputs = Reference.evaluate(program);
      double[] stored = Reference.evaluateUpdates(program).get(0);
      float[] got = Programs.run(program, 1).get(0);
      long address = ((Op.Leaf) x.op()).buffer().address();
      for (int i = 0; i < stored.length; i++) {
        assertThat((double) got[i])
            .isCloseTo(outputs.get(0)[i], org.assertj.core.data.Offset.offset(1e-6));
        assertThat((double) Memory.getFloat(address + 4L * i))
            .isCloseTo(stored[i], org.assertj.core.data.Offset.offset(1e-6));
      }
    }
  }
}
