package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.FileKind;
import dev.tern.internal.files.RecordBuffer;
import java.nio.file.Path;
import java.util.stream.IntStream;

/**
 * The header of a HugeCTR Norm file: eight 64-bit integers (check, records, label_dim, dense_dim,
 * slot_num, three of 0), in a frame of its own where the file has checksums.
 */
record NormHeader(NormCheck check, long records, int labels, int dense, int slots) {
  static final int BYTES = 64;
  static final int FRAMED_BYTES = 4 + BYTES + 1;

  private static final int HEAD = 512;
  private static final int MAX_NUMBERS = 1 << 20;
  private static final int MAX_SLOTS = 1 << 16;

  /** Bytes of a record from which on a file must have room for one: columns take memory. */
  private static final int SMALL = 1 << 16;

  /** Reads the header; the next read is the first record. */
  static NormHeader read(Path file, BinaryInput in) {
    int head = in.bring(HEAD);
    FileKind kind = FileKind.of(in.bytes(), head);
    if (kind.isCertain()) {
      throw kind.refused(file, "a Norm file");
    }
    if (!in.has(BYTES)) {
      throw new DataException(
          ("%s: got %s bytes, expected a Norm header of %s; the file is cut short or no "
                  + "Norm file, fetch or write it again")
              .formatted(file, in.size(), BYTES));
    }
    long first = in.peekLong(0);
    if ((int) first == BYTES) {
      return readFramed(file, in);
    }
    if (first == 0) {
      return fields(file, NormCheck.NONE, in).checked(file, in);
    }
    throw new DataException(
        ("%s: byte 0: got error_check %s in a plain header, expected 0, or a frame of "
                + "%s bytes; the file is no Norm file or damaged, check its format")
            .formatted(file, first, BYTES));
  }

  private static NormHeader readFramed(Path file, BinaryInput in) {
    if (!in.has(FRAMED_BYTES)) {
      throw new DataException(
          "%s: got %s bytes, expected a Norm header of %s; the file is cut short, fetch or write it again"
              .formatted(file, in.size(), FRAMED_BYTES));
    }
    byte sum = in.sum(4, BYTES);
    in.readInt();
    long check = in.peekLong(0);
    if (check != 1) {
      throw new DataException(
          ("%s: byte 4: got error_check %s in a framed header, expected 1; the file is "
                  + "no Norm file or damaged, check its format")
              .formatted(file, check));
    }
    NormHeader header = fields(file, NormCheck.SUM, in);
    byte expected = in.readByte();
    if (sum != expected) {
      throw new DataException(
          ("%s: byte %s: got checksum %s of the header, expected %s as stored; the file "
                  + "is damaged, fetch or write it again")
              .formatted(file, FRAMED_BYTES - 1, sum, expected));
    }
    return header.checked(file, in);
  }

  private static NormHeader fields(Path file, NormCheck check, BinaryInput in) {
    in.readLong();
    long records = bounded(file, in, "number_of_records", Long.MAX_VALUE);
    int labels = (int) bounded(file, in, "label_dim", MAX_NUMBERS);
    int dense = (int) bounded(file, in, "dense_dim", MAX_NUMBERS);
    int slots = (int) bounded(file, in, "slot_num", MAX_SLOTS);
    in.seek(in.offset() + 3 * Long.BYTES);
    return new NormHeader(check, records, labels, dense, slots);
  }

  /** This header, whose columns take memory and whose records take room in the file. */
  private NormHeader checked(Path file, BinaryInput in) {
    if (check == NormCheck.NONE && records > 0 && emptyBytes() == 0) {
      throw new DataException(
          ("%s: byte 8: got %s records without columns, expected labels, dense numbers or slots;"
                  + " the file is no Norm file or damaged, check its format")
              .formatted(file, records));
    }
    if (emptyBytes() > Math.max(in.remaining(), SMALL)) {
      throw new DataException(
          ("%s: byte 16: got %s in a file of %s bytes, expected columns that one record has room"
                  + " for; the file is no Norm file or damaged, check its format")
              .formatted(file, shape(), in.size()));
    }
    return this;
  }

  private static long bounded(Path file, BinaryInput in, String name, long max) {
    long at = in.offset();
    long value = in.readLong();
    if (value < 0 || value > max) {
      throw new DataException(
          ("%s: byte %s: got %s %s, expected 0 to %s; the file is no Norm file or "
                  + "damaged, check its format")
              .formatted(file, at, name, value, max));
    }
    return value;
  }

  /** Puts the header, framed where it has checksums. */
  void put(RecordBuffer buffer) {
    if (check == NormCheck.SUM) {
      buffer.putInt(BYTES);
    }
    int start = buffer.size();
    buffer.putLong(check == NormCheck.SUM ? 1 : 0);
    buffer.putLong(records);
    buffer.putLong(labels);
    buffer.putLong(dense);
    buffer.putLong(slots);
    for (int i = 0; i < 3; i++) {
      buffer.putLong(0);
    }
    if (check == NormCheck.SUM) {
      buffer.putByte(buffer.sum(start));
    }
  }

  /** Puts a header as it lies in a file, but with another number of records. */
  static void putRecords(byte[] header, long records, RecordBuffer buffer) {
    int frame = header.length == FRAMED_BYTES ? Integer.BYTES : 0;
    int start = buffer.size() + frame;
    buffer.putBytes(header, 0, frame + Long.BYTES);
    buffer.putLong(records);
    buffer.putBytes(header, frame + 2 * Long.BYTES, frame + BYTES);
    if (frame > 0) {
      buffer.putByte(buffer.sum(start));
    }
  }

  /** Bytes of the header in a file. */
  int bytes() {
    return check == NormCheck.SUM ? FRAMED_BYTES : BYTES;
  }

  /** Bytes of labels and dense numbers in a record. */
  int fixedBytes() {
    return 4 * (labels + dense);
  }

  /** Bytes of a record without ids. */
  int emptyBytes() {
    return fixedBytes() + 4 * slots;
  }

  /** Records that a file of {@code bytes} has room for, a last one cut short too. */
  long room(long bytes) {
    return Math.min(records, bytes / Math.max(1, emptyBytes()) + 1);
  }

  /** A header without records for rows of {@code schema}. */
  static NormHeader of(Schema schema) {
    return new NormHeader(
        NormCheck.NONE, 0, schema.labelDim(), schema.denseDim(), schema.slotCount());
  }

  /** Whether columns are as many; of labels only where they are {@code read}. */
  boolean sameShape(NormHeader other, boolean read) {
    return (labels == other.labels || !read) && dense == other.dense && slots == other.slots;
  }

  String shape() {
    return "label_dim " + labels + ", dense_dim " + dense + ", slot_num " + slots;
  }

  /** Names for columns that have none: label0, dense0, slot0 and so on; slots of any hotness. */
  Schema unnamed() {
    return new Schema(
        IntStream.range(0, labels).mapToObj(i -> "label" + i).toList(),
        IntStream.range(0, dense).mapToObj(i -> "dense" + i).toList(),
        IntStream.range(0, slots).mapToObj(i -> Slot.ragged("slot" + i)).toList());
  }
}
