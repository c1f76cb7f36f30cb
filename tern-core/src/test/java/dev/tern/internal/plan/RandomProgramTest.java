package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Reference;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Interpreter;
import dev.tern.tensor.DType;
import dev.tern.tensor.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random programs, planned and run, against the reference evaluator. */
final class RandomProgramTest {
  private static final int[] SIZES = {1, 2, 3, 5, 7, 8, 15, 16, 17, 33};
  private static final Op.Unary[] UNARY = Op.Unary.values();
  private static final Op.Binary[] BINARY = Op.Binary.values();

  private final Interpreter interpreter = new Interpreter(2, 1L << 30);

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void randomProgramsAgreeWithTheReference(long block) {
    for (long seed = block * 1000; seed < block * 1000 + 50; seed++) {
      Random random = new Random(seed);
      List<Node> nodes = grow(random);
      List<Node> outputs = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        outputs.add(nodes.get(random.nextInt(nodes.size())));
      }
      Node leaf = nodes.get(0);
      List<Program.Update> updates = new ArrayList<>();
      for (Node node : nodes.reversed()) {
        if (node.shape().equals(leaf.shape()) && node.type() == leaf.type() && node != leaf) {
          updates.add(new Program.Update(leaf, node));
          break;
        }
      }
      compare(seed, Program.of(outputs, updates));
    }
  }

  private void compare(long seed, Program program) {
    List<double[]> expected = Reference.evaluate(program);
    List<double[]> stored = Reference.evaluateUpdates(program);
    try (Interpreter.Bound bound = interpreter.bind(program)) {
      bound.execution().run();
      for (int i = 0; i < expected.size(); i++) {
        check(seed, program, expected.get(i), bound.execution().output(i));
      }
      for (int i = 0; i < stored.size(); i++) {
        Op.Leaf leaf = (Op.Leaf) program.updates().get(i).leaf().op();
        check(seed, program, stored.get(i), leaf.buffer().address());
      }
    }
  }

  private static void check(long seed, Program program, double[] expected, long address) {
    for (int i = 0; i < expected.length; i++) {
      float got = Memory.getFloat(address + 4L * i);
      double bound = 1e-4 * (1 + Math.abs(expected[i]));
      if (!(Math.abs(got - expected[i]) <= bound) && !(got == expected[i])) {
        assertThat((double) got)
            .as("seed %d, element %d of\n%s", seed, i, program)
            .isEqualTo(expected[i]);
      }
    }
  }

  private static Node leaf(Random random, Shape shape) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    return Interpreter.put(shape, values);
  }

  private static int size(Random random) {
    return SIZES[random.nextInt(SIZES.length)];
  }

  private static List<Node> grow(Random random) {
    List<Node> nodes = new ArrayList<>();
    int m = random.nextInt(20) == 0 ? 0 : size(random);
    int n = random.nextInt(20) == 0 ? 0 : size(random);
    nodes.add(leaf(random, Shape.of(m, n)));
    nodes.add(leaf(random, Shape.of(m, n)));
    nodes.add(leaf(random, Shape.of(n)));
    nodes.add(leaf(random, Shape.of(size(random), m, n)));
    int count = 4 + random.nextInt(20);
    while (nodes.size() < count) {
      Node node = next(random, nodes);
      if (node.shape().elements() < 40_000) {
        nodes.add(node);
      }
    }
    return nodes;
  }

  private static Node next(Random random, List<Node> nodes) {
    Node a = nodes.get(random.nextInt(nodes.size()));
    Node b = nodes.get(random.nextInt(nodes.size()));
    int rank = a.shape().rank();
    int axis = rank == 0 ? 0 : random.nextInt(rank);
    return switch (random.nextInt(14)) {
      case 0, 1 -> unary(UNARY[random.nextInt(UNARY.length)], a);
      case 2, 3, 4 -> binary(random, a, b);
      case 5 -> rank == 0 ? a : reduce(random, a, axis);
      case 6 ->
          rank == 0 ? a : Nodes.slice(a, axis, a.shape().size(axis) / 3, a.shape().size(axis));
      case 7 -> rank < 2 ? a : Nodes.transpose(a, axis, random.nextInt(rank));
      case 8 -> Nodes.reshape(a, Shape.of(a.shape().elements()));
      case 9 -> rank == 0 ? a : Nodes.concat(axis, List.of(a, Nodes.unary(Op.Unary.NEG, a), a));
      case 10 -> matmul(a, b);
      case 11 -> gathered(random, a);
      case 12 -> scattered(random, a);
      default -> Nodes.select(Nodes.binary(Op.Binary.LT, a, Nodes.constant(0)), a, Nodes.mul(a, 2));
    };
  }

  /** The op, where it is defined and does not multiply errors. */
  private static Node unary(Op.Unary op, Node a) {
    Node x =
        switch (op) {
          case LOG, LOG1P, SQRT, RSQRT, RECIPROCAL -> positive(a);
          case EXP, EXPM1 -> Nodes.binary(Op.Binary.MIN, a, Nodes.constant(2));
          case COPY, NEG, TANH, SIGMOID, SOFTPLUS, ERF, RELU, SQUARE, ABS, SIGN, NOT -> a;
        };
    return Nodes.unary(op, x);
  }

  private static Node positive(Node a) {
    return Nodes.add(Nodes.unary(Op.Unary.ABS, a), Nodes.constant(0.5f));
  }

  private static Node binary(Random random, Node a, Node b) {
    Op.Binary op = BINARY[random.nextInt(BINARY.length)];
    try {
      return Nodes.binary(op, a, op == Op.Binary.DIV ? positive(b) : b);
    } catch (IllegalArgumentException e) {
      return Nodes.binary(Op.Binary.ADD, a, Nodes.constant(random.nextFloat()));
    }
  }

  private static Node gathered(Random random, Node a) {
    boolean fits = a.shape().rank() > 0 && a.shape().size(0) > 0 && a.type() == DType.F32;
    return fits ? Nodes.gather(a, index(random, size(random), a.shape().size(0))) : a;
  }

  private static Node scattered(Random random, Node a) {
    int rows = size(random);
    boolean fits = a.shape().rank() > 0 && a.type() == DType.F32;
    return fits ? Nodes.scatterAdd(index(random, a.shape().size(0), rows), a, rows) : a;
  }

  /** Indices below {@code rows}, seen through a view of a longer tensor. */
  private static Node index(Random random, int count, int rows) {
    long[] values = random.longs(count + 3L, 0, rows).toArray();
    return Nodes.slice(Interpreter.put(Shape.of(count + 3), values), 0, 2, count + 2);
  }

  private static Node reduce(Random random, Node a, int axis) {
    Op.Reduce.Kind kind = random.nextBoolean() ? Op.Reduce.Kind.SUM : Op.Reduce.Kind.MAX;
    int to = axis + 1 + random.nextInt(a.shape().rank() - axis);
    Node scaled = Nodes.mul(a, 1f / Math.max(1, a.shape().size(axis)));
    return Nodes.reduce(kind, scaled, axis, to);
  }

  private static Node matmul(Node a, Node b) {
    if (a.shape().rank() != 2 || b.shape().rank() != 2) {
      return a;
    }
    Node scaled = Nodes.mul(a, 1f / Math.max(1, a.shape().size(1)));
    if (a.shape().size(1) == b.shape().size(0)) {
      return Nodes.matmul(scaled, b);
    }
    return a.shape().size(1) == b.shape().size(1)
        ? Nodes.matmul(scaled, Nodes.transpose(b, 0, 1))
        : a;
  }

  @Test
  void anUpdateReadsOldValuesEverywhere() {
    Node p = Interpreter.put(Shape.of(3), new float[] {1, 2, 3});
    Node q = Interpreter.put(Shape.of(3), new float[] {10, 20, 30});
    Program swap =
        Program.of(
            List.of(Nodes.add(p, q)),
            List.of(
                new Program.Update(p, Nodes.add(q, Nodes.constant(0.5f))),
                new Program.Update(q, Nodes.mul(p, 2))));
    compare(0, swap);
  }

  @Test
  void bitsDoNotDependOnTheNumberOfThreads() {
    Random random = new Random(5);
    Node x = leaf(random, Shape.of(3000, 77));
    Node y = Nodes.unary(Op.Unary.SIGMOID, Nodes.mul(x, 3));
    Node columns = Nodes.reduce(Op.Reduce.Kind.SUM, y, 0, 1);
    Node all = Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.mul(y, y), 0, 2);
    Program program = Program.of(List.of(y, columns, all), List.of());
    List<float[]> first = run(program, 1);
    for (int threads : new int[] {2, 3}) {
      List<float[]> other = run(program, threads);
      for (int i = 0; i < first.size(); i++) {
        assertThat(other.get(i)).containsExactly(first.get(i));
      }
    }
  }

  private static List<float[]> run(Program program, int threads) {
    try (Interpreter own = new Interpreter(threads, 1L << 30);
        Interpreter.Bound bound = own.bind(program)) {
      bound.execution().run();
      List<float[]> results = new ArrayList<>();
      for (int i = 0; i < program.outputs().size(); i++) {
        float[] result = new float[program.outputs().get(i).shape().elements()];
        Memory.copyOut(bound.execution().output(i), result, 0, result.length);
        results.add(result);
      }
      return results;
    }
  }

  @Test
  void uniformNumbersArePureFunctionsOfTheSeed() {
    Node seed = Interpreter.put(Shape.of(1), new long[] {42});
    Node draws = Nodes.uniform(seed, 3, Shape.of(100, 1000));
    compare(0, Program.of(List.of(draws), List.of()));
    float[] values = Interpreter.shared().get(draws);
    double mean = 0;
    for (float value : values) {
      assertThat(value).isGreaterThanOrEqualTo(0).isLessThan(1);
      mean += value / values.length;
    }
    assertThat(mean).isBetween(0.495, 0.505);
    assertThat(draws.type()).isEqualTo(DType.F32);
  }
}
