package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.Faults;
import dev.tern.files.RecordCopy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Copies records that are ranges of bytes, one file after the other. */
public final class FileCopy implements RecordCopy {
  private final Schema schema;
  private final List<Path> files;
  private final long[] sizes;
  private final OptionalLong rowCount;
  private final Faults faults;
  private final Opener opener;
  private final List<RecordSink> parts = new ArrayList<>();
  private @Nullable RecordSource current;
  private int nextFile;
  private boolean stopping;
  private long read;
  private long[] copied = {};
  private long lost;
  private long comments;

  /** Opens one of the files, which reports faults it can go on after. */
  @FunctionalInterface
  public interface Opener {
    RecordSource open(Path file, Faults faults);
  }

  /**
   * Copies the records of {@code files}.
   *
   * @param schema of the keys
   * @param rowCount records of all files, where they say so
   */
  public FileCopy(
      Schema schema, List<Path> files, OptionalLong rowCount, Faults faults, Opener opener) {
    this.schema = schema;
    this.files = List.copyOf(files);
    this.rowCount = rowCount;
    this.faults = faults;
    this.opener = opener;
    sizes = files.stream().mapToLong(FileSequence::bytes).toArray();
  }

  /** Starts the new files. */
  public FileCopy to(List<Path> targets, Function<Path, RecordSink> sink) {
    try {
      for (Path target : targets) {
        parts.add(sink.apply(target));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    copied = new long[parts.size()];
    return this;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public OptionalLong rowCount() {
    return rowCount;
  }

  @Override
  public boolean next(Batch keys) {
    for (RecordSource source = source(); source != null; source = source()) {
      try {
        if (source.next(keys)) {
          read++;
          return true;
        }
      } catch (DataException e) {
        keys.abandonRow();
        long left = source.left();
        closeCurrent();
        if (stopping) {
          throw e;
        }
        report(e.rows() == DataException.UNKNOWN_ROWS ? e : e.losing(left));
      }
      closeCurrent();
    }
    return false;
  }

  /** The open file, else the next that opens; null at the end. */
  private @Nullable RecordSource source() {
    while (current == null && nextFile < files.size()) {
      int index = nextFile;
      nextFile++;
      try {
        FileSequence.requireSize(files.get(index), sizes[index]);
        current = opener.open(files.get(index), this::report);
      } catch (DataException e) {
        if (stopping) {
          throw e;
        }
        report(e.losing(DataException.UNKNOWN_ROWS));
      }
    }
    return current;
  }

  /** Hands a fault on; one that comes back out of here stops the copying. */
  private void report(DataException fault) {
    stopping = true;
    faults.report(fault);
    lost += Math.max(0, fault.rows());
    stopping = false;
  }

  @Override
  public String where() {
    return current == null ? "the data" : current.where();
  }

  @Override
  public void copyTo(int part) {
    RecordSource source = current;
    if (source != null) {
      parts.get(part).put(source.bytes(), source.start(), source.end());
      copied[part]++;
    }
  }

  @Override
  public List<String> notes() {
    long lines = comments + (current == null ? 0 : current.comments());
    return lines == 0
        ? List.of()
        : List.of(
            String.format(Locale.ROOT, "left out %,d lines of comments between records", lines));
  }

  @Override
  public long[] finish() {
    long all = Arrays.stream(copied).sum();
    long expected = rowCount.orElse(read + lost) - lost;
    if (read != all || read != expected) {
      throw new IllegalStateException(
          "copy: got %s records read, %s copied and %s left out, expected %s in all"
              .formatted(read, all, lost, rowCount.orElse(read + lost)));
    }
    parts.forEach(RecordSink::complete);
    parts.forEach(RecordSink::finish);
    return copied.clone();
  }

  private void closeCurrent() {
    if (current != null) {
      comments += current.comments();
      current.close();
      current = null;
    }
  }

  @Override
  public void close() {
    closeCurrent();
    // The first may have made a folder for all, which goes when it is empty.
    parts.reversed().forEach(RecordSink::close);
  }
}
