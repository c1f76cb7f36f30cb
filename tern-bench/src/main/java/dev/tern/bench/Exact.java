package dev.tern.bench;

import dev.tern.internal.ir.Op;

/**
 * What the elementwise functions of one float should be, in double arithmetic, and how far Tern's
 * may be off.
 *
 * <p>{@link Math#exp}, {@code expm1}, {@code log} and {@code log1p} are within 1 unit in the last
 * place of a double, as are {@code sin} and {@code atan}, {@code tanh} within 2.5, square roots and
 * quotients within a half. What is put together from them here adds or divides numbers of one sign,
 * so nothing cancels; the series of erf has terms of one sign, at most 150 of them. So all are good
 * to 2^-44 of their value, a millionth of a float's last place.
 */
final class Exact {
  private static final double TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);
  private static final int MOST_TERMS = 150;

  private Exact() {}

  static double apply(Op.Unary op, double x) {
    return switch (op) {
      case COPY, DETACH -> x;
      case NEG -> -x;
      case EXP -> Math.exp(x);
      case EXPM1 -> Math.expm1(x);
      case LOG -> Math.log(x);
      case LOG1P -> Math.log1p(x);
      case TANH -> Math.tanh(x);
      case SIGMOID -> sigmoid(x);
      case SOFTPLUS -> Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
      case ERF -> erf(x);
      case SINPI -> sineOfHalves(2 * x);
      case COSPI -> sineOfHalves(1 - 2 * Math.abs(Math.IEEEremainder(x, 2)));
      case ATAN -> Math.atan(x);
      case RELU -> x < 0 ? 0 : x;
      case SQRT -> Math.sqrt(x);
      case RSQRT -> 1 / Math.sqrt(x);
      case RECIPROCAL -> 1 / x;
      case SQUARE -> x * x;
      case ABS -> Math.abs(x);
      case SIGN -> Double.isNaN(x) ? 0 : Math.signum(x) + 0.0;
      case NOT -> x == 0 ? 1 : 0;
    };
  }

  /** The largest error over all floats, in units in the last place of the exact result. */
  static double ulps(Op.Unary op) {
    return switch (op) {
      case EXP -> 1.01;
      case EXPM1 -> 1.46;
      case LOG -> 0.94;
      case LOG1P -> 1.48;
      case TANH -> 1.34;
      case SIGMOID -> 2.45;
      case SOFTPLUS -> 1.91;
      case ERF -> 1.15;
      case SINPI, COSPI -> 1.7;
      case ATAN -> 2.2;
      case RSQRT -> 1.5;
      case SQRT, RECIPROCAL, SQUARE -> 0.5;
      case COPY, DETACH, NEG, RELU, ABS, SIGN, NOT -> 0;
    };
  }

  /**
   * How far {@code got} is from {@code exact}, in units in the last place of a float of its size;
   * subnormal numbers count in units of the least normal one, and infinity counts as 2^128.
   */
  static double error(float got, double exact) {
    if (Float.isNaN(got) || Double.isNaN(exact)) {
      return Float.isNaN(got) && Double.isNaN(exact) ? 0 : Double.POSITIVE_INFINITY;
    }
    double value = Math.clamp(got, -0x1p128, 0x1p128);
    double target = Math.clamp(exact, -0x1p128, 0x1p128);
    int exponent = Math.clamp(Math.getExponent(target), Float.MIN_EXPONENT, Float.MAX_EXPONENT);
    return Math.abs(value - target) * Math.scalb(1.0, 23 - exponent);
  }

  private static double sigmoid(double x) {
    return x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x));
  }

  /** sin(pi / 2 x), of an angle that is reduced exactly. */
  private static double sineOfHalves(double x) {
    double near = Math.IEEEremainder(x, 4);
    double rest = Math.abs(near) > 1 ? Math.copySign(2, near) - near : near;
    return Math.sin(Math.PI / 2 * rest);
  }

  /** 2 / sqrt(pi) e^-x^2 times the sum of 2^n x^(2n+1) / (2n+1)!!. */
  private static double erf(double x) {
    if (Math.abs(x) > 6) {
      return Math.signum(x);
    }
    double square = x * x;
    double sum = x;
    double term = x;
    for (int n = 1; n < MOST_TERMS && Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= 2 * square / (2 * n + 1);
      sum += term;
    }
    return TWO_OVER_SQRT_PI * Math.exp(-square) * sum;
  }
}
