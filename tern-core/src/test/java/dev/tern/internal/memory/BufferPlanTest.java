package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class BufferPlanTest {
  private final Allocator allocator = Allocator.of(1 << 20);

  @Test
  void tensorsLieInOrderInOneBlockAtTheirAlignments() {
    SplittableRandom random = new SplittableRandom(3);
    try (BufferPlan plan = new BufferPlan(allocator, "weights")) {
      int[] sizes = random.ints(50, 0, 300).toArray();
      for (int i = 0; i < sizes.length; i++) {
        assertThat(plan.reserve(sizes[i], i % 2 == 0 ? 32 : 64)).isEqualTo(i);
      }
      plan.allocate();
      assertThat(allocator.statistics().allocations().totalAllocated()).isEqualTo(1);
      assertThat(allocator.statistics().requested().current()).isEqualTo(plan.bytes());
      long end = plan.address(0);
      assertThat(end % 64).isZero();
      for (int i = 0; i < sizes.length; i++) {
        int alignment = i % 2 == 0 ? 32 : 64;
        assertThat(plan.address(i)).isBetween(end, end + alignment - 1);
        assertThat(plan.address(i) % alignment).isZero();
        end = plan.address(i) + sizes[i];
      }
      assertThat(end).isEqualTo(plan.address(0) + plan.bytes());
    }
    assertThat(allocator.live()).isZero();
  }

  @Test
  void whatIsAppendedIsContiguous() {
    try (BufferPlan plan = new BufferPlan(allocator, "weights")) {
      plan.reserve(1, 64);
      int first = plan.reserve(12, 32);
      int second = plan.append(20);
      int third = plan.append(4);
      plan.allocate();
      assertThat(plan.address(first) % 32).isZero();
      assertThat(plan.address(second)).isEqualTo(plan.address(first) + 12);
      assertThat(plan.address(third)).isEqualTo(plan.address(second) + 20);
    }
  }

  @Test
  void memoryIsAllocatedOnceAfterAllIsReserved() {
    BufferPlan plan = new BufferPlan(allocator, "weights");
    int number = plan.reserve(100, 64);
    assertThatThrownBy(() -> plan.address(number))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("allocate first");
    plan.allocate();
    assertThatThrownBy(() -> plan.reserve(1, 64))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("reserve: got a plan of weights with memory");
    assertThatThrownBy(() -> plan.append(1)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(plan::allocate)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("allocate: got a plan of weights with memory");
    assertThatThrownBy(() -> plan.address(number + 1)).isInstanceOf(IllegalArgumentException.class);
    plan.close();
    plan.close();
    assertThat(allocator.live()).isZero();
    assertThatThrownBy(() -> plan.address(number)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> plan.reserve(1, 64)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(plan::allocate).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusedPlanHoldsNothingAndMayTryAgain() {
    long other = allocator.allocate(600 << 10, "other");
    try (BufferPlan plan = new BufferPlan(allocator, "weights")) {
      int number = plan.reserve(600 << 10, 64);
      assertThatThrownBy(plan::allocate)
          .isInstanceOf(OutOfBudgetException.class)
          .hasMessageContaining("for weights");
      allocator.free(other);
      plan.allocate();
      assertThat(plan.address(number)).isPositive();
    }
    assertThat(allocator.live()).isZero();
  }

  @Test
  void planOfNothingAndSizesBeyondReasonAreMet() {
    try (BufferPlan plan = new BufferPlan(allocator, "nothing")) {
      int number = plan.reserve(0, 64);
      plan.allocate();
      assertThat(plan.address(number)).isPositive();
    }
    try (BufferPlan plan = new BufferPlan(allocator, "much")) {
      plan.reserve(64, 64);
      assertThatThrownBy(() -> plan.reserve(Long.MAX_VALUE, 64))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> plan.append(-1)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> plan.reserve(1, 48)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> plan.reserve(1, 128)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> plan.reserve(1, 0)).isInstanceOf(IllegalArgumentException.class);
      assertThat(plan.bytes()).isEqualTo(64);
    }
  }
}
