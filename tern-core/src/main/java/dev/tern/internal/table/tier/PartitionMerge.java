package dev.tern.internal.table.tier;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;

/**
 * Merges rows with the records of a partition of {@link ColdRows}, from one place of a file to
 * another, and writes the summary of the new records. Records of any number pass through one buffer
 * for reading and one for writing.
 */
final class PartitionMerge {
  private static final long LEAST_BUFFER = 1 << 12;
  private static final long MOST_BUFFER = 1 << 18;

  private final int idOffset;
  private final int recordBytes;
  private final int blockRecords;
  private final ScratchFile file;
  private final Allocator allocator;

  /** Bytes of a buffer, whole records. */
  private final long buffer;

  private final long input;
  private final long output;

  // Records in the input that nobody has looked at, and where in the file the next ones lie.
  private long at;
  private long end;
  private long source;
  private long sourceEnd;

  // Where the next record goes in the output, and where in the file the output goes.
  private long to;
  private long target;

  // What is written, how many records of it were, where its next fence goes, and how many records
  // come before the next block.
  private ColdPartition merged = ColdPartition.EMPTY;
  private int written;
  private long fence;
  private int untilBlock;

  /** With about {@code buffers} bytes of memory. */
  PartitionMerge(
      int idOffset,
      int blockRecords,
      long buffers,
      ScratchFile file,
      Allocator allocator,
      String holder) {
    this.idOffset = idOffset;
    this.blockRecords = blockRecords;
    this.file = file;
    this.allocator = allocator;
    recordBytes = idOffset + Long.BYTES;
    long each = Math.clamp(buffers / 2, LEAST_BUFFER, MOST_BUFFER);
    buffer = Math.max(1, each / recordBytes) * recordBytes;
    input = allocator.allocate(2 * buffer, holder);
    output = input + buffer;
  }

  long bytes() {
    return 2 * buffer;
  }

  private void startReading(ColdPartition from) {
    at = input;
    end = input;
    source = from.offset();
    sourceEnd = source + (long) from.count() * recordBytes;
  }

  /**
   * Merges rows with the records that their partition had {@code before}, and writes records and
   * summary of the new partition.
   *
   * @throws IllegalStateException if that makes other than the expected number of records
   */
  void run(ColdMerge merge, ColdPartition before) {
    merged = merge.merged();
    written = 0;
    fence = merged.fences();
    untilBlock = 0;
    Memory.zero(merged.filter(), 8L * merged.words());
    startReading(before);
    to = output;
    target = merged.offset();
    for (int i = 0; i < merge.count(); i++) {
      long hash = merge.rows().hashes()[i];
      copyBelow(hash, false);
      if (hasRecord() && hashAt(at) == hash) {
        at += recordBytes;
      }
      note(hash);
      put(merge.address(i), recordBytes);
    }
    copyBelow(0, true);
    flush();
    if (written != merged.count()) {
      throw damaged();
    }
  }

  private IllegalStateException damaged() {
    return new IllegalStateException(
        "file tier: got %d rows of a partition or more, expected %d; its file was damaged"
            .formatted(written, merged.count()));
  }

  /** Whether a record is left; if so, reads it into the input. */
  private boolean hasRecord() {
    if (at == end && source < sourceEnd) {
      long bytes = Math.min(buffer, sourceEnd - source);
      file.read(source, input, bytes);
      source += bytes;
      at = input;
      end = input + bytes;
    }
    return at < end;
  }

  private long hashAt(long record) {
    return Hashing.mix(Memory.getLong(record + idOffset));
  }

  /** Copies the records whose hashes are below one, or all records. */
  private void copyBelow(long hash, boolean all) {
    while (hasRecord()) {
      long from = at;
      while (at < end) {
        long other = hashAt(at);
        if (!all && Long.compareUnsigned(other, hash) >= 0) {
          break;
        }
        note(other);
        at += recordBytes;
      }
      put(from, at - from);
      if (at < end) {
        return;
      }
    }
  }

  /** Puts the next record into the summary. */
  private void note(long hash) {
    if (written == merged.count()) {
      throw damaged();
    }
    if (untilBlock == 0) {
      Memory.setInt(fence, (int) (hash >>> 32));
      fence += Integer.BYTES;
      untilBlock = blockRecords;
    }
    untilBlock--;
    if (merged.words() > 0) {
      long word = merged.filter() + 8 * ColdRows.word(hash, merged.words());
      Memory.setLong(word, Memory.getLong(word) | ColdRows.filterBits(hash));
    }
    written++;
  }

  private void put(long from, long bytes) {
    for (long done = 0; done < bytes; ) {
      long part = Math.min(bytes - done, output + buffer - to);
      Memory.copy(from + done, to, part);
      to += part;
      done += part;
      if (to == output + buffer) {
        flush();
      }
    }
  }

  private void flush() {
    file.write(target, output, to - output);
    target += to - output;
    to = output;
  }

  void read(ColdPartition from, IdIndex.IdSink sink) {
    startReading(from);
    while (hasRecord()) {
      for (; at < end; at += recordBytes) {
        sink.accept(Memory.getLong(at + idOffset));
      }
    }
  }

  void free() {
    allocator.free(input);
  }
}
