package dev.tern.internal.ir;

/** Provisional. */
public final class ScalarMath {
  private ScalarMath() {}

  public static float exp(float x) {
    return (float) Math.exp(x);
  }

  public static float expm1(float x) {
    return (float) Math.expm1(x);
  }

  public static float log(float x) {
    return (float) Math.log(x);
  }

  public static float log1p(float x) {
    return (float) Math.log1p(x);
  }

  public static float tanh(float x) {
    return (float) Math.tanh(x);
  }

  public static float sigmoid(float x) {
    return (float) (1 / (1 + Math.exp(-x)));
  }

  public static float softplus(float x) {
    return (float) (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)));
  }

  public static float erf(float x) {
    return x;
  }

  public static float rsqrt(float x) {
    return (float) (1 / Math.sqrt(x));
  }
}
