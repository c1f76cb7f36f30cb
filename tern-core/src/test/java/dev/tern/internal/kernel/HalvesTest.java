package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HalvesTest {
  private static final int LANES = HalfVectors.LANES;
  private static final int STRIDE = 2053;

  private final Allocator allocator = Allocator.of(1 << 20);
  private final long memory = allocator.allocate(4L * LANES, "test");

  @AfterEach
  void free() {
    allocator.free(memory);
  }

  /** A method that rounds a vector. */
  private interface Store {
    void run(FloatVector x, long address);
  }

  /** What {@code x} is stored as in all lanes but the last, which holds another value. */
  private short inVector(float x, Store store) {
    FloatVector vector = FloatVector.broadcast(HalfVectors.FLOATS, x).withLane(LANES - 1, 1);
    store.run(vector, memory);
    for (int i = 1; i < LANES - 1; i++) {
      if (Memory.getShort(memory + 2L * i) != Memory.getShort(memory)) {
        throw new AssertionError("lane " + i + " of " + x);
      }
    }
    return Memory.getShort(memory);
  }

  @Test
  void everyF16WidensAsTheJdkWidensItScalarAndInVectors() {
    for (int h = 0; h < 1 << 16; h++) {
      float got = Halves.widen(DType.F16, (short) h);
      assertThat(got).as("%x", h).isEqualTo((Float) Float.float16ToFloat((short) h));
      for (int i = 0; i < LANES; i++) {
        Memory.setShort(memory + 2L * i, (short) (i == 2 ? h : ~h));
      }
      assertThat(Float.floatToRawIntBits(HalfVectors.loadF16(memory).lane(2)))
          .as("%x", h)
          .isEqualTo(Float.floatToRawIntBits(got));
    }
  }

  @Test
  void everyBf16WidensToItsUpperBits() {
    for (int h = 0; h < 1 << 16; h++) {
      assertThat(Float.floatToRawIntBits(Halves.widen(DType.BF16, (short) h))).isEqualTo(h << 16);
      for (int i = 0; i < LANES; i++) {
        Memory.setShort(memory + 2L * i, (short) (i == 1 ? h : ~h));
      }
      assertThat(Float.floatToRawIntBits(HalfVectors.loadBf16(memory).lane(1))).isEqualTo(h << 16);
    }
  }

  /** A stride over all floats, and the neighbours of every F16 and of what lies between two. */
  private static void forFloats(Consumer<Float> check) {
    for (long bits = 0; bits < 1L << 32; bits += STRIDE) {
      check.accept(Float.intBitsToFloat((int) bits));
    }
    for (int h = 0; h < 1 << 16; h++) {
      int bits = Float.floatToRawIntBits(Float.float16ToFloat((short) h));
      for (int near : new int[] {bits, bits + 0x1000, h << 16, (h << 16) + 0x8000}) {
        check.accept(Float.intBitsToFloat(near - 1));
        check.accept(Float.intBitsToFloat(near));
        check.accept(Float.intBitsToFloat(near + 1));
      }
    }
  }

  @Test
  void floatsRoundToF16AsTheJdkRoundsThemScalarAndInVectors() {
    forFloats(x -> {
      short half = Halves.nearest(DType.F16, x);
      if (Float.isNaN(x)) {
        assertThat(Float.float16ToFloat(half)).isNaN();
      } else if (half != Float.floatToFloat16(x)) {
        assertThat(half).as("%s", x).isEqualTo(Float.floatToFloat16(x));
      }
      if (half != inVector(x, HalfVectors::storeF16)) {
        assertThat(inVector(x, HalfVectors::storeF16)).as("%s", x).isEqualTo(half);
      }
      short finite = Halves.nearestFinite(DType.F16, x);
      if (finite != inVector(x, HalfVectors::storeFiniteF16)) {
        assertThat(inVector(x, HalfVectors::storeFiniteF16)).as("%s", x).isEqualTo(finite);
      }
    });
  }

  @Test
  void floatsRoundToTheNearestBf16ScalarAndInVectors() {
    forFloats(x -> {
      short half = Halves.nearest(DType.BF16, x);
      float got = Halves.widen(DType.BF16, half);
      float down = Float.intBitsToFloat(Float.floatToRawIntBits(x) & 0xFFFF0000);
      float up = Float.intBitsToFloat((Float.floatToRawIntBits(x) & 0xFFFF0000) + 0x10000);
      if (Float.isNaN(x)) {
        assertThat(got).isNaN();
      } else if (Float.isFinite(up) && Float.isFinite(x)) {
        double below = Math.abs((double) x - down);
        double above = Math.abs((double) up - x);
        boolean even = (Float.floatToRawIntBits(down) & 0x10000) == 0;
        float expected = below < above || (below == above && even) ? down : up;
        if (got != expected) {
          assertThat(got).as("%s", x).isEqualTo(expected);
        }
      }
      if (half != inVector(x, HalfVectors::storeBf16)) {
        assertThat(inVector(x, HalfVectors::storeBf16)).as("%s", x).isEqualTo(half);
      }
    });
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void aFiniteValueStaysFinite(DType type) {
    float largest = type == DType.F16 ? 65504 : Float.intBitsToFloat(0x7F7F0000);
    for (float x : new float[] {largest, Math.nextUp(largest), Float.MAX_VALUE}) {
      assertThat(Halves.widen(type, Halves.nearestFinite(type, x))).isEqualTo(largest);
      assertThat(Halves.widen(type, Halves.nearestFinite(type, -x))).isEqualTo(-largest);
    }
    for (float x : new float[] {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN}) {
      assertThat(Halves.widen(type, Halves.nearestFinite(type, x))).isEqualTo((Float) x);
    }
  }

  @Test
  void theMeanOverAllNoiseIsTheValueItself() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 40; i++) {
      float x = Float.intBitsToFloat(random.nextInt());
      if (!Float.isFinite(x) || Math.abs(x) > 1e38f) {
        continue;
      }
      double sum = 0;
      for (int noise = 0; noise < 1 << 16; noise++) {
        sum += Halves.widen(DType.BF16, Halves.stochasticBf16(x, noise)) / 65536.0;
      }
      assertThat(sum).as("%s", x).isEqualTo(x);
    }
  }

  @Test
  void whatBf16HoldsStaysWhateverTheNoise() {
    for (int h = 0; h < 1 << 16; h++) {
      float x = Float.intBitsToFloat(h << 16);
      for (int noise : new int[] {0, 1, 0x7FFF, 0x8000, 0xFFFF}) {
        short got = Halves.stochasticBf16(x, noise);
        assertThat(got).isEqualTo((short) (Float.isNaN(x) ? h | 0x40 : h));
      }
    }
    for (int bits : new int[] {0x7F7F0001, 0x7F7FFFFF, 0xFF7F8000}) {
      short got = Halves.stochasticBf16(Float.intBitsToFloat(bits), 0xFFFF);
      assertThat(got).as("the largest").isEqualTo((short) (bits >>> 16));
    }
    assertThat(Halves.widen(DType.BF16, Halves.stochasticBf16(Float.intBitsToFloat(-1), 0xFFFF)))
        .isNaN();
  }

  @Test
  void noiseRoundsTheSameInVectors() {
    int[] seed = {0};
    forFloats(x -> {
      int noise = (seed[0] += 0x9E3779B9) >>> 16;
      IntVector noises = IntVector.broadcast(HalfVectors.FLOATS.withLanes(int.class), noise);
      short got = inVector(x, (v, at) -> HalfVectors.storeStochasticBf16(v, noises, at));
      if (got != Halves.stochasticBf16(x, noise)) {
        assertThat(got).as("%s, %d", x, noise).isEqualTo(Halves.stochasticBf16(x, noise));
      }
    });
  }

  @Test
  void otherTypesAreRefused() {
    assertThatThrownBy(() -> Halves.nearest(DType.I32, 1))
        .hasMessage("half-width float: got I32, expected F16 or BF16");
    assertThatThrownBy(() -> Halves.widen(DType.F32, (short) 1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
