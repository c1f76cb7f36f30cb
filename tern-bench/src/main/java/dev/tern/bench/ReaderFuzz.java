package dev.tern.bench;

import com.sun.management.ThreadMXBean;
import dev.tern.data.Batch;
import dev.tern.data.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * {@code bench fuzz --readers N}: damaged files ({@link Mutator}) of every format, each read to its
 * end. That must give sound batches, or end in a {@link DataException}, within {@link #MOST_BYTES}
 * of heap and without more rows or faults than the file has room for; where a file reads without a
 * fault, skipping rows must lead to the same ones. Several threads must come to the same as one.
 *
 * <p>{@code --seed S --readers 1} repeats one; the file of what went wrong is kept.
 */
final class ReaderFuzz implements AutoCloseable {
  /** Heap that reading one small file may take in all, batches included. */
  private static final long MOST_BYTES = 96L << 20;

  /** Batches that are read of one file: runs of nulls make some hold very many rows. */
  private static final int MOST_BATCHES = 64;

  private static final int MOST_FAULTS = 10_000;
  private static final int SHOWN = 8;

  /** Processor time that one file may take: thousands of times what most do. */
  private static final long MOST_NANOS = 10_000_000_000L;

  private final Path folder;
  private final List<ReaderCorpus.Entry> corpus;
  private final List<byte[]> pieces;
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private long rows;
  private int sound;
  private int refused;
  private long mostBytes;
  private long mostBytesAt;
  private volatile long seedAtHand;
  private volatile long startedAt;

  ReaderFuzz() {
    try {
      Path memory = Path.of("/dev/shm");
      folder =
          Files.isWritable(memory)
              ? Files.createTempDirectory(memory, "tern-fuzz")
              : Files.createTempDirectory("tern-fuzz");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    corpus = ReaderCorpus.write(folder);
    pieces = corpus.stream().map(ReaderCorpus.Entry::bytes).toList();
  }

  static void run(int executions, long firstSeed, boolean json) {
    long start = System.nanoTime();
    int failed = 0;
    Set<String> kinds = new HashSet<>();
    try (ReaderFuzz fuzz = new ReaderFuzz()) {
      fuzz.watch(Thread.currentThread());
      for (long seed = firstSeed; seed < firstSeed + executions; seed++) {
        String failure = fuzz.check(seed);
        if (!failure.isEmpty()) {
          failed++;
          if (kinds.add(failure.replaceAll("(?s)^([\\w.]*).*?(\\n    at .*?\\n|$).*", "$1$2"))
              && kinds.size() <= SHOWN) {
            System.err.println("fuzz: --readers 1 --seed " + seed + ": " + failure);
          }
        }
      }
      System.out.printf(
          Locale.ROOT,
          json
              ? "{\"bench\":\"fuzz\",\"executions\":%d,\"seed\":%d,\"sound\":%d,\"refused\":%d,"
                    + "\"rows\":%d,\"most_bytes\":%d,\"most_bytes_seed\":%d,\"failed\":%d,\"seconds\":%.1f}%n"
              : "fuzz     %d files from seed %d: %d sound, %d refused, %d rows, at most %d bytes"
                  + " of heap (seed %d), %d wrong, %.1f s%n",
          executions,
          firstSeed,
          fuzz.sound,
          fuzz.refused,
          fuzz.rows,
          fuzz.mostBytes,
          fuzz.mostBytesAt,
          failed,
          (System.nanoTime() - start) / 1e9);
    }
    if (failed > 0) {
      throw new IllegalStateException("fuzz: got " + failed + " files read wrongly, expected none");
    }
  }

  /** Files so far that were read without an exception. */
  int sound() {
    return sound;
  }

  /** Ends the process where one file keeps {@code reader} busy for longer than any may. */
  private void watch(Thread reader) {
    Runnable watch =
        () -> {
          while (true) {
            try {
              Thread.sleep(500);
            } catch (InterruptedException e) {
              return;
            }
            long busy = threads.getThreadCpuTime(reader.threadId()) - startedAt;
            if (startedAt != 0 && busy > MOST_NANOS) {
              System.err.println(
                  "fuzz: --readers 1 --seed " + seedAtHand + ": goes on; left in " + folder);
              for (StackTraceElement at : reader.getStackTrace()) {
                System.err.println("    at " + at);
              }
              Runtime.getRuntime().halt(1);
            }
          }
        };
    Thread.ofPlatform().daemon().name("fuzz-watch").start(watch);
  }

  /** Reads the damaged file of {@code seed}; what was wrong with that, empty if nothing. */
  String check(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    ReaderCorpus.Entry entry = corpus.get(random.nextInt(corpus.size()));
    byte[] bytes = new Mutator(random).damage(entry.bytes(), pieces);
    if (entry.framed() && random.nextInt(4) != 0) {
      sumFrames(bytes);
    }
    Path file = folder.resolve(entry.file());
    seedAtHand = seed;
    startedAt = threads.getCurrentThreadCpuTime();
    String failure = "";
    long before = threads.getCurrentThreadAllocatedBytes();
    try {
      replace(file, bytes);
      read(entry, file, random);
    } catch (DataException e) {
      refused++;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Throwable e) {
      failure = describe(e);
    }
    long taken = threads.getCurrentThreadAllocatedBytes() - before;
    if (taken > mostBytes) {
      mostBytes = taken;
      mostBytesAt = seed;
    }
    if (failure.isEmpty() && taken > MOST_BYTES) {
      failure = "took " + taken + " bytes of heap";
    }
    restore(entry, file);
    return failure.isEmpty() ? "" : failure + "; " + entry.file() + " kept as " + keep(seed, bytes);
  }

  private static String describe(Throwable e) {
    StringBuilder text = new StringBuilder().append(e);
    for (int i = 0; i < Math.min(5, e.getStackTrace().length); i++) {
      text.append("\n    at ").append(e.getStackTrace()[i]);
    }
    return text.toString();
  }

  private void restore(ReaderCorpus.Entry entry, Path file) {
    try {
      replace(file, entry.bytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts a new file in place of one that threads may not be done with yet. */
  private static void replace(Path file, byte[] bytes) throws IOException {
    Files.deleteIfExists(file);
    Files.write(file, bytes);
  }

  private static Path keep(long seed, byte[] bytes) {
    try {
      return Files.write(Files.createTempFile("tern-fuzz-" + seed + "-", ".bin"), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes the sums of all frames true, so that what lies behind them is looked at. */
  private static void sumFrames(byte[] bytes) {
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

  private void read(ReaderCorpus.Entry entry, Path file, SplittableRandom random) {
    int[] faults = {0};
    boolean strict = random.nextBoolean();
    ReadPolicy policy =
        switch (random.nextInt(4)) {
          case 0 -> ReadPolicy.STRICT.withAnyLabel();
          case 1 -> ReadPolicy.STRICT.withoutLabels();
          default -> ReadPolicy.STRICT;
        };
    ReadPolicy used =
        strict
            ? policy
            : policy.withFaults(_ -> {
              faults[0]++;
              require(faults[0] <= MOST_FAULTS, "more faults than bytes");
            });
    Outcome outcome = outcome(entry, file, used);
    int several = strict ? random.nextInt(1, 4) : 1;
    if (several > 1) {
      Outcome other = outcome(entry, file, used.withThreads(several));
      require(
          other.equals(outcome),
          other + " with " + several + " threads, expected " + outcome + " as with one");
    }
    if (!outcome.fault.isEmpty()) {
      refused++;
      return;
    }
    rows += outcome.rows;
    sound++;
    if (strict && outcome.rows > 0) {
      long skipped = random.nextLong(outcome.rows + 1);
      long rest = digestOf(entry, file, used, skipped);
      long[] again = {0};
      pass(entry, file, used.withThreads(several), skipped, again);
      require(rest == again[0], "other rows after skip(" + skipped + ") of " + outcome.rows);
    }
  }

  /**
   * What came of reading a file.
   *
   * @param rows how many, 0 where there was a fault
   * @param digest of the rows, those before a fault
   * @param fault what a fault said; empty without
   */
  private record Outcome(long rows, long digest, String fault) {}

  private static Outcome outcome(ReaderCorpus.Entry entry, Path file, ReadPolicy policy) {
    long[] digest = {0};
    try {
      long rows = pass(entry, file, policy, 0, digest);
      return new Outcome(rows, digest[0], "");
    } catch (DataException e) {
      return new Outcome(0, digest[0], String.valueOf(e.getMessage()));
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
  private static long pass(
      ReaderCorpus.Entry entry, Path file, ReadPolicy policy, long skip, long[] digest) {
    try (DataReader reader = entry.opener().open(file, policy)) {
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
      boolean binary = policy.labels() == ReadPolicy.Labels.BINARY;
      require(binary ? label == 0 || label == 1 : Float.isFinite(label), "label " + label);
    }
    for (int i = 0; i < batch.size() * schema.denseDim(); i++) {
      require(!Float.isInfinite(batch.dense()[i]), "an infinite number");
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      int[] offsets = batch.offsets(s);
      int hotness = schema.slots().get(s).hotness();
      require(offsets[0] == 0 && offsets[batch.size()] <= batch.ids(s).length, "offsets");
      for (int row = 0; row < batch.size(); row++) {
        int count = offsets[row + 1] - offsets[row];
        require(count >= 0 && (hotness <= 1 || count == hotness), count + " ids in slot " + s);
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
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
