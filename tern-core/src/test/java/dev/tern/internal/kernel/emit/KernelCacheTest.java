package dev.tern.internal.kernel.emit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.ir.Op;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.KernelSpec.Access;
import dev.tern.internal.kernel.KernelSpec.Instruction;
import dev.tern.internal.kernel.KernelSpec.Mode;
import dev.tern.internal.kernel.KernelSpec.Store;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class KernelCacheTest {
  private static final int COLLECTIONS = 100;

  /** A structure of its own for each number: so many negations. */
  private static KernelSpec spec(int number) {
    List<Instruction> instructions = new ArrayList<>();
    for (int i = 0; i <= number; i++) {
      instructions.add(new Instruction(Op.Unary.NEG, List.of(i)));
    }
    Store store = new Store(number + 1, Mode.WRITE, Access.CONTIGUOUS);
    return new KernelSpec(List.of(Access.CONTIGUOUS), 0, instructions, List.of(store));
  }

  @Test
  void aKernelThatIsHeldIsNeverMadeAgain() {
    KernelCache cache = new KernelCache(2);
    CompiledKernel held = cache.of(spec(0));
    for (int i = 1; i < 10; i++) {
      cache.of(spec(i));
    }
    System.gc();
    assertThat(cache.of(spec(0))).isSameAs(held);
  }

  @Test
  void kernelsThatNobodyHoldsAreBounded() throws InterruptedException {
    KernelCache cache = new KernelCache(3);
    for (int i = 0; i < 50; i++) {
      cache.of(spec(i));
    }
    for (int i = 0; i < COLLECTIONS && cache.size() > 3; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertThat(cache.size()).isEqualTo(3);
  }

  @Test
  void theLatestKernelsAreKept() {
    KernelCache cache = new KernelCache(2);
    int first = System.identityHashCode(cache.of(spec(0)));
    cache.of(spec(1));
    cache.of(spec(0));
    cache.of(spec(2));
    System.gc();
    assertThat(System.identityHashCode(cache.of(spec(0)))).isEqualTo(first);
  }

  @Test
  void namingAKernelMakesNoCode() {
    KernelSpec wrong =
        new KernelSpec(
            List.of(Access.CONTIGUOUS),
            0,
            List.of(new Instruction(Op.Unary.NEG, List.of(0))),
            List.of(new Store(7, Mode.WRITE, Access.CONTIGUOUS)));
    CompiledKernel named = new KernelCache(1).of(wrong);
    assertThat(named.spec()).isEqualTo(wrong);
    assertThatThrownBy(named::active).isInstanceOf(IndexOutOfBoundsException.class);
  }
}
