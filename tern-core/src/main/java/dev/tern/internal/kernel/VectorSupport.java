package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Whether and how wide this process computes with vectors. The system property {@code
 * tern.vector.bits} narrows the vectors (128, 256, 512) or, as 0, keeps to scalar code.
 */
public final class VectorSupport {
  /** Scalar code by default where memory is checked, as vectors access memory unchecked. */
  private static final int REQUESTED =
      Integer.getInteger("tern.vector.bits", Memory.CHECKED ? 0 : -1);

  private static final boolean AVAILABLE =
      REQUESTED != 0 && ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();

  /** Processors with vectors of so many lanes have masks: AVX2, AVX-512, SVE. */
  private static final int LANES_WITH_MASKS = 8;

  private VectorSupport() {}

  /** Whether classes that use the Vector API may be loaded. */
  public static boolean available() {
    return AVAILABLE;
  }

  /** Lanes of a float vector; 1 without vectors. */
  public static int lanes() {
    return AVAILABLE ? Species.lanes() : 1;
  }

  /** Whether a part of a vector is loaded, stored and added to as fast as a whole one. */
  static boolean hasMasks(int lanes) {
    return lanes >= LANES_WITH_MASKS;
  }

  static VectorSpecies<Float> floatSpecies() {
    return Species.select();
  }

  /** Apart, so that the module may be absent. */
  private static final class Species {
    static VectorSpecies<Float> select() {
      VectorSpecies<Float> preferred = FloatVector.SPECIES_PREFERRED;
      if (REQUESTED < 0 || REQUESTED >= preferred.vectorBitSize()) {
        return preferred;
      }
      return VectorSpecies.of(float.class, VectorShape.forBitSize(REQUESTED));
    }

    static int lanes() {
      return select().length();
    }
  }
}
