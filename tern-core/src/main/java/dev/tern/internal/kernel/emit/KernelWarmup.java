package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.HiddenClasses;
import dev.tern.internal.kernel.warmup.Warmup;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Runs the vector form of one kernel until the JIT has compiled it: see {@link Warmup}. */
final class KernelWarmup implements Warmup.Candidate {
  private static final int N = 256;
  private static final int N1 = 8;
  private static final int LONG = 16_384;

  /** Few, as there may be many kernels, and each attempt costs the JIT time. */
  private static final int ATTEMPTS = 3;

  /** Elements of the one row of a probe: two vectors at least, and some elements beyond. */
  private static final int PROBE = 33;

  /** Elements of a row at which a pass returns at once. */
  static final int NO_ROW = -1;

  /**
   * Sizes of the three loops. Small runs have few vectors, as each costs a microsecond until the
   * code is compiled; but one row has several, or C2 would take loops for too short to unroll.
   * Large runs have many rows, as the JIT counts rows before it compiles a loop.
   */
  private static final int[][] SMALL = {
    {1, 2, 64}, {2, 1, 63}, {1, 1, 33}, {1, N1, 17}, {2, 2, 7}, {4, N1, 1}
  };

  private static final int[][] LARGE = {{1, 1, LONG}, {1, N1, LONG}, {64, N1, N}, {512, 1, 33}};

  /** Sizes of the two outer loops for a kernel whose rows have a known length. */
  private static final int[][] SMALL_ROWS = {{1, 2}, {2, 1}, {1, N1}, {4, N1}};

  private static final int[][] LARGE_ROWS = {{512, 1}, {64, N1}, {256, 2}};

  private final CompiledKernel compiled;
  private byte[] code;
  private boolean hasPasses;

  /** The kernel, and others that do nothing. */
  private final List<Kernel> turns = new ArrayList<>();

  private final int probe;
  private final int[][] small;
  private final int[][] large;
  private final Arena arena;
  private final long[] addresses;
  private final long[] strides;
  private final float[] scalars;
  private final long scratch;

  private KernelWarmup(CompiledKernel compiled, byte[] code) {
    KernelSpec spec = compiled.spec();
    this.compiled = compiled;
    this.code = code;
    hasPasses = KernelEmitter.hasPasses(code);
    turns.add(Kernels.define(code));
    turns.addAll(HiddenClasses.idle(Kernel.class));
    int row = spec.row();
    probe = row == 0 ? PROBE : row;
    small = row == 0 ? SMALL : sizes(SMALL_ROWS, row);
    large = row == 0 ? LARGE : sizes(LARGE_ROWS, row);
    arena = Arena.ofConfined();
    addresses = new long[spec.operands()];
    strides = new long[3 * spec.operands()];
    scalars = new float[spec.scalars()];
    for (int k = 0; k < addresses.length; k++) {
      addresses[k] = Memory.allocate(arena, 4L * (LONG + N * N1), 64, "warm-up").address();
      strides[3 * k + 1] = spec.access(k) == Access.CONTIGUOUS ? 4L * N : 0;
    }
    scratch = Memory.allocate(arena, scratchBytes(spec), 64, "warm-up").address();
  }

  /** Bytes of scratch memory that all runs and entries of the kernel keep within. */
  static long scratchBytes(KernelSpec spec) {
    int[][] runs = spec.row() == 0 ? LARGE : sizes(LARGE_ROWS, spec.row());
    long most =
        Arrays.stream(runs)
            .mapToLong(sizes -> Kernels.scratchBytes(spec, sizes[2]))
            .max()
            .orElseThrow();
    // Short rows and entries come in larger blocks than long rows.
    return ReductionLanes.BYTES + Math.max(most, Kernels.scratchBytes(spec, 1));
  }

  /** A candidate for the vector form; empty if the kernel stays scalar. */
  static Optional<KernelWarmup> of(CompiledKernel compiled) {
    try {
      byte[] code = KernelEmitter.emit(compiled.spec(), VectorSupport.lanes());
      if (!KernelEmitter.isCompilable(code)) {
        code = KernelEmitter.emit(compiled.spec().withRow(0), VectorSupport.lanes());
      }
      if (KernelEmitter.isCompilable(code)) {
        return Optional.of(new KernelWarmup(compiled, code));
      }
    } catch (RuntimeException | Error e) {
      compiled.stayScalar();
      throw e;
    }
    compiled.stayScalar();
    return Optional.empty();
  }

  private static int[][] sizes(int[][] rows, int n) {
    return Arrays.stream(rows).map(each -> new int[] {each[0], each[1], n}).toArray(int[][]::new);
  }

  @Override
  public void round(Warmup.Round round) {
    switch (round) {
      case ENTRY -> enter();
      case PROBE -> run(1, 1, probe);
      case SMALL -> run(small);
      case LARGE -> run(large);
    }
  }

  private void run(int[][] sizes) {
    for (int[] each : sizes) {
      run(each[0], each[1], each[2]);
    }
  }

  private void run(int n0, int n1, int n) {
    for (int i = 0; i < turns.size(); i++) {
      turns.get(i).run(addresses, strides, n0, n1, n, scalars, scratch);
    }
  }

  /** Calls the kernel without rows, and its passes, if they are methods, without elements. */
  private void enter() {
    for (int call = 0; call < Warmup.ENTRIES; call++) {
      run(1, 0, 1);
    }
    if (hasPasses) {
      run(1, Warmup.ENTRIES, NO_ROW);
    }
  }

  @Override
  public void adopt() {
    int[] sizes = large[1];
    long start = System.nanoTime();
    turns.getFirst().run(addresses, strides, sizes[0], sizes[1], sizes[2], scalars, scratch);
    long nanos = Math.max(1, System.nanoTime() - start);
    double pace = nanos / ((double) sizes[0] * sizes[1] * sizes[2]);
    compiled.adopt(turns.getFirst(), pace);
    arena.close();
  }

  @Override
  public void renew() {
    if (compiled.spec().row() % ReductionLanes.COUNT > 0) {
      // Code for parts of a vector is long, and likely to box again.
      code = KernelEmitter.emit(compiled.spec().withRow(0), VectorSupport.lanes());
      hasPasses = KernelEmitter.hasPasses(code);
    }
    turns.set(0, Kernels.define(code));
  }

  @Override
  public int attempts() {
    return ATTEMPTS;
  }

  @Override
  public void giveUp() {
    compiled.giveUp();
    arena.close();
  }
}
