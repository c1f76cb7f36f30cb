package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TimePart;
import dev.tern.internal.files.TimeOrder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.Type;

/**
 * Values of one column as what a Batch holds: numbers become floats, ids and hashes longs. A
 * dictionary is converted once, when its page comes; its pages are then mere look-ups.
 */
final class ParquetValues implements ParquetColumn.Decoder {
  /** Values taken at a time, at most. */
  static final int CHUNK = 1024;

  /** What values are to become. */
  enum Use {
    /** A float: a number as it is. */
    NUMBER,
    /** A float: 1 where the value is one of the texts that mean it, else 0. */
    POSITIVE,
    /** A 64-bit integer as it is. */
    ID,
    /** The 64-bit hash of a text. */
    TEXT,
    /**
     * A long to compare with others: of days and times the microseconds since 1970 or since
     * midnight, of integers themselves, of other numbers the bits of a double in its order.
     */
    TIME,
    /** The microseconds since 1970 of a time, of which a {@link TimePart} is taken. */
    INSTANT;

    boolean isTime() {
      return this == TIME || this == INSTANT;
    }

    boolean isFloat() {
      return this == NUMBER || this == POSITIVE;
    }
  }

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle DOUBLE =
      MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONGS =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final ParquetType type;
  private final Use use;
  private final Optional<TimePart> part;
  private final boolean mayFail;
  private final ParquetTexts texts;
  private final ParquetBytes bytes;
  private final ParquetByteArrays arrays;
  private final ParquetConversion conversion;
  private final ParquetDictionary dictionary;
  private final ParquetMisfits misfits;
  private final ParquetRuns runs = new ParquetRuns();
  private final ParquetDelta delta = new ParquetDelta();
  private final int[] indices = new int[CHUNK];
  private final long[] longs = new long[CHUNK];
  private final float[] floats = new float[CHUNK];
  private byte[] gathered = {};
  private Encoding encoding = Encoding.PLAIN;
  private byte[] data = {};
  private int start;
  private int position;
  private int end;

  /** Values taken of the page, where they have no position of their own. */
  private int taken;

  /**
   * Values of {@code type} as {@code target} wants them.
   *
   * @param part that is wanted, values being times; empty for the values themselves
   * @param sharesOverPages as of {@link ParquetByteArrays}
   * @param plan says which texts mean 1 or a missing value, and where all are told
   */
  ParquetValues(
      ParquetType type,
      ParquetPlan.Target target,
      Optional<TimePart> part,
      boolean sharesOverPages,
      ParquetPlan plan) {
    this.type = type;
    use = target.use();
    this.part = part;
    Use read = part.isPresent() ? Use.INSTANT : use;
    boolean text = type.kind() == ParquetType.Kind.TEXT;
    TextDictionary dictionary = use == Use.TEXT ? plan.dictionary() : TextDictionary.none();
    texts = new ParquetTexts(dictionary, text ? plan.columns().missing() : Set.of());
    mayFail = texts.haveMarkers() || ParquetConversion.mayFail(type, read);
    misfits = new ParquetMisfits(mayFail ? CHUNK : 0);
    TimeOrder order = plan.orders().getOrDefault(target.name(), new TimeOrder());
    bytes = new ParquetBytes(type, read, order, texts, misfits);
    arrays = new ParquetByteArrays(type, read, sharesOverPages, texts, bytes);
    conversion = new ParquetConversion(type, read, plan.positive(), texts, misfits);
    this.dictionary = new ParquetDictionary(use.isFloat(), mayFail);
  }

  @Override
  public void startChunk() {
    dictionary.startChunk();
    arrays.startChunk();
  }

  @Override
  public void dictionary(Encoding encoding, byte[] data, int from, int to, int count) {
    if (encoding != Encoding.PLAIN && encoding != Encoding.PLAIN_DICTIONARY) {
      throw new DataException("got a dictionary in " + encoding + ", expected PLAIN");
    }
    // A text takes the 4 bytes of its length at least.
    int smallest = type.width() == 0 ? 4 : type.width();
    if (dictionary.isThere() || count < 0 || count > (to - from) / smallest) {
      throw new DataException(
          "got a dictionary of "
              + count
              + " values in "
              + (to - from)
              + " bytes, expected one a chunk that fits"
              + ParquetFile.REWRITE);
    }
    open(Encoding.PLAIN, data, from, to);
    dictionary.start(count);
    for (int done = 0; done < count; ) {
      int n = Math.min(CHUNK, count - done);
      read(n);
      dictionary.put(done, n, longs, floats, misfits);
      done += n;
    }
  }

  @Override
  public void open(Encoding encoding, byte[] data, int from, int to) {
    requireKnown(encoding, type.physical());
    this.encoding = encoding;
    this.data = data;
    position = from;
    end = to;
    start = from;
    taken = 0;
    // A page of nulls only may hold no byte at all; then there is nothing to start on.
    if (from == to) {
      return;
    }
    switch (encoding) {
      case PLAIN_DICTIONARY, RLE_DICTIONARY -> {
        requireDictionary();
        if (data[from] == 0 && to == from + 1) {
          runs.openZeros(); // of one entry, some writers write no indices at all
        } else {
          runs.open(data, from + 1, to, data[from]);
        }
      }
      case RLE -> openBooleans(runs, data, from, to);
      case DELTA_BINARY_PACKED -> delta.open(data, from, to);
      case DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY -> arrays.open(encoding, data, from, to);
      case PLAIN -> {
        if (type.physical() == Type.BYTE_ARRAY) {
          arrays.open(encoding, data, from, to);
        }
      }
      default -> {}
    }
  }

  /** Starts {@code runs} on a page of booleans in runs. */
  static void openBooleans(ParquetRuns runs, byte[] data, int from, int to) {
    if (to - from < 4) {
      runs.open(data, to, to, 1);
      return;
    }
    int length = (int) INT.get(data, from);
    if (length < 0 || length > to - from - 4) {
      throw new DataException("got booleans of " + length + " bytes" + ParquetFile.REWRITE);
    }
    runs.open(data, from + 4, from + 4 + length, 1);
  }

  private void requireDictionary() {
    if (!dictionary.isThere()) {
      throw new DataException("got a page without its dictionary" + ParquetFile.REWRITE);
    }
  }

  /** Refuses an encoding that values stored as {@code stored} cannot have. */
  static void requireKnown(Encoding encoding, Type stored) {
    boolean integer = stored == Type.INT32 || stored == Type.INT64;
    boolean fixed = stored == Type.FIXED_LEN_BYTE_ARRAY;
    boolean known =
        switch (encoding) {
          case PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY -> true;
          case RLE -> stored == Type.BOOLEAN;
          case DELTA_BINARY_PACKED -> integer;
          case DELTA_LENGTH_BYTE_ARRAY -> stored == Type.BYTE_ARRAY;
          case DELTA_BYTE_ARRAY -> fixed || stored == Type.BYTE_ARRAY;
          case BYTE_STREAM_SPLIT ->
              integer || fixed || stored == Type.FLOAT || stored == Type.DOUBLE;
          default -> false;
        };
    if (!known) {
      throw new DataException("got encoding " + encoding + " of " + stored + ParquetFile.REWRITE);
    }
  }

  /** The values {@link #read} took, where they are used as numbers; valid until the next read. */
  float[] floats() {
    return floats;
  }

  /** The values {@link #read} took, where they are ids or hashes; valid until the next read. */
  long[] longs() {
    return longs;
  }

  /** Tells the dictionary that the empty text was seen, in the place of a null. */
  void sawEmpty() {
    texts.ofText("");
  }

  /** Whether values that {@link #read} takes may be {@link #misfits}. */
  boolean mayFail() {
    return mayFail;
  }

  /** Which of the values that {@link #read} took have no form as asked for. */
  ParquetMisfits misfits() {
    return misfits;
  }

  @Override
  public void read(int count) {
    if (count > 0 && start == end) {
      throw exhausted();
    }
    if (count > 0 && type.kind() == ParquetType.Kind.NULL) {
      throw new DataException("got a value in a column of nulls" + ParquetFile.REWRITE);
    }
    if (encoding == Encoding.RLE_DICTIONARY || encoding == Encoding.PLAIN_DICTIONARY) {
      runs.read(indices, count);
      dictionary.lookUp(indices, count, longs, floats, misfits);
      return;
    }
    if (mayFail) {
      misfits.reset(count);
    }
    switch (type.physical()) {
      case INT32 -> readInts(count);
      case INT64 -> readLongs(count);
      case FLOAT -> readFloats(count);
      case DOUBLE -> readDoubles(count);
      case BOOLEAN -> readBooleans(count);
      case BYTE_ARRAY -> arrays.read(longs, count);
      case FIXED_LEN_BYTE_ARRAY, INT96 -> readFixed(count);
    }
    if (texts.haveMarkers() && !use.isTime() && part.isEmpty()) {
      passMarkers(count);
    }
    conversion.convert(longs, floats, count);
    if (part.isPresent()) {
      takeParts(part.get(), count);
    }
  }

  /** Texts, of which there are the hashes, are missing where they are markers. */
  private void passMarkers(int count) {
    for (int i = 0; i < count; i++) {
      if (texts.isMarker(longs[i])) {
        misfits.missing(i);
      }
    }
  }

  /** Puts parts in the place of microseconds. */
  private void takeParts(TimePart part, int count) {
    switch (use) {
      case NUMBER -> {
        for (int i = 0; i < count; i++) {
          floats[i] = part.number(longs[i]);
        }
      }
      case TEXT -> {
        for (int i = 0; i < count; i++) {
          // The text of what is no time is not one of the column's.
          longs[i] = misfits.fits(i) ? texts.ofInteger(part.whole(longs[i]), false) : 0;
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          longs[i] = part.whole(longs[i]);
        }
      }
    }
  }

  private void readFixed(int count) {
    if (encoding == Encoding.DELTA_BYTE_ARRAY) {
      arrays.read(longs, count);
      return;
    }
    int width = type.width();
    byte[] source = data;
    int from = 0;
    if (encoding == Encoding.BYTE_STREAM_SPLIT) {
      gatherBytes(count, width);
      source = gathered;
    } else {
      from = claim(count, width);
    }
    for (int i = 0; i < count; i++) {
      longs[i] = bytes.read(i, source, from, from + width);
      from += width;
    }
  }

  /** Byte k of all values lies in the k-th part of the page: puts the values side by side. */
  private void gatherBytes(int count, int width) {
    int values = (end - position) / width;
    if (count > values - taken) {
      throw exhausted();
    }
    if (gathered.length < count * width) {
      gathered = new byte[count * width];
    }
    for (int k = 0; k < width; k++) {
      int from = position + k * values + taken;
      for (int i = 0; i < count; i++) {
        gathered[i * width + k] = data[from + i];
      }
    }
    taken += count;
  }

  private void readInts(int count) {
    switch (encoding) {
      case DELTA_BINARY_PACKED -> delta.read(longs, 0, count);
      case BYTE_STREAM_SPLIT -> gather(count, 4);
      default -> {
        int from = claim(count, 4);
        for (int i = 0; i < count; i++) {
          longs[i] = (int) INT.get(data, from + 4 * i);
        }
      }
    }
    boolean unsigned = type.kind() == ParquetType.Kind.UINT32;
    for (int i = 0; i < count; i++) {
      longs[i] = unsigned ? longs[i] & 0xFFFF_FFFFL : (int) longs[i];
    }
  }

  private void readLongs(int count) {
    switch (encoding) {
      case DELTA_BINARY_PACKED -> delta.read(longs, 0, count);
      case BYTE_STREAM_SPLIT -> gather(count, 8);
      default -> {
        int from = claim(count, 8);
        MemorySegment.copy(MemorySegment.ofArray(data), LONGS, from, longs, 0, count);
      }
    }
  }

  private void readFloats(int count) {
    if (encoding == Encoding.BYTE_STREAM_SPLIT) {
      gather(count, 4);
      for (int i = 0; i < count; i++) {
        floats[i] = Float.intBitsToFloat((int) longs[i]);
      }
    } else {
      int from = claim(count, 4);
      for (int i = 0; i < count; i++) {
        floats[i] = (float) FLOAT.get(data, from + 4 * i);
      }
    }
    if (!conversion.takesFloats()) {
      for (int i = 0; i < count; i++) {
        longs[i] = Double.doubleToRawLongBits(floats[i]);
      }
    }
  }

  private void readDoubles(int count) {
    if (!conversion.takesFloats()) {
      readLongs(count);
      return;
    }
    if (encoding == Encoding.BYTE_STREAM_SPLIT) {
      gather(count, 8);
      for (int i = 0; i < count; i++) {
        floats[i] = (float) Double.longBitsToDouble(longs[i]);
      }
      return;
    }
    int from = claim(count, 8);
    for (int i = 0; i < count; i++) {
      floats[i] = (float) (double) DOUBLE.get(data, from + 8 * i);
    }
  }

  private void readBooleans(int count) {
    if (encoding == Encoding.RLE) {
      runs.read(indices, count);
      for (int i = 0; i < count; i++) {
        longs[i] = indices[i];
      }
      return;
    }
    if (taken + count > 8L * (end - position)) {
      throw exhausted();
    }
    for (int i = 0; i < count; i++) {
      int bit = taken + i;
      longs[i] = (data[position + (bit >>> 3)] >>> (bit & 7)) & 1L;
    }
    taken += count;
  }

  /** Byte k of all values lies in the k-th part of the page: puts values together in longs. */
  private void gather(int count, int width) {
    int values = (end - position) / width;
    if (count > values - taken) {
      throw exhausted();
    }
    Arrays.fill(longs, 0, count, 0);
    for (int k = 0; k < width; k++) {
      int from = position + k * values + taken;
      for (int i = 0; i < count; i++) {
        longs[i] |= (data[from + i] & 0xFFL) << (8 * k);
      }
    }
    taken += count;
  }

  private int claim(int count, int width) {
    int from = position;
    if ((long) count * width > end - from) {
      throw exhausted();
    }
    position += count * width;
    return from;
  }

  private static DataException exhausted() {
    return new DataException("got fewer values than the page's count" + ParquetFile.REWRITE);
  }
}
