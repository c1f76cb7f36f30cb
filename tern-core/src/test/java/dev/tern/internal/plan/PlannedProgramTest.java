package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.ir.Reference;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.runtime.Engine;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs, planned and run, against the reference evaluator. */
final class PlannedProgramTest {
  private final Engine engine = new Engine(2, 1L << 30, 1L << 30);

  private void compare(Program program) {
    List<double[]> expected = Reference.evaluate(program);
    List<double[]> stored = Reference.evaluateUpdates(program);
    try (Engine.Bound bound = engine.bind(program, ScheduleFinder.QUICK)) {
      bound.execution().run();
      for (int i = 0; i < expected.size(); i++) {
        check(program, expected.get(i), bound.execution().output(i));
      }
      for (int i = 0; i < stored.size(); i++) {
        Op.Leaf leaf = (Op.Leaf) program.updates().get(i).leaf().op();
        check(program, stored.get(i), leaf.buffer().address());
      }
    }
  }

  private static void check(Program program, double[] expected, long address) {
    for (int i = 0; i < expected.length; i++) {
      float got = Memory.getFloat(address + 4L * i);
      double bound = 1e-4 * (1 + Math.abs(expected[i]));
      if (!(Math.abs(got - expected[i]) <= bound) && !(got == expected[i])) {
        assertThat((double) got).as("element %d of\n%s", i, program).isEqualTo(expected[i]);
      }
    }
  }

  private static Node leaf(Random random, Shape shape) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    return Leaves.of(shape, values);
  }

  @ParameterizedTest
  @ValueSource(
      floats = {
        0f,
        -0f,
        1,
        -1,
        Float.MIN_VALUE,
        Float.MAX_VALUE,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.NaN
      })
  void limitsThatAreConstantsAreThoseOfJava(float limit) {
    float[] x = {
      0f,
      -0f,
      Float.NaN,
      1,
      -1,
      2,
      -2,
      Float.MIN_VALUE,
      -Float.MIN_VALUE,
      Float.MAX_VALUE,
      -Float.MAX_VALUE,
      Float.POSITIVE_INFINITY,
      Float.NEGATIVE_INFINITY
    };
    Node values = Leaves.of(Shape.of(x.length), x);
    Node constant = Nodes.constant(limit);
    List<Node> limited =
        List.of(
            Nodes.binary(Op.Binary.MAX, values, constant),
            Nodes.binary(Op.Binary.MAX, constant, values),
            Nodes.binary(Op.Binary.MIN, values, constant),
            Nodes.binary(Op.Binary.MIN, constant, values));
    List<float[]> results = Programs.run(Program.of(limited, List.of()), 1);
    for (int i = 0; i < x.length; i++) {
      int most = Float.floatToIntBits(Math.max(x[i], limit));
      int least = Float.floatToIntBits(Math.min(x[i], limit));
      assertThat(Float.floatToIntBits(results.get(0)[i])).as("max %s", x[i]).isEqualTo(most);
      assertThat(Float.floatToIntBits(results.get(1)[i])).as("max %s", x[i]).isEqualTo(most);
      assertThat(Float.floatToIntBits(results.get(2)[i])).as("min %s", x[i]).isEqualTo(least);
      assertThat(Float.floatToIntBits(results.get(3)[i])).as("min %s", x[i]).isEqualTo(least);
    }
  }

  /** The empty part makes the storage, before what the other part is written over dies. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConcatenationWithAnEmptyPartIsPlannedWithinABudget(boolean isOfTheSame) {
    Random random = new Random(1);
    Node weights = leaf(random, Shape.of(16, 16));
    Node early = Nodes.matmul(leaf(random, Shape.of(16, 16)), weights);
    Node product = Nodes.matmul(early, weights);
    Node empty =
        isOfTheSame
            ? Nodes.unary(Op.Unary.NEG, Nodes.slice(product, 0, 0, 0))
            : leaf(random, Shape.of(0, 16));
    Node joined = Nodes.concat(0, List.of(empty, Nodes.unary(Op.Unary.EXP, product)));
    Node late = Nodes.matmul(Nodes.matmul(joined, weights), weights);
    Program program = Program.of(List.of(Nodes.add(late, early)), List.of());
    List<double[]> expected = Reference.evaluate(program);
    try (Engine.Bound whole = engine.bind(program, ScheduleFinder.QUICK);
        Engine.Bound bound =
            engine.bind(program, whole.sizes().bytes() - 1, ScheduleFinder.QUICK)) {
      bound.run();
      check(program, expected.get(0), bound.execution().output(0));
    }
  }

  @Test
  void anUpdateReadsOldValuesEverywhere() {
    Node p = Leaves.of(Shape.of(3), new float[] {1, 2, 3});
    Node q = Leaves.of(Shape.of(3), new float[] {10, 20, 30});
    Program swap =
        Program.of(
            List.of(Nodes.add(p, q)),
            List.of(
                new Program.Update(p, Nodes.add(q, Nodes.constant(0.5f))),
                new Program.Update(q, Nodes.mul(p, 2))));
    compare(swap);
  }

  @Test
  void valuesThatDifferByADetachOrAFactorOfOneStandInEachOfTheirPlaces() {
    Random random = new Random(3);
    Node x = leaf(random, Shape.of(4, 6));
    Node z = leaf(random, Shape.of(4, 2));
    Node same = Nodes.unary(Op.Unary.TANH, x);
    Node detached = Nodes.unary(Op.Unary.TANH, Nodes.unary(Op.Unary.DETACH, x));
    Node scaled = Nodes.unary(Op.Unary.TANH, Nodes.mul(x, 1));
    compare(Program.of(List.of(Nodes.concat(1, List.of(same, detached, scaled))), List.of()));
    compare(Program.of(List.of(same, Nodes.concat(1, List.of(z, detached))), List.of()));
    compare(Program.of(List.of(Nodes.concat(1, List.of(z, scaled)), detached), List.of()));
  }

  @Test
  void aValueSeenThroughViewsAndADetachIsNotMovedIntoAConcatenation() {
    Random random = new Random(4);
    Node y = Nodes.add(leaf(random, Shape.of(4, 6)), leaf(random, Shape.of(4, 6)));
    Node flat = Nodes.reshape(y, Shape.of(24));
    Node detached = Nodes.reshape(Nodes.unary(Op.Unary.DETACH, flat), Shape.of(4, 6));
    Node scaled = Nodes.reshape(Nodes.mul(flat, 1), Shape.of(4, 6));
    Node z = leaf(random, Shape.of(4, 2));
    Node v = leaf(random, Shape.of(4, 6));
    Node both = Nodes.concat(1, List.of(detached, scaled));
    compare(Program.of(List.of(both), List.of()));
    for (Node view : List.of(detached, scaled)) {
      Node joined = Nodes.concat(1, List.of(z, view));
      compare(Program.of(List.of(joined, y), List.of()));
      compare(Program.of(List.of(joined), List.of(new Program.Update(v, y))));
    }
  }

  @Test
  void aProductOfOneTermSharesItsPlaceWithTheSameMultiplication() {
    Random random = new Random(6);
    Node a = leaf(random, Shape.of(4, 1));
    Node b = leaf(random, Shape.of(1, 6));
    Node joined = Nodes.concat(1, List.of(Nodes.matmul(a, b), Nodes.mul(a, b)));
    compare(Program.of(List.of(joined, Nodes.mul(a, b)), List.of()));
  }

  @Test
  void bitsDoNotDependOnTheNumberOfThreads() {
    Random random = new Random(5);
    Node x = leaf(random, Shape.of(3000, 77));
    Node y = Nodes.unary(Op.Unary.SIGMOID, Nodes.mul(x, 3));
    Node columns = Nodes.reduce(Op.Reduce.Kind.SUM, y, 0, 1);
    Node all = Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.mul(y, y), 0, 2);
    Program program = Program.of(List.of(y, columns, all), List.of());
    List<float[]> first = Programs.run(program, 1);
    for (int threads : new int[] {2, 3}) {
      List<float[]> other = Programs.run(program, threads);
      for (int i = 0; i < first.size(); i++) {
        assertThat(other.get(i)).containsExactly(first.get(i));
      }
    }
  }

  /** More elements than one thread takes at a time, some rows twice, some places without one. */
  @Test
  void rowsAreGatheredAlikeByAnyNumberOfThreads() {
    Random random = new Random(6);
    int[] index = random.ints(60_000, -1, 500).toArray();
    Node table = leaf(random, Shape.of(500, 3));
    Node rows = Nodes.gather(table, Leaves.of(Shape.of(index.length), index), true);
    Program program = Program.of(List.of(rows), List.of());
    compare(program);
    float[] first = Programs.run(program, 1).getFirst();
    for (int threads : new int[] {2, 3}) {
      assertThat(Programs.run(program, threads).getFirst()).isEqualTo(first);
    }
  }

  @Test
  void theFirstWrongIndexIsNamedByAnyNumberOfThreads() {
    int[] index = new int[60_000];
    index[40_000] = 500;
    index[55_000] = -2;
    Node table = leaf(new Random(7), Shape.of(500, 3));
    Node rows = Nodes.gather(table, Leaves.of(Shape.of(index.length), index), true);
    Program program = Program.of(List.of(rows), List.of());
    for (int attempt = 0; attempt < 20; attempt++) {
      int threads = 1 + attempt % 3;
      assertThatThrownBy(() -> Programs.run(program, threads))
          .hasMessageContaining("got index 500 at position 40000");
    }
  }

  @Test
  void uniformNumbersArePureFunctionsOfTheSeed() {
    Node seed = Leaves.of(Shape.of(1), new long[] {42});
    Node draws = Nodes.uniform(seed, 3, Shape.of(100, 1000));
    compare(Program.of(List.of(draws), List.of()));
    float[] values = Engine.shared().get(draws);
    double mean = 0;
    for (float value : values) {
      assertThat(value).isGreaterThanOrEqualTo(0).isLessThan(1);
      mean += value / values.length;
    }
    assertThat(mean).isBetween(0.495, 0.505);
    assertThat(draws.type()).isEqualTo(DType.F32);
  }
}
