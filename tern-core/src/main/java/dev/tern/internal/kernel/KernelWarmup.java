package dev.tern.internal.kernel;

import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

/** Drives the vector form of one kernel until it is compiled: see {@link Warmup}. */
final class KernelWarmup implements Warmup.Candidate {
  private static final int N = 256;
  private static final int N1 = 8;
  private static final int LONG = 16_384;

  /** There may be many, and each attempt takes the JIT's time. */
  private static final int ATTEMPTS = 3;

  /**
   * Sizes of the loops: few vectors, since at first each costs a microsecond, but many rows, for
   * the JIT compiles what goes around them by their number.
   */
  private static final int[][] SMALL = {
    {1, 2, N}, {2, 1, N - 1}, {1, 1, 33}, {1, N1, 17}, {2, 2, 7}, {4, N1, 1}
  };

  private static final int[][] LARGE = {{1, 1, LONG}, {1, N1, LONG}, {64, N1, N}, {512, 1, 33}};

  /** Rows of both, for a kernel whose rows have one length. */
  private static final int[][] SMALL_ROWS = {{1, 2}, {2, 1}, {1, N1}, {4, N1}};

  private static final int[][] LARGE_ROWS = {{512, 1}, {64, N1}, {256, 2}};

  /** Three kernels that do nothing. */
  private static final Kernel[] IDLE = {
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    },
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    },
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    }
  };

  private final CompiledKernel compiled;
  private byte[] code;

  /** The kernel, and others that do nothing. */
  private final Kernel[] turns;

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
    turns = new Kernel[] {define(), IDLE[0], IDLE[1], IDLE[2]};
    int row = spec.row();
    small = row == 0 ? SMALL : sizes(SMALL_ROWS, row);
    large = row == 0 ? LARGE : sizes(LARGE_ROWS, row);
    arena = Arena.ofConfined();
    addresses = new long[spec.operands()];
    strides = new long[3 * spec.operands()];
    scalars = new float[spec.scalars()];
    for (int k = 0; k < addresses.length; k++) {
      addresses[k] = Memory.allocate(arena, 4L * (LONG + N * N1), 64, "warm-up").address();
      strides[3 * k + 1] = access(spec, k) == Access.CONTIGUOUS ? 4L * N : 0;
    }
    long most =
        Stream.of(small, large)
            .flatMap(Arrays::stream)
            .mapToLong(sizes -> spec.scratchBytes(sizes[2]))
            .max()
            .orElseThrow();
    scratch = Memory.allocate(arena, Lanes.BYTES + most, 64, "warm-up").address();
  }

  /** Has the kernel's vector form driven. */
  static void start(CompiledKernel compiled) {
    Warmup.enqueue(() -> of(compiled));
  }

  private static Optional<KernelWarmup> of(CompiledKernel compiled) {
    try {
      byte[] code = KernelEmitter.emit(compiled.spec(), VectorSupport.lanes());
      if (!KernelEmitter.isCompilable(code)) {
        code = KernelEmitter.emit(compiled.spec().forAnyRows(), VectorSupport.lanes());
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

  private Kernel define() {
    return Kernels.define(compiled.spec(), code);
  }

  @Override
  public void round(boolean large) {
    for (int[] sizes : large ? this.large : small) {
      for (Kernel turn : turns) {
        turn.run(addresses, strides, sizes[0], sizes[1], sizes[2], scalars, scratch);
      }
    }
  }

  @Override
  public void adopt() {
    int[] sizes = large[1];
    long start = System.nanoTime();
    turns[0].run(addresses, strides, sizes[0], sizes[1], sizes[2], scalars, scratch);
    long nanos = Math.max(1, System.nanoTime() - start);
    double pace = nanos / ((double) sizes[0] * sizes[1] * sizes[2]);
    compiled.adopt(turns[0], pace);
    arena.close();
  }

  @Override
  public void renew() {
    if (compiled.spec().row() % Lanes.COUNT > 0) {
      // Masks make much code: what boxed once is likely to again.
      code = KernelEmitter.emit(compiled.spec().forAnyRows(), VectorSupport.lanes());
    }
    turns[0] = define();
  }

  @Override
  public int attempts() {
    return ATTEMPTS;
  }

  @Override
  public void giveUp() {
    compiled.stayScalar();
    arena.close();
  }

  private static Access access(KernelSpec spec, int operand) {
    int loads = spec.loads().size();
    return operand < loads
        ? spec.loads().get(operand)
        : spec.stores().get(operand - loads).access();
  }
}
