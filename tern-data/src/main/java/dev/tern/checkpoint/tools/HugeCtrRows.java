package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** Reads the rows of a table from a sparse model of HugeCTR. */
final class HugeCtrRows {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final String AGAIN = "export the model again";

  private HugeCtrRows() {}

  /**
   * Reads the rows of some slots of a model, or all rows of a model without slots.
   *
   * @param layout layout of the records of a file; empty to find it by the length of the file
   */
  static ImportedRows read(Path model, int width, Set<Integer> slots, Optional<RecordLayout> layout)
      throws IOException {
    if (!Files.isDirectory(model)) {
      return file(model, width, slots, layout);
    }
    if (layout.isPresent()) {
      throw new DataException(
          "%s: got a folder and the layout %s of records, expected a file of them; leave the layout out (--record)"
              .formatted(model, layout.get()));
    }
    return folder(model, width, slots);
  }

  private static ImportedRows folder(Path folder, int width, Set<Integer> wanted)
      throws IOException {
    Path keyFile = folder.resolve(TableExport.KEY);
    Path slots = folder.resolve(TableExport.SLOT);
    ImportedRows rows = new ImportedRows(keyFile, "byte offset", AGAIN, width);
    boolean several = Files.exists(slots);
    long keys = Files.size(keyFile) / Long.BYTES;
    requireSize(keyFile, Long.BYTES * keys, width);
    requireSize(folder.resolve(TableExport.VECTOR), 4L * width * keys, width);
    if (several) {
      requireSize(slots, Long.BYTES * keys, width);
    }
    float[] row = new float[width];
    try (FileChannel key = FileChannel.open(keyFile);
        FileChannel vector = FileChannel.open(folder.resolve(TableExport.VECTOR));
        FileChannel number = FileChannel.open(several ? slots : keyFile)) {
      int block = Math.max(1, BLOCK_BYTES / (4 * width));
      for (long from = 0; from < keys; from += block) {
        int length = (int) Math.min(block, keys - from);
        ByteBuffer blockKeys = read(key, 8 * from, 8 * length);
        ByteBuffer blockSlots = read(number, 8 * from, 8 * length);
        ByteBuffer blockWeights = read(vector, 4L * width * from, 4 * width * length);
        for (int i = 0; i < length; i++) {
          if (!several || isOf(wanted, blockSlots.getLong(8 * i))) {
            weights(blockWeights, 4 * width * i, row);
            rows.add(blockKeys.getLong(8 * i), row, 8 * (from + i));
          }
        }
      }
    }
    return rows.checked();
  }

  private static ImportedRows file(
      Path file, int width, Set<Integer> slots, Optional<RecordLayout> given) throws IOException {
    long bytes = Files.size(file);
    RecordLayout layout = given.orElseGet(() -> RecordLayout.only(file, bytes, width));
    layout.requireWhole(file, bytes, width);
    int record = layout.bytes(width);
    int block = record * Math.max(1, BLOCK_BYTES / record);
    ImportedRows rows =
        new ImportedRows(file, "byte offset", AGAIN + ", or check the layout of records", width);
    float[] row = new float[width];
    try (FileChannel channel = FileChannel.open(file)) {
      for (long from = 0; from < bytes; from += block) {
        int length = (int) Math.min(block, bytes - from);
        ByteBuffer records = read(channel, from, length);
        for (int at = 0; at < length; at += record) {
          if (!layout.hasSlot() || isOf(slots, slot(file, layout, records, from, at))) {
            weights(records, at + layout.weightsAt(), row);
            rows.add(layout.key(records, at), row, from + at);
          }
        }
      }
    }
    return rows.checked();
  }

  private static boolean isOf(Set<Integer> slots, long slot) {
    return slot == (int) slot && slots.contains((int) slot);
  }

  /** The slot of a record; throws if it is too large, which means another layout of records. */
  private static long slot(Path file, RecordLayout layout, ByteBuffer records, long from, int at) {
    long slot = layout.slot(records, at);
    if (slot >>> 31 != 0) {
      throw new DataException(
          "%s: record at byte offset %d: got slot %s, expected one below 2^31; its records are laid out otherwise than %s"
              .formatted(file, from + at, Long.toUnsignedString(slot), layout));
    }
    return slot;
  }

  private static void weights(ByteBuffer from, int at, float[] row) {
    for (int j = 0; j < row.length; j++) {
      row[j] = from.getFloat(at + Float.BYTES * j);
    }
  }

  private static ByteBuffer read(FileChannel from, long at, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (from.read(buffer, at + buffer.position()) < 0) {
        throw new IOException("it ended early");
      }
    }
    return buffer.flip();
  }

  private static void requireSize(Path file, long bytes, int width) throws IOException {
    if (Files.size(file) != bytes) {
      throw new DataException(
          "%s: got %d bytes, expected %d for rows of %d weights; %s, or check the width of the embedding"
              .formatted(file, Files.size(file), bytes, width, AGAIN));
    }
  }
}
