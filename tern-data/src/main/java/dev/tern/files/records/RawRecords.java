package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Slot;
import dev.tern.files.KeyType;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.RecordSource;
import dev.tern.internal.files.TimeOrder;
import java.nio.file.Path;

/** The samples of one Raw file as they are, with the key of each. */
final class RawRecords implements RecordSource {
  private final Path file;
  private final RawOptions options;
  private final RecordKey key;
  private final BinaryInput in;
  private final int sampleBytes;
  private final long rows;

  /** Where in a sample the key is, and how many ids it has. */
  private final int keyAt;

  private final int keyCount;
  private long row;
  private int start;

  private RawRecords(Path file, RawOptions options, RecordKey key, BinaryInput in) {
    this.file = file;
    this.options = options;
    this.key = key;
    this.in = in;
    sampleBytes = options.sampleBytes();
    rows = in.size() / sampleBytes;
    int at = 4 * options.schema().labelDim();
    int denseEnd = at + 4 * options.schema().denseDim();
    int before =
        options.schema().slots().stream()
            .limit(Math.max(0, key.slot()))
            .mapToInt(Slot::hotness)
            .sum();
    keyAt =
        key.slot() >= 0
            ? denseEnd + before * options.keys().bytes()
            : at + 4 * Math.max(0, key.dense());
    keyCount = key.slot() >= 0 ? options.schema().slots().get(key.slot()).hotness() : 0;
  }

  static RawRecords open(Path file, RawOptions options, RecordKey key) {
    return new RawRecords(file, options, key, BinaryInput.open(file));
  }

  @Override
  public boolean next(Batch keys) {
    if (row == rows) {
      return false;
    }
    if (!in.has(sampleBytes)) {
      throw new DataException(
          "%s: row %s, byte %s: got a file that became shorter than %s samples while it was read; read it again"
              .formatted(file, row + 1, in.offset(), rows));
    }
    for (int i = 0; i < keyCount; i++) {
      keys.addId(0, id(keyAt + i * options.keys().bytes()));
    }
    if (key.dense() >= 0) {
      addNumber(keys);
    }
    keys.endRow();
    start = in.position();
    row++;
    in.seek(in.offset() + sampleBytes);
    return true;
  }

  private long id(int at) {
    if (options.keys() == KeyType.I64) {
      return in.peekLong(at);
    }
    int id = in.peekInt(at);
    return options.keys() == KeyType.U32 ? Integer.toUnsignedLong(id) : id;
  }

  /** Adds the dense number; of an integer itself, as its logarithm has the same order. */
  private void addNumber(Batch keys) {
    int bits = in.peekInt(keyAt);
    if (options.dense() != RawOptions.Dense.FLOAT) {
      keys.addId(0, bits);
    } else if (!Float.isNaN(Float.intBitsToFloat(bits))) {
      keys.addId(0, TimeOrder.of((double) Float.intBitsToFloat(bits)));
    }
  }

  @Override
  public byte[] bytes() {
    return in.bytes();
  }

  @Override
  public int start() {
    return start;
  }

  @Override
  public int end() {
    return start + sampleBytes;
  }

  @Override
  public String where() {
    return "%s: row %s, byte %s".formatted(file, row, in.offset() - sampleBytes);
  }

  @Override
  public long left() {
    return rows - row;
  }

  @Override
  public void close() {
    in.close();
  }
}
