package dev.tern.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.base.DType;
import dev.tern.base.ProductMath;
import dev.tern.base.Shape;
import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.internal.memory.OutOfBudgetException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
  void theCodeOfAClosedComputationLeavesTheDevice() {
    Variable w = variable("w", 1, 2);
    Computation.of(device, List.of(w.tensor().exp()), Map.of()).close();
    final String idle = SimulatedCuda.live();
    try (Computation first = Computation.of(device, List.of(w.tensor().mul(7)), Map.of())) {
      try (Computation same = Computation.of(device, List.of(w.tensor().mul(7)), Map.of())) {
        same.run();
      }
      first.run();
      assertThat(first.output(0).toArray(JAVA_FLOAT)).containsExactly(7, 14);
    }
    assertThat(SimulatedCuda.live()).isEqualTo(idle);
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

  @ParameterizedTest
  @EnumSource(names = {"TF32", "BF16"})
  void productsOnTensorCoresAreNearTheExactOnes(ProductMath math) {
    // Products of all four orders, one with odd sizes, and a batch of small ones.
    double most = math == ProductMath.TF32 ? 1e-3 : 1e-2;
    float[][] exact = products(ProductMath.EXACT);
    float[][] rounded = products(math);
    for (int i = 0; i < exact.length; i++) {
      double difference = 0;
      double size = 0;
      for (int j = 0; j < exact[i].length; j++) {
        difference += Math.pow(exact[i][j] - rounded[i][j], 2);
        size += Math.pow(exact[i][j], 2);
      }
      assertThat(Math.sqrt(difference / size)).as("product %d", i).isBetween(1e-6, most);
    }
  }

  private static float[][] products(ProductMath math) {
    try (Device device = Device.cuda(0, 1, MEMORY, MEMORY, math)) {
      Tensor a = drawn(device, "a", 37, 45).tensor();
      Tensor b = drawn(device, "b", 45, 50).tensor();
      Tensor turnedA = drawn(device, "turnedA", 45, 37).tensor().transpose(0, 1);
      Tensor turnedB = drawn(device, "turnedB", 50, 45).tensor().transpose(0, 1);
      Tensor batch = drawn(device, "batch", 3, 24 * 16).tensor().reshape(3, 24, 16);
      List<Tensor> all =
          List.of(
              a.matmul(b),
              turnedA.matmul(b),
              a.matmul(turnedB),
              turnedA.matmul(turnedB),
              batch.matmul(batch.transpose(1, 2)));
      try (Computation products = Computation.of(device, all, Map.of())) {
        products.run();
        float[][] results = new float[all.size()][];
        for (int i = 0; i < results.length; i++) {
          results[i] = products.output(i).toArray(JAVA_FLOAT);
        }
        return results;
      }
    }
  }

  private static Variable drawn(Device device, String name, int rows, int columns) {
    Variable variable = Variable.zeros(device, name, Shape.of(rows, columns));
    Random random = new Random(name.hashCode());
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextFloat(-1, 1);
    }
    variable.set(values);
    return variable;
  }

  @Test
  void lentMemoryIsReadByComputationsThatAreBoundLater() {
    Variable x = variable("x", 1);
    var lent = x.memory();
    for (int value : new int[] {2, 5}) {
      lent.setAtIndex(JAVA_FLOAT, 0, value);
      try (Computation twice = Computation.of(device, List.of(x.tensor().mul(2)), Map.of())) {
        twice.run();
        assertThat(twice.item(0)).isEqualTo(2 * value);
        lent.setAtIndex(JAVA_FLOAT, 0, value + 10);
        twice.run();
        assertThat(twice.item(0)).isEqualTo(2 * value + 20);
      }
    }
  }

  @Test
  void theMemoryOfAClosedComputationServesTheNext() {
    SimulatedCuda.bytes(80L << 20);
    try (Device small = Device.cuda(0, 1, 1L << 28, Long.MAX_VALUE)) {
      Variable x = Variable.zeros(small, "x", Shape.of(100, 100));
      Tensor wide = x.tensor().reshape(1, 10_000).broadcast(Shape.of(1000, 10_000));
      for (int i = 0; i < 3; i++) {
        try (Computation large = Computation.of(small, List.of(wide.add(1)), Map.of())) {
          large.run();
        }
      }
    } finally {
      SimulatedCuda.bytes(4L << 30);
    }
  }

  @Test
  void variablesOfAnotherDeviceAreRefused() {
    Variable own = variable("own", 1);
    try (Device cpu = Device.cpu(1, MEMORY)) {
      Variable other = Variable.zeros(cpu, "other", Shape.of(1));
      assertThatThrownBy(
              () -> Computation.of(device, List.of(own.tensor().add(other.tensor())), Map.of()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("of another device");
      assertThatThrownBy(() -> Computation.of(cpu, List.of(own.tensor().add(1)), Map.of()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("of a CUDA device");
    }
  }

  @Test
  void aSessionOfTheProcessorReadsWhatTheDeviceWrote() {
    Variable w = variable("w", 2, 3);
    try (Computation grow = Computation.of(device, List.of(), Map.of(w, w.tensor().mul(2)));
        Device cpu = Device.cpu(1, MEMORY);
        Session session = cpu.session(1 << 20)) {
      grow.run();
      assertThat(session.get(w.tensor().add(1))).containsExactly(5, 7);
    }
  }

  @Test
  void wrongInputLeavesVariablesAsTheyWere() {
    Variable index = Variable.of(device, "index", Shape.of(2), DType.I32);
    Variable w = variable("w", 1, 2);
    try (Computation step =
        Computation.of(
            device,
            List.of(),
            Map.of(
                w, w.tensor().add(w.tensor().reshape(2, 1).gather(index.tensor()).reshape(2))))) {
      index.memory().setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, 0, -4);
      assertThatThrownBy(step::run).hasMessageContaining("got index -4 at position 0");
      assertThat(w.toArray()).containsExactly(1, 2);
      index.memory().setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, 0, 1);
      step.run();
      step.run();
      assertThat(w.toArray()).containsExactly(6, 6);
    }
  }

  @Test
  void halvesOfAnOddNumberAreExchanged() {
    Variable a = Variable.of(device, "a", Shape.of(3), DType.BF16);
    Variable b = Variable.of(device, "b", Shape.of(3), DType.BF16);
    a.memory().setAtIndex(java.lang.foreign.ValueLayout.JAVA_SHORT, 2, (short) 0x3f80);
    try (Computation exchange =
        Computation.of(device, List.of(), Map.of(a, b.tensor(), b, a.tensor()))) {
      exchange.run();
    }
    assertThat(b.tensor().cast(DType.F32).toArray()).containsExactly(0, 0, 1);
    assertThat(a.tensor().cast(DType.F32).toArray()).containsExactly(0, 0, 0);
  }

  @Test
  void theDeviceMayCloseBeforeItsComputationsAndTwice() {
    Device other = Device.cuda(0, 1, MEMORY, MEMORY);
    Variable x = Variable.zeros(other, "x", Shape.of(2));
    Computation step = Computation.of(other, List.of(x.tensor().add(1)), Map.of());
    step.run();
    other.close();
    other.close();
    step.close();
  }

  @Test
  void scratchMemoryCountsTowardsTheLimit() {
    try (Device small = Device.cuda(0, 1, MEMORY, 100_000)) {
      Variable index = Variable.of(small, "index", Shape.of(20_000), DType.I32);
      Variable table = Variable.zeros(small, "table", Shape.of(4, 1));
      Tensor sum = table.tensor().gather(index.tensor()).sum();
      List<Tensor> gradients = Tensor.gradients(sum, List.of(table.tensor()));
      assertThatThrownBy(() -> Computation.of(small, gradients, Map.of()))
          .isInstanceOf(OutOfBudgetException.class);
    }
  }

  @Test
  void sessionsAreForTheProcessor() {
    assertThatThrownBy(() -> device.session(1 << 20))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Device.cpu");
  }
}
