package dev.tern.internal.plan;

import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.plan.Step.Fused;
import dev.tern.internal.plan.Step.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes one step of a matrix product and the fused kernel that follows it and goes over its result:
 * the kernel takes rows as they become final, while a cache has them. That is, bias and activation,
 * a residual, dropout, or the softmax of attention scores.
 *
 * <p>It is done where every storage has its place, so nothing about memory changes, and where the
 * one may run between the rows of the other: rows of the kernel are rows of the product, the kernel
 * reads and writes no other rows of the result, writes over nothing that the product reads, and
 * reduces over no rows.
 */
final class Epilogues {
  private static final int ARENA = -1;

  private final Plan plan;

  /** Bytes {@code from} to {@code to - 1} of the arena, or of a storage outside of it. */
  private record Extent(int space, long from, long to) {
    boolean meets(Extent other) {
      return space == other.space && from < other.to && other.from < to;
    }
  }

  private Epilogues(Plan plan) {
    this.plan = plan;
  }

  /** The same plan with such steps made one. */
  static Plan joined(Plan plan) {
    return new Epilogues(plan).join();
  }

  private Plan join() {
    List<Step> steps = new ArrayList<>();
    List<Boolean> again = new ArrayList<>();
    List<List<Plan.Source>> sources = new ArrayList<>();
    int[] number = new int[plan.steps().size() + 1];
    for (int i = 0; i < plan.steps().size(); i++) {
      number[i] = steps.size();
      List<Plan.Source> written = plan.sources().get(i);
      if (mayJoin(i)) {
        steps.set(
            steps.size() - 1,
            new Step.MatMulThen((Step.MatMul) steps.getLast(), (Fused) plan.steps().get(i), false));
        number[i]--;
        sources.set(sources.size() - 1, Sources.joined(sources.getLast(), written));
      } else {
        steps.add(plan.steps().get(i));
        again.add(plan.again().get(i));
        sources.add(written);
      }
    }
    number[plan.steps().size()] = steps.size();
    List<Plan.Life> lives =
        plan.lives().stream()
            .filter(life -> !isWrittenOver(life, number))
            .map(life -> renumbered(life, number))
            .toList();
    return new Plan(
        steps,
        plan.leaves(),
        plan.offsets(),
        plan.arenaBytes(),
        plan.outputs(),
        again,
        lives,
        sources);
  }

  /** Whether a result lives in one step alone with what its epilogue writes over it. */
  private boolean isWrittenOver(Plan.Life life, int[] number) {
    int next = life.from() + 1;
    return life.to() == next
        && next < plan.steps().size()
        && number[next] == number[life.from()]
        && plan.lives().stream()
            .anyMatch(other -> other.from() == next && other.offset() == life.offset());
  }

  private static Plan.Life renumbered(Plan.Life life, int[] number) {
    return new Plan.Life(
        number[life.maker()],
        life.isScratch(),
        life.offset(),
        life.bytes(),
        number[life.from()],
        life.to() == 0 ? 0 : number[life.to() - 1] + 1,
        life.isDropped());
  }

  /** Whether step {@code index} becomes part of the one before. */
  private boolean mayJoin(int index) {
    return index > 0
        && plan.steps().get(index - 1) instanceof Step.MatMul product
        && plan.steps().get(index) instanceof Fused kernel
        && plan.again().get(index - 1).equals(plan.again().get(index))
        && takesEpilogue(product)
        && !kernel.isAcross()
        && goesOverRows(kernel, product.batch(), product.m(), product.n())
        && mayRunBetween(kernel, product);
  }

  private static boolean takesEpilogue(Step.MatMul s) {
    int[] strides = s.cStrides();
    boolean isDense =
        strides[2] == 1
            && strides[1] == s.n()
            && (s.batch() == 1 || strides[0] == (long) s.m() * s.n());
    return isDense && Epilogue.isTakenBy(s.batch(), s.m(), s.n(), s.k());
  }

  /** Whether the outermost loop goes evenly over rows of the product, or over whole products. */
  static boolean goesOverRows(Fused kernel, int batch, int m, int n) {
    long elements = (long) batch * m * n;
    if (elements == 0 || kernel.elements() != elements) {
      return false;
    }
    long row = batch == 1 ? n : (long) m * n;
    return row % (elements / kernel.sizes()[0]) == 0;
  }

  private boolean mayRunBetween(Fused kernel, Step.MatMul s) {
    Extent a = extent(s.a(), s.aStrides(), s.batch(), s.m(), s.k());
    Extent b = extent(s.b(), s.bStrides(), s.batch(), s.k(), s.n());
    Extent c = extent(s.c(), s.cStrides(), s.batch(), s.m(), s.n());
    Extent scratch = extent(s.scratch(), s.scratchBytes());
    int loads = kernel.operands().size() - kernel.reduced().length;
    boolean readsResult = false;
    for (int i = 0; i < kernel.operands().size(); i++) {
      Extent operand = extent(kernel.operands().get(i), kernel.strides()[i], kernel.sizes());
      boolean isResult = operand.equals(c) && isDense(kernel.strides()[i], kernel.sizes());
      if (operand.meets(scratch)
          || operand.meets(c) && !isResult
          || i >= loads && (operand.meets(a) || operand.meets(b))) {
        return false;
      }
      readsResult |= isResult && i < loads;
    }
    return readsResult;
  }

  static boolean isDense(int[] strides, int[] sizes) {
    long dense = 1;
    for (int axis = sizes.length - 1; axis >= 0; axis--) {
      if (strides[axis] != dense && sizes[axis] > 1) {
        return false;
      }
      dense *= sizes[axis];
    }
    return true;
  }

  /** From the first to the last element of what has these strides; there are some. */
  private Extent extent(Place place, int[] strides, int... sizes) {
    long last = 0;
    for (int axis = 0; axis < sizes.length; axis++) {
      last += (sizes[axis] - 1L) * strides[axis];
    }
    return extent(place, 4 * (last + 1));
  }

  private Extent extent(Place place, long bytes) {
    int inArena = place.storage() - plan.leaves().length;
    long base = inArena < 0 ? 0 : plan.offsets()[inArena];
    boolean isAlone = inArena < 0 || base == Plan.APART;
    long from = place.offset() + (isAlone ? 0 : base);
    return new Extent(isAlone ? place.storage() : ARENA, from, from + bytes);
  }
}
