package dev.tern.bench.fuzz;

import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * {@code bench fuzz --conservation N}: sets of files ({@link DataSets}), damaged at random ({@link
 * Mutator}, {@link MeantDamage}), read or copied strictly or with bad records left out. No row may
 * be lost in silence, as {@link ConservationCheck} says.
 *
 * <p>{@code --seed S --conservation 1} repeats one; the files of what went wrong are kept.
 */
final class ConservationFuzz {
  private static final int SETS = 400;
  private static final int SHOWN = 8;

  private final List<DataSets.DataSet> sets;
  private final List<byte[]> pieces;
  private final AtomicLong rows = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private final AtomicLong read = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final Set<String> kinds = new HashSet<>();
  private volatile Optional<Throwable> broken = Optional.empty();

  ConservationFuzz() {
    try {
      Path folder = Files.createTempDirectory("tern-fuzz");
      sets = DataSets.of(folder, SETS, 1);
      Files.delete(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    pieces =
        sets.stream()
            .flatMap(set -> set.parts().stream())
            .map(DataSets.Part::bytes)
            .filter(bytes -> bytes.length > 0)
            .toList();
  }

  static void run(int executions, long firstSeed, boolean json) {
    System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    long start = System.nanoTime();
    ConservationFuzz fuzz = new ConservationFuzz();
    int threads = Math.min(Runtime.getRuntime().availableProcessors(), executions);
    List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      long from = firstSeed + i;
      Runnable work =
          () -> {
            try (ConservationCheck check = new ConservationCheck()) {
              for (long seed = from; seed < firstSeed + executions; seed += threads) {
                fuzz.note(seed, fuzz.check(check, seed));
              }
            }
          };
      workers.add(
          Thread.ofPlatform()
              .name("conservation-" + i)
              .uncaughtExceptionHandler((_, e) -> fuzz.broken = Optional.of(e))
              .start(work));
    }
    for (Thread worker : workers) {
      join(worker);
    }
    fuzz.broken.ifPresent(e -> {
      throw new IllegalStateException("fuzz: got an error in a worker", e);
    });
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\":\"fuzz\",\"conservation\":%d,\"seed\":%d,\"read\":%d,\"refused\":%d,"
                + "\"rows\":%d,\"lost\":%d,\"violations\":%d,\"seconds\":%.1f}%n"
            : "fuzz     %d damaged sets from seed %d: %d read, %d refused, %d rows, %d rows"
                + " reported as left out, %d violations, %.1f s%n",
        executions,
        firstSeed,
        fuzz.read.get(),
        fuzz.refused.get(),
        fuzz.rows.get(),
        fuzz.lost.get(),
        fuzz.failed.get(),
        (System.nanoTime() - start) / 1e9);
    if (fuzz.failed.get() > 0) {
      throw new IllegalStateException(
          "fuzz: got " + fuzz.failed + " sets whose rows do not add up, expected none");
    }
  }

  private static void join(Thread worker) {
    try {
      worker.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("fuzz: got interrupted", e);
    }
  }

  private synchronized void note(long seed, String failure) {
    if (failure.isEmpty()) {
      return;
    }
    failed.incrementAndGet();
    if (kinds.size() < SHOWN && kinds.add(failure.replaceAll("\\d+|tern-fuzz\\S*", "#"))) {
      System.err.println("fuzz: --conservation 1 --seed " + seed + ": " + failure);
    }
  }

  /** The sound sets that are damaged. */
  List<DataSets.DataSet> sets() {
    return sets;
  }

  /** Sets so far that were read without an exception. */
  long read() {
    return read.get();
  }

  /** Rows so far that faults cost. */
  long lost() {
    return lost.get();
  }

  /** Reads the damaged set of {@code seed}; what was wrong with that, empty if nothing. */
  String check(ConservationCheck check, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    DataSets.DataSet set = sets.get(random.nextInt(sets.size()));
    List<byte[]> damaged = new ArrayList<>(set.parts().stream().map(DataSets.Part::bytes).toList());
    for (int i = random.nextInt(1, 3); i > 0; i--) {
      int part = random.nextInt(damaged.size());
      damaged.set(part, damage(damaged.get(part), set, random));
    }
    ConservationCheck.Way way = way(set, random);
    try {
      ConservationCheck.Outcome outcome = check.check(set, damaged, way);
      read.addAndGet(outcome.rows().isPresent() ? 1 : 0);
      refused.addAndGet(outcome.rows().isPresent() ? 0 : 1);
      rows.addAndGet(outcome.rows().orElse(0L));
      lost.addAndGet(outcome.lost());
      return "";
    } catch (RuntimeException | Error e) {
      boolean shown = failed.get() < SHOWN;
      return e + "; " + way + (shown ? "; " + keep(seed, set, damaged) : "");
    }
  }

  private byte[] damage(byte[] bytes, DataSets.DataSet set, SplittableRandom random) {
    if (random.nextInt(3) == 0) {
      return MeantDamage.of(bytes, random);
    }
    byte[] damaged = new Mutator(random).damage(bytes, pieces);
    if (set.framed() && random.nextInt(4) != 0) {
      ReaderCheck.sumFrames(damaged);
    }
    return damaged;
  }

  private static ConservationCheck.Way way(DataSets.DataSet set, SplittableRandom random) {
    boolean strict = random.nextInt(3) == 0;
    ReadPolicy.Labels labels =
        random.nextInt(4) == 0 ? ReadPolicy.Labels.FINITE : ReadPolicy.Labels.BINARY;
    return new ConservationCheck.Way(
        labels,
        strict,
        random.nextInt(8) == 0 ? random.nextInt(2, 4) : 1,
        random.nextInt(4) == 0 ? random.nextInt(40) : 0,
        random.nextInt(4) == 0,
        random.nextInt(6) == 0);
  }

  private static String keep(long seed, DataSets.DataSet set, List<byte[]> damaged) {
    try {
      Path folder = Files.createTempDirectory("tern-fuzz-" + seed + "-");
      for (int i = 0; i < damaged.size(); i++) {
        Path file = folder.resolve(set.parts().get(i).name());
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.write(file, damaged.get(i));
      }
      return set.parts().getFirst().name() + " and others kept in " + folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
