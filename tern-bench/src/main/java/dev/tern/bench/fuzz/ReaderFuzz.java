package dev.tern.bench.fuzz;

import com.sun.management.ThreadMXBean;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
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
 * end in ways drawn at random, as {@link ReaderCheck} says. {@link CoverageFuzz} damages them by
 * what it learns instead.
 *
 * <p>{@code --seed S --readers 1} repeats one; the file of what went wrong is kept.
 */
final class ReaderFuzz implements AutoCloseable {
  private static final int SHOWN = 8;

  private final ReaderCheck reader = new ReaderCheck();
  private final List<byte[]> pieces =
      reader.corpus().stream().map(ReaderCorpus.Entry::bytes).toList();
  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private long rows;
  private int sound;
  private int refused;
  private long mostBytes;
  private long mostBytesAt;
  private volatile long seedAtHand;
  private volatile long startedAt;

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

  /** Ends the process where one file keeps {@code busyOne} busy for longer than any may. */
  private void watch(Thread busyOne) {
    Runnable watch =
        () -> {
          while (true) {
            try {
              Thread.sleep(500);
            } catch (InterruptedException e) {
              return;
            }
            long busy = threads.getThreadCpuTime(busyOne.threadId()) - startedAt;
            if (startedAt != 0 && busy > ReaderCheck.MOST_NANOS) {
              System.err.println("fuzz: --readers 1 --seed " + seedAtHand + ": goes on");
              for (StackTraceElement at : busyOne.getStackTrace()) {
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
    ReaderCorpus.Entry entry = reader.corpus().get(random.nextInt(reader.corpus().size()));
    byte[] bytes = new Mutator(random).damage(entry.bytes(), pieces);
    if (entry.framed() && random.nextInt(4) != 0) {
      ReaderCheck.sumFrames(bytes);
    }
    seedAtHand = seed;
    startedAt = threads.getCurrentThreadCpuTime();
    String failure = "";
    try {
      Optional<Long> read = reader.check(entry, bytes, way(random));
      sound += read.isPresent() ? 1 : 0;
      refused += read.isPresent() ? 0 : 1;
      rows += read.orElse(0L);
    } catch (Throwable e) {
      failure = describe(e) + "; " + entry.file() + " kept as " + keep(seed, bytes);
    }
    if (reader.bytesTaken() > mostBytes) {
      mostBytes = reader.bytesTaken();
      mostBytesAt = seed;
    }
    return failure;
  }

  private static ReaderCheck.Way way(SplittableRandom random) {
    boolean strict = random.nextBoolean();
    ReadPolicy.Labels labels =
        switch (random.nextInt(4)) {
          case 0 -> ReadPolicy.Labels.FINITE;
          case 1 -> ReadPolicy.Labels.NONE;
          default -> ReadPolicy.Labels.BINARY;
        };
    return new ReaderCheck.Way(
        labels, strict, random.nextInt(1, 4), random.nextInt(Integer.MAX_VALUE));
  }

  private static String describe(Throwable e) {
    StringBuilder text = new StringBuilder().append(e);
    for (int i = 0; i < Math.min(5, e.getStackTrace().length); i++) {
      text.append("\n    at ").append(e.getStackTrace()[i]);
    }
    return text.toString();
  }

  private static Path keep(long seed, byte[] bytes) {
    try {
      return Files.write(Files.createTempFile("tern-fuzz-" + seed + "-", ".bin"), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    reader.close();
  }
}
