package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Slot;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.RowSource;
import java.nio.file.Path;

/** The samples of one Raw file. Each has its place, so any bad one is dropped alone. */
final class RawFile implements RowSource {
  private final Path file;
  private final RawOptions options;
  private final ReadPolicy policy;
  private final BinaryInput in;
  private final int labels;
  private final ReadPolicy.Labels[] values;
  private final int dense;
  private final int[] hotness;
  private final int sampleBytes;
  private final UniformRows block;
  private final long rows;
  private long row;

  private RawFile(Path file, RawOptions options, ReadPolicy policy, BinaryInput in) {
    this.file = file;
    this.options = options;
    this.policy = policy;
    this.in = in;
    labels = options.schema().labelDim();
    values = policy.labels(options.schema().labels());
    dense = options.schema().denseDim();
    hotness = options.schema().slots().stream().mapToInt(Slot::hotness).toArray();
    sampleBytes = options.sampleBytes();
    rows = in.size() / sampleBytes;
    block = block();
  }

  /** Samples as {@link UniformRows}: all of a file are laid out alike. */
  private UniformRows block() {
    UniformRows block =
        new UniformRows(
            options.schema(),
            0,
            labels,
            options.intLabels(),
            options.dense(),
            options.keys(),
            policy);
    block.stride = sampleBytes;
    int at = 4 * (labels + dense);
    for (int slot = 0; slot < hotness.length; slot++) {
      block.keysAt[slot] = at;
      block.keyCounts[slot] = hotness[slot];
      at += hotness[slot] * options.keys().bytes();
    }
    return block;
  }

  static RawFile open(Path file, RawOptions options, ReadPolicy policy) {
    return new RawFile(file, options, policy, BinaryInput.open(file));
  }

  @Override
  public void fill(Batch batch, int limit) {
    while (batch.size() < limit && row < rows) {
      long most = Math.min(limit - batch.size(), rows - row);
      int count = (int) Math.clamp(UniformRows.BLOCK / sampleBytes, 1, most);
      if (in.has(count * sampleBytes) && block.append(batch, in.bytes(), in.position(), count)) {
        in.seek(in.offset() + (long) count * sampleBytes);
        row += count;
      } else {
        readOneByOne(batch, count);
      }
    }
  }

  /** Reads {@code count} samples, of which one is bad or missing. */
  private void readOneByOne(Batch batch, int count) {
    for (long end = row + count; row < end; row++) {
      if (!in.has(sampleBytes)) {
        throw new DataException(
            "%s: got a file that became shorter than %s samples while it was read; read it again"
                .formatted(where(in.offset()), rows));
      }
      long next = in.offset() + sampleBytes;
      try {
        readLabels(batch);
        readDense(batch);
        readKeys(batch);
        batch.endRow();
      } catch (DataException e) {
        batch.abandonRow();
        in.seek(next);
        policy.faults().report(e);
      }
    }
  }

  private void readLabels(Batch batch) {
    if (policy.labels().equals(ReadPolicy.Labels.NONE)) {
      in.seek(in.offset() + 4L * labels);
      return;
    }
    for (int i = 0; i < labels; i++) {
      int bits = in.readInt();
      float label = options.intLabels() ? bits : Float.intBitsToFloat(bits);
      if (!values[i].accepts(label)) {
        throw values[i].fault(where(in.offset() - 4), shownLabel(bits, values[i]));
      }
      batch.setLabel(i, values[i].of(label));
    }
  }

  /** A label as read, and as the other type where that makes more sense. */
  private String shownLabel(int bits, ReadPolicy.Labels may) {
    float number = Float.intBitsToFloat(bits);
    if (options.intLabels()) {
      return may.accepts(number) ? bits + " (" + number + " as float label)" : "" + bits;
    }
    return may.accepts(bits) ? number + " (" + bits + " as int label)" : "" + number;
  }

  private void readDense(Batch batch) {
    float[] numbers = batch.dense();
    int first = batch.size() * dense;
    switch (options.dense()) {
      case FLOAT -> {
        for (int i = 0; i < dense; i++) {
          numbers[first + i] = finite(in.readFloat(), i);
        }
      }
      case INT -> {
        for (int i = 0; i < dense; i++) {
          numbers[first + i] = in.readInt();
        }
      }
      case INT_LOG -> {
        for (int i = 0; i < dense; i++) {
          numbers[first + i] = log(in.readInt(), i);
        }
      }
    }
  }

  private float finite(float number, int column) {
    if (Float.isInfinite(number)) {
      String name = options.schema().dense().get(column);
      throw ReadPolicy.infinite(
          where(in.offset() - 4) + ", column " + name, Float.toString(number));
    }
    return number;
  }

  private float log(int value, int column) {
    if (value < 0) {
      throw new DataException(
          ("%s, column %s: got %s, expected 0 or more, as ln(x + 1) is read; mend the data or read"
                  + " plain integers")
              .formatted(where(in.offset() - 4), options.schema().dense().get(column), value));
    }
    return UniformRows.log(value);
  }

  private void readKeys(Batch batch) {
    for (int slot = 0; slot < hotness.length; slot++) {
      for (int i = 0; i < hotness[slot]; i++) {
        batch.addId(slot, in.readKey(options.keys()));
      }
    }
  }

  private String where(long offset) {
    return file + ": row " + (row + 1) + ", byte " + offset;
  }

  @Override
  public long skip(long count) {
    long skipped = Math.min(count, rows - row);
    row += skipped;
    in.seek(row * sampleBytes);
    return skipped;
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
