package dev.tern.internal.kernel.emit;

import dev.tern.internal.ir.ScalarMath;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * {@link ScalarMath} lane by lane: the same operations in the same order on the same constants. A
 * choice between two values is a blend. Methods have no branches, as {@link InlinedMethods} copies
 * them into kernels.
 */
final class VectorMath {
  private VectorMath() {}

  static FloatVector exp(FloatVector x) {
    FloatVector y = atLeast(atMost(x, ScalarMath.EXP_HIGH), ScalarMath.EXP_LOW);
    FloatVector t = y.fma(all(ScalarMath.LOG2_E), all(ScalarMath.ROUND_FACTORS));
    FloatVector e = expm1OfRemainder(remainder(y, t.sub(ScalarMath.ROUND_FACTORS)));
    IntVector exponents = t.reinterpretAsInts();
    IntVector half = exponents.lanewise(VectorOperators.LSHR, 1);
    FloatVector scale = power(half);
    return e.fma(scale, scale).mul(power(exponents.sub(half)));
  }

  static FloatVector expm1(FloatVector x) {
    FloatVector y = atLeast(atMost(x, ScalarMath.EXP_HIGH), ScalarMath.EXPM1_LOW);
    FloatVector t = y.fma(all(ScalarMath.LOG2_E), all(ScalarMath.ROUND_HALF));
    FloatVector e = expm1OfRemainder(remainder(y, t.sub(ScalarMath.ROUND_HALF)));
    FloatVector scale = power(t.reinterpretAsInts());
    FloatVector half = e.fma(scale, scale.sub(0.5f));
    return withSignOf(x, half.add(half));
  }

  static FloatVector log(FloatVector x) {
    VectorMask<Float> subnormal = x.compare(VectorOperators.LT, Float.MIN_NORMAL);
    IntVector bits = x.blend(x.mul(ScalarMath.NORMALIZE), subnormal).reinterpretAsInts();
    IntVector above = bits.sub(ScalarMath.SQRT_HALF_BITS);
    FloatVector f = bits.sub(above.and(ScalarMath.EXPONENT_MASK)).reinterpretAsFloats().sub(1f);
    FloatVector k = exponent(above);
    k = k.blend(k.sub(ScalarMath.EXPONENT_SHIFT), subnormal);
    FloatVector result =
        x.blend(logOfParts(f, k), x.compare(VectorOperators.LT, Float.POSITIVE_INFINITY));
    return withDomain(result, x, 0f);
  }

  static FloatVector log1p(FloatVector x) {
    IntVector above = x.add(1f).reinterpretAsInts().sub(ScalarMath.SQRT_HALF_BITS);
    FloatVector scale =
        IntVector.broadcast(above.species(), ScalarMath.BITS_OF_4)
            .sub(above.and(ScalarMath.EXPONENT_MASK))
            .reinterpretAsFloats();
    FloatVector f = x.mul(0.25f).fma(scale, scale.fma(all(0.25f), all(-1f)));
    FloatVector result =
        x.blend(
            logOfParts(f, exponent(above)), x.compare(VectorOperators.LT, Float.POSITIVE_INFINITY));
    result = result.blend(x, x.abs().compare(VectorOperators.LT, ScalarMath.LOG1P_SMALL));
    return withDomain(result, x, -1f);
  }

  static FloatVector tanh(FloatVector x) {
    FloatVector a = atMost(x.abs(), ScalarMath.TANH_HIGH);
    FloatVector square = a.mul(a);
    FloatVector p = all(ScalarMath.TANH_4);
    p = p.fma(square, all(ScalarMath.TANH_3));
    p = p.fma(square, all(ScalarMath.TANH_2));
    p = p.fma(square, all(ScalarMath.TANH_1));
    p = p.fma(square, all(ScalarMath.TANH_0));
    p = p.mul(square).fma(a, a);
    VectorMask<Float> small = a.compare(VectorOperators.LT, ScalarMath.TANH_MIDDLE);
    return withSignOf(x, all(1f).sub(tanhRest(a)).blend(p, small));
  }

  static FloatVector sigmoid(FloatVector x) {
    FloatVector y = atLeast(atMost(x, ScalarMath.SIGMOID_HIGH), ScalarMath.EXP_LOW);
    FloatVector t = y.fma(all(ScalarMath.LOG2_E), all(ScalarMath.ROUND_RAISED));
    FloatVector n = t.sub(ScalarMath.ROUND_RAISED);
    FloatVector r = n.fma(all(ScalarMath.LN2_REST), n.fma(all(ScalarMath.LN2_HIGH), y.neg()));
    FloatVector raised = power(t.reinterpretAsInts());
    FloatVector sum = raised.fma(all(ScalarMath.LOWER), all(1f)).add(expm1OfRemainder(r));
    return raised.div(sum).mul(ScalarMath.LOWER);
  }

  static FloatVector softplus(FloatVector x) {
    FloatVector u = expOfMinusAbs(x);
    FloatVector q = all(ScalarMath.UNIT_8);
    q = q.fma(u, all(ScalarMath.UNIT_7));
    q = q.fma(u, all(ScalarMath.UNIT_6));
    q = q.fma(u, all(ScalarMath.UNIT_5));
    q = q.fma(u, all(ScalarMath.UNIT_4));
    q = q.fma(u, all(ScalarMath.UNIT_3));
    q = q.fma(u, all(ScalarMath.UNIT_2));
    q = q.fma(u, all(ScalarMath.UNIT_1));
    q = q.fma(u, all(ScalarMath.UNIT_0));
    FloatVector positive = all(0f).blend(x, x.compare(VectorOperators.GT, 0f));
    return q.fma(u.mul(u), u).add(positive);
  }

  static FloatVector erf(FloatVector x) {
    FloatVector a = atMost(x.abs(), ScalarMath.ERF_HIGH);
    FloatVector square = a.mul(a);
    FloatVector p = all(ScalarMath.ERF_5);
    p = p.fma(square, all(ScalarMath.ERF_4));
    p = p.fma(square, all(ScalarMath.ERF_3));
    p = p.fma(square, all(ScalarMath.ERF_2));
    p = p.fma(square, all(ScalarMath.ERF_1));
    p = p.fma(square, all(ScalarMath.ERF_0));
    p = p.fma(a, a);
    VectorMask<Float> small = a.compare(VectorOperators.LT, ScalarMath.ERF_MIDDLE);
    return withSignOf(x, all(1f).sub(erfc(a)).blend(p, small));
  }

  static FloatVector sinpi(FloatVector x) {
    return sineOfHalves(x, 0);
  }

  static FloatVector cospi(FloatVector x) {
    return sineOfHalves(x, 1);
  }

  static FloatVector atan(FloatVector x) {
    FloatVector a = x.abs();
    VectorMask<Float> high = a.compare(VectorOperators.GT, ScalarMath.ATAN_HIGH);
    VectorMask<Float> middle = a.compare(VectorOperators.GT, ScalarMath.ATAN_MIDDLE);
    FloatVector above = a.blend(a.sub(1f), middle).blend(-1f, high);
    FloatVector below = all(1f).blend(a.add(1f), middle).blend(a, high);
    FloatVector q = above.div(below);
    FloatVector square = q.mul(q);
    FloatVector p = all(ScalarMath.ATAN_3);
    p = p.fma(square, all(ScalarMath.ATAN_2));
    p = p.fma(square, all(ScalarMath.ATAN_1));
    p = p.fma(square, all(ScalarMath.ATAN_0));
    FloatVector rest =
        all(0f).blend(ScalarMath.QUARTER_REST, middle).blend(ScalarMath.HALF_REST, high);
    FloatVector angle = all(0f).blend(ScalarMath.QUARTER, middle).blend(ScalarMath.HALF, high);
    return withSignOf(x, p.mul(square).fma(q, rest).add(q).add(angle));
  }

  static FloatVector rsqrt(FloatVector x) {
    return all(1f).div(x.sqrt());
  }

  private static FloatVector sineOfHalves(FloatVector x, int halves) {
    FloatVector y = x.mul(0f).blend(x, x.abs().compare(VectorOperators.LT, ScalarMath.EVEN));
    FloatVector turns = y.fma(all(0.0625f), all(ScalarMath.ROUND)).sub(ScalarMath.ROUND);
    FloatVector near = turns.fma(all(-16f), y);
    FloatVector t = near.fma(all(2f), all(ScalarMath.ROUND));
    FloatVector r = t.sub(ScalarMath.ROUND).fma(all(-0.5f), near);
    FloatVector square = r.mul(r);
    FloatVector s = all(ScalarMath.SINPI_3);
    s = s.fma(square, all(ScalarMath.SINPI_2));
    s = s.fma(square, all(ScalarMath.SINPI_1));
    s = s.fma(square, all(ScalarMath.SINPI_0));
    s = s.fma(square, all(ScalarMath.PI)).mul(r);
    FloatVector c = all(ScalarMath.COSPI_4);
    c = c.fma(square, all(ScalarMath.COSPI_3));
    c = c.fma(square, all(ScalarMath.COSPI_2));
    c = c.fma(square, all(ScalarMath.COSPI_1));
    c = c.fma(square, all(ScalarMath.COSPI_0));
    c = c.fma(square, all(1f));
    IntVector quarter = t.reinterpretAsInts().add(halves);
    IntVector bits =
        s.reinterpretAsInts()
            .blend(c.reinterpretAsInts(), quarter.and(1).compare(VectorOperators.NE, 0));
    IntVector sign = quarter.and(2).lanewise(VectorOperators.LSHL, 30);
    return bits.lanewise(VectorOperators.XOR, sign).reinterpretAsFloats();
  }

  private static FloatVector tanhRest(FloatVector a) {
    FloatVector t = a.fma(all(-2 * ScalarMath.LOG2_E), all(ScalarMath.ROUND_TWICE));
    FloatVector r = t.sub(ScalarMath.ROUND_TWICE).fma(all(ScalarMath.LN2), a.add(a));
    FloatVector twice = power(t.reinterpretAsInts());
    return twice.div(twice.fma(all(0.5f), all(1f)).add(expm1OfRemainder(r)));
  }

  private static FloatVector erfc(FloatVector a) {
    FloatVector y = all(ScalarMath.ERFC_6);
    y = y.fma(a, all(ScalarMath.ERFC_5));
    y = y.fma(a, all(ScalarMath.ERFC_4));
    y = y.fma(a, all(ScalarMath.ERFC_3));
    y = y.fma(a, all(ScalarMath.ERFC_2));
    y = y.fma(a, all(ScalarMath.ERFC_1));
    y = y.fma(a, all(ScalarMath.ERFC_0));
    FloatVector t = y.fma(all(ScalarMath.LOG2_E), all(ScalarMath.ROUND_POWER));
    FloatVector n = t.sub(ScalarMath.ROUND_POWER);
    FloatVector e = expm1OfRemainder(n.fma(all(-ScalarMath.LN2), y)).add(1f);
    return e.mul(power(t.reinterpretAsInts()));
  }

  private static FloatVector expOfMinusAbs(FloatVector x) {
    FloatVector y = atLeast(x.abs().neg(), ScalarMath.EXP_LOW);
    FloatVector t = y.fma(all(ScalarMath.LOG2_E), all(ScalarMath.ROUND_RAISED));
    FloatVector e = expm1OfRemainder(remainder(y, t.sub(ScalarMath.ROUND_RAISED)));
    FloatVector raised = power(t.reinterpretAsInts());
    return e.fma(raised, raised).mul(ScalarMath.LOWER);
  }

  private static FloatVector remainder(FloatVector y, FloatVector n) {
    return n.fma(all(-ScalarMath.LN2_REST), n.fma(all(-ScalarMath.LN2_HIGH), y));
  }

  private static FloatVector expm1OfRemainder(FloatVector r) {
    FloatVector square = r.mul(r);
    FloatVector low = all(ScalarMath.EXP_1).fma(r, all(ScalarMath.EXP_0));
    FloatVector middle = all(ScalarMath.EXP_3).fma(r, all(ScalarMath.EXP_2));
    FloatVector high = all(ScalarMath.EXP_5).fma(r, all(ScalarMath.EXP_4));
    FloatVector q = high.fma(square, middle).fma(square, low);
    return q.fma(square, r);
  }

  private static FloatVector logOfParts(FloatVector f, FloatVector k) {
    FloatVector h = all(ScalarMath.LOG_8);
    h = h.fma(f, all(ScalarMath.LOG_7));
    h = h.fma(f, all(ScalarMath.LOG_6));
    h = h.fma(f, all(ScalarMath.LOG_5));
    h = h.fma(f, all(ScalarMath.LOG_4));
    h = h.fma(f, all(ScalarMath.LOG_3));
    h = h.fma(f, all(ScalarMath.LOG_2));
    h = h.fma(f, all(ScalarMath.LOG_1));
    h = h.fma(f, all(ScalarMath.LOG_0));
    return k.fma(all(ScalarMath.LN2), h.fma(f.mul(f), f));
  }

  /** Sets a logarithm where its domain ends: negative infinity at {@code end}, NaN below. */
  private static FloatVector withDomain(FloatVector result, FloatVector x, float end) {
    return result
        .blend(Float.NEGATIVE_INFINITY, x.compare(VectorOperators.EQ, end))
        .blend(Float.NaN, x.compare(VectorOperators.LT, end));
  }

  private static FloatVector exponent(IntVector above) {
    return (FloatVector)
        above
            .lanewise(VectorOperators.ASHR, ScalarMath.EXPONENT_SHIFT)
            .convertShape(VectorOperators.I2F, VectorOps.SPECIES, 0);
  }

  private static FloatVector power(IntVector exponent) {
    return exponent.lanewise(VectorOperators.LSHL, ScalarMath.EXPONENT_SHIFT).reinterpretAsFloats();
  }

  private static FloatVector withSignOf(FloatVector x, FloatVector result) {
    IntVector sign = x.reinterpretAsInts().and(ScalarMath.SIGN_BIT);
    return result.reinterpretAsInts().or(sign).reinterpretAsFloats();
  }

  private static FloatVector atMost(FloatVector x, float bound) {
    return x.blend(bound, x.compare(VectorOperators.GT, bound));
  }

  private static FloatVector atLeast(FloatVector x, float bound) {
    return x.blend(bound, x.compare(VectorOperators.LT, bound));
  }

  private static FloatVector all(float value) {
    return FloatVector.broadcast(VectorOps.SPECIES, value);
  }
}
