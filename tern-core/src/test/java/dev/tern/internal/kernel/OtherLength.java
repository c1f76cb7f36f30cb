package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Computes on vectors half as long as those of tiles. */
final class OtherLength implements Runnable {
  private static final VectorSpecies<Float> SPECIES =
      VectorSpecies.of(float.class, VectorShape.forBitSize(Vectors.SPECIES.vectorBitSize() / 2));
  private static final Class<?> TYPE = SPECIES.vectorType();
  private static final long AT = Memory.allocate(Arena.global(), 256, 64, "test").address();
  private static final int REPEATS = 8;

  @Override
  public void run() {
    for (int i = 0; i < REPEATS; i++) {
      FloatVector x = exact(FloatVector.fromMemorySegment(SPECIES, Memory.ALL, AT, Vectors.ORDER));
      FloatVector y = exact(FloatVector.broadcast(SPECIES, 0f)).fma(x, x);
      y.intoMemorySegment(Memory.ALL, AT, Vectors.ORDER);
    }
  }

  private static FloatVector exact(FloatVector vector) {
    return (FloatVector) TYPE.cast(vector);
  }
}
