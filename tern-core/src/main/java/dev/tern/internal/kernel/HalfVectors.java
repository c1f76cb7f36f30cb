package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * {@link Halves} for vectors of {@link #LANES} elements. It computes with integers, as the Vector
 * API has no two-byte floats. Every method is small enough for the JIT to inline it. Load the class
 * only where the module {@code jdk.incubator.vector} is present.
 */
public final class HalfVectors {
  /** At most 8 lanes, so that short rows fill a vector. */
  public static final VectorSpecies<Float> FLOATS =
      VectorSupport.lanes() > 4 ? FloatVector.SPECIES_256 : FloatVector.SPECIES_128;

  public static final int LANES = FLOATS.length();

  private static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
  private static final VectorSpecies<Short> SHORTS =
      LANES > 4 ? ShortVector.SPECIES_128 : ShortVector.SPECIES_64;
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();
  private static final int INFINITY = 0x7F800000;

  private static final Class<?> FLOATS_TYPE = FLOATS.vectorType();
  private static final Class<?> INTS_TYPE = INTS.vectorType();
  private static final Class<?> SHORTS_TYPE = SHORTS.vectorType();

  private HalfVectors() {}

  /**
   * The same vector, cast so that the JIT knows its length. C2 learns late which length a loaded or
   * broadcast vector has. Until then it guesses the length that most code of the process uses.
   * Where the guess is wrong, calls may stay calls, with a vector object for each argument.
   */
  public static FloatVector exact(FloatVector vector) {
    return (FloatVector) FLOATS_TYPE.cast(vector);
  }

  /** Does the same for a vector of integers. */
  public static IntVector exact(IntVector vector) {
    return (IntVector) INTS_TYPE.cast(vector);
  }

  private static IntVector load(long address) {
    ShortVector halves =
        (ShortVector)
            SHORTS_TYPE.cast(ShortVector.fromMemorySegment(SHORTS, Memory.ALL, address, ORDER));
    return exact((IntVector) halves.convertShape(VectorOperators.ZERO_EXTEND_S2I, INTS, 0));
  }

  private static void store(IntVector halves, long address) {
    ((ShortVector) SHORTS_TYPE.cast(halves.convertShape(VectorOperators.I2S, SHORTS, 0)))
        .intoMemorySegment(Memory.ALL, address, ORDER);
  }

  /** The BF16 values at {@code address}. */
  public static FloatVector loadBf16(long address) {
    return exact(load(address).lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats());
  }

  /** The F16 values at {@code address}. */
  public static FloatVector loadF16(long address) {
    IntVector halves = load(address);
    IntVector size = halves.and(0x7FFF).lanewise(VectorOperators.LSHL, 13);
    IntVector subnormal =
        exact(exact(size.add(113 << 23).reinterpretAsFloats()).sub(0x1p-14f).reinterpretAsInts());
    IntVector normal = size.add(112 << 23);
    return exact(
        normal
            .add(112 << 23, size.compare(VectorOperators.GE, 31 << 23))
            .blend(subnormal, size.compare(VectorOperators.LT, 1 << 23))
            .or(halves.and(0x8000).lanewise(VectorOperators.LSHL, 16))
            .reinterpretAsFloats());
  }

  /** Rounds as {@link Halves#nearest} to BF16. */
  public static void storeBf16(FloatVector x, long address) {
    IntVector bits = exact(x.reinterpretAsInts());
    IntVector upper = bits.lanewise(VectorOperators.LSHR, 16);
    store(
        bits.add(upper.and(1).add(0x7FFF))
            .lanewise(VectorOperators.LSHR, 16)
            .blend(upper.or(0x40), bits.and(0x7FFFFFFF).compare(VectorOperators.GT, INFINITY)),
        address);
  }

  /** Rounds as {@link Halves#nearest} to F16. */
  public static void storeF16(FloatVector x, long address) {
    IntVector bits = exact(x.reinterpretAsInts());
    store(narrow(bits, bits.and(0x7FFFFFFF)), address);
  }

  /** Rounds as {@link Halves#nearestFinite} to F16. */
  public static void storeFiniteF16(FloatVector x, long address) {
    IntVector bits = exact(x.reinterpretAsInts());
    IntVector size = bits.and(0x7FFFFFFF);
    IntVector most = size.min(Float.floatToRawIntBits(65504));
    store(narrow(bits, most.blend(size, size.compare(VectorOperators.GE, INFINITY))), address);
  }

  /**
   * Rounds to F16: the sign is from {@code bits}, the bits of the absolute value are {@code size}.
   */
  private static IntVector narrow(IntVector bits, IntVector size) {
    // Adding 1/2 leaves a subnormal's bits, rounded, at the end of the significand.
    FloatVector rounded = exact(size.reinterpretAsFloats()).add(0.5f);
    IntVector subnormal = exact(rounded.reinterpretAsInts()).sub(126 << 23);
    IntVector most = size.min(143 << 23);
    IntVector odd = most.lanewise(VectorOperators.LSHR, 13).and(1);
    return most.add(0xFFF - (112 << 23))
        .add(odd)
        .lanewise(VectorOperators.LSHR, 13)
        .blend(subnormal, size.compare(VectorOperators.LT, 113 << 23))
        .blend(0x7E00, size.compare(VectorOperators.GT, INFINITY))
        .or(bits.lanewise(VectorOperators.LSHR, 16).and(0x8000));
  }

  /** Rounds as {@link Halves#stochasticBf16}. */
  public static void storeStochasticBf16(FloatVector x, IntVector noise, long address) {
    IntVector bits = exact(x.reinterpretAsInts());
    IntVector size = bits.and(0x7FFFFFFF);
    IntVector upper = bits.lanewise(VectorOperators.LSHR, 16);
    store(
        bits.add(noise)
            .lanewise(VectorOperators.LSHR, 16)
            .blend(upper, size.compare(VectorOperators.GE, 0x7F7F0000))
            .blend(upper.or(0x40), size.compare(VectorOperators.GT, INFINITY)),
        address);
  }
}
