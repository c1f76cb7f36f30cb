package dev.tern.internal.kernel.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each elementwise op, emitted without and with vectors. */
final class KernelsTest {
  private static final int[] SIZES = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};
  private static final List<Access> LOADS =
      List.of(Access.CONTIGUOUS, Access.CONTIGUOUS, Access.BROADCAST);

  private static long scratchBytes(KernelSpec spec, int n) {
    return new KernelPasses(spec).scratchBytes(n);
  }

  static Stream<Instruction> instructions() {
    return Stream.of(
            Arrays.stream(Op.Unary.values()).map(op -> new Instruction(op, List.of(0))),
            Arrays.stream(Op.Binary.values()).map(op -> new Instruction(op, List.of(0, 1))),
            Arrays.stream(Op.Binary.values()).map(op -> new Instruction(op, List.of(2, 0))),
            Arrays.stream(Op.Ternary.values()).map(op -> new Instruction(op, List.of(0, 1, 3))))
        .flatMap(all -> all);
  }

  @ParameterizedTest
  @MethodSource("instructions")
  void vectorKernelsGiveTheBitsOfScalarKernels(Instruction instruction) {
    assumeThat(VectorSupport.available()).isTrue();
    int result = LOADS.size() + 1;
    KernelSpec spec =
        new KernelSpec(
            LOADS,
            1,
            List.of(instruction),
            List.of(
                new Store(result, Mode.WRITE, Access.CONTIGUOUS),
                new Store(result, Mode.SUM, Access.BROADCAST)));
    for (int n : SIZES) {
      int[] expected = run(spec, 1, n);
      assertThat(run(spec, VectorSupport.lanes(), n))
          .as("%d elements", n)
          .containsExactly(expected);
    }
  }

  /** As in layer norm: its sums share blocks of rows, of which entries take the largest. */
  @ParameterizedTest
  @ValueSource(ints = {0, 16, 64, 80, 96, 128})
  void entriesOfWarmUpKeepWithinTheirMemory(int row) {
    assumeThat(VectorSupport.available()).isTrue();
    Op sum = new Op.Reduce(Op.Reduce.Kind.SUM, 1, 2);
    List<Instruction> instructions =
        new ArrayList<>(
            List.of(
                new Instruction(sum, List.of(0)),
                new Instruction(Op.Unary.SQUARE, List.of(0)),
                new Instruction(sum, List.of(2)),
                new Instruction(Op.Binary.SUB, List.of(0, 1)),
                new Instruction(Op.Binary.MUL, List.of(4, 3))));
    for (int value = 5; value < 17; value++) {
      instructions.add(new Instruction(Op.Unary.SIGMOID, List.of(value)));
    }
    List<Store> stores = List.of(new Store(17, Mode.WRITE, Access.CONTIGUOUS));
    KernelSpec spec =
        new KernelSpec(List.of(Access.CONTIGUOUS), 0, instructions, stores).withRow(row);
    byte[] code = KernelEmitter.emit(spec, VectorSupport.lanes());
    assertThat(KernelEmitter.hasPasses(code)).isTrue();
    try (Arena arena = Arena.ofConfined()) {
      int floats = Math.toIntExact(KernelWarmup.scratchBytes(spec) / 4);
      long scratch = withGuard(arena, floats);
      long[] addresses = {withGuard(arena, 1), withGuard(arena, 1)};
      Kernels.define(code)
          .run(addresses, new long[6], 1, 200, KernelWarmup.NO_ROW, new float[0], scratch);
      assertGuarded(scratch, floats);
      assertGuarded(addresses[0], 1);
      assertGuarded(addresses[1], 1);
    }
  }

  /** Alone, the comparison is but a mask; read twice or stored as well, it is numbers too. */
  @ParameterizedTest
  @EnumSource(
      value = Op.Binary.class,
      names = {"LT", "LE", "EQ"})
  void choicesByAComparisonGiveTheBitsOfScalarKernels(Op.Binary comparison) {
    assumeThat(VectorSupport.available()).isTrue();
    int first = LOADS.size() + 1;
    List<Instruction> once =
        List.of(
            new Instruction(comparison, List.of(0, 1)),
            new Instruction(Op.Ternary.SELECT, List.of(first, 3, 2)));
    List<Instruction> twice = new ArrayList<>(once);
    twice.add(new Instruction(Op.Binary.ADD, List.of(first, first + 1)));
    List<Instruction> asChoice =
        List.of(once.get(0), new Instruction(Op.Ternary.SELECT, List.of(0, first, 2)));
    Store chosen = new Store(first + 1, Mode.WRITE, Access.CONTIGUOUS);
    Store compared = new Store(first, Mode.WRITE, Access.CONTIGUOUS);
    Store sum = new Store(first + 1, Mode.SUM, Access.BROADCAST);
    for (KernelSpec spec :
        List.of(
            new KernelSpec(LOADS, 1, once, List.of(chosen, sum)),
            new KernelSpec(LOADS, 1, once, List.of(chosen, compared)),
            new KernelSpec(LOADS, 1, asChoice, List.of(chosen)),
            new KernelSpec(
                LOADS, 1, twice, List.of(new Store(first + 2, Mode.WRITE, Access.CONTIGUOUS))))) {
      for (int n : SIZES) {
        assertThat(run(spec, VectorSupport.lanes(), n))
            .as("%d elements of %s", n, spec)
            .containsExactly(run(spec, 1, n));
      }
    }
  }

  @Test
  void aKernelOfShortRowsThatRunsSlowIsTakenOutOfUseToo() {
    CompiledKernel compiled = new CompiledKernel(Kernels.forRows(ROWS, 64));
    Kernel slow = (addresses, strides, n0, n1, n, scalars, scratch) -> {};
    compiled.adopt(slow, 0.1);
    for (int i = 0; i < 3; i++) {
      compiled.ran(64, 10_000, 1_000_000);
    }
    assertThat(compiled.active()).isNotSameAs(slow);
  }

  @Test
  void aKernelThatRunsSlowAgainAndAgainIsTakenOutOfUse() {
    KernelSpec spec =
        new KernelSpec(
            List.of(Access.CONTIGUOUS),
            0,
            List.of(new Instruction(Op.Unary.NEG, List.of(0))),
            List.of(new Store(1, Mode.WRITE, Access.CONTIGUOUS)));
    CompiledKernel compiled = new CompiledKernel(spec);
    Kernel slow = (addresses, strides, n0, n1, n, scalars, scratch) -> {};
    compiled.adopt(slow, 0.1);
    compiled.ran(1000, 10_000, 1_000_000);
    compiled.ran(1000, 10_000, 1_000_000);
    compiled.ran(1000, 10_000, 10_000);
    compiled.ran(1000, 10_000, 1_000_000);
    compiled.ran(1000, 10_000, 1_000_000);
    compiled.ran(10, 10, 1_000_000);
    compiled.ran(2, 10_000, 1_000_000);
    assertThat(compiled.active()).isSameAs(slow);
    for (int i = 0; i < 3; i++) {
      compiled.ran(1000, 10_000, 1_000_000);
    }
    assertThat(compiled.active()).isNotSameAs(slow);
  }

  /** Softmax, whose powers lie in scratch memory between passes, and the rows' sums. */
  private static final KernelSpec ROWS =
      new KernelSpec(
          LOADS,
          1,
          List.of(
              new Instruction(new Op.Reduce(Op.Reduce.Kind.MAX, 0, 1), List.of(0)),
              new Instruction(Op.Binary.SUB, List.of(1, 4)),
              new Instruction(Op.Unary.EXP, List.of(5)),
              new Instruction(new Op.Reduce(Op.Reduce.Kind.SUM, 0, 1), List.of(6)),
              new Instruction(Op.Unary.LOG, List.of(7)),
              new Instruction(Op.Binary.MUL, List.of(6, 8))),
          List.of(
              new Store(9, Mode.WRITE, Access.CONTIGUOUS),
              new Store(8, Mode.WRITE, Access.BROADCAST)));

  @Test
  void vectorKernelsOfSeveralPassesGiveTheBitsOfScalarKernels() {
    assumeThat(VectorSupport.available()).isTrue();
    assertThat(scratchBytes(ROWS, 17)).isEqualTo(16 * (2 * 64 + 128) + 3 * 64);
    for (int n : SIZES) {
      int[] expected = run(ROWS, 1, n);
      assertThat(run(ROWS, VectorSupport.lanes(), n))
          .as("%d elements", n)
          .containsExactly(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 40, 48, 63, 64, 65, 112, 127, 128})
  void kernelsForRowsOfOneLengthGiveTheBitsOfThoseForAny(int n) {
    KernelSpec spec = Kernels.forRows(ROWS, n);
    boolean has = n % 16 == 0 || VectorSupport.hasMasks(VectorSupport.lanes());
    assertThat(spec.row()).isEqualTo(has ? n : 0);
    assertThat(rows(spec, n, VectorSupport.lanes(), 19)).containsExactly(rows(ROWS, n, 1, 19));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 6, 12, 16})
  void whatIsHeldInVectorsForARowIsNeverTooMuchForTheJit(int reductions) {
    List<Instruction> instructions = new ArrayList<>();
    List<Store> stores = new ArrayList<>();
    for (int k = 0; k < reductions; k++) {
      instructions.add(new Instruction(new Op.Reduce(Op.Reduce.Kind.MAX, 0, 1), List.of(k)));
      stores.add(new Store(reductions + k, Mode.WRITE, Access.BROADCAST));
    }
    List<Access> loads = Collections.nCopies(reductions, Access.CONTIGUOUS);
    KernelSpec any = new KernelSpec(loads, 0, instructions, stores);
    for (int n = 1; n <= 128; n += n < 16 ? 5 : 8) {
      KernelSpec spec = Kernels.forRows(any, n);
      if (RowEmitter.takes(spec, new KernelPasses(spec), VectorSupport.lanes())) {
        byte[] code = KernelEmitter.emit(spec, VectorSupport.lanes());
        assertThat(KernelEmitter.isCompilable(code)).as("%d elements", n).isTrue();
      }
    }
  }

  /**
   * Rows without their mean over their standard deviation, and what that makes of a second load.
   */
  private static final KernelSpec NORMAL =
      new KernelSpec(
          List.of(Access.CONTIGUOUS, Access.CONTIGUOUS, Access.BROADCAST),
          1,
          List.of(
              new Instruction(new Op.Reduce(Op.Reduce.Kind.SUM, 0, 1), List.of(0)),
              new Instruction(Op.Binary.SUB, List.of(0, 4)),
              new Instruction(Op.Binary.MUL, List.of(5, 5)),
              new Instruction(new Op.Reduce(Op.Reduce.Kind.SUM, 0, 1), List.of(6)),
              new Instruction(Op.Unary.RSQRT, List.of(7)),
              new Instruction(Op.Binary.MUL, List.of(5, 8)),
              new Instruction(Op.Binary.MUL, List.of(9, 1)),
              new Instruction(new Op.Reduce(Op.Reduce.Kind.SUM, 0, 1), List.of(10)),
              new Instruction(Op.Binary.MUL, List.of(9, 11)),
              new Instruction(Op.Binary.SUB, List.of(1, 12))),
          List.of(
              new Store(13, Mode.WRITE, Access.CONTIGUOUS),
              new Store(11, Mode.WRITE, Access.BROADCAST)));

  @Test
  void whatFollowsFromALoadByAFewCheapOpsIsNotKept() {
    assertThat(new KernelPasses(NORMAL).count()).isEqualTo(4);
    assertThat(new KernelPasses(NORMAL).scratchRows()).isZero();
    assertThat(new KernelPasses(ROWS).scratchRows()).isEqualTo(1);
    for (int n : SIZES) {
      assertThat(run(NORMAL, VectorSupport.lanes(), n))
          .as("%d elements", n)
          .containsExactly(run(NORMAL, 1, n));
    }
  }

  @Test
  void onlyShortRowsHaveKernelsOfTheirOwn() {
    for (int n : new int[] {0, 129, 144, 1024}) {
      assertThat(Kernels.forRows(ROWS, n)).isSameAs(ROWS);
    }
  }

  /** Numbers after the end of a kernel's memory. */
  private static final int GUARDS = 32;

  private static final float GUARD = 1e9f;

  private static final float[] NUMBERS = {
    Float.NEGATIVE_INFINITY,
    -Float.MAX_VALUE,
    -1,
    -Float.MIN_VALUE,
    -0f,
    0f,
    Float.MIN_VALUE,
    1,
    Float.MAX_VALUE,
    Float.POSITIVE_INFINITY,
    Float.NaN,
    Float.intBitsToFloat(0xFFC00000),
    Float.intBitsToFloat(0xFFFFFFFF),
    Float.intBitsToFloat(0x7F800001)
  };

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 33, 64, 130, 145})
  void theLargestOfARowIsThatOfMathMaxWhateverTheNumbers(int n) {
    KernelSpec any =
        new KernelSpec(
            List.of(Access.CONTIGUOUS),
            0,
            List.of(new Instruction(new Op.Reduce(Op.Reduce.Kind.MAX, 0, 1), List.of(0))),
            List.of(new Store(1, Mode.WRITE, Access.BROADCAST)));
    Kernel kernel = Kernels.define(Kernels.forRows(any, n), VectorSupport.lanes());
    Random random = new Random(n);
    try (Arena arena = Arena.ofConfined()) {
      long row = Memory.allocate(arena, 4L * n, 64, "test").address();
      long result = Memory.allocate(arena, 4, 64, "test").address();
      long scratch = Memory.allocate(arena, 64 + scratchBytes(any, n), 64, "test").address();
      for (int trial = 0; trial < 1000; trial++) {
        int kinds = 1 + random.nextInt(NUMBERS.length);
        float largest = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < n; i++) {
          float value = NUMBERS[random.nextInt(kinds)];
          Memory.setFloat(row + 4L * i, value);
          largest = Math.max(largest, value);
        }
        kernel.run(new long[] {row, result}, new long[6], 1, 1, n, new float[0], scratch);
        assertThat(Float.floatToIntBits(Memory.getFloat(result)))
            .isEqualTo(Float.floatToIntBits(largest));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 17, 129, 400, 1000, 1025})
  void rowsTakenTogetherGiveTheBitsOfEachAlone(int n) {
    for (int lanes : new int[] {1, VectorSupport.lanes()}) {
      assertThat(rows(ROWS, n, lanes, 19)).containsExactly(rows(ROWS, n, lanes, 1));
    }
  }

  /** Results of 19 rows, so many at a time. */
  private static int[] rows(KernelSpec spec, int n, int lanes, int atATime) {
    int rows = 19;
    Kernel kernel = Kernels.define(spec, lanes);
    Random random = new Random(n);
    try (Arena arena = Arena.ofConfined()) {
      long[] addresses = new long[LOADS.size() + 2];
      long[] strides = new long[3 * addresses.length];
      for (int k = 0; k < addresses.length; k++) {
        boolean isScalar = k == 2 || k == 4;
        addresses[k] = withGuard(arena, rows * n);
        strides[3 * k + 1] = isScalar ? 4 : 4L * n;
        for (int i = 0; i < rows * n; i++) {
          Memory.setFloat(addresses[k] + 4L * i, random.nextFloat(-3, 3));
        }
      }
      long scratch = Memory.allocate(arena, scratchBytes(ROWS, n), 64, "test").address();
      int[] bits = new int[rows * (n + 1)];
      for (int row = 0; row < rows; row += atATime) {
        long[] first = addresses.clone();
        for (int k = 0; k < first.length; k++) {
          first[k] += row * strides[3 * k + 1];
        }
        kernel.run(first, strides, 1, atATime, n, new float[] {0.75f}, scratch);
      }
      for (long address : addresses) {
        assertGuarded(address, rows * n);
      }
      for (int i = 0; i < rows * n; i++) {
        bits[i] = Float.floatToIntBits(Memory.getFloat(addresses[3] + 4L * i));
      }
      for (int row = 0; row < rows; row++) {
        bits[rows * n + row] = Float.floatToIntBits(Memory.getFloat(addresses[4] + 4L * row));
      }
      return bits;
    }
  }

  private static int[] run(KernelSpec spec, int lanes, int n) {
    Kernel kernel = Kernels.define(spec, lanes);
    Random random = new Random(n);
    try (Arena arena = Arena.ofConfined()) {
      long[] addresses = new long[LOADS.size() + 2];
      for (int k = 0; k < addresses.length; k++) {
        addresses[k] = withGuard(arena, n + 1);
      }
      for (int k = 0; k < LOADS.size(); k++) {
        for (int i = 0; i <= n; i++) {
          float value = i % 5 == 4 ? 0 : random.nextFloat(-3, 3);
          Memory.setFloat(addresses[k] + 4L * i, value);
        }
      }
      long scratch = Memory.allocate(arena, 64 + scratchBytes(spec, n), 64, "test").address();
      kernel.run(addresses, new long[3 * addresses.length], 1, 1, n, new float[] {0.75f}, scratch);
      for (long address : addresses) {
        assertGuarded(address, n + 1);
      }
      int[] bits = new int[n + 1];
      for (int i = 0; i < n; i++) {
        bits[i] = Float.floatToIntBits(Memory.getFloat(addresses[LOADS.size()] + 4L * i));
      }
      bits[n] = Float.floatToIntBits(Memory.getFloat(addresses[LOADS.size() + 1]));
      return bits;
    }
  }

  /** Memory for {@code count} numbers, and numbers after them that no kernel may use or change. */
  private static long withGuard(Arena arena, int count) {
    long address = Memory.allocate(arena, 4L * (count + GUARDS), 64, "test").address();
    for (int i = count; i < count + GUARDS; i++) {
      Memory.setFloat(address + 4L * i, GUARD);
    }
    return address;
  }

  private static void assertGuarded(long address, int count) {
    for (int i = count; i < count + GUARDS; i++) {
      assertThat(Memory.getFloat(address + 4L * i))
          .as("%d after the end", i - count)
          .isEqualTo(GUARD);
    }
  }
}
