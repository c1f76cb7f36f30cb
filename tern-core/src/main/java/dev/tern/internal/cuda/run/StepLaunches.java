package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaGrid;
import dev.tern.internal.cuda.text.FusedLaunch;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The launches of each step of a plan. */
final class StepLaunches {
  private static final int MINUS_INFINITY = Float.floatToRawIntBits(Float.NEGATIVE_INFINITY);

  /** Threads of a block that takes a sample. */
  private static final int SAMPLE_THREADS = 128;

  private final Launches launches;
  private final StepAddresses at;
  private final ProductLaunches products;
  private final RowLaunches rows;
  private final IndexLaunches index;

  /** Adds to {@code launches}; {@code scratch} has {@link #scratchBytes} bytes. */
  StepLaunches(
      Launches launches,
      StepAddresses at,
      ErrorWords errors,
      long scratch,
      Optional<TensorCores> cores) {
    this.launches = launches;
    this.at = at;
    products = new ProductLaunches(launches, at, cores, scratch);
    index = new IndexLaunches(launches, at, errors);
    rows = new RowLaunches(launches, at, errors, index, scratch);
  }

  /** Bytes of scratch memory that a step needs beside that of its plan. */
  static long scratchBytes(Step step, Optional<TensorCores> cores) {
    return switch (step) {
      case Step.MatMul s when cores.filter(TensorCores::isHalf).isPresent() ->
          ProductLaunches.halfBytes(s.sizes());
      case Step.ScatterAdd s -> RowLaunches.sortBytes(s);
      case Step.Gather s when s.width() == 0 -> 8L * s.index().count();
      default -> 0;
    };
  }

  /** Adds the launches of a step; {@code written} are those of the kernels printed for it. */
  void add(Step step, List<FusedLaunch> written) {
    switch (step) {
      case Step.Fused s -> fused(s, written);
      case Step.MatMul s -> products.add(s);
      case Step.MatMulThen s -> throw new AssertionError(s.label());
      case Step.Gather s -> rows.add(s);
      case Step.ScatterAdd s -> rows.add(s);
      case Step.SegmentReduce s -> rows.add(s);
      case Step.Index s -> index.add(s);
      case Step.Copy s -> launches.copy(at.of(s.in()), at.of(s.out()), s.bytes());
      case Step.Uniform s ->
          launches.add(
              "uniform", s.count(), at.of(s.seed()), s.stream(), at.of(s.out()), s.count());
      case Step.Cast s -> cast(s, written);
      case Step.DotInteraction s -> dotInteraction(s);
      case Step.PairSums s -> pairSums(s);
      case Step.Gru s -> rows.add(s);
    }
  }

  private void cast(Step.Cast step, List<FusedLaunch> written) {
    for (FusedLaunch launch : written) {
      int size = PlanText.outermost(step);
      launches.addWritten(
          launch.kernel(), launch.threads(size, 1), at.of(step.in()), at.of(step.out()), size);
    }
  }

  private void fused(Step.Fused step, List<FusedLaunch> written) {
    Step.Loops loops = step.loops();
    int stores = loops.reduced().length;
    int loads = step.operands().size() - stores;
    if (loops.elements() == 0) {
      for (int i = 0; i < stores; i++) {
        fill(step, i, at.of(step.operands().get(loads + i)));
      }
      return;
    }
    long[] partials = new long[stores];
    long next = at.of(step.partials());
    for (int i = 0; i < stores; i++) {
      boolean hasChunks = loops.isAcross(i) && loops.chunks() > 1;
      partials[i] = hasChunks ? next : at.of(step.operands().get(loads + i));
      next += hasChunks ? 4 * loops.reduced()[i] * loops.chunks() : 0;
    }
    List<Object> values = new ArrayList<>();
    step.operands().forEach(place -> values.add(at.of(place)));
    for (long partial : partials) {
      values.add(partial);
    }
    for (float scalar : step.scalars()) {
      values.add(scalar);
    }
    int size = loops.sizes()[0];
    values.addAll(List.of(size, loops.unit(), loops.chunks()));
    for (FusedLaunch launch : written) {
      launches.addWritten(launch.kernel(), launch.threads(size, loops.chunks()), values.toArray());
    }
    for (int i = 0; i < stores; i++) {
      if (loops.isAcross(i) && loops.chunks() > 1) {
        int elements = (int) loops.reduced()[i];
        launches.add(
            "combine",
            elements,
            partials[i],
            (long) elements,
            loops.chunks(),
            at.of(step.operands().get(loads + i)),
            elements,
            0,
            isMaximum(step, i) ? 1 : 0);
      }
    }
  }

  /** A reduction of no elements. */
  private void fill(Step.Fused step, int store, long out) {
    int elements = (int) step.loops().reduced()[store];
    launches.add(
        "fill_words", elements, out, elements, isMaximum(step, store) ? MINUS_INFINITY : 0);
  }

  private static boolean isMaximum(Step.Fused step, int store) {
    return step.spec().stores().get(store).mode() == KernelSpec.Mode.MAX;
  }

  private void dotInteraction(Step.DotInteraction step) {
    Step.Vectors size = step.sizes();
    int batch = size.batch();
    int n = size.n();
    int d = size.d();
    long pairs = (long) n * (n - 1) / 2;
    boolean isGradient = step.gradient().isPresent();
    if (batch == 0 || (isGradient ? (long) n * d : pairs) == 0) {
      return;
    }
    long floats = isGradient ? (long) n * d + pairs : (long) n * (d + 1);
    boolean isStaged = Launches.fitsShared(4 * floats);
    CudaGrid grid =
        CudaGrid.of(launches.samples(batch), SAMPLE_THREADS)
            .withSharedBytes(isStaged ? (int) (4 * floats) : 0);
    int staged = isStaged ? 1 : 0;
    long x = at.of(step.x());
    long out = at.of(step.out());
    if (isGradient) {
      long gradient = at.of(step.gradient().get());
      launches.add("interact_gradient", grid, x, gradient, out, batch, n, d, staged);
    } else {
      launches.add("interact", grid, x, out, batch, n, d, staged);
    }
  }

  private void pairSums(Step.PairSums step) {
    Step.Vectors size = step.sizes();
    int batch = size.batch();
    long x = at.of(step.x());
    long out = at.of(step.out());
    if (step.gradient().isPresent()) {
      long gradient = at.of(step.gradient().get());
      launches.add(
          "pair_sums_gradient",
          (long) batch * size.d(),
          x,
          gradient,
          out,
          batch,
          size.n(),
          size.d());
    } else {
      launches.add("pair_sums", 16L * batch, x, out, batch, size.n(), size.d());
    }
  }
}
