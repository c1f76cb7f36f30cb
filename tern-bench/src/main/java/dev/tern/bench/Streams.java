package dev.tern.bench;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Passes over memory that do no more than read or write it, so as fast as a core can. */
final class Streams {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int LENGTH = SPECIES.length();
  private static final int TURN = 4 * LENGTH;

  private Streams() {}

  /** Reads elements {@code from} to {@code to}, and returns a number that depends on them. */
  static float read(float[] a, int from, int to) {
    FloatVector s0 = FloatVector.zero(SPECIES);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    int i = from;
    for (; i <= to - TURN; i += TURN) {
      s0 = s0.add(FloatVector.fromArray(SPECIES, a, i));
      s1 = s1.add(FloatVector.fromArray(SPECIES, a, i + LENGTH));
      s2 = s2.add(FloatVector.fromArray(SPECIES, a, i + 2 * LENGTH));
      s3 = s3.add(FloatVector.fromArray(SPECIES, a, i + 3 * LENGTH));
    }
    float sum = s0.add(s1).add(s2.add(s3)).reduceLanes(VectorOperators.ADD);
    for (; i < to; i++) {
      sum += a[i];
    }
    return sum;
  }

  /** Writes elements {@code from} to {@code to}. */
  static void write(float[] a, int from, int to) {
    FloatVector v = FloatVector.broadcast(SPECIES, to);
    int i = from;
    for (; i <= to - TURN; i += TURN) {
      v.intoArray(a, i);
      v.intoArray(a, i + LENGTH);
      v.intoArray(a, i + 2 * LENGTH);
      v.intoArray(a, i + 3 * LENGTH);
    }
    for (; i < to; i++) {
      a[i] = to;
    }
  }
}
