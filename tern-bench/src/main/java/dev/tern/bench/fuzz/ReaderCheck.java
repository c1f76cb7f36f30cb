package dev.tern.bench.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import com.sun.management.ThreadMXBean;
import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Reads files that may be damaged in any way. That must give sound batches, or end in a {@link
 * DataException}, within {@link #MOST_BYTES} of heap and {@link #MOST_NANOS}, and without more rows
 * or faults than the file has room for; where a file reads without a fault, skipping rows must lead
 * to the same ones. Several threads must come to the same as one. Files lie in memory: calls of the
 * system would take a third of the time.
 */
final class ReaderCheck implements AutoCloseable {
  /** Heap that reading one small file may take in all, batches included. */
  private static final long MOST_BYTES = 96L << 20;

  /** Processor time that one file may take: thousands of times what most do. */
  static final long MOST_NANOS = 10_000_000_000L;

  /** Batches that are read of one file: runs of nulls make some hold very many rows. */
  private static final int MOST_BATCHES = 64;

  private static final int MOST_FAULTS = 10_000;

  private final FileSystem memory = Jimfs.newFileSystem(Configuration.unix());
  private final Path folder = memory.getPath("/files");
  private final List<ReaderCorpus.Entry> corpus;
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private Optional<ReaderCorpus.Entry> damaged = Optional.empty();
  private boolean threadsRead;
  private long bytesTaken;

  /**
   * How a file is read.
   *
   * @param strict whether the first fault ends it
   * @param threads with more than 1 a strict reader reads again, with so many
   * @param skip where not negative, sound files are read again after this many rows, modulo theirs
   */
  record Way(ReadPolicy.Labels labels, boolean strict, int threads, int skip) {}

  ReaderCheck() {
    System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    try {
      Path written = Files.createTempDirectory("tern-fuzz");
      corpus = ReaderCorpus.write(written);
      move(written, folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Moves all that is in {@code from}, and that itself, to a folder of another file system. */
  private static void move(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
      for (Path file : files) {
        Path target = to.resolve(file.getFileName().toString());
        if (Files.isDirectory(file)) {
          move(file, target);
        } else {
          Files.move(file, target);
        }
      }
    }
    Files.delete(from);
  }

  /** Sound files of every format. */
  List<ReaderCorpus.Entry> corpus() {
    return corpus;
  }

  /** Heap that the last file took. */
  long bytesTaken() {
    return bytesTaken;
  }

  /**
   * Reads {@code bytes} in place of the file of {@code entry}.
   *
   * @return the rows read; none where the file was refused
   * @throws IllegalStateException if what came of it is wrong; whatever else comes out is, too
   */
  Optional<Long> check(ReaderCorpus.Entry entry, byte[] bytes, Way way) {
    long start = threads.getCurrentThreadCpuTime();
    long before = threads.getCurrentThreadAllocatedBytes();
    Optional<Long> rows;
    try {
      put(entry, bytes);
      threadsRead = way.threads > 1;
      rows = read(entry, folder.resolve(entry.file()), way);
    } finally {
      bytesTaken = threads.getCurrentThreadAllocatedBytes() - before;
    }
    if (bytesTaken > MOST_BYTES) {
      throw new IllegalStateException(
          "got " + bytesTaken + " bytes of heap, expected " + MOST_BYTES);
    }
    long nanos = threads.getCurrentThreadCpuTime() - start;
    if (nanos > MOST_NANOS) {
      throw new IllegalStateException("got " + nanos + " ns, expected at most " + MOST_NANOS);
    }
    return rows;
  }

  /** Damages one file at a time: others read what lies beside them. */
  private void put(ReaderCorpus.Entry entry, byte[] bytes) {
    if (damaged.isPresent() && damaged.get() != entry) {
      replace(damaged.get().file(), damaged.get().bytes());
    }
    damaged = Optional.of(entry);
    replace(entry.file(), bytes);
  }

  /** Puts a new file in place of one that threads may not be done with yet, else writes over it. */
  private void replace(String name, byte[] bytes) {
    try {
      if (threadsRead) {
        Files.deleteIfExists(folder.resolve(name));
      }
      Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes the sums of all frames true, so that what lies behind them is looked at. */
  static void sumFrames(byte[] bytes) {
    ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at <= bytes.length - 5; ) {
      int length = numbers.getInt(at);
      if (length < 0 || length > bytes.length - at - 5) {
        return;
      }
      byte sum = 0;
      for (int i = 0; i < length; i++) {
        sum += bytes[at + 4 + i];
      }
      bytes[at + 4 + length] = sum;
      at += length + 5;
    }
  }

  private static Optional<Long> read(ReaderCorpus.Entry entry, Path file, Way way) {
    int[] faults = {0};
    ReadPolicy policy = new ReadPolicy(way.labels, ReadPolicy.STRICT.faults(), 1);
    ReadPolicy used =
        way.strict
            ? policy
            : policy.withFaults(_ -> {
              faults[0]++;
              require(faults[0] <= MOST_FAULTS, "more faults than bytes");
            });
    Outcome outcome = outcome(entry, file, used);
    int several = way.strict ? way.threads : 1;
    if (several > 1 && outcome.opened) {
      Outcome other = outcome(entry, file, used.withThreads(several));
      require(
          other.equals(outcome),
          other + " with " + several + " threads, expected " + outcome + " as with one");
    }
    if (!outcome.fault.isEmpty()) {
      return Optional.empty();
    }
    if (way.strict && way.skip >= 0 && outcome.rows > 0) {
      long skipped = way.skip % (outcome.rows + 1);
      long rest = digestOf(entry, file, used, skipped);
      long[] again = {0};
      try (DataReader reader = entry.opener().open(file, used.withThreads(several))) {
        pass(reader, used, skipped, again);
      }
      require(rest == again[0], "other rows after skip(" + skipped + ") of " + outcome.rows);
    }
    return Optional.of(outcome.rows);
  }

  /**
   * What came of reading a file.
   *
   * @param opened whether it was opened: no thread but the first has to do with files that are not
   * @param rows how many, 0 where there was a fault
   * @param digest of the rows, those before a fault
   * @param fault what a fault said; empty without
   */
  private record Outcome(boolean opened, long rows, long digest, String fault) {}

  private static Outcome outcome(ReaderCorpus.Entry entry, Path file, ReadPolicy policy) {
    long[] digest = {0};
    boolean opened = false;
    try (DataReader reader = entry.opener().open(file, policy)) {
      opened = true;
      return new Outcome(true, pass(reader, policy, 0, digest), digest[0], "");
    } catch (DataException e) {
      return new Outcome(opened, 0, digest[0], String.valueOf(e.getMessage()));
    }
  }

  /** The digest of all rows from {@code skipped} on, read from the first. */
  private static long digestOf(
      ReaderCorpus.Entry entry, Path file, ReadPolicy policy, long skipped) {
    long digest = 0;
    long row = 0;
    try (DataReader reader = entry.opener().open(file, policy)) {
      for (int i = 0; i < MOST_BATCHES; i++) {
        Optional<Batch> next = reader.next();
        if (next.isEmpty()) {
          return digest;
        }
        try (Batch batch = next.get()) {
          for (int k = 0; k < batch.size(); k++, row++) {
            digest += row >= skipped ? hash(batch, k, row) : 0;
          }
        }
      }
    }
    return digest;
  }

  /** Reads all rows after the first {@code skip}; returns how many there are with those. */
  private static long pass(DataReader reader, ReadPolicy policy, long skip, long[] digest) {
    long row = reader.skip(skip);
    for (int i = 0; i < MOST_BATCHES; i++) {
      Optional<Batch> next = reader.next();
      if (next.isEmpty()) {
        break;
      }
      try (Batch batch = next.get()) {
        require(batch.size() > 0, "an empty batch");
        requireSound(batch, policy);
        for (int k = 0; k < batch.size(); k++, row++) {
          digest[0] += hash(batch, k, row);
        }
      }
    }
    return row;
  }

  private static long hash(Batch batch, int row, long number) {
    long hash = number + 1;
    Schema schema = batch.schema();
    for (int i = 0; i < schema.labelDim(); i++) {
      hash = 31 * hash + Float.floatToIntBits(batch.labels()[row * schema.labelDim() + i]);
    }
    for (int i = 0; i < schema.denseDim(); i++) {
      hash = 31 * hash + Float.floatToIntBits(batch.dense()[row * schema.denseDim() + i]);
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      for (int k = batch.offsets(s)[row]; k < batch.offsets(s)[row + 1]; k++) {
        hash = 31 * hash + batch.ids(s)[k];
      }
      hash = 31 * hash + 7;
    }
    return hash * 0x9E3779B97F4A7C15L;
  }

  private static void requireSound(Batch batch, ReadPolicy policy) {
    Schema schema = batch.schema();
    for (int i = 0; i < batch.size() * schema.labelDim(); i++) {
      float label = batch.labels()[i];
      boolean binary = policy.labels().equals(ReadPolicy.Labels.BINARY);
      require(binary ? label == 0 || label == 1 : Float.isFinite(label), "a bad label");
    }
    for (int i = 0; i < batch.size() * schema.denseDim(); i++) {
      require(!Float.isInfinite(batch.dense()[i]), "an infinite number");
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      int[] offsets = batch.offsets(s);
      int hotness = schema.slots().get(s).hotness();
      require(offsets[0] == 0 && offsets[batch.size()] <= batch.ids(s).length, "bad offsets");
      for (int row = 0; row < batch.size(); row++) {
        int count = offsets[row + 1] - offsets[row];
        require(count >= 0 && (hotness <= 1 || count == hotness), "a bad number of ids");
      }
    }
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("got " + what);
    }
  }

  @Override
  public void close() {
    try {
      memory.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
