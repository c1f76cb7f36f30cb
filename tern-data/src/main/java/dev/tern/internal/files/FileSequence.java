package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The rows of several files of one format, one file after the other, in recycled batches. */
public final class FileSequence extends PositionedReader {
  /** Opens one file of the sequence, which reports faults it can go on after. */
  @FunctionalInterface
  public interface Opener {
    RowSource open(Path file, Faults faults);
  }

  /**
   * What the files hold.
   *
   * @param reading how fields of text become values; empty for files of numbers and ids
   */
  public record Rows(Schema schema, Optional<Reading> reading) {}

  private static final int LEAST_ROWS = 64;

  /** Rows that a pipe may have, whose bytes nobody knows. */
  private static final int ROWS_OF_STREAM = 1 << 16;

  private final Schema schema;
  private final Optional<Reading> reading;
  private final List<Path> files;
  private final long[] sizes;
  private final OptionalLong rowCount;
  private final Faults faults;
  private final Opener opener;
  private final BatchPool pool;
  private @Nullable RowSource current;
  private int nextFile;
  private boolean stopping;

  private FileSequence(
      Rows rows,
      List<Path> files,
      long[] sizes,
      OptionalLong rowCount,
      long room,
      Faults faults,
      Opener opener) {
    schema = rows.schema();
    reading = rows.reading();
    this.files = List.copyOf(files);
    this.sizes = sizes;
    this.rowCount = rowCount;
    this.faults = faults;
    this.opener = opener;
    pool = BatchPool.forFiles(schema, room);
  }

  /**
   * Reads {@code files}, with as many threads as {@code policy} says.
   *
   * @param rowCount rows of all files, where it is known
   */
  public static DataReader open(
      Schema schema, List<Path> files, OptionalLong rowCount, ReadPolicy policy, Opener opener) {
    return open(new Rows(schema, Optional.empty()), files, rowCount, policy, opener);
  }

  /** As the other one, for files whose fields of text are read as {@code rows} says. */
  public static DataReader open(
      Rows rows, List<Path> files, OptionalLong rowCount, ReadPolicy policy, Opener opener) {
    long room = rowCount.orElseGet(() -> roomOf(files));
    return open(rows, files, rowCount, room, policy, opener);
  }

  /**
   * Reads {@code files}, with as many threads as {@code policy} says.
   *
   * @param rowCount rows that all files say they have
   * @param room rows that they may have by their sizes: batches have room for no more
   */
  public static DataReader open(
      Schema schema,
      List<Path> files,
      OptionalLong rowCount,
      long room,
      ReadPolicy policy,
      Opener opener) {
    return open(new Rows(schema, Optional.empty()), files, rowCount, room, policy, opener);
  }

  /** As the other one, for files whose fields of text are read as {@code rows} says. */
  public static DataReader open(
      Rows rows,
      List<Path> files,
      OptionalLong rowCount,
      long room,
      ReadPolicy policy,
      Opener opener) {
    long[] sizes = files.stream().mapToLong(FileSequence::bytes).toArray();
    Supplier<FileSequence> source =
        () -> new FileSequence(rows, files, sizes, rowCount, room, policy.faults(), opener);
    return policy.readers() == 1 ? source.get() : new ParallelReader(source, policy.readers());
  }

  /** The files a user named, of which there must be one. */
  public static List<Path> requireFiles(List<Path> files) {
    if (files.isEmpty()) {
      throw new IllegalArgumentException("data: got no files, expected at least one");
    }
    return files;
  }

  /**
   * The candidates, at least one, that pass {@code check}. Each other candidate is one fault, which
   * costs nobody knows how many rows. It is reported, or thrown if it is the last and none passed,
   * because then there is nothing to read.
   */
  public static <T> List<T> sound(List<T> candidates, ReadPolicy policy, Consumer<T> check) {
    List<T> sound = new ArrayList<>();
    for (int i = 0; i < candidates.size(); i++) {
      try {
        check.accept(candidates.get(i));
        sound.add(candidates.get(i));
      } catch (DataException e) {
        if (sound.isEmpty() && i == candidates.size() - 1) {
          throw e;
        }
        policy.faults().report(e.losing(DataException.UNKNOWN_ROWS));
      }
    }
    return sound;
  }

  /** {@code rows} and {@code more} rows, those that {@code file} says it has. */
  public static long addRows(Path file, long rows, long more) {
    if (more > Long.MAX_VALUE - rows) {
      throw new DataException(
          ("%s: got %s rows, and %s in files before it, expected fewer than 2^63 in all; the file"
                  + " is damaged, fetch or write it again")
              .formatted(file, more, rows));
    }
    return rows + more;
  }

  /**
   * Rows that one batch should have room for where nobody knows how many there are: one for each
   * byte, so that batches of small files are small. Compressed files may hold more, in more
   * batches.
   */
  private static long roomOf(List<Path> files) {
    long bytes = LEAST_ROWS;
    for (Path file : files) {
      bytes += TextBytes.isStream(file) ? ROWS_OF_STREAM : bytes(file);
    }
    return bytes;
  }

  /** Bytes of {@code file}, 0 where it cannot be asked; opening it will say why. */
  public static long bytes(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      return 0;
    }
  }

  @Override
  public Optional<Reading> reading() {
    return reading;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  protected Optional<Batch> read() {
    Batch batch = pool.take();
    try {
      fill(batch, pool.rows());
    } catch (RuntimeException | Error e) {
      batch.close();
      throw e;
    }
    if (batch.size() == 0) {
      batch.close();
      return Optional.empty();
    }
    return Optional.of(batch);
  }

  /** Rows of every batch but the last. */
  int batchRows() {
    return pool.rows();
  }

  /** Appends rows of as many files as it takes for {@code batch} to hold {@code limit}. */
  private void fill(Batch batch, int limit) {
    for (RowSource source = source(); source != null; source = source()) {
      try {
        source.fill(batch, limit);
      } catch (DataException e) {
        batch.abandonRow();
        long left = source.left();
        closeCurrent();
        if (stopping) {
          throw e;
        }
        report(e.rows() == DataException.UNKNOWN_ROWS ? e : e.losing(left));
      }
      if (batch.size() == limit) {
        return;
      }
      closeCurrent();
    }
  }

  /** What a file reports. */
  private final class Reports implements Faults {
    @Override
    public void report(DataException fault) {
      FileSequence.this.report(fault);
    }

    @Override
    public void tookLines(Path file, long first, long last) {
      faults.tookLines(file, first, last);
    }
  }

  /** Hands a fault on; one that comes back out of here stops the reader. */
  private void report(DataException fault) {
    stopping = true;
    faults.report(fault);
    stopping = false;
  }

  /** The open file, else the next that opens; null at the end of the pass. */
  private @Nullable RowSource source() {
    while (current == null && nextFile < files.size()) {
      int index = nextFile;
      nextFile++;
      try {
        requireSize(files.get(index), sizes[index]);
        current = opener.open(files.get(index), new Reports());
      } catch (DataException e) {
        if (stopping) {
          throw e;
        }
        report(e.losing(DataException.UNKNOWN_ROWS));
      }
    }
    return current;
  }

  /** Refuses a file that was cut or grew since its size was {@code expected}: its rows differ. */
  static void requireSize(Path file, long expected) {
    long bytes = bytes(file);
    if (bytes != expected && Files.exists(file)) {
      throw new DataException(
          "%s: got %s bytes, expected %s as there were before; the file changed while it was read, read it again"
              .formatted(file, bytes, expected));
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    closeCurrent();
    nextFile = 0;
    stopping = false;
  }

  /** {@inheritDoc} Where bad records are dropped they must be found, so rows are read then. */
  @Override
  protected long pass(long rows) {
    if (!faults.equals(Faults.STRICT)) {
      try (Batch scratch = pool.take()) {
        return skipByReading(rows, scratch);
      }
    }
    long passed = 0;
    for (RowSource source = source(); source != null; source = source()) {
      passed += source.skip(rows - passed);
      if (passed >= rows) {
        return passed;
      }
      closeCurrent();
    }
    return passed;
  }

  private long skipByReading(long rows, Batch scratch) {
    long skipped = 0;
    int limit;
    do {
      limit = (int) Math.min(rows - skipped, pool.rows());
      scratch.clear();
      fill(scratch, limit);
      skipped += scratch.size();
    } while (skipped < rows && scratch.size() == limit);
    return skipped;
  }

  @Override
  public OptionalLong rowCount() {
    return rowCount;
  }

  @Override
  protected void release() {
    closeCurrent();
  }

  private void closeCurrent() {
    if (current != null) {
      current.close();
      current = null;
    }
  }
}
