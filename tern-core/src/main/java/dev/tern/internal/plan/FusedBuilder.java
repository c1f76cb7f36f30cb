package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.emit.Kernels;
import dev.tern.internal.kernel.matmul.Epilogue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Turns a fused group into the structure of a kernel, the sizes of its loops and the strides of
 * each operand. It drops dimensions of size 1. It merges neighbouring dimensions where every
 * operand is spaced evenly across both: 4 rows of 8 dense elements are one loop over 32.
 */
final class FusedBuilder {
  private static final int CHUNK_ELEMENTS = 16_384;

  /** Elements of a chunk where a function such as exp is computed for each. */
  private static final int CHUNK_OF_FUNCTIONS = 4096;

  /** Chunks of a flat loop start at multiples of this many elements: a cache line. */
  private static final int FLAT_UNIT = 16;

  /** The fewest pieces of a sum over rows that a product may hand its rows to. */
  private static final int FEWEST_PIECES = 8;

  private static final int MAX_CHUNKS = 64;

  /** From this many short rows on, code made for the length of a row pays. */
  private static final int MANY_ROWS = 64;

  private final Group group;
  private final Function<Node, Layout> layouts;
  private final List<Layout> loads = new ArrayList<>();
  private final List<Float> scalars = new ArrayList<>();
  private final List<Node> computed = new ArrayList<>();
  private final List<Node> stored;

  /** Reductions over the inner loop whose result the kernel itself uses. */
  private final Set<Node> used = Collections.newSetFromMap(new IdentityHashMap<>());

  private int[] sizes = new int[0];
  private int[][] strides = new int[0][];

  /**
   * @param stored the group's nodes that others read
   * @param layouts where each node outside the group, or stored by it, lies
   */
  FusedBuilder(Group group, List<Node> stored, Function<Node, Layout> layouts) {
    this.group = group;
    this.stored = stored;
    this.layouts = layouts;
    for (Node node : group.nodes) {
      for (Node input : node.inputs()) {
        group.inside(input).filter(base -> base.op() instanceof Op.Reduce).ifPresent(used::add);
      }
    }
  }

  /** The step; what it reads and writes has its places in storages, which need no offsets yet. */
  Step.Fused build() {
    for (Node node : group.nodes) {
      for (Node input : node.inputs()) {
        collect(input);
      }
      if (node.op().isPointwise() && node.op() != Op.Unary.COPY || used.contains(node)) {
        computed.add(node);
      }
    }
    collapse();
    List<Step.Place> operands =
        operandLayouts().stream()
            .map(layout -> new Step.Place(layout.storage(), 4L * layout.offset()))
            .toList();
    float[] constants = new float[scalars.size()];
    for (int i = 0; i < constants.length; i++) {
      constants[i] = scalars.get(i);
    }
    long[] reduced =
        stored.stream().mapToLong(node -> isPartial(node) ? node.shape().elements() : 0).toArray();
    KernelSpec spec = spec();
    Step.Loops loops = cut(new Step.Loops(sizes, strides, reduced, 1, 1), spec);
    return new Step.Fused(spec, constants, operands, loops, new Step.Place(0, 0));
  }

  /** Whether the kernel reduces the node into memory, and does not use the result itself. */
  private boolean isPartial(Node node) {
    return node.op() instanceof Op.Reduce && !used.contains(node);
  }

  private void collect(Node input) {
    if (group.inside(input).isPresent()) {
      return;
    }
    if (Fusion.isConstant(input)) {
      float value = constant(input);
      if (!scalars.contains(value)) {
        scalars.add(value);
      }
    } else if (!loads.contains(place(input))) {
      loads.add(place(input));
    }
  }

  /** The layout of a value over the whole space; its dimensions of size 1 are repeated. */
  private Layout place(Node node) {
    return layouts.apply(node).broadcast(node.shape(), group.space);
  }

  private static float constant(Node node) {
    return ((Op.Constant) Group.base(node).op()).value();
  }

  private int value(Node input) {
    Optional<Node> base = group.inside(input);
    if (base.isPresent()) {
      Node node = base.get();
      return node.op() == Op.Unary.COPY
          ? value(node.input(0))
          : loads.size() + scalars.size() + computed.indexOf(node);
    }
    return Fusion.isConstant(input)
        ? loads.size() + scalars.indexOf(constant(input))
        : loads.indexOf(place(input));
  }

  private List<Layout> operandLayouts() {
    return Stream.concat(loads.stream(), stored.stream().map(this::place)).toList();
  }

  private void collapse() {
    List<Layout> operands = operandLayouts();
    Shape space = group.space;
    List<Integer> kept = new ArrayList<>();
    List<int[]> steps = new ArrayList<>();
    for (int axis = 0; axis < space.rank(); axis++) {
      if (space.size(axis) == 1) {
        continue;
      }
      int dimension = axis;
      int[] step = operands.stream().mapToInt(layout -> layout.strides()[dimension]).toArray();
      int last = kept.size() - 1;
      boolean isRow = !used.isEmpty() && group.rowShape().size(axis) == 1;
      if (isRow && last < 0) {
        // Chunks are cut from the outermost loop, and a row must not be.
        kept.add(1);
        steps.add(new int[operands.size()]);
      }
      if (last >= 0 && !isRow && isEven(steps.get(last), step, space.size(axis))) {
        kept.set(last, kept.get(last) * space.size(axis));
        steps.set(last, step);
      } else {
        kept.add(space.size(axis));
        steps.add(step);
      }
    }
    if (kept.isEmpty()) {
      kept.add(1);
      steps.add(new int[operands.size()]);
    }
    sizes = kept.stream().mapToInt(Integer::intValue).toArray();
    strides = new int[operands.size()][sizes.length];
    for (int axis = 0; axis < sizes.length; axis++) {
      for (int k = 0; k < operands.size(); k++) {
        strides[k][axis] = steps.get(axis)[k];
      }
    }
  }

  private static boolean isEven(int[] outer, int[] inner, int innerSize) {
    return IntStream.range(0, outer.length).allMatch(k -> outer[k] == inner[k] * innerSize);
  }

  private KernelSpec spec() {
    List<Access> accesses = IntStream.range(0, loads.size()).mapToObj(this::access).toList();
    List<Instruction> instructions = new ArrayList<>();
    for (Node node : computed) {
      instructions.add(
          new Instruction(
              node.op() instanceof Op.Reduce reduce
                  ? new Op.Reduce(reduce.kind(), 0, 1)
                  : node.op(),
              node.inputs().stream().map(this::value).toList()));
    }
    List<Store> stores = new ArrayList<>();
    for (int i = 0; i < stored.size(); i++) {
      Node node = stored.get(i);
      Access access = access(loads.size() + i);
      stores.add(
          isPartial(node)
              ? new Store(value(node.input(0)), mode(((Op.Reduce) node.op()).kind()), access)
              : new Store(value(node), Mode.WRITE, written(node, access)));
    }
    KernelSpec spec = new KernelSpec(accesses, scalars.size(), instructions, stores);
    int inner = sizes.length - 1;
    long rows = Arrays.stream(sizes, 0, inner).asLongStream().reduce(1, (a, b) -> a * b);
    return rows >= MANY_ROWS ? Kernels.forRows(spec, sizes[inner]) : spec;
  }

  /** A row value is written once a row, everything else for each element. */
  private Access written(Node node, Access access) {
    boolean isRow = !used.isEmpty() && group.isRowValue(node);
    return access == Access.BROADCAST && !isRow ? Access.CONTIGUOUS : access;
  }

  private static Mode mode(Op.Reduce.Kind kind) {
    return switch (kind) {
      case SUM -> Mode.SUM;
      case MAX -> Mode.MAX;
    };
  }

  private Access access(int operand) {
    int inner = strides[operand][sizes.length - 1];
    return inner == 0 ? Access.BROADCAST : inner == 1 ? Access.CONTIGUOUS : Access.STRIDED;
  }

  /** Cuts the outermost loop into chunks; long sums over rows so that products can feed them. */
  private static Step.Loops cut(Step.Loops whole, KernelSpec spec) {
    int outermost = whole.sizes()[0];
    boolean isFlat = whole.sizes().length == 1;
    boolean isLongSum =
        !isFlat
            && whole.isAcross()
            && outermost >= FEWEST_PIECES * Epilogue.FEWEST_ROWS
            && whole.elements() / outermost <= Epilogue.MOST_COLUMNS;
    int unit = isFlat ? FLAT_UNIT : isLongSum ? Epilogue.UNIT : 1;
    long most = isLongSum ? outermost / Epilogue.FEWEST_ROWS : (outermost + unit - 1L) / unit;
    // Sums over chunks keep their number of chunks whatever else the kernel computes.
    boolean computesFunctions =
        !whole.isAcross() && spec.instructions().stream().anyMatch(i -> i.op().isPolynomial());
    long wanted = whole.elements() / (computesFunctions ? CHUNK_OF_FUNCTIONS : CHUNK_ELEMENTS);
    int chunks = (int) Math.max(1, Math.min(most, Math.min(MAX_CHUNKS, wanted)));
    return new Step.Loops(whole.sizes(), whole.strides(), whole.reduced(), unit, chunks);
  }
}
