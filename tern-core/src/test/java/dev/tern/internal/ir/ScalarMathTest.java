package dev.tern.internal.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What holds of the functions beyond their bounds, on a sample of all floats and on every edge. */
public final class ScalarMathTest {
  private static final int STEP = 4099;
  private static final float[] EDGES = {
    0,
    Float.MIN_VALUE,
    Float.MIN_NORMAL,
    Float.MAX_VALUE,
    Float.POSITIVE_INFINITY,
    Float.NaN,
    1,
    2,
    ScalarMath.EXP_HIGH,
    ScalarMath.EXP_LOW,
    88.722839f,
    87.336548f,
    103.27893f,
    103.97208f,
    ScalarMath.EXPM1_LOW,
    ScalarMath.TANH_HIGH,
    ScalarMath.ERF_HIGH,
    ScalarMath.ERF_MIDDLE,
    ScalarMath.LOG1P_SMALL,
    (float) Math.log(2) / 2,
    (float) Math.sqrt(0.5),
    (float) Math.sqrt(2),
    (float) Math.sqrt(0.5) - 1,
    (float) Math.sqrt(2) - 1,
    ScalarMath.ATAN_MIDDLE,
    ScalarMath.ATAN_HIGH,
    0.25f,
    0.5f,
    0x1p22f,
    0x1p24f,
    0x1p126f,
    0x1p127f
  };

  /** Bits of every {@code step}th float and of the edges with their neighbours and negatives. */
  public static int[] samples(int step) {
    IntStream sample = IntStream.range(0, (int) ((1L << 32) / step)).map(i -> i * step);
    IntStream edges =
        IntStream.range(0, EDGES.length)
            .flatMap(i -> IntStream.rangeClosed(-4, 4).map(d -> bits(i) + d))
            .flatMap(bits -> IntStream.of(bits, bits ^ ScalarMath.SIGN_BIT));
    return IntStream.concat(sample, edges).toArray();
  }

  private static int bits(int edge) {
    return Float.floatToRawIntBits(Math.abs(EDGES[edge]));
  }

  @Test
  void resultsStayInTheRangeOfTheFunction() {
    for (int bits : samples(STEP)) {
      float x = Float.intBitsToFloat(bits);
      if (!Float.isNaN(x)) {
        assertRange(x, ScalarMath.exp(x), 0, Float.POSITIVE_INFINITY);
        assertRange(x, ScalarMath.softplus(x), 0, Float.POSITIVE_INFINITY);
        assertRange(x, ScalarMath.expm1(x), -1, Float.POSITIVE_INFINITY);
        assertRange(x, ScalarMath.sigmoid(x), 0, 1);
        assertRange(x, ScalarMath.tanh(x), -1, 1);
        assertRange(x, ScalarMath.erf(x), -1, 1);
        assertRange(x, ScalarMath.atan(x), -ScalarMath.HALF, ScalarMath.HALF);
        if (!Float.isInfinite(x)) {
          assertRange(x, ScalarMath.sinpi(x), -1, 1);
          assertRange(x, ScalarMath.cospi(x), -1, 1);
        }
      }
    }
  }

  private static void assertRange(float x, float got, float low, float high) {
    if (!(got >= low && got <= high)) {
      assertThat(got).as("of %s", x).isBetween(low, high);
    }
  }

  @Test
  void zeroKeepsItsSignWhereTheFunctionIsOdd() {
    assertThat(ScalarMath.expm1(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.log1p(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.tanh(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.erf(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.sinpi(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.atan(-0f)).isEqualTo(-0f);
    assertThat(ScalarMath.tanh(0f)).isEqualTo(0f);
  }

  @Test
  void sineAndCosineAreExactAtQuartersOfATurn() {
    for (float turn : new float[] {0, 2, -2, 14, 1000, -4e6f, 0x1p23f, 3e38f}) {
      assertThat(ScalarMath.cospi(turn)).isEqualTo(1);
      assertThat(Math.abs(ScalarMath.sinpi(turn))).isZero();
    }
    for (float quarter : new float[] {0.5f, -1.5f, 6.5f, 1_000_000.5f}) {
      assertThat(ScalarMath.sinpi(quarter)).isEqualTo(1);
      assertThat(ScalarMath.sinpi(-quarter)).isEqualTo(-1);
      assertThat(Math.abs(ScalarMath.cospi(quarter))).isZero();
    }
    assertThat(ScalarMath.cospi(1)).isEqualTo(-1);
    assertThat(ScalarMath.cospi(8_388_607)).isEqualTo(-1);
    assertThat(ScalarMath.sinpi(Float.POSITIVE_INFINITY)).isNaN();
  }

  @Test
  void sigmoidOfALargeNegativeNumberIsSubnormalNotZero() {
    assertThat(ScalarMath.sigmoid(-100)).isBetween(3.6e-44f, 3.9e-44f);
  }
}
