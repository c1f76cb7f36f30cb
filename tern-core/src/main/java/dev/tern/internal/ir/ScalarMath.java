package dev.tern.internal.ir;

/**
 * Elementary functions of one float. {@code VectorMath} has the same functions on vectors: the same
 * IEEE operations in the same order on the same constants. So both give the same bits, except the
 * bits of a NaN.
 *
 * <p>The bounds are the largest errors over all floats, in units in the last place of the exact
 * result, subnormal results included. Infinities, NaN and arguments outside the domain give what
 * {@link Math} gives. Comparisons are written so that NaN falls through to the arithmetic.
 *
 * <p>Exponentials reduce the argument to r = x - n ln(2), |r| at most ln(2) / 2. Logarithms reduce
 * it to f = x / 2^k - 1, from sqrt(1/2) - 1 to sqrt(2) - 1. The polynomials minimize the largest
 * relative error of the function. Their coefficients were rounded to floats one after the other,
 * and are given from the lowest power up.
 */
public final class ScalarMath {
  /**
   * Rounds by addition: x + ROUND, with |x| below 2^22, has the nearest integer n in its lowest
   * bits, and x + (ROUND + b) has n + b there. Shifted left by {@link #EXPONENT_SHIFT}, these bits
   * are the exponent of a power of 2.
   */
  public static final float ROUND = 0x1.8p23f;

  public static final int EXPONENT_SHIFT = 23;

  /** The bits of a float hold its exponent plus this. */
  public static final int BIAS = 127;

  public static final int SIGN_BIT = 0x8000_0000;

  public static final float LOG2_E = 1.442695f;
  public static final float LN2 = 0.6931472f;

  // ln(2) in two parts, the first so short that x - n LN2_HIGH is exact.
  public static final float LN2_HIGH = 0.693359375f;
  public static final float LN2_REST = -2.1219444e-4f;

  // Beyond these, exp is infinite or 0.
  public static final float EXP_HIGH = 89;
  public static final float EXP_LOW = -104;

  // Beyond these, expm1 is -1 and the others are 1.
  public static final float EXPM1_LOW = -20;
  public static final float SIGMOID_HIGH = 18;
  public static final float TANH_HIGH = 10;
  public static final float ERF_HIGH = 4;

  // ROUND for powers of 2. The factors of 2^n and 2^(n + 24) are in range also where 2^n is not.
  public static final float ROUND_FACTORS = ROUND + 2 * BIAS; // 2^n as two factors
  public static final float ROUND_POWER = ROUND + BIAS; // 2^n
  public static final float ROUND_HALF = ROUND + BIAS - 1; // 2^(n - 1)
  public static final float ROUND_TWICE = ROUND + BIAS + 1; // 2^(n + 1)
  public static final float ROUND_RAISED = ROUND + BIAS + 24; // 2^(n + 24)

  /** Turns 2^(n + 24) into 2^n. */
  public static final float LOWER = 0x1p-24f;

  // (exp(r) - 1 - r) / r^2.
  public static final float EXP_0 = 0.5f;
  public static final float EXP_1 = 0.16666666f;
  public static final float EXP_2 = 0.041666493f;
  public static final float EXP_3 = 0.008333544f;
  public static final float EXP_4 = 0.0013932331f;
  public static final float EXP_5 = 1.9763348e-4f;

  /** The bits of sqrt(1/2). */
  public static final int SQRT_HALF_BITS = 0x3f35_04f3;

  public static final int EXPONENT_MASK = 0xff80_0000;
  public static final int BITS_OF_4 = 0x4080_0000;

  /** Brings subnormal numbers into the normal range. */
  public static final float NORMALIZE = 0x1p23f;

  /** Below this, log1p(x) is x. */
  public static final float LOG1P_SMALL = 0x1p-25f;

  // (log(1 + f) - f) / f^2.
  public static final float LOG_0 = -0.5f;
  public static final float LOG_1 = 0.3333333f;
  public static final float LOG_2 = -0.2500082f;
  public static final float LOG_3 = 0.20001243f;
  public static final float LOG_4 = -0.1662341f;
  public static final float LOG_5 = 0.1420154f;
  public static final float LOG_6 = -0.1315955f;
  public static final float LOG_7 = 0.12762485f;
  public static final float LOG_8 = -0.076369405f;

  // (log(1 + u) - u) / u^2 for u from 0 to 1.
  public static final float UNIT_0 = -0.4999993f;
  public static final float UNIT_1 = 0.33330476f;
  public static final float UNIT_2 = -0.24958247f;
  public static final float UNIT_3 = 0.19693746f;
  public static final float UNIT_4 = -0.1535085f;
  public static final float UNIT_5 = 0.10673169f;
  public static final float UNIT_6 = -0.057594087f;
  public static final float UNIT_7 = 0.020168265f;
  public static final float UNIT_8 = -0.003310628f;

  /** Where tanh goes from its polynomial to an exponential. */
  public static final float TANH_MIDDLE = 0.55f;

  // (tanh(x) / x - 1) / x^2 in powers of x^2 below TANH_MIDDLE.
  public static final float TANH_0 = -0.33333316f;
  public static final float TANH_1 = 0.13332544f;
  public static final float TANH_2 = -0.053847548f;
  public static final float TANH_3 = 0.021050714f;
  public static final float TANH_4 = -0.006242849f;

  /** Where erf goes from its first polynomial to its second. */
  public static final float ERF_MIDDLE = 0.84375f;

  // erf(x) / x - 1 in powers of x^2 below ERF_MIDDLE.
  public static final float ERF_0 = 0.12837917f;
  public static final float ERF_1 = -0.37612593f;
  public static final float ERF_2 = 0.11282912f;
  public static final float ERF_3 = -0.026809536f;
  public static final float ERF_4 = 0.0050618816f;
  public static final float ERF_5 = -0.0006374964f;

  // log(1 - erf(x)) from ERF_MIDDLE up.
  public static final float ERFC_0 = -9.781924e-05f;
  public static final float ERFC_1 = -1.1280901f;
  public static final float ERFC_2 = -0.63646746f;
  public static final float ERFC_3 = -0.10457322f;
  public static final float ERFC_4 = 0.02254286f;
  public static final float ERFC_5 = -0.0031240778f;
  public static final float ERFC_6 = 0.0002043366f;

  /** The float nearest to pi. */
  public static final float PI = 3.1415927f;

  /** All floats from here on are even whole numbers. */
  public static final float EVEN = 0x1p24f;

  // (sin(pi r) / r - pi) / r^2 in powers of r^2 for |r| up to 1/4.
  public static final float SINPI_0 = -5.1677127f;
  public static final float SINPI_1 = 2.550164f;
  public static final float SINPI_2 = -0.5992645f;
  public static final float SINPI_3 = 0.082145885f;

  // (cos(pi r) - 1) / r^2 in powers of r^2 for |r| up to 1/4.
  public static final float COSPI_0 = -4.934802f;
  public static final float COSPI_1 = 4.058712f;
  public static final float COSPI_2 = -1.3352628f;
  public static final float COSPI_3 = 0.23533063f;
  public static final float COSPI_4 = -0.02580689f;

  // Where atan goes to pi / 4 + atan((x - 1) / (x + 1)), then to pi / 2 - atan(1 / x).
  public static final float ATAN_MIDDLE = 0.41421357f;
  public static final float ATAN_HIGH = 2.4142137f;

  // These angles in two parts.
  public static final float QUARTER = 0.7853982f;
  public static final float QUARTER_REST = -2.1855694e-8f;
  public static final float HALF = 1.5707964f;
  public static final float HALF_REST = -4.371139e-8f;

  // (atan(x) / x - 1) / x^2 in powers of x^2 below ATAN_MIDDLE.
  public static final float ATAN_0 = -0.3333295f;
  public static final float ATAN_1 = 0.19977711f;
  public static final float ATAN_2 = -0.13877685f;
  public static final float ATAN_3 = 0.080537446f;

  private ScalarMath() {}

  /** e^x, to 1.01 ulp. */
  public static float exp(float x) {
    float y = x > EXP_HIGH ? EXP_HIGH : x;
    y = y < EXP_LOW ? EXP_LOW : y;
    float t = Math.fma(y, LOG2_E, ROUND_FACTORS);
    float e = expm1OfRemainder(remainder(y, t - ROUND_FACTORS));
    int exponents = Float.floatToRawIntBits(t);
    int half = exponents >>> 1;
    float scale = power(half);
    return Math.fma(e, scale, scale) * power(exponents - half);
  }

  /** e^x - 1, to 1.46 ulp. */
  public static float expm1(float x) {
    float y = x > EXP_HIGH ? EXP_HIGH : x;
    y = y < EXPM1_LOW ? EXPM1_LOW : y;
    float t = Math.fma(y, LOG2_E, ROUND_HALF);
    float e = expm1OfRemainder(remainder(y, t - ROUND_HALF));
    // Half of the result, as 2^n may be out of range.
    float scale = power(Float.floatToRawIntBits(t));
    float half = Math.fma(e, scale, scale - 0.5f);
    return withSignOf(x, half + half);
  }

  /** Natural logarithm, to 0.94 ulp. */
  public static float log(float x) {
    boolean subnormal = x < Float.MIN_NORMAL;
    int bits = Float.floatToRawIntBits(subnormal ? x * NORMALIZE : x);
    int above = bits - SQRT_HALF_BITS;
    float f = Float.intBitsToFloat(bits - (above & EXPONENT_MASK)) - 1;
    float k = above >> EXPONENT_SHIFT;
    float result = logOfParts(f, subnormal ? k - EXPONENT_SHIFT : k);
    result = x < Float.POSITIVE_INFINITY ? result : x;
    result = x == 0 ? Float.NEGATIVE_INFINITY : result;
    return x < 0 ? Float.NaN : result;
  }

  /** log(1 + x), to 1.48 ulp. */
  public static float log1p(float x) {
    int above = Float.floatToRawIntBits(x + 1) - SQRT_HALF_BITS;
    // 4 / 2^k, as 1 / 2^k may be out of range. x / 2^k + (1 / 2^k - 1) is rounded once.
    float scale = Float.intBitsToFloat(BITS_OF_4 - (above & EXPONENT_MASK));
    float f = Math.fma(x * 0.25f, scale, Math.fma(scale, 0.25f, -1));
    float result = logOfParts(f, above >> EXPONENT_SHIFT);
    result = x < Float.POSITIVE_INFINITY ? result : x;
    result = Math.abs(x) < LOG1P_SMALL ? x : result;
    result = x == -1 ? Float.NEGATIVE_INFINITY : result;
    return x < -1 ? Float.NaN : result;
  }

  /** Hyperbolic tangent, from -1 to 1, to 1.34 ulp. */
  public static float tanh(float x) {
    float a = Math.abs(x);
    a = a > TANH_HIGH ? TANH_HIGH : a;
    float square = a * a;
    float p = TANH_4;
    p = Math.fma(p, square, TANH_3);
    p = Math.fma(p, square, TANH_2);
    p = Math.fma(p, square, TANH_1);
    p = Math.fma(p, square, TANH_0);
    p = Math.fma(p * square, a, a);
    return withSignOf(x, a < TANH_MIDDLE ? p : 1 - tanhRest(a));
  }

  /** 1 / (1 + e^-x), from 0 to 1, to 2.45 ulp; outside of -18 to -16 to 1.7 ulp. */
  public static float sigmoid(float x) {
    float y = x > SIGMOID_HIGH ? SIGMOID_HIGH : x;
    y = y < EXP_LOW ? EXP_LOW : y;
    // With x = n ln(2) - r it is 2^n / (2^n + e^r). Only the sum is rounded before the division.
    float t = Math.fma(y, LOG2_E, ROUND_RAISED);
    float n = t - ROUND_RAISED;
    float r = Math.fma(n, LN2_REST, Math.fma(n, LN2_HIGH, -y));
    float raised = power(Float.floatToRawIntBits(t));
    float sum = Math.fma(raised, LOWER, 1) + expm1OfRemainder(r);
    return raised / sum * LOWER;
  }

  /** log(1 + e^x), at least 0, to 1.91 ulp. */
  public static float softplus(float x) {
    float u = expOfMinusAbs(x);
    float q = UNIT_8;
    q = Math.fma(q, u, UNIT_7);
    q = Math.fma(q, u, UNIT_6);
    q = Math.fma(q, u, UNIT_5);
    q = Math.fma(q, u, UNIT_4);
    q = Math.fma(q, u, UNIT_3);
    q = Math.fma(q, u, UNIT_2);
    q = Math.fma(q, u, UNIT_1);
    q = Math.fma(q, u, UNIT_0);
    return Math.fma(q, u * u, u) + (x > 0 ? x : 0);
  }

  /** The error function, from -1 to 1, to 1.15 ulp. */
  public static float erf(float x) {
    float a = Math.abs(x);
    a = a > ERF_HIGH ? ERF_HIGH : a;
    float square = a * a;
    float p = ERF_5;
    p = Math.fma(p, square, ERF_4);
    p = Math.fma(p, square, ERF_3);
    p = Math.fma(p, square, ERF_2);
    p = Math.fma(p, square, ERF_1);
    p = Math.fma(p, square, ERF_0);
    p = Math.fma(p, a, a);
    return withSignOf(x, a < ERF_MIDDLE ? p : 1 - erfc(a));
  }

  /** sin(pi x), from -1 to 1, to 1.7 ulp. */
  public static float sinpi(float x) {
    return sineOfHalves(x, 0);
  }

  /** cos(pi x), from -1 to 1, to 1.7 ulp. */
  public static float cospi(float x) {
    return sineOfHalves(x, 1);
  }

  /** sin(pi (x + halves / 2)). */
  private static float sineOfHalves(float x, int halves) {
    float y = Math.abs(x) < EVEN ? x : x * 0;
    // Both steps to |r| up to 1/4 are exact; the first one leaves up to 8.
    float near = Math.fma(Math.fma(y, 0.0625f, ROUND) - ROUND, -16, y);
    float t = Math.fma(near, 2, ROUND);
    float r = Math.fma(t - ROUND, -0.5f, near);
    float square = r * r;
    float s = SINPI_3;
    s = Math.fma(s, square, SINPI_2);
    s = Math.fma(s, square, SINPI_1);
    s = Math.fma(s, square, SINPI_0);
    s = Math.fma(s, square, PI) * r;
    float c = COSPI_4;
    c = Math.fma(c, square, COSPI_3);
    c = Math.fma(c, square, COSPI_2);
    c = Math.fma(c, square, COSPI_1);
    c = Math.fma(c, square, COSPI_0);
    c = Math.fma(c, square, 1);
    int quarter = Float.floatToRawIntBits(t) + halves;
    int bits = Float.floatToRawIntBits((quarter & 1) != 0 ? c : s);
    return Float.intBitsToFloat(bits ^ (quarter & 2) << 30);
  }

  /** The angle whose tangent is x, from -pi / 2 to pi / 2, to 2.2 ulp. */
  public static float atan(float x) {
    float a = Math.abs(x);
    boolean high = a > ATAN_HIGH;
    boolean middle = a > ATAN_MIDDLE;
    float above = high ? -1 : middle ? a - 1 : a;
    float below = high ? a : middle ? a + 1 : 1;
    float q = above / below;
    float square = q * q;
    float p = ATAN_3;
    p = Math.fma(p, square, ATAN_2);
    p = Math.fma(p, square, ATAN_1);
    p = Math.fma(p, square, ATAN_0);
    float rest = high ? HALF_REST : middle ? QUARTER_REST : 0;
    float angle = high ? HALF : middle ? QUARTER : 0;
    return withSignOf(x, Math.fma(p * square, q, rest) + q + angle);
  }

  /** 1 / sqrt(x), two operations each rounded, to 1.5 ulp. */
  public static float rsqrt(float x) {
    return 1 / (float) Math.sqrt(x);
  }

  /** 1 - tanh(a) = 2 / (1 + e^(2 a)) for {@code a} from TANH_MIDDLE to TANH_HIGH. */
  private static float tanhRest(float a) {
    // With 2 a = r - n ln(2) it is 2^(n + 1) / (2^n + e^r).
    float t = Math.fma(a, -2 * LOG2_E, ROUND_TWICE);
    float r = Math.fma(t - ROUND_TWICE, LN2, a + a);
    float twice = power(Float.floatToRawIntBits(t));
    return twice / (Math.fma(twice, 0.5f, 1) + expm1OfRemainder(r));
  }

  /** 1 - erf(a) for {@code a} from ERF_MIDDLE to ERF_HIGH. */
  private static float erfc(float a) {
    float y = ERFC_6;
    y = Math.fma(y, a, ERFC_5);
    y = Math.fma(y, a, ERFC_4);
    y = Math.fma(y, a, ERFC_3);
    y = Math.fma(y, a, ERFC_2);
    y = Math.fma(y, a, ERFC_1);
    y = Math.fma(y, a, ERFC_0);
    float t = Math.fma(y, LOG2_E, ROUND_POWER);
    float e = expm1OfRemainder(Math.fma(t - ROUND_POWER, -LN2, y)) + 1;
    return e * power(Float.floatToRawIntBits(t));
  }

  /** e^-|x|. */
  private static float expOfMinusAbs(float x) {
    float y = -Math.abs(x);
    y = y < EXP_LOW ? EXP_LOW : y;
    float t = Math.fma(y, LOG2_E, ROUND_RAISED);
    float e = expm1OfRemainder(remainder(y, t - ROUND_RAISED));
    float raised = power(Float.floatToRawIntBits(t));
    return Math.fma(e, raised, raised) * LOWER;
  }

  private static float remainder(float y, float n) {
    return Math.fma(n, -LN2_REST, Math.fma(n, -LN2_HIGH, y));
  }

  private static float expm1OfRemainder(float r) {
    // In pairs, which do not wait for one another as the operations of a chain do.
    float square = r * r;
    float low = Math.fma(EXP_1, r, EXP_0);
    float middle = Math.fma(EXP_3, r, EXP_2);
    float high = Math.fma(EXP_5, r, EXP_4);
    float q = Math.fma(Math.fma(high, square, middle), square, low);
    return Math.fma(q, square, r);
  }

  /** log((1 + f) 2^k). */
  private static float logOfParts(float f, float k) {
    float h = LOG_8;
    h = Math.fma(h, f, LOG_7);
    h = Math.fma(h, f, LOG_6);
    h = Math.fma(h, f, LOG_5);
    h = Math.fma(h, f, LOG_4);
    h = Math.fma(h, f, LOG_3);
    h = Math.fma(h, f, LOG_2);
    h = Math.fma(h, f, LOG_1);
    h = Math.fma(h, f, LOG_0);
    return Math.fma(k, LN2, Math.fma(h, f * f, f));
  }

  private static float power(int exponent) {
    return Float.intBitsToFloat(exponent << EXPONENT_SHIFT);
  }

  /** {@code result}, which is positive or has the sign of {@code x}, with the sign of {@code x}. */
  private static float withSignOf(float x, float result) {
    int sign = Float.floatToRawIntBits(x) & SIGN_BIT;
    return Float.intBitsToFloat(Float.floatToRawIntBits(result) | sign);
  }
}
