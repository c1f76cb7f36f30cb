package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** An I64 array of a file, to be read at any place or written from its beginning. */
public final class LongColumn {
  private final SafeTensors file;
  private final String name;
  private final long size;
  private ByteBuffer bytes = ByteBuffer.allocateDirect(0);
  private long written;

  public LongColumn(SafeTensors file, String name) {
    this.file = file;
    this.name = name;
    size = file.entry(name).elements();
  }

  /** The array {@code name} of an open file; throws if it is not I64. */
  static LongColumn open(Path path, SafeTensors file, String name) {
    DType got = file.entry(name).type();
    if (got != DType.I64) {
      throw new DataException(
          path + ": got " + name + " stored as " + got + ", expected I64; the file is damaged");
    }
    return new LongColumn(file, name);
  }

  long size() {
    return size;
  }

  public void append(long[] values, int count) {
    prepare(count);
    bytes.asLongBuffer().put(values, 0, count);
    file.write(name, Long.BYTES * written, bytes);
    written += count;
  }

  /** Reads elements {@code [from, from + count)} into {@code into[0 .. count)}. */
  public void read(long from, long[] into, int count) {
    prepare(count);
    file.read(name, Long.BYTES * from, bytes);
    bytes.flip().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(into, 0, count);
  }

  private void prepare(int count) {
    if (bytes.capacity() < Long.BYTES * count) {
      bytes = ByteBuffer.allocateDirect(Long.BYTES * count);
    }
    bytes.order(ByteOrder.LITTLE_ENDIAN).clear().limit(Long.BYTES * count);
  }
}
