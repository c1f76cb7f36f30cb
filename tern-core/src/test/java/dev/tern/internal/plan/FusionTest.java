package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class FusionTest {
  private static Node leaf() {
    return Leaves.of(Shape.of(4, 5), new float[20]);
  }

  private static Node square(Node x) {
    return Nodes.mul(x, x);
  }

  @Test
  void anOptimizerOfSeveralStatesIsOneKernel() {
    Node weight = leaf();
    Node mean = leaf();
    Node variance = leaf();
    Node gradient = leaf();
    Node newMean = Nodes.add(Nodes.mul(mean, 0.9f), Nodes.mul(gradient, 0.1f));
    Node newVariance = Nodes.add(Nodes.mul(variance, 0.99f), Nodes.mul(square(gradient), 0.01f));
    Node step = Nodes.mul(newMean, Nodes.unary(Op.Unary.RSQRT, newVariance));
    Program program =
        Program.of(
            List.of(),
            List.of(
                new Program.Update(weight, Nodes.add(weight, step)),
                new Program.Update(mean, newMean),
                new Program.Update(variance, newVariance)));
    List<Step> steps = Programs.plan(program, 1).steps();
    assertThat(steps).singleElement().isInstanceOf(Step.Fused.class);
  }

  @Test
  void groupsThatWaitForEachOtherThroughAProductStayApart() {
    Node a = leaf();
    Node b = leaf();
    Node first = Nodes.mul(a, 2);
    Node product = Nodes.matmul(first, Nodes.transpose(b, 0, 1));
    Node spread = Nodes.broadcast(Nodes.reduce(Op.Reduce.Kind.SUM, product, 1, 2), a.shape());
    Program program = Program.of(List.of(Nodes.add(Nodes.mul(spread, 3), first)), List.of());
    assertThat(Programs.plan(program, 1).steps())
        .filteredOn(step -> step instanceof Step.Fused)
        .hasSizeGreaterThanOrEqualTo(2);
  }

  @Test
  void aDifferenceThatTwoKernelsUseIsComputedInBothAndNotWritten() {
    Node x = leaf();
    Node row = Leaves.of(Shape.of(1, 5), new float[5]);
    Node distance = Nodes.sub(x, row);
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, square(distance), 0, 1);
    Node result = Nodes.mul(distance, Nodes.broadcast(sum, x.shape()));
    Plan plan = Programs.plan(Program.of(List.of(result), List.of()), 1);
    assertThat(plan.steps()).hasSize(2).allMatch(step -> step.label().contains("sub("));
    assertThat(plan.arenaBytes()).isLessThanOrEqualTo(2 * 128);
  }

  @Test
  void whatAnUpdateOverwritesIsNotReadAgainInItsPlace() {
    Node x = leaf();
    Node row = Leaves.of(Shape.of(1, 5), new float[5]);
    Node distance = Nodes.sub(x, row);
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, square(distance), 0, 1);
    Node result = Nodes.mul(distance, Nodes.broadcast(sum, x.shape()));
    Program program =
        Program.of(List.of(result), List.of(new Program.Update(x, Nodes.mul(distance, 2))));
    assertThat(Programs.plan(program, 1).steps())
        .filteredOn(step -> step.label().contains("sub("))
        .hasSize(1);
  }

  @Test
  void whatFollowsCheaplyFromAValueThatIsReadInAnyCaseIsNotWritten() {
    Node share = Nodes.unary(Op.Unary.SIGMOID, leaf());
    Node slope = Nodes.mul(share, Nodes.sub(Nodes.constant(1), share));
    Node steepness = Nodes.reduce(Op.Reduce.Kind.SUM, slope, 0, 1);
    Node product = Nodes.matmul(share, Leaves.of(Shape.of(5, 5), new float[25]));
    Node result = Nodes.add(Nodes.mul(product, share), Nodes.mul(product, slope));
    assertThat(slopesIn(Program.of(List.of(steepness, result), List.of()))).isEqualTo(2);
  }

  /** How many kernels compute 1 - share. */
  private static long slopesIn(Program program) {
    List<Step> steps = Programs.plan(program, 1).steps();
    return steps.stream().filter(step -> step.label().contains("sub(")).count();
  }

  @Test
  void aVariableIsReadAgainWhereItsUpdateWaitsForTheReader() {
    Node weight = Leaves.of(Shape.of(1, 5), new float[5]);
    Node share = Nodes.unary(Op.Unary.SIGMOID, leaf());
    Node distance = Nodes.sub(share, weight);
    Node sum = Nodes.reduce(Op.Reduce.Kind.SUM, distance, 0, 1);
    Node product = Nodes.matmul(share, Leaves.of(Shape.of(5, 5), new float[25]));
    Node gradient =
        Nodes.reduce(Op.Reduce.Kind.SUM, Nodes.mul(Nodes.mul(product, share), distance), 0, 1);
    Program late =
        Program.of(List.of(sum), List.of(new Program.Update(weight, Nodes.add(weight, gradient))));
    assertThat(slopesIn(late)).isEqualTo(2);
    Program early =
        Program.of(
            List.of(sum, gradient), List.of(new Program.Update(weight, Nodes.add(weight, sum))));
    assertThat(slopesIn(early)).isEqualTo(1);
  }

  @Test
  void aProgramIsCutInTheSameWayEachTime() {
    Set<String> plans = new HashSet<>();
    for (int attempt = 0; attempt < 40; attempt++) {
      plans.add(
          Programs.plan(manyFunctions(), 1).steps().stream()
              .map(FusionTest::print)
              .toList()
              .toString());
    }
    assertThat(plans).hasSize(1);
  }

  private static String print(Step step) {
    return step.label() + (step instanceof Step.Fused f ? Arrays.toString(f.loops().sizes()) : "");
  }

  /** Two of its three chains fit into one kernel, whichever they are. */
  private static Program manyFunctions() {
    Node first = Nodes.unary(Op.Unary.TANH, leaf());
    Node second = Nodes.unary(Op.Unary.SIGMOID, Nodes.unary(Op.Unary.EXP, leaf()));
    Node row = Leaves.of(Shape.of(1, 5), new float[5]);
    Node third = Nodes.unary(Op.Unary.LOG1P, Nodes.unary(Op.Unary.EXP, Nodes.mul(leaf(), row)));
    Node all = Nodes.add(Nodes.add(first, second), third);
    return Program.of(List.of(sum(all), sum(second), sum(third)), List.of());
  }

  private static Node sum(Node x) {
    return Nodes.reduce(Op.Reduce.Kind.SUM, x, 0, 2);
  }
}
