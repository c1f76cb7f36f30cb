package dev.tern.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FiniteWeightsTest {
  @ParameterizedTest
  @CsvSource({"F32, 7f800000, 23", "F16, 7c00, 10", "BF16, 7f80, 7"})
  void anInfinityOrNaNIsFoundAtEachPlaceAndNothingElseIsTakenForOne(
      DType type, String exponent, int fraction) {
    long ones = Long.parseLong(exponent, 16);
    long sign = 1L << 8 * type.bytes() - 1;
    long[] strange = {ones, sign | ones, ones | 1, sign | ones | 1L << fraction - 1};
    long largest = ones - 1; // the largest finite number
    long[] usual = {0, sign, 1, sign | 1, largest, sign | largest, ones - (1L << fraction)};
    Random random = new Random(3);
    for (int count = 0; count <= 9; count++) {
      for (int at = 0; at < count; at++) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
          numbers[i] = usual[random.nextInt(usual.length)];
        }
        assertThat(areFinite(type, numbers)).as("%x", numbers[at]).isTrue();
        for (long wrong : strange) {
          numbers[at] = wrong;
          assertThat(areFinite(type, numbers)).as("%x at %d of %d", wrong, at, count).isFalse();
        }
      }
    }
  }

  private static boolean areFinite(DType type, long[] numbers) {
    try (Arena arena = Arena.ofConfined()) {
      long bytes = (long) type.bytes() * numbers.length;
      MemorySegment memory = Memory.allocate(arena, Math.max(1, bytes), 64, "test");
      for (int i = 0; i < numbers.length; i++) {
        if (type == DType.F32) {
          memory.setAtIndex(ValueLayout.JAVA_INT, i, (int) numbers[i]);
        } else {
          memory.setAtIndex(ValueLayout.JAVA_SHORT, i, (short) numbers[i]);
        }
      }
      return FiniteWeights.areFinite(type, memory.asSlice(0, bytes));
    }
  }

  @Test
  void theVariableIsNamed() {
    long[] sizes = {2};
    VariablesFile.Values sound = new VariablesFile.Values("a", sizes, new float[] {1, -0f});
    float[] infinite = {1, Float.NEGATIVE_INFINITY};
    assertThatCode(() -> FiniteWeights.require(List.of(sound))).doesNotThrowAnyException();
    assertThatThrownBy(() ->
            FiniteWeights.require(
                List.of(sound, new VariablesFile.Values("out.bias", sizes, infinite))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("got -Infinity in out.bias", "diverged", "lower the learning");
  }
}
