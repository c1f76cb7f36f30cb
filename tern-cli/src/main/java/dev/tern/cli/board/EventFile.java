package dev.tern.cli.board;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * A file of scalars as TensorBoard reads it: records of protocol buffers, each with its length and
 * masked CRC-32C sums. The first record is the version of the format.
 */
final class EventFile implements AutoCloseable {
  private static final int VERSION = 3;
  private static final int SUMMARY = 5;
  private static final int SESSION = 7;
  private static final int BYTES = 2;
  private static final int FLOAT = 5;

  private final OutputStream out;

  private EventFile(OutputStream out) {
    this.out = out;
  }

  /**
   * Makes a file.
   *
   * @param folder made where it is missing
   * @param second since 1970, a part of the file's name, by which TensorBoard orders files
   */
  static EventFile create(Path folder, long second) throws IOException {
    Files.createDirectories(folder);
    for (int number = 0; ; number++) {
      Path file =
          folder.resolve(
              "events.out.tfevents.%010d.tern.%d.%d"
                  .formatted(second, ProcessHandle.current().pid(), number));
      if (!Files.exists(file)) {
        EventFile events = new EventFile(new BufferedOutputStream(Files.newOutputStream(file)));
        events.out.write(version(second));
        return events;
      }
    }
  }

  /** Says that what was told of {@code step} and later steps before is void. */
  void begin(double second, long step) throws IOException {
    out.write(record(event(second, step, SESSION, new byte[] {1 << 3, 1})));
  }

  /** Adds a value. */
  void scalar(double second, long step, String tag, float value) throws IOException {
    out.write(scalarRecord(second, step, tag, value));
  }

  void flush() throws IOException {
    out.flush();
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /** The first record. */
  static byte[] version(double second) {
    return record(event(second, 0, VERSION, "brain.Event:2".getBytes(StandardCharsets.UTF_8)));
  }

  /** The record of a value. */
  static byte[] scalarRecord(double second, long step, String tag, float value) {
    byte[] name = tag.getBytes(StandardCharsets.UTF_8);
    ByteBuffer inner = buffer(name.length + 16);
    field(inner, 1, BYTES);
    varint(inner, name.length);
    inner.put(name);
    field(inner, 2, FLOAT);
    inner.putFloat(value);
    ByteBuffer summary = buffer(inner.position() + 16);
    field(summary, 1, BYTES);
    varint(summary, inner.position());
    summary.put(inner.flip());
    return record(event(second, step, SUMMARY, bytes(summary)));
  }

  /** An event of time, step (none for 0) and one more field. */
  private static byte[] event(double second, long step, int number, byte[] content) {
    ByteBuffer event = buffer(content.length + 40);
    field(event, 1, 1);
    event.putDouble(second);
    if (step != 0) {
      field(event, 2, 0);
      varint(event, step);
    }
    field(event, number, BYTES);
    varint(event, content.length);
    event.put(content);
    return bytes(event);
  }

  private static byte[] record(byte[] data) {
    ByteBuffer record = buffer(data.length + 16);
    record.putLong(data.length);
    record.putInt(masked(record.array(), 0, 8));
    record.put(data);
    record.putInt(masked(data, 0, data.length));
    return record.array();
  }

  private static int masked(byte[] bytes, int from, int length) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, from, length);
    return Integer.rotateRight((int) sum.getValue(), 15) + 0xa282ead8;
  }

  private static void field(ByteBuffer to, int number, int wire) {
    to.put((byte) (number << 3 | wire));
  }

  private static void varint(ByteBuffer to, long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      to.put((byte) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    to.put((byte) rest);
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] bytes(ByteBuffer written) {
    byte[] bytes = new byte[written.position()];
    written.flip().get(bytes);
    return bytes;
  }
}
