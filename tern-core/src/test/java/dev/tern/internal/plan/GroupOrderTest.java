package dev.tern.internal.plan;

import static dev.tern.internal.plan.EpilogueFusionTest.leaf;
import static dev.tern.internal.plan.EpilogueFusionTest.reading;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order of steps, by the memory that it takes. */
final class GroupOrderTest {
  private static final int ROWS = 4000;

  private static List<String> steps(Node... outputs) {
    return Programs.plan(reading(outputs), 2).steps().stream().map(Step::label).toList();
  }

  private static Node tanh(Node x) {
    return Nodes.unary(Op.Unary.TANH, x);
  }

  @Test
  void theLastReaderButOneLetsTheLastWriteOverAValue() {
    Node hidden = tanh(Nodes.matmul(leaf(1, Shape.of(ROWS, 9)), leaf(2, Shape.of(9, 64))));
    Node out = Nodes.matmul(hidden, leaf(3, Shape.of(64, 8)));
    Node back = Nodes.matmul(out, leaf(4, Shape.of(8, 64)));
    Node masked = Nodes.mul(back, hidden);
    Node gradient = Nodes.matmul(Nodes.transpose(hidden, 0, 1), out);
    assertThat(steps(masked, gradient))
        .containsExactly(
            "matmul 4000x9 by 9x64, then o0 = tanh(i0)",
            "matmul 4000x64 by 64x8",
            "matmul 64x4000t by 4000x8",
            "matmul 4000x8 by 8x64, then o0 = mul(i0, i1)");
  }

  @Test
  void aReaderThatCannotWriteOverAValueComesAsRecorded() {
    Node x = tanh(leaf(1, Shape.of(ROWS, 64)));
    Node first = Nodes.matmul(x, leaf(2, Shape.of(64, 64)));
    Node small = Nodes.matmul(Nodes.transpose(first, 0, 1), first);
    Node second = Nodes.matmul(x, leaf(3, Shape.of(64, 63)));
    assertThat(steps(small, second))
        .containsExactly(
            "o0 = tanh(i0)",
            "matmul 4000x64 by 64x64",
            "matmul 64x4000t by 4000x64",
            "matmul 4000x64 by 64x63");
  }
}
