package dev.tern.internal.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/** Provisional. */
final class VectorMath {
  private VectorMath() {}

  static FloatVector exp(FloatVector x) {
    return x.lanewise(VectorOperators.EXP);
  }

  static FloatVector expm1(FloatVector x) {
    return x.lanewise(VectorOperators.EXPM1);
  }

  static FloatVector log(FloatVector x) {
    return x.lanewise(VectorOperators.LOG);
  }

  static FloatVector log1p(FloatVector x) {
    return x.lanewise(VectorOperators.LOG1P);
  }

  static FloatVector tanh(FloatVector x) {
    return x.lanewise(VectorOperators.TANH);
  }

  static FloatVector sigmoid(FloatVector x) {
    return FloatVector.broadcast(Vectors.SPECIES, 1f)
        .div(x.neg().lanewise(VectorOperators.EXP).add(1f));
  }

  static FloatVector softplus(FloatVector x) {
    return x.max(0f)
        .add(x.abs().neg().lanewise(VectorOperators.EXP).lanewise(VectorOperators.LOG1P));
  }

  static FloatVector erf(FloatVector x) {
    return x;
  }

  static FloatVector rsqrt(FloatVector x) {
    return FloatVector.broadcast(Vectors.SPECIES, 1f).div(x.sqrt());
  }
}
