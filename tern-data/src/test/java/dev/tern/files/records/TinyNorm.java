package dev.tern.files.records;

import dev.tern.files.Rows;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * HugeCTR's Norm format once more, written from its description and sharing nothing with the code
 * under test: the shortest reader and writer that can be.
 */
final class TinyNorm {
  private TinyNorm() {}

  static byte[] write(
      List<Rows.Row> rows, int labels, int dense, int slots, boolean sum, boolean i64) {
    ByteBuffer out = ByteBuffer.allocate(1 << 22).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer header = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(sum ? 1 : 0).putLong(rows.size()).putLong(labels).putLong(dense).putLong(slots);
    put(out, header.array(), sum);
    for (Rows.Row row : rows) {
      ByteBuffer sample = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
      row.labels().forEach(sample::putFloat);
      row.dense().forEach(sample::putFloat);
      for (List<Long> ids : row.ids()) {
        sample.putInt(ids.size());
        for (long id : ids) {
          if (i64) {
            sample.putLong(id);
          } else {
            sample.putInt((int) id);
          }
        }
      }
      put(out, java.util.Arrays.copyOf(sample.array(), sample.position()), sum);
    }
    return java.util.Arrays.copyOf(out.array(), out.position());
  }

  private static void put(ByteBuffer out, byte[] payload, boolean sum) {
    if (sum) {
      out.putInt(payload.length);
    }
    out.put(payload);
    if (sum) {
      byte check = 0;
      for (byte value : payload) {
        check += value;
      }
      out.put(check);
    }
  }

  static List<Rows.Row> read(byte[] file, boolean sum, boolean i64) {
    ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    frame(in, sum, 64);
    if (in.getLong() != (sum ? 1 : 0)) {
      throw new AssertionError("error_check");
    }
    long records = in.getLong();
    long labels = in.getLong();
    long dense = in.getLong();
    long slots = in.getLong();
    if (in.getLong() != 0 || in.getLong() != 0 || in.getLong() != 0) {
      throw new AssertionError("reserved");
    }
    in.position(in.position() + (sum ? 1 : 0));
    List<Rows.Row> rows = new ArrayList<>();
    for (long r = 0; r < records; r++) {
      int end = frame(in, sum, -1);
      List<Float> label = floats(in, labels);
      List<Float> number = floats(in, dense);
      List<List<Long>> ids = new ArrayList<>();
      for (long s = 0; s < slots; s++) {
        List<Long> slot = new ArrayList<>();
        for (int left = in.getInt(); left > 0; left--) {
          slot.add(i64 ? in.getLong() : in.getInt() & 0xFFFFFFFFL);
        }
        ids.add(slot);
      }
      rows.add(new Rows.Row(label, number, ids));
      if (sum && in.position() != end) {
        throw new AssertionError("frame");
      }
      in.position(in.position() + (sum ? 1 : 0));
    }
    if (in.hasRemaining()) {
      throw new AssertionError("surplus");
    }
    return rows;
  }

  /** Reads a frame's length and checks its sum; returns where its payload ends. */
  private static int frame(ByteBuffer in, boolean sum, int expected) {
    if (!sum) {
      return -1;
    }
    int length = in.getInt();
    if (expected >= 0 && length != expected) {
      throw new AssertionError("length " + length);
    }
    int total = 0;
    for (int i = 0; i < length; i++) {
      total += in.get(in.position() + i);
    }
    if ((byte) total != in.get(in.position() + length)) {
      throw new AssertionError("checksum");
    }
    return in.position() + length;
  }

  private static List<Float> floats(ByteBuffer in, long count) {
    List<Float> list = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      list.add(in.getFloat());
    }
    return list;
  }
}
