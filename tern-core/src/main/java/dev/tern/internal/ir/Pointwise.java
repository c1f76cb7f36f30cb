package dev.tern.internal.ir;

/**
 * What each elementwise op means for one element. Scalar kernels call these very methods and vector
 * kernels do the same IEEE operations lane by lane, so all give the same bits.
 */
public final class Pointwise {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private Pointwise() {}

  /** {@code op(x)}. */
  public static float apply(Op.Unary op, float x) {
    return switch (op) {
      case COPY, DETACH -> x;
      case NEG -> neg(x);
      case EXP -> exp(x);
      case EXPM1 -> expm1(x);
      case LOG -> log(x);
      case LOG1P -> log1p(x);
      case TANH -> tanh(x);
      case SIGMOID -> sigmoid(x);
      case SOFTPLUS -> softplus(x);
      case ERF -> erf(x);
      case SINPI -> sinpi(x);
      case COSPI -> cospi(x);
      case ATAN -> atan(x);
      case RELU -> relu(x);
      case SQRT -> sqrt(x);
      case RSQRT -> rsqrt(x);
      case RECIPROCAL -> reciprocal(x);
      case SQUARE -> square(x);
      case ABS -> abs(x);
      case SIGN -> sign(x);
      case NOT -> not(x);
    };
  }

  /** {@code op(a, b)}; comparisons give 1 or 0. */
  public static float apply(Op.Binary op, float a, float b) {
    return switch (op) {
      case ADD -> add(a, b);
      case SUB -> sub(a, b);
      case MUL -> mul(a, b);
      case DIV -> div(a, b);
      case MAX -> max(a, b);
      case MIN -> min(a, b);
      case LT -> lt(a, b);
      case LE -> le(a, b);
      case EQ -> eq(a, b);
    };
  }

  public static float copy(float x) {
    return x;
  }

  public static float detach(float x) {
    return x;
  }

  public static float exp(float x) {
    return ScalarMath.exp(x);
  }

  public static float expm1(float x) {
    return ScalarMath.expm1(x);
  }

  public static float log(float x) {
    return ScalarMath.log(x);
  }

  public static float log1p(float x) {
    return ScalarMath.log1p(x);
  }

  public static float tanh(float x) {
    return ScalarMath.tanh(x);
  }

  public static float sigmoid(float x) {
    return ScalarMath.sigmoid(x);
  }

  public static float softplus(float x) {
    return ScalarMath.softplus(x);
  }

  public static float erf(float x) {
    return ScalarMath.erf(x);
  }

  public static float sinpi(float x) {
    return ScalarMath.sinpi(x);
  }

  public static float cospi(float x) {
    return ScalarMath.cospi(x);
  }

  public static float atan(float x) {
    return ScalarMath.atan(x);
  }

  public static float rsqrt(float x) {
    return ScalarMath.rsqrt(x);
  }

  public static float neg(float x) {
    return -x;
  }

  /** {@code max(x, 0)} in the form {@code x < 0 ? 0 : x}, so NaN stays NaN. */
  public static float relu(float x) {
    return x < 0 ? 0f : x;
  }

  public static float sqrt(float x) {
    return (float) Math.sqrt(x);
  }

  public static float reciprocal(float x) {
    return 1 / x;
  }

  public static float square(float x) {
    return x * x;
  }

  public static float abs(float x) {
    return Math.abs(x);
  }

  /** -1, 0 or 1; NaN gives 0. */
  public static float sign(float x) {
    return x > 0 ? 1f : x < 0 ? -1f : 0f;
  }

  public static float not(float x) {
    return x == 0 ? 1f : 0f;
  }

  public static float add(float a, float b) {
    return a + b;
  }

  public static float sub(float a, float b) {
    return a - b;
  }

  public static float mul(float a, float b) {
    return a * b;
  }

  public static float div(float a, float b) {
    return a / b;
  }

  public static float max(float a, float b) {
    return Math.max(a, b);
  }

  public static float min(float a, float b) {
    return Math.min(a, b);
  }

  public static float lt(float a, float b) {
    return a < b ? 1f : 0f;
  }

  public static float le(float a, float b) {
    return a <= b ? 1f : 0f;
  }

  public static float eq(float a, float b) {
    return a == b ? 1f : 0f;
  }

  public static float select(float condition, float a, float b) {
    return condition != 0 ? a : b;
  }

  /**
   * Element {@code index} of stream {@code stream}: 24 random bits over 2^24. The mix is the
   * finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over a Weyl sequence.
   */
  public static float uniform(long seed, int stream, int index) {
    long z = mix(seed + GOLDEN * (stream + 1L)) + GOLDEN * (index + 1L);
    return (mix(z) >>> 40) * 0x1p-24f;
  }

  /** The finalizer of SplitMix64. */
  public static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** The nearest bfloat16, ties to even; NaN stays NaN. */
  public static float roundToBf16(float x) {
    return Float.intBitsToFloat(toBf16(x) << 16);
  }

  /** The bits of the nearest bfloat16, ties to even. */
  public static short toBf16(float x) {
    int bits = Float.floatToRawIntBits(x);
    if (Float.isNaN(x)) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
  }
}
