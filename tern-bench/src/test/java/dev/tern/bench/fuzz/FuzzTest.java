package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.bench.Children;
import dev.tern.bench.Main;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A small share of {@code bench fuzz}. */
final class FuzzTest {
  private static final int PROGRAMS = 100;

  @ParameterizedTest
  @ValueSource(longs = {0, 1_000, 2_000, 3_000, 4_000})
  void randomProgramsStayWithinTheirBounds(long first) {
    try (FuzzBench fuzz = new FuzzBench()) {
      for (long seed = first; seed < first + PROGRAMS; seed++) {
        assertThat(fuzz.check(seed)).isEmpty();
      }
    }
  }

  @Test
  void everyOpOccursInRandomPrograms() {
    Set<String> drawn = new TreeSet<>();
    for (long seed = 0; seed < 3_000; seed++) {
      RandomPrograms.of(seed).nodes().forEach(node -> drawn.add(FuzzBench.name(node.op())));
    }
    assertThat(drawn).containsAll(names(Op.class).toList());
  }

  private static Stream<String> names(Class<?> op) {
    if (op.isEnum()) {
      return Stream.of(op.getEnumConstants()).map(constant -> ((Enum<?>) constant).name());
    }
    return op.isSealed()
        ? Stream.of(op.getPermittedSubclasses()).flatMap(FuzzTest::names)
        : Stream.of(op.getSimpleName());
  }

  @Test
  void vectorsOfAnyLengthAndScalarCodeGiveTheSameBits() throws IOException {
    String scalar = digest("-Dtern.vector.bits=0");
    assertThat(scalar).contains("\"lanes\":1,");
    for (String bits : List.of("128", "256", "512")) {
      String vectors = digest("-Dtern.vector.bits=" + bits);
      System.out.println("asked for vectors of " + bits + " bits, got " + vectors);
      assertThat(vectors.replaceAll(".*\"elements\"", ""))
          .isEqualTo(scalar.replaceAll(".*\"elements\"", ""));
    }
  }

  private static String digest(String option) throws IOException {
    return Children.output(
        List.of(option), Main.class.getName(), "fuzz", "--json", "--programs", "40");
  }

  @Test
  void aSumMayBeOffByItsTermsRoundingsAndNoMore() {
    Node x = Leaves.of(Shape.of(4), new float[] {1, 2, 3, -4});
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, x, 0, 1);
    Intervals.Range range = Intervals.of(Program.of(List.of(sum), List.of())).get(sum);
    assertThat(range.holds(0, 2)).isTrue();
    // Three roundings of at most 10 in all: 7.5 units in the last place of 2.
    assertThat(range.holds(0, 2 + 7 * Math.ulp(2f))).isTrue();
    assertThat(range.holds(0, 2 + 8 * Math.ulp(2f))).isFalse();
    assertThat(range.holds(0, Double.NaN)).isFalse();
  }

  @Test
  void anElementwiseOpOfDataHasOneRightResult() {
    Node x = Leaves.of(Shape.of(2), new float[] {0.1f, -0f});
    Node y = Nodes.mul(Nodes.add(x, x), x);
    Intervals.Range range = Intervals.of(Program.of(List.of(y), List.of())).get(y);
    assertThat(range.holds(0, (0.1f + 0.1f) * 0.1f)).isTrue();
    assertThat(range.holds(0, Math.nextUp((0.1f + 0.1f) * 0.1f))).isFalse();
    assertThat(range.holds(1, -0f)).isFalse();
    assertThat(range.holds(1, 0f)).isTrue();
  }
}
