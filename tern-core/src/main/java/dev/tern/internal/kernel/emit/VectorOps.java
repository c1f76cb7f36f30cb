package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * The vector form of every elementwise op, under the op's lower-case name; functions such as exp
 * are in {@link VectorMath}. Each lane takes the same IEEE operations as in {@link
 * dev.tern.internal.ir.Pointwise}. Methods have no branches, as {@link InlinedMethods} copies them
 * into kernels. All vectors of floats have one length: once a method of the Vector API has met two,
 * the JIT may box the vectors of any caller. The class is loaded only where the Vector API is.
 */
public final class VectorOps {
  public static final VectorSpecies<Float> SPECIES = VectorSupport.floatSpecies();
  static final Class<?> TYPE = SPECIES.vectorType();
  static final ByteOrder ORDER = ByteOrder.nativeOrder();

  // Lane i takes the number of lane i + 8, i + 4 or i + 2.
  static final VectorShuffle<Float> EIGHT_ON = on(8);
  static final VectorShuffle<Float> FOUR_ON = on(4);
  static final VectorShuffle<Float> TWO_ON = on(2);

  /** Subtracting it moves negative NaN above all other keys, by overflow. */
  private static final int NAN_ABOVE = 0x007F_FFFF;

  private VectorOps() {}

  private static VectorShuffle<Float> on(int lanes) {
    return VectorShuffle.fromOp(SPECIES, lane -> (lane + lanes) % SPECIES.length());
  }

  static float getFloat(long address) {
    return Memory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
  }

  static void setFloat(long address, float value) {
    Memory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
  }

  /** The vector, of a class that C2 knows from here on: see {@code VectorTile}. */
  static FloatVector known(FloatVector value) {
    return (FloatVector) TYPE.cast(value);
  }

  static FloatVector load(long address) {
    return known(FloatVector.fromMemorySegment(SPECIES, Memory.ALL, address, ORDER));
  }

  public static void store(FloatVector value, long address) {
    value.intoMemorySegment(Memory.ALL, address, ORDER);
  }

  /** Loads the lanes whose bits in {@code lanes} are set; the others are 0. */
  static FloatVector loadSome(long address, long lanes) {
    return known(
        FloatVector.fromMemorySegment(
            SPECIES, Memory.ALL, address, ORDER, VectorMask.fromLong(SPECIES, lanes)));
  }

  static void storeSome(FloatVector value, long address, long lanes) {
    value.intoMemorySegment(Memory.ALL, address, ORDER, VectorMask.fromLong(SPECIES, lanes));
  }

  /** The sum in the lanes whose bits are set, {@code a} in others. */
  static FloatVector addSome(FloatVector a, FloatVector b, long lanes) {
    return a.add(b, VectorMask.fromLong(SPECIES, lanes));
  }

  /** Does {@link #raise} in the lanes whose bits are set; others keep {@code keys}. */
  static FloatVector raiseSome(FloatVector keys, FloatVector x, long lanes) {
    return keys.blend(raise(keys, x), VectorMask.fromLong(SPECIES, lanes));
  }

  /** The larger in the lanes whose bits are set, {@code a} in others. */
  static FloatVector maxSome(FloatVector a, FloatVector b, long lanes) {
    return a.blend(a.max(b), VectorMask.fromLong(SPECIES, lanes));
  }

  public static FloatVector broadcast(float value) {
    return known(FloatVector.broadcast(SPECIES, value));
  }

  /**
   * Keys: the bits of {@code x} as integers in the order of the floats, with NaN of either sign
   * above all others. A maximum of keys is one instruction; of floats it is six in sequence.
   */
  static FloatVector key(FloatVector x) {
    return flipped(x.reinterpretAsInts()).sub(NAN_ABOVE).reinterpretAsFloats();
  }

  /** The floats of keys. */
  static FloatVector ofKey(FloatVector keys) {
    return flipped(keys.reinterpretAsInts().add(NAN_ABOVE)).reinterpretAsFloats();
  }

  /** The larger of each key and the key of {@code x}. */
  static FloatVector raise(FloatVector keys, FloatVector x) {
    return largerKey(keys, key(x));
  }

  private static FloatVector largerKey(FloatVector a, FloatVector b) {
    return a.reinterpretAsInts().max(b.reinterpretAsInts()).reinterpretAsFloats();
  }

  /** Inverts the bits of negative numbers but the sign: as integers they come in reverse order. */
  private static IntVector flipped(IntVector bits) {
    return bits.lanewise(
        VectorOperators.XOR, bits.lanewise(VectorOperators.ASHR, 31).and(Integer.MAX_VALUE));
  }

  /** {@link ReductionLanes#total} with vectors of 4 lanes; overwrites the first four numbers. */
  public static float total4(long scratch) {
    FloatVector even = load(scratch).add(load(scratch + 32));
    store(even.add(load(scratch + 16).add(load(scratch + 48))), scratch);
    float first = getFloat(scratch) + getFloat(scratch + 8);
    return first + (getFloat(scratch + 4) + getFloat(scratch + 12));
  }

  /** {@link ReductionLanes#total} with vectors of 8 lanes; overwrites the first eight numbers. */
  public static float total8(long scratch) {
    store(load(scratch).add(load(scratch + 32)), scratch);
    float first = getFloat(scratch) + getFloat(scratch + 16);
    float second = getFloat(scratch + 4) + getFloat(scratch + 20);
    float third = getFloat(scratch + 8) + getFloat(scratch + 24);
    float fourth = getFloat(scratch + 12) + getFloat(scratch + 28);
    return first + third + (second + fourth);
  }

  /** {@link ReductionLanes#total} with vectors of 16 lanes; overwrites the numbers. */
  public static float total16(long scratch) {
    FloatVector sums = load(scratch);
    sums = sums.add(sums.rearrange(EIGHT_ON));
    sums = sums.add(sums.rearrange(FOUR_ON));
    sums = sums.add(sums.rearrange(TWO_ON));
    store(sums, scratch);
    return getFloat(scratch) + getFloat(scratch + 4);
  }

  /** {@link ReductionLanes#largest} with vectors of 4 lanes; overwrites the first four numbers. */
  static float largest4(long scratch) {
    FloatVector even = raise(key(load(scratch)), load(scratch + 32));
    store(ofKey(raise(raise(even, load(scratch + 16)), load(scratch + 48))), scratch);
    float first = Math.max(getFloat(scratch), getFloat(scratch + 8));
    return Math.max(first, Math.max(getFloat(scratch + 4), getFloat(scratch + 12)));
  }

  /** {@link ReductionLanes#largest} with vectors of 8 lanes; overwrites the first eight numbers. */
  static float largest8(long scratch) {
    FloatVector keys = raise(key(load(scratch)), load(scratch + 32));
    keys = largerKey(keys, keys.rearrange(FOUR_ON));
    keys = largerKey(keys, keys.rearrange(TWO_ON));
    store(ofKey(keys), scratch);
    return Math.max(getFloat(scratch), getFloat(scratch + 4));
  }

  /** {@link ReductionLanes#largest} with vectors of 16 lanes; overwrites the numbers. */
  static float largest16(long scratch) {
    FloatVector keys = key(load(scratch));
    keys = largerKey(keys, keys.rearrange(EIGHT_ON));
    keys = largerKey(keys, keys.rearrange(FOUR_ON));
    keys = largerKey(keys, keys.rearrange(TWO_ON));
    store(ofKey(keys), scratch);
    return Math.max(getFloat(scratch), getFloat(scratch + 4));
  }

  static FloatVector copy(FloatVector x) {
    return x;
  }

  static FloatVector detach(FloatVector x) {
    return x;
  }

  static FloatVector neg(FloatVector x) {
    return x.neg();
  }

  static FloatVector relu(FloatVector x) {
    return x.blend(0f, x.compare(VectorOperators.LT, 0f));
  }

  static FloatVector sqrt(FloatVector x) {
    return x.sqrt();
  }

  static FloatVector reciprocal(FloatVector x) {
    return broadcast(1f).div(x);
  }

  static FloatVector square(FloatVector x) {
    return x.mul(x);
  }

  static FloatVector abs(FloatVector x) {
    return x.abs();
  }

  static FloatVector sign(FloatVector x) {
    return broadcast(0f)
        .blend(1f, x.compare(VectorOperators.GT, 0f))
        .blend(-1f, x.compare(VectorOperators.LT, 0f));
  }

  static FloatVector not(FloatVector x) {
    return broadcast(0f).blend(1f, x.compare(VectorOperators.EQ, 0f));
  }

  static FloatVector add(FloatVector a, FloatVector b) {
    return a.add(b);
  }

  static FloatVector sub(FloatVector a, FloatVector b) {
    return a.sub(b);
  }

  static FloatVector mul(FloatVector a, FloatVector b) {
    return a.mul(b);
  }

  static FloatVector div(FloatVector a, FloatVector b) {
    return a.div(b);
  }

  static FloatVector max(FloatVector a, FloatVector b) {
    return a.max(b);
  }

  static FloatVector min(FloatVector a, FloatVector b) {
    return a.min(b);
  }

  static FloatVector lt(FloatVector a, FloatVector b) {
    return broadcast(0f).blend(1f, a.compare(VectorOperators.LT, b));
  }

  static FloatVector le(FloatVector a, FloatVector b) {
    return broadcast(0f).blend(1f, a.compare(VectorOperators.LE, b));
  }

  static FloatVector eq(FloatVector a, FloatVector b) {
    return broadcast(0f).blend(1f, a.compare(VectorOperators.EQ, b));
  }

  static FloatVector select(FloatVector condition, FloatVector a, FloatVector b) {
    return b.blend(a, condition.compare(VectorOperators.NE, 0f));
  }

  /** {@code select(lt(x, y), a, b)}. */
  static FloatVector selectLt(FloatVector x, FloatVector y, FloatVector a, FloatVector b) {
    return b.blend(a, x.compare(VectorOperators.LT, y));
  }

  /** {@code select(le(x, y), a, b)}. */
  static FloatVector selectLe(FloatVector x, FloatVector y, FloatVector a, FloatVector b) {
    return b.blend(a, x.compare(VectorOperators.LE, y));
  }

  /** {@code select(eq(x, y), a, b)}. */
  static FloatVector selectEq(FloatVector x, FloatVector y, FloatVector a, FloatVector b) {
    return b.blend(a, x.compare(VectorOperators.EQ, y));
  }
}
