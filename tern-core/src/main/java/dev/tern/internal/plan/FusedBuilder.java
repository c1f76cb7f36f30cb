package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.Kernels;
import dev.tern.tensor.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Turns a fused group into a kernel's structure, the loop sizes and each operand's strides: drops
 * dimensions of size 1 and merges neighbours that every operand crosses evenly.
 */
final class FusedBuilder {
  private static final int CHUNK_ELEMENTS = 16_384;
  private static final int MAX_CHUNKS = 64;

  private final Group group;
  private final Function<Node, Layout> layouts;
  private final List<Layout> loads = new ArrayList<>();
  private final List<Float> scalars = new ArrayList<>();
  private final List<Node> computed = new ArrayList<>();
  private final List<Node> stored;
  private final Map<Node, Node> inside = new IdentityHashMap<>();
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
      inside.put(node, node);
    }
  }

  /** Number of operands and their places are known before storages have offsets. */
  Step.Fused build(int partials) {
    for (Node node : group.nodes) {
      for (Node input : node.inputs()) {
        collect(input);
      }
      if (node.op().isPointwise() && node.op() != Op.Unary.COPY) {
        computed.add(node);
      }
    }
    collapse();
    KernelSpec spec = spec();
    List<Step.Place> operands = new ArrayList<>();
    for (Layout layout : operandLayouts()) {
      operands.add(new Step.Place(layout.storage(), 4L * layout.offset()));
    }
    float[] constants = new float[scalars.size()];
    for (int i = 0; i < constants.length; i++) {
      constants[i] = scalars.get(i);
    }
    long[] reduced = new long[stored.size()];
    for (int i = 0; i < reduced.length; i++) {
      Node node = stored.get(i);
      reduced[i] = node.op() instanceof Op.Reduce ? node.shape().elements() : 0;
    }
    return new Step.Fused(
        Kernels.of(spec),
        operands,
        sizes,
        strides,
        constants,
        reduced,
        new Step.Place(partials, 0),
        chunks());
  }

  /** Floats that partial results need: all chunks of all reductions over the outermost loop. */
  static long partialElements(Step.Fused step) {
    long elements = 0;
    int loads = step.operands().size() - step.reduced().length;
    for (int i = 0; i < step.reduced().length; i++) {
      if (step.strides()[loads + i][0] == 0 && step.chunks() > 1) {
        elements += step.reduced()[i] * step.chunks();
      }
    }
    return elements;
  }

  private void collect(Node input) {
    if (inside.containsKey(input) && input.op().isPointwise()) {
      return;
    }
    if (Fusion.isConstant(input)) {
      float value = constant(input);
      if (!scalars.contains(value)) {
        scalars.add(value);
      }
    } else if (!loads.contains(layouts.apply(input))) {
      loads.add(layouts.apply(input));
    }
  }

  private static float constant(Node node) {
    Node base = node;
    while (base.op().isView()) {
      base = base.input(0);
    }
    return ((Op.Constant) base.op()).value();
  }

  private int value(Node node) {
    if (inside.containsKey(node) && node.op().isPointwise()) {
      return node.op() == Op.Unary.COPY
          ? value(node.input(0))
          : loads.size() + scalars.size() + computed.indexOf(node);
    }
    return Fusion.isConstant(node)
        ? loads.size() + scalars.indexOf(constant(node))
        : loads.indexOf(layouts.apply(node));
  }

  private List<Layout> operandLayouts() {
    List<Layout> operands = new ArrayList<>(loads);
    for (Node node : stored) {
      Layout layout = layouts.apply(node);
      if (node.op() instanceof Op.Reduce reduce) {
        int[] spread = layout.strides().clone();
        Arrays.fill(spread, reduce.from(), reduce.to(), 0);
        layout = new Layout(layout.storage(), layout.offset(), spread);
      }
      operands.add(layout);
    }
    return operands;
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
      if (last >= 0 && isEven(steps.get(last), step, space.size(axis))) {
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
    for (int k = 0; k < outer.length; k++) {
      if (outer[k] != inner[k] * innerSize) {
        return false;
      }
    }
    return true;
  }

  private KernelSpec spec() {
    List<Access> accesses = new ArrayList<>();
    for (int k = 0; k < loads.size(); k++) {
      accesses.add(access(k));
    }
    List<Instruction> instructions = new ArrayList<>();
    for (Node node : computed) {
      instructions.add(
          new Instruction(node.op(), node.inputs().stream().map(this::value).toList()));
    }
    List<Store> stores = new ArrayList<>();
    for (int i = 0; i < stored.size(); i++) {
      Node node = stored.get(i);
      Access access = access(loads.size() + i);
      stores.add(
          node.op() instanceof Op.Reduce reduce
              ? new Store(value(node.input(0)), mode(reduce.kind()), access)
              : new Store(
                  value(node),
                  Mode.WRITE,
                  access == Access.BROADCAST ? Access.CONTIGUOUS : access));
    }
    return new KernelSpec(accesses, scalars.size(), instructions, stores);
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

  private int chunks() {
    long elements = 1;
    for (int size : sizes) {
      elements *= size;
    }
    long units =
        sizes.length == 1 ? (sizes[0] + Step.Fused.FLAT_UNIT - 1) / Step.Fused.FLAT_UNIT : sizes[0];
    long wanted = Math.min(MAX_CHUNKS, elements / CHUNK_ELEMENTS);
    return (int) Math.max(1, Math.min(units, wanted));
  }
}
