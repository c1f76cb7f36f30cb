package dev.tern.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Variables and computations of a CUDA device, which is simulated. */
final class CudaDeviceTest {
  private static final long MEMORY = 1L << 24;

  private Device device;
  private String before;

  @BeforeEach
  void open() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
    before = SimulatedCuda.driver().isSimulated() ? SimulatedCuda.live() : "";
    device = Device.cuda(0, 1, MEMORY, MEMORY);
  }

  @AfterEach
  void close() {
    if (device != null) {
      device.close();
      assertThat(SimulatedCuda.live()).isEqualTo(before);
    }
    System.clearProperty(CudaLibraries.PATH_PROPERTY);
  }

  private Variable variable(String name, float... values) {
    Variable variable = Variable.zeros(device, name, Shape.of(values.length));
    variable.set(values);
    return variable;
  }

  @Test
  void whatARunWroteIsReadByTheHostAndWhatTheHostWroteByTheNextRun() {
    Variable x = variable("x", 1, 2, 3);
    Variable sum = variable("sum", 0, 0, 0);
    try (Computation step =
        Computation.of(
            device, List.of(sum.tensor().mul(2)), Map.of(sum, sum.tensor().add(x.tensor())))) {
      step.run();
      step.run();
      assertThat(sum.toArray()).containsExactly(2, 4, 6);
      x.set(10, 10, 10);
      sum.set(1, 1, 1);
      step.run();
      assertThat(step.output(0).toArray(JAVA_FLOAT)).containsExactly(2, 2, 2);
      assertThat(sum.toArray()).containsExactly(11, 11, 11);
    }
    assertThat(sum.toArray()).containsExactly(11, 11, 11);
  }

  @Test
  void lentMemoryIsReadAndWrittenInEachRun() {
    Variable x = variable("x", 1, 2);
    Variable sum = variable("sum", 0, 0);
    var ofX = x.memory();
    var ofSum = sum.memory();
    try (Computation step =
        Computation.of(device, List.of(), Map.of(sum, sum.tensor().add(x.tensor())))) {
      step.run();
      ofX.setAtIndex(JAVA_FLOAT, 0, 5);
      step.run();
      assertThat(ofSum.toArray(JAVA_FLOAT)).containsExactly(6, 4);
      ofSum.setAtIndex(JAVA_FLOAT, 1, -1);
      step.run();
      assertThat(sum.toArray()).containsExactly(11, 1);
    }
  }

  @Test
  void twoComputationsShareAVariable() {
    Variable w = variable("w", 1);
    try (Computation grow = Computation.of(device, List.of(), Map.of(w, w.tensor().mul(3)));
        Computation read = Computation.of(device, List.of(w.tensor().add(1)), Map.of())) {
      grow.run();
      read.run();
      assertThat(read.item(0)).isEqualTo(4);
      grow.run();
      read.run();
      assertThat(read.item(0)).isEqualTo(10);
    }
    assertThat(w.toArray()).containsExactly(9);
  }

  @Test
  void anIndexOutsideIsAnErrorThatNamesItsPlaceAndValue() {
    Variable index = Variable.of(device, "index", Shape.of(3), DType.I32);
    Variable table = variable("table", 1, 2, 3, 4);
    try (Computation gather =
        Computation.of(
            device, List.of(table.tensor().reshape(4, 1).gather(index.tensor())), Map.of())) {
      index.memory().setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, 1, 7);
      assertThatThrownBy(gather::run)
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("gather: got index 7 at position 1, expected 0 to 3");
      index.memory().setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, 1, 3);
      gather.run();
      assertThat(gather.output(0).toArray(JAVA_FLOAT)).containsExactly(1, 4, 1);
    }
  }

  @Test
  void valuesOfSingleTensorsComeFromWhatTheDeviceWrote() {
    Variable w = variable("w", 2, 3);
    try (Computation grow = Computation.of(device, List.of(), Map.of(w, w.tensor().mul(2)))) {
      grow.run();
      assertThat(w.tensor().add(1).toArray()).containsExactly(5, 7);
    }
  }

  @Test
  void aStepThatDoesNotFitTheDevicesMemoryIsRefused() {
    try (Device small = Device.cuda(0, 1, MEMORY, 4096)) {
      Variable x = Variable.zeros(small, "x", Shape.of(1000, 50));
      assertThatThrownBy(() ->
              Computation.of(
                  small, List.of(x.tensor().transpose(0, 1).matmul(x.tensor())), Map.of()))
          .isInstanceOf(OutOfBudgetException.class)
          .hasMessageContaining("of the device's memory");
    }
  }

  @Test
  void sessionsAreForTheProcessor() {
    assertThatThrownBy(() -> device.session(1 << 20))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Device.cpu");
  }
}
