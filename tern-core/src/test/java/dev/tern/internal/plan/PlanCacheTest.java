package dev.tern.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Leaves;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.emit.Kernels;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PlanCacheTest {
  private static final Shape SHAPE = Shape.of(64, 64);
  private static final int LAYERS = 12;

  private final PlanCache plans = new PlanCache(2);
  private final List<Long> searches = new ArrayList<>();
  private final ScheduleFinder finder =
      (trace, budget, limit) -> {
        searches.add(budget);
        return ScheduleFinder.QUICK.find(trace, budget, limit);
      };

  private static Node matrix() {
    return Leaves.of(SHAPE, new float[SHAPE.elements()]);
  }

  /** Layers that are all read again at the end. */
  private static Program deep(float scale) {
    Node x = matrix();
    List<Node> layers = new ArrayList<>();
    for (int i = 0; i < LAYERS; i++) {
      x = Nodes.unary(Op.Unary.TANH, Nodes.matmul(x, matrix()));
      layers.add(x);
    }
    Node sum = Nodes.mul(x, scale);
    for (Node layer : layers.reversed()) {
      sum = Nodes.matmul(sum, layer);
    }
    return Program.of(List.of(sum), List.of());
  }

  private Plan whole(Program program) {
    return plans.plan(program, Long.MAX_VALUE, Long.MAX_VALUE, ScheduleFinder.QUICK);
  }

  @Test
  void planningMakesNoCode() {
    Node x = matrix();
    Node odd = Nodes.mul(Nodes.unary(Op.Unary.TANH, Nodes.add(Nodes.mul(x, x), x)), 0.71828f);
    Node product = Nodes.matmul(odd, matrix());
    Node result = Nodes.add(Nodes.unary(Op.Unary.TANH, Nodes.mul(product, product)), product);
    int before = Kernels.count();
    Programs.plan(Program.of(List.of(result, odd), List.of()), 2);
    assertThat(Kernels.count()).isEqualTo(before);
  }

  @Test
  void otherFreeMemoryIsNoReasonToSearchAgainWhereAPlanFits() {
    long whole = whole(deep(1)).arenaBytes();
    long free = whole * 6 / 10;
    Plan first = plans.plan(deep(1), whole, free, finder);
    assertThat(searches).hasSize(1);
    assertThat(plans.plan(deep(1), whole, free + 4096, finder)).isSameAs(first);
    assertThat(plans.plan(deep(1), whole, first.arenaBytes(), finder)).isSameAs(first);
    assertThat(searches).hasSize(1);
    Plan smaller = plans.plan(deep(1), whole, first.arenaBytes() - 1, finder);
    assertThat(smaller.arenaBytes()).isLessThan(first.arenaBytes());
    assertThat(searches).hasSize(2);
    assertThat(plans.plan(deep(1), whole, free, finder)).isSameAs(first);
    plans.plan(deep(1), whole - 1, free, finder);
    assertThat(searches).as("another limit").hasSize(3);
  }

  @Test
  void programsOfOneStructureShareAPlanAndOthersDoNot() {
    assertThat(whole(deep(2))).isSameAs(whole(deep(2)));
    assertThat(whole(deep(2))).isNotSameAs(whole(deep(3)));
    Node x = matrix();
    Node y = matrix();
    Program one = Program.of(List.of(Nodes.add(x, y)), List.of(new Program.Update(x, y)));
    Program other = Program.of(List.of(Nodes.add(x, y)), List.of(new Program.Update(y, x)));
    assertThat(whole(one)).isNotSameAs(whole(other));
  }

  @Test
  void theStructureOfAProgramHasNothingToDoWithHowItPrints() {
    ProgramStructure structure = ProgramStructure.of(deep(2));
    assertThat(structure).isEqualTo(ProgramStructure.of(deep(2)));
    assertThat(structure.hashCode()).isEqualTo(ProgramStructure.of(deep(2)).hashCode());
    assertThat(structure).isNotEqualTo(ProgramStructure.of(deep(-0.0f)));
    assertThat(ProgramStructure.of(deep(0.0f))).isNotEqualTo(ProgramStructure.of(deep(-0.0f)));
  }
}
