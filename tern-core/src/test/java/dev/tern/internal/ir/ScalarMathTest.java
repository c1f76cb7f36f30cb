package dev.tern.internal.ir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The functions against double arithmetic, on a sample of all floats and on every edge. */
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
    0x1p24f,
    0x1p126f,
    0x1p127f
  };

  /** A function, its value in double arithmetic, and the bound that its documentation states. */
  enum Case {
    EXP(0.99, Math::exp),
    EXPM1(1.44, Math::expm1),
    LOG(0.94, Math::log),
    LOG1P(1.48, Math::log1p),
    TANH(1.34, Math::tanh),
    SIGMOID(2.45, ScalarMathTest::sigmoid),
    SOFTPLUS(1.91, x -> Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0)),
    ERF(1.15, ScalarMathTest::erf),
    RSQRT(1.5, x -> 1 / Math.sqrt(x));

    private final double ulps;
    private final DoubleUnaryOperator exact;

    Case(double ulps, DoubleUnaryOperator exact) {
      this.ulps = ulps;
      this.exact = exact;
    }

    float apply(float x) {
      return Pointwise.apply(Op.Unary.valueOf(name()), x);
    }

    private void check(float x) {
      float got = apply(x);
      double expected = exact.applyAsDouble(x);
      float rounded = (float) expected;
      if (Float.isFinite(rounded) && Float.isFinite(got)) {
        if (!(Math.abs(got - expected) <= ulps * Math.ulp(rounded))) {
          assertThat((double) got).as("%s of %s", this, x).isEqualTo(expected);
        }
        if (Math.signum(got) * Math.signum(rounded) < 0) {
          assertThat(got).as("sign of %s of %s", this, x).isEqualTo(rounded);
        }
      } else if (Float.compare(got, rounded) != 0) {
        assertThat(got).as("%s of %s", this, x).isEqualTo(rounded);
      }
    }
  }

  private static double sigmoid(double x) {
    return x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x));
  }

  /** 2 / sqrt(pi) e^-x^2 times the sum of 2^n x^(2n+1) / (2n+1)!!, whose terms are of one sign. */
  private static double erf(double x) {
    if (Math.abs(x) > 6) {
      return Math.signum(x);
    }
    double sum = x;
    double term = x;
    for (int n = 1; n < 200; n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }

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

  @ParameterizedTest
  @EnumSource
  void everyResultIsWithinTheStatedBound(Case function) {
    for (int bits : samples(STEP)) {
      function.check(Float.intBitsToFloat(bits));
    }
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
    assertThat(ScalarMath.tanh(0f)).isEqualTo(0f);
  }

  @Test
  void sigmoidOfALargeNegativeNumberIsSubnormalNotZero() {
    assertThat(ScalarMath.sigmoid(-100)).isBetween(3.6e-44f, 3.9e-44f);
  }
}
