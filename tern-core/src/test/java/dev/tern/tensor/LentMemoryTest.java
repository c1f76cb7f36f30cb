package dev.tern.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Memory that variables and computations show as segments. */
final class LentMemoryTest {
  @Test
  void variablesAreReadAndWrittenInMemory() {
    try (Device device = Device.cpu(1, 1 << 20)) {
      Variable x = Variable.zeros(device, "x", Shape.of(2, 2));
      x.memory().setAtIndex(JAVA_FLOAT, 3, 7);
      assertThat(x.toArray()).containsExactly(0, 0, 0, 7);
      x.set(1, 2, 3, 4);
      assertThat(x.memory().toArray(JAVA_FLOAT)).containsExactly(1, 2, 3, 4);
      Variable step = Variable.of(device, "step", Shape.of(1), DType.I64);
      step.setLong(5);
      assertThat(step.memory().toArray(JAVA_LONG)).containsExactly(5);
    }
  }

  @Test
  void outputsShowTheLastRun() {
    try (Device device = Device.cpu(1, 1 << 20)) {
      Variable x = Variable.zeros(device, "x", Shape.of(3));
      try (Computation twice = Computation.of(device, List.of(x.tensor().mul(2)), Map.of())) {
        MemorySegment output = twice.output(0);
        for (int run = 1; run < 3; run++) {
          x.set(run, 0, -run);
          twice.run();
          assertThat(output.toArray(JAVA_FLOAT)).containsExactly(2 * run, 0, -2 * run);
        }
        assertThatThrownBy(() -> output.setAtIndex(JAVA_FLOAT, 0, 1))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }

  @Test
  void anElementBehindTheLastIsRefused() {
    try (Device device = Device.cpu(1, 1 << 20)) {
      MemorySegment memory = Variable.zeros(device, "x", Shape.of(3)).memory();
      assertThatThrownBy(() -> memory.setAtIndex(JAVA_FLOAT, 3, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void memoryOfWhatIsClosedIsRefused() {
    Device device = Device.cpu(1, 1 << 20);
    Variable x = Variable.zeros(device, "x", Shape.of(1));
    Variable y = Variable.zeros(device, "y", Shape.of(1));
    Computation sum = Computation.of(device, List.of(x.tensor().add(1)), Map.of());
    MemorySegment ofX = x.memory();
    MemorySegment ofY = y.memory();
    MemorySegment ofSum = sum.output(0);
    x.close();
    assertRefused(ofX);
    assertThatThrownBy(x::memory).isInstanceOf(IllegalStateException.class);
    assertThat(ofY.getAtIndex(JAVA_FLOAT, 0)).isZero();
    sum.close();
    assertRefused(ofSum);
    device.close();
    assertRefused(ofY);
    y.close();
  }

  private static void assertRefused(MemorySegment memory) {
    assertThatThrownBy(() -> memory.getAtIndex(JAVA_FLOAT, 0))
        .isInstanceOf(IllegalStateException.class);
  }
}
