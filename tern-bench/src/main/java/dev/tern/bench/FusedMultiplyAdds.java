package dev.tern.bench;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Fused multiply-adds on registers alone: as many in flight as hide their latency, no loads and no
 * stores, so as many as a core can do.
 */
final class FusedMultiplyAdds {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;

  /** Operations in a turn: a multiplication and an addition in each lane of twelve vectors. */
  static final int OPERATIONS = 2 * 12 * SPECIES.length();

  private FusedMultiplyAdds() {}

  /** Runs {@code turns}, and returns a number that depends on all of them. */
  static float run(int turns) {
    FloatVector x = FloatVector.broadcast(SPECIES, 0.999f);
    FloatVector y = FloatVector.broadcast(SPECIES, 0.001f);
    FloatVector s0 = x;
    FloatVector s1 = x.mul(2f);
    FloatVector s2 = x.mul(3f);
    FloatVector s3 = x.mul(4f);
    FloatVector s4 = x.mul(5f);
    FloatVector s5 = x.mul(6f);
    FloatVector s6 = x.mul(7f);
    FloatVector s7 = x.mul(8f);
    FloatVector s8 = x.mul(9f);
    FloatVector s9 = x.mul(10f);
    FloatVector s10 = x.mul(11f);
    FloatVector s11 = x.mul(12f);
    for (int i = 0; i < turns; i++) {
      s0 = x.fma(y, s0);
      s1 = x.fma(y, s1);
      s2 = x.fma(y, s2);
      s3 = x.fma(y, s3);
      s4 = x.fma(y, s4);
      s5 = x.fma(y, s5);
      s6 = x.fma(y, s6);
      s7 = x.fma(y, s7);
      s8 = x.fma(y, s8);
      s9 = x.fma(y, s9);
      s10 = x.fma(y, s10);
      s11 = x.fma(y, s11);
    }
    FloatVector low = s0.add(s1).add(s2).add(s3).add(s4).add(s5);
    FloatVector high = s6.add(s7).add(s8).add(s9).add(s10).add(s11);
    return low.add(high).reduceLanes(VectorOperators.ADD);
  }
}
