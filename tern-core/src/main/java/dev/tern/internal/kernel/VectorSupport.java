package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Whether this process computes with vectors, and their length. The system property {@code
 * tern.vector.bits} narrows the vectors to 128, 256 or 512 bits; 0 means scalar code.
 */
public final class VectorSupport {
  /** In checked mode scalar code is the default, as vectors access memory unchecked. */
  private static final int REQUESTED =
      Integer.getInteger("tern.vector.bits", Memory.CHECKED ? 0 : -1);

  private static final boolean AVAILABLE =
      REQUESTED != 0 && ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();

  /** Processors with vectors of 8 floats or more also have masks: AVX2, AVX-512, SVE. */
  private static final int LANES_WITH_MASKS = 8;

  private VectorSupport() {}

  /** Whether classes that use the Vector API may be loaded. */
  public static boolean available() {
    return AVAILABLE;
  }

  /** Lanes of a float vector; 1 without vectors. */
  public static int lanes() {
    return AVAILABLE ? floatSpecies().length() : 1;
  }

  /** Whether loads, stores and sums by a mask are as fast as without. */
  public static boolean hasMasks(int lanes) {
    return lanes >= LANES_WITH_MASKS;
  }

  /** The kind of all float vectors; only where {@link #available}. */
  public static VectorSpecies<Float> floatSpecies() {
    return Species.select();
  }

  /** A class of its own, loaded only where the module is present. */
  private static final class Species {
    static VectorSpecies<Float> select() {
      VectorSpecies<Float> preferred = FloatVector.SPECIES_PREFERRED;
      if (REQUESTED < 0 || REQUESTED >= preferred.vectorBitSize()) {
        return preferred;
      }
      return VectorSpecies.of(float.class, VectorShape.forBitSize(REQUESTED));
    }
  }
}
