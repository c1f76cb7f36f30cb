package dev.tern.embedding;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * PaddlePaddle's format of SelectedRows, little-endian (SerializeToStream of
 * paddle/fluid/framework/selected_rows.cc, TensorToStream of tensor_util.cc):
 *
 * <pre>
 * uint32   version, 0
 * uint64   n, then n numbers of rows, int64 each
 * int64    rows of the matrix; -1 if unbounded
 * uint32   version of the tensor, 0
 * int32    bytes of the protocol buffer TensorDesc that follows:
 *          field 1 varint data type (5 is FP32), field 2 varint, repeated: sizes, here n and W
 * float32  n x W values, row-major
 * </pre>
 */
final class SelectedRowsStream {
  private static final int FP32 = 5;
  private static final int TYPE_FIELD = 1;
  private static final int SIZE_FIELD = 2;
  private static final int VARINT = 0;
  private static final int MAX_DESCRIPTION = 1024;

  /** Bytes read at once. A wrong count then takes no more memory than the stream has bytes. */
  private static final int BLOCK = 1 << 16;

  private final InputStream in;
  private final String name;
  private long offset;

  SelectedRowsStream(InputStream in, String name) {
    this.in = in;
    this.name = name;
  }

  static void write(long height, int width, long[] rows, float[] values, OutputStream out)
      throws IOException {
    ByteBuffer block = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
    block.putInt(0).putLong(rows.length);
    for (long row : rows) {
      flush(block, out, Long.BYTES);
      block.putLong(row);
    }
    flush(block, out, 64);
    block.putLong(height).putInt(0);
    int size = block.position();
    block.putInt(0);
    putVarint(block, TYPE_FIELD << 3 | VARINT);
    putVarint(block, FP32);
    putVarint(block, SIZE_FIELD << 3 | VARINT);
    putVarint(block, rows.length);
    putVarint(block, SIZE_FIELD << 3 | VARINT);
    putVarint(block, width);
    block.putInt(size, block.position() - size - Integer.BYTES);
    for (float value : values) {
      flush(block, out, Float.BYTES);
      block.putFloat(value);
    }
    out.write(block.array(), 0, block.position());
  }

  /** Writes the block out if it has less room than {@code room} bytes. */
  private static void flush(ByteBuffer block, OutputStream out, int room) throws IOException {
    if (block.remaining() < room) {
      out.write(block.array(), 0, block.position());
      block.clear();
    }
  }

  private static void putVarint(ByteBuffer block, int value) {
    int rest = value;
    for (; rest > 127; rest >>>= 7) {
      block.put((byte) (rest | 128));
    }
    block.put((byte) rest);
  }

  SelectedRows read() throws IOException {
    requireVersion("selected rows", bytes(4).getInt());
    long count = bytes(8).getLong();
    require(count >= 0 && count <= Integer.MAX_VALUE, 8, count + " rows", "0 to 2^31 - 1");
    long firstRow = offset;
    long[] rows = longs((int) count);
    long height = bytes(8).getLong();
    require(
        height >= SelectedRows.UNBOUNDED, 8, "a height of " + height, "0 or more, or -1 for none");
    for (int i = 0; i < rows.length; i++) {
      if (!SelectedRows.isWithin(rows[i], height)) {
        throw bad(
            firstRow + 8L * i, "number %d of row %d".formatted(rows[i], i), "0 to " + (height - 1));
      }
    }
    requireVersion("tensor", bytes(4).getInt());
    int width = width(rows.length);
    require(
        (long) rows.length * width <= Integer.MAX_VALUE - 8,
        0,
        "%d x %d values".formatted(rows.length, width),
        "less than 2^31");
    return new SelectedRows(height, width, rows, floats(rows.length * width));
  }

  private void requireVersion(String what, int version) {
    require(version == 0, 4, "version " + version + " of " + what, "version 0");
  }

  /** Reads the TensorDesc of the values of {@code count} rows; returns their columns. */
  private int width(int count) throws IOException {
    int size = bytes(4).getInt();
    require(
        size >= 0 && size <= MAX_DESCRIPTION,
        4,
        "a tensor description of " + size + " bytes",
        "0 to " + MAX_DESCRIPTION);
    long start = offset;
    ByteBuffer description = bytes(size);
    long type = -1;
    List<Long> sizes = new ArrayList<>();
    while (description.hasRemaining()) {
      long key = varint(description, start);
      if (key == (SIZE_FIELD << 3 | VARINT)) {
        sizes.add(varint(description, start));
      } else {
        require(
            key == (TYPE_FIELD << 3 | VARINT),
            size,
            "field %d of kind %d in a tensor description".formatted(key >>> 3, key & 7),
            "a data type, field 1, and sizes, field 2, of kind 0");
        type = varint(description, start);
      }
    }
    require(type == FP32, size, "data type " + type, "5, which is FP32; save the rows as FP32");
    require(
        sizes.size() == 2
            && sizes.get(0) == count
            && sizes.get(1) >= 1
            && sizes.get(1) <= Integer.MAX_VALUE,
        size,
        "values of sizes " + sizes,
        "[%d, width]".formatted(count));
    return sizes.get(1).intValue();
  }

  private long varint(ByteBuffer buffer, long start) {
    long value = 0;
    for (int shift = 0; shift < 64 && buffer.hasRemaining(); shift += 7) {
      byte next = buffer.get();
      value |= (next & 127L) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw bad(start + buffer.position(), "a number without an end", "one of at most 10 bytes");
  }

  private long[] longs(int count) throws IOException {
    List<ByteBuffer> blocks = blocks(count, Long.BYTES);
    LongBuffer numbers = LongBuffer.allocate(count);
    blocks.forEach(block -> numbers.put(block.asLongBuffer()));
    return numbers.array();
  }

  private float[] floats(int count) throws IOException {
    List<ByteBuffer> blocks = blocks(count, Float.BYTES);
    FloatBuffer numbers = FloatBuffer.allocate(count);
    blocks.forEach(block -> numbers.put(block.asFloatBuffer()));
    return numbers.array();
  }

  /** Reads {@code count} numbers of {@code bytes} bytes each. */
  private List<ByteBuffer> blocks(int count, int bytes) throws IOException {
    List<ByteBuffer> blocks = new ArrayList<>();
    for (int left = count; left > 0; left -= BLOCK / bytes) {
      blocks.add(bytes(bytes * Math.min(left, BLOCK / bytes)));
    }
    return blocks;
  }

  private ByteBuffer bytes(int count) throws IOException {
    byte[] read = in.readNBytes(count);
    offset += read.length;
    if (read.length < count) {
      throw bad(
          offset,
          "the end of the data",
          "%d bytes more; the file is cut off".formatted(count - read.length));
    }
    return ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Unless {@code right}, throws an error that names the byte {@code back} bytes ago. */
  private void require(boolean right, int back, String got, String expected) {
    if (!right) {
      throw bad(offset - back, got, expected);
    }
  }

  private DataException bad(long at, String got, String expected) {
    return new DataException("%s: byte %d: got %s, expected %s".formatted(name, at, got, expected));
  }
}
