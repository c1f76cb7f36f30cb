package dev.tern.files.records;

import dev.tern.data.Batch;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.RecordSource;
import dev.tern.internal.files.TimeOrder;

/** The records of one Norm file as they are, with their frames and the key of each. */
final class NormRecords implements RecordSource {
  private final NormFile file;
  private final BinaryInput in;
  private final RecordKey key;

  /** The record last read, alone. */
  private final Batch row;

  private int start;
  private int end;

  NormRecords(NormFile file, RecordKey key) {
    this.file = file;
    this.key = key;
    in = file.input();
    row = new Batch(file.schema(), 1);
  }

  @Override
  public boolean next(Batch keys) {
    row.clear();
    file.fill(row, 1);
    if (row.size() == 0) {
      return false;
    }
    if (key.slot() >= 0) {
      int count = row.idCount(key.slot());
      for (int i = 0; i < count; i++) {
        keys.addId(0, row.ids(key.slot())[i]);
      }
    } else if (key.dense() >= 0 && !Float.isNaN(row.dense()[key.dense()])) {
      keys.addId(0, TimeOrder.of((double) row.dense()[key.dense()]));
    }
    keys.endRow();
    bring();
    return true;
  }

  /** Has the buffer hold the whole record, of which a long one may have left it. */
  private void bring() {
    long from = file.recordStart();
    long to = in.offset();
    in.seek(from);
    if (to - from > BinaryInput.MAX_CONTIGUOUS || !in.has((int) (to - from))) {
      throw file.tooLong(to - from);
    }
    start = in.position();
    end = start + (int) (to - from);
    in.seek(to);
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
    return end;
  }

  @Override
  public String where() {
    return file.whereRead();
  }

  @Override
  public long left() {
    return file.left();
  }

  @Override
  public void close() {
    file.close();
  }
}
