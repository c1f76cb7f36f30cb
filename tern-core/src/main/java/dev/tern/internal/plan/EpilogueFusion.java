package dev.tern.internal.plan;

import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.plan.Step.Fused;
import dev.tern.internal.plan.Step.Place;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a matrix product and the fused kernel after it, which reads its result, one step. The
 * kernel takes rows as they become final, while they are in the cache. Examples: bias and
 * activation, a residual, dropout, the softmax of attention scores.
 *
 * <p>This comes last, when every storage has its place, and changes nothing about memory. The
 * kernel must be able to run between the rows of the product. So its rows are rows of the product;
 * it reads and writes no other rows of the result; it writes over nothing that the product reads;
 * and it does not reduce over rows.
 */
final class EpilogueFusion {
  private static final int ARENA = -1;

  private final Plan plan;

  /** Bytes {@code from} to {@code to - 1} of the arena, or of a storage outside of it. */
  private record Extent(int space, long from, long to) {
    boolean meets(Extent other) {
      return space == other.space && from < other.to && other.from < to;
    }
  }

  private EpilogueFusion(Plan plan) {
    this.plan = plan;
  }

  /** The same plan with such pairs of steps joined. */
  static Plan joined(Plan plan) {
    return new EpilogueFusion(plan).join();
  }

  private Plan join() {
    List<Step> steps = new ArrayList<>();
    List<Boolean> again = new ArrayList<>();
    List<List<Plan.Attribution>> attributions = new ArrayList<>();
    int[] number = new int[plan.steps().size() + 1];
    for (int i = 0; i < plan.steps().size(); i++) {
      number[i] = steps.size();
      List<Plan.Attribution> written = plan.attributions().get(i);
      if (mayJoin(i)) {
        steps.set(
            steps.size() - 1,
            new Step.MatMulThen((Step.MatMul) steps.getLast(), (Fused) plan.steps().get(i), false));
        number[i]--;
        attributions.set(
            attributions.size() - 1, Attributions.joined(attributions.getLast(), written));
      } else {
        steps.add(plan.steps().get(i));
        again.add(plan.again().get(i));
        attributions.add(written);
      }
    }
    number[plan.steps().size()] = steps.size();
    List<Plan.Allocation> allocations =
        plan.allocations().stream()
            .filter(allocation -> !isWrittenOver(allocation, number))
            .map(allocation -> renumbered(allocation, number))
            .toList();
    return new Plan(
        steps,
        plan.leaves(),
        plan.offsets(),
        plan.arenaBytes(),
        plan.outputs(),
        again,
        allocations,
        attributions);
  }

  /** Whether a result is in use in one joined step alone, which writes another value over it. */
  private boolean isWrittenOver(Plan.Allocation result, int[] number) {
    int next = result.from() + 1;
    return result.to() == next
        && next < plan.steps().size()
        && number[next] == number[result.from()]
        && plan.allocations().stream()
            .anyMatch(other -> other.from() == next && other.offset() == result.offset());
  }

  private static Plan.Allocation renumbered(Plan.Allocation allocation, int[] number) {
    return new Plan.Allocation(
        allocation.content(),
        allocation.offset(),
        allocation.bytes(),
        number[allocation.from()],
        allocation.to() == 0 ? 0 : number[allocation.to() - 1] + 1);
  }

  /** Whether step {@code index} becomes part of the one before. */
  private boolean mayJoin(int index) {
    return index > 0
        && plan.steps().get(index - 1) instanceof Step.MatMul product
        && plan.steps().get(index) instanceof Fused kernel
        && plan.again().get(index - 1).equals(plan.again().get(index))
        && takesEpilogue(product)
        && !kernel.loops().isAcross()
        && goesOverRows(kernel.loops(), product.sizes())
        && mayRunBetween(kernel, product);
  }

  private static boolean takesEpilogue(Step.MatMul s) {
    Step.ProductSizes size = s.sizes();
    int[] strides = s.c().strides();
    boolean isDense =
        strides[2] == 1
            && strides[1] == size.n()
            && (size.batch() == 1 || strides[0] == (long) size.m() * size.n());
    return isDense && MatMul.takesEpilogue(size.batch(), size.m(), size.n(), size.k());
  }

  /** Whether the outermost loop goes evenly over rows of the product, or over whole products. */
  static boolean goesOverRows(Step.Loops loops, Step.ProductSizes size) {
    long matrix = (long) size.m() * size.n();
    long elements = size.batch() * matrix;
    if (elements == 0 || loops.elements() != elements) {
      return false;
    }
    long row = size.batch() == 1 ? size.n() : matrix;
    return row % (elements / loops.sizes()[0]) == 0;
  }

  private boolean mayRunBetween(Fused kernel, Step.MatMul s) {
    Step.ProductSizes size = s.sizes();
    Extent a = extent(s.a(), size.batch(), size.m(), size.k());
    Extent b = extent(s.b(), size.batch(), size.k(), size.n());
    Extent c = extent(s.c(), size.batch(), size.m(), size.n());
    Extent scratch = extent(s.scratch().place(), s.scratch().bytes());
    Step.Loops loops = kernel.loops();
    int loads = kernel.operands().size() - loops.reduced().length;
    boolean readsResult = false;
    for (int i = 0; i < kernel.operands().size(); i++) {
      Step.Strided elements = new Step.Strided(kernel.operands().get(i), loops.strides()[i]);
      Extent operand = extent(elements, loops.sizes());
      boolean isResult = operand.equals(c) && elements.isDense(loops.sizes());
      if (operand.meets(scratch)
          || operand.meets(c) && !isResult
          || i >= loads && (operand.meets(a) || operand.meets(b))) {
        return false;
      }
      readsResult |= isResult && i < loads;
    }
    return readsResult;
  }

  /** The bytes from the first to the last element; there is at least one. */
  private Extent extent(Step.Strided elements, int... sizes) {
    long last = 0;
    for (int axis = 0; axis < sizes.length; axis++) {
      last += (sizes[axis] - 1L) * elements.strides()[axis];
    }
    return extent(elements.place(), 4 * (last + 1));
  }

  private Extent extent(Place place, long bytes) {
    int inArena = place.storage() - plan.leaves().length;
    long base = inArena < 0 ? 0 : plan.offsets()[inArena];
    boolean isAlone = inArena < 0 || base == Plan.APART;
    long from = place.offset() + (isAlone ? 0 : base);
    return new Extent(isAlone ? place.storage() : ARENA, from, from + bytes);
  }
}
