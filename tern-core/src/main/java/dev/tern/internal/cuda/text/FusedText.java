package dev.tern.internal.cuda.text;

import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * CUDA C++ of a fused step. Inner sizes and strides are literals, so that the compiler knows them;
 * the size of the outermost loop is an argument, so that batches of any length share the text.
 *
 * <p>Stores that reduce over the same loops are computed by one kernel, those that reduce over none
 * by the last, as these may overwrite what the others read. A result that is reduced over outer
 * loops belongs to one thread, which takes them in order; over the outermost loop it does so for
 * one chunk, and the partial results of chunks are combined in order. Reductions over the inner
 * loop go to the 16 lanes of {@code ReductionLanes}, which are 16 threads. So each number is that
 * of the CPU, bit by bit.
 */
final class FusedText {
  private final String name;
  private final KernelSpec spec;
  private final Step.Loops loops;
  private final boolean isAligned;
  private final int rank;
  private final int loads;
  private final KernelValues values;
  private final Lines lines = new Lines();
  private final List<FusedLaunch> launches = new ArrayList<>();

  /**
   * A step with at least one element.
   *
   * @param name begins the names of its kernels
   * @param isAligned whether all operands begin at multiples of 16 bytes
   */
  FusedText(String name, Step.Fused step, boolean isAligned) {
    this.name = name;
    spec = step.spec();
    loops = step.loops();
    this.isAligned = isAligned;
    rank = loops.sizes().length;
    loads = spec.loads().size();
    values = new KernelValues(spec);
    for (List<Integer> stores : groups()) {
      print(stores);
    }
  }

  List<FusedLaunch> launches() {
    return launches;
  }

  String text() {
    return lines.toString();
  }

  /** Stores by the outer loops that they reduce over; those that reduce over none last. */
  private List<List<Integer>> groups() {
    List<List<Integer>> groups = new ArrayList<>();
    List<Integer> plain = new ArrayList<>();
    for (int store = 0; store < spec.stores().size(); store++) {
      SortedSet<Integer> axes = reducedAxes(store);
      int of = store;
      if (axes.isEmpty()) {
        plain.add(store);
      } else {
        groups.stream()
            .filter(g -> reducedAxes(g.getFirst()).equals(axes) && lanes(g) == lanes(List.of(of)))
            .findFirst()
            .ifPresentOrElse(g -> g.add(of), () -> groups.add(new ArrayList<>(List.of(of))));
      }
    }
    if (!plain.isEmpty()) {
      groups.add(plain);
    }
    return groups;
  }

  private boolean lanes(List<Integer> stores) {
    return values.needsLanes(stores.stream().map(spec.stores()::get).toList());
  }

  /** The loops outside of a row that a store reduces over. */
  private SortedSet<Integer> reducedAxes(int store) {
    SortedSet<Integer> axes = new TreeSet<>();
    if (loops.reduced()[store] == 0) {
      return axes;
    }
    int[] strides = loops.strides()[loads + store];
    for (int axis = 0; axis < rank - 1; axis++) {
      if (strides[axis] == 0 && loops.sizes()[axis] > 1) {
        axes.add(axis);
      }
    }
    if (strides[0] == 0) {
      axes.add(0);
    }
    return axes;
  }

  private void print(List<Integer> stores) {
    boolean lanes = lanes(stores);
    boolean isOneRow = rank == 1 && lanes;
    SortedSet<Integer> inOrder = isOneRow ? new TreeSet<>() : reducedAxes(stores.getFirst());
    boolean isPerChunk = loops.isAcross(stores.getFirst());
    SortedSet<Integer> apart = new TreeSet<>();
    IntStream.range(0, lanes ? rank - 1 : rank)
        .filter(axis -> !inOrder.contains(axis))
        .forEach(apart::add);
    boolean isWide = !lanes && inOrder.isEmpty() && isWide();
    long inner = 1;
    for (int axis : apart) {
      inner *= axis == 0 ? 1 : loops.sizes()[axis];
    }
    FusedLaunch launch =
        new FusedLaunch(
            name + "_" + launches.size(),
            lanes
                ? FusedLaunch.Form.LANE
                : isWide ? FusedLaunch.Form.FOUR_ELEMENTS : FusedLaunch.Form.ELEMENT,
            inner,
            apart.contains(0),
            isPerChunk);
    launches.add(launch);
    LoopText loop = new LoopText(loops, apart, inOrder, isOneRow);
    header(launch);
    loop.open(lines, launch);
    for (int store : stores) {
      openStore(store, lanes, isPerChunk, loop);
    }
    loop.openInOrder(lines, lanes);
    if (lanes) {
      new RowText(spec, loops, values, loop, lines).print(stores);
    } else {
      new ElementText(spec, loops, values, loop, lines).print(stores, isWide);
    }
    loop.closeInOrder(lines);
    for (int store : stores) {
      closeStore(store, lanes, loop);
    }
    lines.close();
    lines.close();
  }

  private void header(FusedLaunch launch) {
    StringBuilder arguments = new StringBuilder();
    IntStream.range(0, loads).forEach(k -> arguments.append("const float* i" + k + ", "));
    int stores = spec.stores().size();
    IntStream.range(0, stores).forEach(k -> arguments.append("float* o" + k + ", "));
    IntStream.range(0, stores).forEach(k -> arguments.append("float* p" + k + ", "));
    IntStream.range(0, spec.scalars()).forEach(k -> arguments.append("float c" + k + ", "));
    lines.open(
        "extern \"C\" __global__ void __launch_bounds__(256) %s(%su32 n0, u32 unit, u32 chunks)",
        launch.kernel(), arguments);
  }

  /** Prepares what a store reduces into: a number of the thread, or numbers in memory. */
  private void openStore(int store, boolean lanes, boolean isPerChunk, LoopText loop) {
    if (loops.reduced()[store] == 0) {
      return;
    }
    Store to = spec.stores().get(store);
    String zero = to.mode() == Mode.MAX ? "-INFINITE" : "0.0f";
    if (isPerChunk) {
      lines.add("float* const q%d = p%d + chunk * %dull;", store, store, loops.reduced()[store]);
    } else {
      lines.add("float* const q%d = o%d;", store, store);
    }
    if (inMemory(store, lanes)) {
      // Columns belong to the lane of their number.
      lines.add(
          "for (u32 j = lane; j < %s; j += 16) q%d[%s] = %s;",
          loop.size(rank - 1), store, loop.apart(loads + store, "j"), zero);
    } else {
      lines.add("float a%d = %s;", store, zero);
    }
  }

  private void closeStore(int store, boolean lanes, LoopText loop) {
    if (loops.reduced()[store] > 0 && !inMemory(store, lanes)) {
      lines.add(
          "%sq%d[%s] = a%d;",
          lanes ? "if (lane == 0) " : "",
          store,
          loop.apart(loads + store, lanes ? "0u" : ""),
          store);
    }
  }

  private boolean inMemory(int store, boolean lanes) {
    return lanes && !spec.stores().get(store).reducesLanes();
  }

  /** Whether four neighbours can be loaded and stored at once. */
  private boolean isWide() {
    int inner = loops.sizes()[rank - 1];
    boolean wide = isAligned && inner % 4 == 0;
    for (int k = 0; k < spec.operands(); k++) {
      wide &=
          spec.access(k) != Access.STRIDED && (k < loads || spec.access(k) == Access.CONTIGUOUS);
      for (int axis = 0; axis < rank - 1; axis++) {
        wide &= loops.strides()[k][rank - 1] == 0 || loops.strides()[k][axis] % 4 == 0;
      }
    }
    return wide;
  }
}
