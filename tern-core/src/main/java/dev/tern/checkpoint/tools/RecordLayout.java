package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What a record of a sparse model file of HugeCTR (2.x and 3.0) holds, one record a row: a key, in
 * localized embeddings the number of its slot (uint64), then the weights (float32). Little-endian,
 * without padding. The files do not say which of them they hold.
 */
public enum RecordLayout {
  /** A key of 4 bytes, unsigned. */
  U32(4, 0),
  /** A key of 4 bytes, unsigned, and a slot. */
  U32_SLOT(4, 8),
  /** A key of 8 bytes, signed. */
  I64(8, 0),
  /** A key of 8 bytes, signed, and a slot. */
  I64_SLOT(8, 8);

  private final int keyBytes;
  private final int slotBytes;

  RecordLayout(int keyBytes, int slotBytes) {
    this.keyBytes = keyBytes;
    this.slotBytes = slotBytes;
  }

  /** The one layout whose records fill a file of {@code bytes} wholly. */
  static RecordLayout only(Path file, long bytes, int width) {
    List<RecordLayout> fitting =
        Arrays.stream(values()).filter(layout -> bytes % layout.bytes(width) == 0).toList();
    if (fitting.isEmpty()) {
      throw new DataException(
          "%s: got its end at byte offset %d, expected whole records of %d weights, %s; the file is cut short, or its rows are of another width"
              .formatted(file, bytes, width, described(List.of(values()), width)));
    }
    if (fitting.size() > 1) {
      throw new DataException(
          "%s: got %d bytes, expected a length that fits one layout of records of %d weights, not %s; name the layout (--record)"
              .formatted(file, bytes, width, described(fitting, width)));
    }
    return fitting.getFirst();
  }

  /** Refuses a file of {@code bytes} that ends within a record. */
  void requireWhole(Path file, long bytes, int width) {
    long rest = bytes % bytes(width);
    if (rest != 0) {
      throw new DataException(
          "%s: got %d bytes of a record at byte offset %d, expected %s; the file is cut short, or its records are laid out otherwise"
              .formatted(file, rest, bytes - rest, described(List.of(this), width)));
    }
  }

  private static String described(List<RecordLayout> layouts, int width) {
    return layouts.stream()
        .map(layout -> layout + " (" + layout.bytes(width) + " bytes)")
        .collect(Collectors.joining(" or "));
  }

  /** The name as options take it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Bytes of a record of {@code width} weights. */
  int bytes(int width) {
    return weightsAt() + Float.BYTES * width;
  }

  /** Where the weights of a record begin. */
  int weightsAt() {
    return keyBytes + slotBytes;
  }

  boolean hasSlot() {
    return slotBytes > 0;
  }

  /** The key of the record at {@code at}. */
  long key(ByteBuffer records, int at) {
    return keyBytes == Integer.BYTES
        ? Integer.toUnsignedLong(records.getInt(at))
        : records.getLong(at);
  }

  /** The slot of the record at {@code at}, where it has one. */
  long slot(ByteBuffer records, int at) {
    return records.getLong(at + keyBytes);
  }
}
