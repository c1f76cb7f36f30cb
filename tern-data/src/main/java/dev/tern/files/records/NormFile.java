package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.RowSource;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The records of one Norm file. Framed records are checked against their sum before a byte of them
 * is used, and a bad one leaves the next findable; in a plain file only a bad label or hotness
 * does.
 */
final class NormFile implements RowSource {
  private static final int CHUNK = 4096;

  private final Path file;
  private final Schema schema;
  private final KeyType keys;
  private final ReadPolicy policy;
  private final ReadPolicy.Labels[] values;
  private final BinaryInput in;
  private final NormHeader header;
  private long record;
  private long recordStart;
  private final UniformRows block;

  /** Whether dense numbers and counts of keys may be any. */
  private boolean anyValue;

  private @Nullable DataException badValue;
  private @Nullable String hint;

  private NormFile(
      Path file,
      Schema schema,
      KeyType keys,
      ReadPolicy policy,
      BinaryInput in,
      NormHeader header) {
    this.file = file;
    this.schema = schema;
    this.keys = keys;
    this.policy = policy;
    values = policy.labels(schema.labels());
    this.in = in;
    this.header = header;
    block =
        new UniformRows(
            schema,
            header.check() == NormCheck.SUM ? 4 : 0,
            header.labels(),
            false,
            RawOptions.Dense.FLOAT,
            keys,
            policy);
  }

  /** Opens {@code file}, whose header was {@code known} before. */
  static NormFile open(
      Path file, NormHeader known, Schema schema, KeyType keys, ReadPolicy policy) {
    BinaryInput in = BinaryInput.open(file);
    try {
      NormHeader header = NormHeader.read(file, in);
      if (!header.equals(known)) {
        throw new DataException(
            "%s: got a header with %s and %s records, expected %s and %s as there were before; the file changed while it was read, read it again"
                .formatted(file, header.shape(), header.records(), known.shape(), known.records()));
      }
      return new NormFile(file, schema, keys, policy, in, header);
    } catch (RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /** Has records pass whose dense numbers or counts of keys are not those of {@link #schema}. */
  NormFile takingAnyValue() {
    anyValue = true;
    return this;
  }

  Schema schema() {
    return schema;
  }

  BinaryInput input() {
    return in;
  }

  /** Where the record last read begins; it ends where the input is. */
  long recordStart() {
    return recordStart;
  }

  /** File, record and byte of the record last read, for messages. */
  String whereRead() {
    return file + ": record " + record + ", byte " + recordStart;
  }

  /** The fault of a record of more bytes than memory can hold in one piece. */
  DataException tooLong(long bytes) {
    return new DataException(
        "%s: got a record of %s bytes, expected at most %s; leave it out"
            .formatted(whereRead(), bytes, BinaryInput.MAX_CONTIGUOUS));
  }

  @Override
  public void fill(Batch batch, int limit) {
    while (batch.size() < limit && record < header.records()) {
      recordStart = in.offset();
      int count = alike(limit - batch.size(), header.check() == NormCheck.SUM);
      if (count > 0 && block.append(batch, in.bytes(), in.position(), count)) {
        in.seek(in.offset() + (long) count * block.stride);
        record += count;
      } else {
        readOneByOne(batch, Math.max(1, count));
      }
    }
    if (batch.size() < limit) {
      requireEnd();
    }
  }

  /**
   * How many of the next records, at most {@code most}, are whole, have as many keys in each slot
   * as the next one, which {@link #block} then describes, and pass their sums where these are
   * {@code summed}. 0 where something about the next one is wrong, or it is very long.
   */
  private int alike(int most, boolean summed) {
    int bytes = in.bring(UniformRows.BLOCK);
    if (!describeNext(bytes)) {
      return 0;
    }
    int stride = block.stride;
    int count = 0;
    long whole = Math.min(Math.min(most, bytes / stride), header.records() - record);
    while (count < whole
        && (count == 0 || sameCounts(count * stride))
        && (!summed
            || in.sum(count * stride + 4, stride - 5) == in.peekByte((count + 1) * stride - 1))) {
      count++;
    }
    return count;
  }

  /** Has {@link #block} describe the next record; false unless it is sound in {@code bytes}. */
  private boolean describeNext(int bytes) {
    boolean framed = header.check() == NormCheck.SUM;
    int at = (framed ? 4 : 0) + header.fixedBytes();
    for (int slot = 0; slot < header.slots(); slot++) {
      int count = at > bytes - 4 ? -1 : in.peekInt(at);
      int hotness = schema.slots().get(slot).hotness();
      if (count < 0 || count > (bytes - at) / keys.bytes() || hotness != 0 && count != hotness) {
        return false;
      }
      block.keysAt[slot] = at + 4;
      block.keyCounts[slot] = count;
      at += 4 + count * keys.bytes();
    }
    block.stride = framed ? at + 1 : at;
    return block.stride <= bytes && block.stride > 0 && (!framed || in.peekInt(0) == at - 4);
  }

  /** Whether the record {@code ahead} bytes from here has the counts of keys of the next one. */
  private boolean sameCounts(int ahead) {
    int differ = header.check() == NormCheck.SUM ? in.peekInt(ahead) ^ in.peekInt(0) : 0;
    for (int slot = 0; slot < block.keysAt.length; slot++) {
      differ |= in.peekInt(ahead + block.keysAt[slot] - 4) ^ block.keyCounts[slot];
    }
    return differ == 0;
  }

  private void readOneByOne(Batch batch, int count) {
    for (int i = 0; i < count; i++) {
      recordStart = in.offset();
      badValue = null;
      if (header.check() == NormCheck.SUM) {
        readFrame(batch);
      } else {
        readRecord(batch, in.size());
        endRecord(batch);
      }
      record++;
    }
  }

  private void readFrame(Batch batch) {
    int length = frameLength();
    if (!in.has(length + 1)) {
      throw cut(length + 1);
    }
    long end = in.offset() + length;
    byte sum = in.sum(0, length);
    byte stored = in.peekByte(length);
    try {
      if (sum != stored) {
        throw fault(
            recordStart,
            ("got checksum %s of %s bytes, expected %s as stored; the record is damaged, "
                    + "fetch or write the file again")
                .formatted(sum, length, stored));
      }
      readRecord(batch, end);
      if (in.offset() != end) {
        throw fault(
            in.offset(),
            "got %s bytes after the last slot, expected the end of the record%s"
                .formatted(end - in.offset(), widthHint()));
      }
    } catch (DataException e) {
      badValue = e;
    }
    in.seek(end + 1);
    endRecord(batch);
  }

  /** Reads the length of a frame and requires that the file can hold it. */
  private int frameLength() {
    if (!in.has(4)) {
      throw cut(4);
    }
    int length = in.readInt();
    if (length < header.emptyBytes() || length >= BinaryInput.MAX_CONTIGUOUS) {
      throw fault(
          recordStart,
          ("got a record of %s bytes, expected at least %s for %s; the file is damaged "
                  + "from here on, fetch or write it again")
              .formatted(length, header.emptyBytes(), header.shape()));
    }
    if (length >= in.remaining()) {
      throw cut(length + 1);
    }
    return length;
  }

  /**
   * Reads a record that must not reach past {@code end}; its labels may be bad ({@link #badValue}).
   */
  private void readRecord(Batch batch, long end) {
    require(header.fixedBytes(), end);
    if (policy.labels().equals(ReadPolicy.Labels.NONE)) {
      in.seek(in.offset() + 4L * header.labels());
    } else {
      readLabels(batch);
    }
    int dense = header.dense();
    float[] numbers = batch.dense();
    int first = batch.size() * dense;
    for (int i = 0; i < dense; i++) {
      float number = in.readFloat();
      if (Float.isInfinite(number) && badValue == null && !anyValue) {
        badValue = infinite(number, i);
      }
      numbers[first + i] = number;
    }
    for (int slot = 0; slot < header.slots(); slot++) {
      readSlot(batch, slot, end);
    }
  }

  private void readLabels(Batch batch) {
    for (int i = 0; i < header.labels(); i++) {
      float label = in.readFloat();
      if (!values[i].accepts(label) && badValue == null) {
        badValue = values[i].fault(where(in.offset() - 4), Float.toString(label));
      }
      batch.setLabel(i, values[i].of(label));
    }
  }

  private DataException infinite(float number, int column) {
    String name = schema.dense().get(column);
    return ReadPolicy.infinite(where(in.offset() - 4) + ", column " + name, Float.toString(number));
  }

  private void readSlot(Batch batch, int slot, long end) {
    int left = keyCount(end);
    int hotness = schema.slots().get(slot).hotness();
    if (hotness != 0 && left != hotness && badValue == null && !anyValue) {
      badValue =
          fault(
              in.offset() - 4,
              "got %s keys in slot %s, expected %s; mend the data, or let the hotness vary"
                  .formatted(left, schema.slots().get(slot).name(), hotness));
    }
    while (left > 0) {
      int count = Math.min(left, CHUNK);
      require(count * keys.bytes(), end);
      for (int i = 0; i < count; i++) {
        batch.addId(slot, in.readKey(keys));
      }
      left -= count;
    }
  }

  private int keyCount(long end) {
    require(4, end);
    int count = in.readInt();
    if (count < 0 || (long) count * keys.bytes() > end - in.offset()) {
      throw fault(
          in.offset() - 4,
          "got %s keys in a slot, expected 0 to %s, as many as %s has room for%s"
              .formatted(
                  count,
                  (end - in.offset()) / keys.bytes(),
                  (header.check() == NormCheck.SUM ? "the record" : "the file"),
                  widthHint()));
    }
    return count;
  }

  private void require(int bytes, long end) {
    if (bytes > end - in.offset() && end < in.size()) {
      throw fault(
          in.offset(),
          "got %s bytes left in the record, expected %s%s"
              .formatted(end - in.offset(), bytes, widthHint()));
    }
    if (!in.has(bytes)) {
      throw cut(bytes);
    }
  }

  private void endRecord(Batch batch) {
    if (badValue == null) {
      batch.endRow();
    } else {
      batch.abandonRow();
      policy.faults().report(badValue);
    }
  }

  private void requireEnd() {
    if (in.remaining() > 0) {
      // The count of the header may be what is damaged, so it tells nothing of the rows.
      throw new DataException(
              ("%s: byte %s: got %s bytes after record %s, expected the end, as the header "
                      + "says %s records%s")
                  .formatted(
                      file, in.offset(), in.remaining(), record, header.records(), widthHint()))
          .losing(DataException.UNKNOWN_ROWS);
    }
  }

  @Override
  public long skip(long rows) {
    long skipped = 0;
    while (skipped < rows && record < header.records()) {
      recordStart = in.offset();
      int count = 1;
      if (header.check() == NormCheck.SUM) {
        in.seek(frameLength() + in.offset() + 1);
      } else {
        count = skipAlike(rows - skipped);
      }
      record += count;
      skipped += count;
    }
    if (skipped < rows) {
      requireEnd();
    }
    return skipped;
  }

  @Override
  public long left() {
    return header.records() - record;
  }

  /** Skips one record, and those after it that are alike; returns how many. */
  private int skipAlike(long most) {
    int count = alike((int) Math.min(most, UniformRows.BLOCK), false);
    if (count == 0) {
      skipRecord();
      return 1;
    }
    in.seek(in.offset() + (long) count * block.stride);
    return count;
  }

  private void skipRecord() {
    seekForward(header.fixedBytes());
    for (int slot = 0; slot < header.slots(); slot++) {
      seekForward((long) keyCount(in.size()) * keys.bytes());
    }
  }

  private void seekForward(long bytes) {
    if (bytes > in.remaining()) {
      throw cut(bytes);
    }
    in.seek(in.offset() + bytes);
  }

  /** What to do about a record that does not add up: another width of keys, where that fits. */
  private String widthHint() {
    if (hint == null) {
      hint = findHint();
    }
    return hint;
  }

  private String findHint() {
    KeyType fits = keys;
    try {
      fits = NormProbe.detect(file, policy).orElse(keys);
    } catch (DataException e) {
      // Both widths fit; the fault at hand says more.
    }
    if (fits != keys) {
      return "; the file was read with %s keys but fits %s, give that as its type"
          .formatted(keys, fits);
    }
    return header.check() == NormCheck.SUM
        ? "; the record is damaged, fetch or write the file again"
        : "; the file is damaged from here on, fetch or write it again";
  }

  private DataException cut(long bytes) {
    return fault(
        in.offset(),
        ("got %s bytes to the end of the file, expected at least %s more and %s "
                + "records; the file is cut short or damaged, fetch or write it again")
            .formatted(in.remaining(), bytes, header.records()));
  }

  private DataException fault(long offset, String message) {
    return new DataException(where(offset) + ": " + message);
  }

  private String where(long offset) {
    return file + ": record " + (record + 1) + ", byte " + offset;
  }

  @Override
  public void close() {
    in.close();
  }
}
