package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The layout of a record in a sparse model file of HugeCTR 2.x and 3.0, which has one record a row:
 * a key, then in localized embeddings the number of the slot (uint64), then the weights (float32).
 * Little-endian, without padding. The files do not name their layout.
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

  /** The only layout whose whole records make {@code bytes}; throws if none or several fit. */
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

  /** Throws if a file of {@code bytes} ends within a record. */
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

  /** The name of the layout in options. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Bytes of a record of {@code width} weights. */
  int bytes(int width) {
    return weightsAt() + Float.BYTES * width;
  }

  /** Byte in a record at which the weights begin. */
  int weightsAt() {
    return keyBytes + slotBytes;
  }

  boolean hasSlot() {
    return slotBytes > 0;
  }

  /** The key of the record that begins at byte {@code at}. */
  long key(ByteBuffer records, int at) {
    return keyBytes == Integer.BYTES
        ? Integer.toUnsignedLong(records.getInt(at))
        : records.getLong(at);
  }

  /** The slot of the record that begins at byte {@code at}; only if {@link #hasSlot}. */
  long slot(ByteBuffer records, int at) {
    return records.getLong(at + keyBytes);
  }
}
