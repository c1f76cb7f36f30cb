package dev.tern.internal.kernel.matmul;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import java.util.Collections;
import java.util.List;

/**
 * What {@link RecurrentStates} computes number by number, as kernels. Letters are those of {@link
 * dev.tern.internal.ir.Recurrence}.
 */
final class StateKernels {
  /** Loads {@code xu, xr, xc, su, sr, sc, p, a}, the constant 1, two stores of {@code h}. */
  static final KernelSpec STATE =
      new KernelSpec(
          List.of(
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.CONTIGUOUS,
              Access.BROADCAST),
          1,
          List.of(
              new Instruction(Op.Binary.ADD, List.of(0, 3)),
              new Instruction(Op.Unary.SIGMOID, List.of(9)),
              new Instruction(Op.Binary.MUL, List.of(7, 10)), // 11: u
              new Instruction(Op.Binary.ADD, List.of(1, 4)),
              new Instruction(Op.Unary.SIGMOID, List.of(12)), // 13: r
              new Instruction(Op.Binary.MUL, List.of(13, 5)),
              new Instruction(Op.Binary.ADD, List.of(2, 14)),
              new Instruction(Op.Unary.TANH, List.of(15)), // 16: c
              new Instruction(Op.Binary.SUB, List.of(8, 11)),
              new Instruction(Op.Binary.MUL, List.of(17, 6)),
              new Instruction(Op.Binary.MUL, List.of(11, 16)),
              new Instruction(Op.Binary.ADD, List.of(18, 19))),
          twice(20));

  /** Loads {@code w} and {@code d'}, one store of their product. */
  static final KernelSpec PRODUCT =
      new KernelSpec(
          List.of(Access.CONTIGUOUS, Access.CONTIGUOUS),
          0,
          List.of(new Instruction(Op.Binary.MUL, List.of(0, 1))),
          List.of(new Store(2, Mode.WRITE, Access.CONTIGUOUS)));

  /** Loads {@code g, k, d'} and the sums of products, two stores of {@code d}. */
  static final KernelSpec GRADIENT =
      new KernelSpec(
          Collections.nCopies(4, Access.CONTIGUOUS),
          0,
          List.of(
              new Instruction(Op.Binary.MUL, List.of(1, 2)),
              new Instruction(Op.Binary.ADD, List.of(0, 4)),
              new Instruction(Op.Binary.ADD, List.of(5, 3))),
          twice(6));

  private StateKernels() {}

  private static List<Store> twice(int value) {
    return Collections.nCopies(2, new Store(value, Mode.WRITE, Access.CONTIGUOUS));
  }
}
