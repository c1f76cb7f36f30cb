package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.memory.Memory;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Casts between F32 and the types of two bytes. */
final class HalfCastsTest {
  private static final int[] SIZES = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};

  private static float[] random(int count) {
    SplittableRandom random = new SplittableRandom(count);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] =
          i % 5 == 0
              ? Float.intBitsToFloat(random.nextInt())
              : (float) (random.nextGaussian() * Math.exp(random.nextInt(-12, 12)));
    }
    return values;
  }

  /** Rounded, then widened; what lies behind must stay. */
  private static float[] thereAndBack(HalfKernel kernel, DType type, float[] x) {
    try (Arena arena = Arena.ofConfined()) {
      long floats = Memory.allocate(arena, 4L * x.length + 4, 4, "test").address();
      long halves = Memory.allocate(arena, 2L * x.length + 2, 2, "test").address();
      Memory.copyIn(x, 0, floats, x.length);
      Memory.setFloat(floats + 4L * x.length, 5);
      Memory.setShort(halves + 2L * x.length, (short) 7);
      kernel.narrow(type, floats, halves, x.length);
      kernel.widen(type, halves, floats, x.length);
      assertThat(Memory.getFloat(floats + 4L * x.length)).isEqualTo(5);
      assertThat(Memory.getShort(halves + 2L * x.length)).isEqualTo((short) 7);
      float[] result = new float[x.length];
      Memory.copyOut(floats, result, 0, x.length);
      return result;
    }
  }

  private static float[] expected(DType type, float[] x) {
    float[] expected = new float[x.length];
    for (int i = 0; i < x.length; i++) {
      expected[i] = Halves.widen(type, Halves.nearest(type, x[i]));
    }
    return expected;
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void vectorsConvertAsScalarCode(DType type) {
    for (int size : SIZES) {
      float[] x = random(size);
      assertThat(thereAndBack(new ScalarHalfKernel(), type, x)).isEqualTo(expected(type, x));
      assertThat(thereAndBack(new VectorHalfKernel(), type, x)).isEqualTo(expected(type, x));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void tensorsAreConvertedOnAnyThreads(DType type) {
    for (int threads = 1; threads <= 3; threads++) {
      for (int size : new int[] {0, 1, 16_383, 16_384, 16_385, 100_003}) {
        float[] x = random(size);
        try (Device device = Device.cpu(threads, 1 << 22)) {
          Variable full = Variable.zeros(device, "full", Shape.of(size));
          full.set(x);
          Variable half = Variable.of(device, "half", Shape.of(size), type);
          Tensor wide = half.tensor().cast(DType.F32);
          try (Computation store =
                  Computation.of(device, List.of(), Map.of(half, full.tensor().cast(type)));
              Computation read = Computation.of(device, List.of(wide), Map.of())) {
            store.run();
            read.run();
            float[] got = new float[size];
            read.copyOutput(0, got, 0);
            assertThat(got).as("%d on %d", size, threads).isEqualTo(expected(type, x));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void partsAndTransposesAreConverted(DType type) {
    float[] x = random(63 * 65);
    Tensor half = Tensor.of(Shape.of(63, 65), x).cast(type);
    float[] part = half.slice(1, 3, 60).cast(DType.F32).toArray();
    float[] turned = half.transpose(0, 1).cast(DType.F32).toArray();
    float[] all = expected(type, x);
    for (int i = 0; i < 63; i++) {
      for (int j = 0; j < 65; j++) {
        assertThat(turned[j * 63 + i]).isEqualTo((Float) all[i * 65 + j]);
        if (j >= 3 && j < 60) {
          assertThat(part[i * 57 + j - 3]).isEqualTo((Float) all[i * 65 + j]);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void aVariableOfHalfWidthIsTrainedByCastsInTheProgram(DType type) {
    try (Device device = Device.cpu(2, 1 << 20)) {
      Variable stored = Variable.of(device, "w", Shape.of(17), type);
      Tensor w = stored.tensor().cast(DType.F32);
      Tensor loss = w.sub(Tensor.full(Shape.of(17), 3)).square().sum();
      Tensor gradient = Tensor.gradients(loss, List.of(w)).get(0);
      Tensor next = w.sub(gradient.mul(0.25f)).cast(type);
      try (Computation step = Computation.of(device, List.of(loss), Map.of(stored, next))) {
        float weight = 0;
        for (int i = 0; i < 12; i++) {
          step.run();
          float exact = weight - 2 * (weight - 3) * 0.25f;
          assertThat(step.item(0)).isCloseTo(17 * (weight - 3) * (weight - 3), within(1e-3f));
          weight = Halves.widen(type, Halves.nearest(type, exact));
        }
        assertThat(weight).isCloseTo(3, within(0.02f));
      }
    }
  }
}
