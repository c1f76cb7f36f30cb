package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * {@code bench soak}: threads train, read, export, snapshot and look at tables at once, each thread
 * each table, for minutes. Rows come and go all the time: to make room in one table, when unseen
 * for some steps in another, late by a count in a third. {@link SoakTable} says what must hold.
 */
public final class SoakBench {
  private static final long REPORT_NANOS = 30_000_000_000L;
  private static final long ROWS = 20_000;

  /** How many times as long it may take until all was done that is to be. */
  private static final int MOST_TIMES = 10;

  private final int threads;
  private final long nanos;
  private final int seed;
  private final Allocator allocator = Allocator.of(1L << 30);
  private final List<SoakTable> tables = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean done;

  private SoakBench(Arguments arguments) {
    threads = arguments.positive("--threads");
    seed = arguments.integer("--seed");
    nanos = (long) (minutes(arguments.text("--minutes")) * 60e9);
  }

  private static double minutes(String text) {
    if (!text.matches("[0-9]{1,5}(\\.[0-9]{1,6})?")) {
      throw new IllegalArgumentException("--minutes: got " + text + ", expected a number");
    }
    return Double.parseDouble(text);
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--minutes", "10");
    defaults.put("--threads", "8");
    defaults.put("--seed", "1");
    Arguments arguments = Arguments.parse("soak", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    new SoakBench(arguments).run(arguments.json());
  }

  private void run(boolean json) {
    RowPolicy all = RowPolicy.ALL;
    RowPolicy recent = all.withRoomMadeBy(new Eviction.LeastRecent(), ROWS);
    RowPolicy seen = all.withEviction(new Eviction.Unseen(40));
    RowPolicy counted =
        all.withRoomMadeBy(new Eviction.LeastFrequent(), ROWS)
            .withAdmission(new Admission.ByCount(3, SoakTable.IDS));
    tables.add(new SoakTable("recent", recent, UnknownRow.ZEROS, allocator));
    tables.add(new SoakTable("unseen", seen, UnknownRow.ZEROS, allocator));
    tables.add(new SoakTable("counted", counted, UnknownRow.ZEROS, allocator));
    long start = System.nanoTime();
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      SplittableRandom random = new SplittableRandom(seed + 1000L * t);
      running.add(Thread.ofPlatform().start(() -> work(random)));
    }
    try {
      watch(start, json);
      for (Thread thread : running) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("soak: interrupted", e);
    }
    finish(start, json);
  }

  private void watch(long start, boolean json) throws InterruptedException {
    long reported = start;
    while (isToGoOn(System.nanoTime() - start) && failure.get() == null) {
      Thread.sleep(Math.clamp((nanos - (System.nanoTime() - start)) / 1_000_000, 1, 100));
      if (!json && System.nanoTime() - reported >= REPORT_NANOS) {
        reported = System.nanoTime();
        report(start);
      }
    }
    done = true;
  }

  /** Longer than it should where a table was not used in every way yet. */
  private boolean isToGoOn(long past) {
    return past < nanos
        || past < MOST_TIMES * nanos && !tables.stream().allMatch(SoakTable::wasUsedInEveryWay);
  }

  private void work(SplittableRandom random) {
    List<SoakUser> users = new ArrayList<>();
    try {
      for (SoakTable table : tables) {
        users.add(new SoakUser(table, random.split(), allocator));
      }
      while (!done) {
        users.get(random.nextInt(users.size())).act();
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      done = true;
    } finally {
      users.forEach(SoakUser::close);
    }
  }

  private void report(long start) {
    StringBuilder line = new StringBuilder();
    line.append("%5.0f s".formatted((System.nanoTime() - start) / 1e9));
    for (SoakTable each : tables) {
      EmbeddingTable table = each.table();
      TableStatistics now = table.statistics();
      line.append(
          "  %s: %d rows, %d steps, %d evicted"
              .formatted(now.table(), now.rows(), each.steps(), now.evicted()));
    }
    System.out.println(line);
  }

  /** Checks what must hold once all have ended, and says what was done. */
  private void finish(long start, boolean json) {
    Throwable failed = failure.get();
    if (failed != null) {
      throw new IllegalStateException("soak: " + failed.getMessage(), failed);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    for (SoakTable table : tables) {
      table.finish(allocator);
      System.out.println(
          String.format(
              Locale.ROOT,
              json
                  ? "{\"suite\":\"soak\",\"table\":\"%s\",%s,\"seconds\":%.1f}"
                  : "%-8s %s; all true after %.1f s",
              table.name(),
              table.counts(json),
              seconds));
    }
    if (allocator.live() != 0) {
      throw new IllegalStateException(
          "soak: got " + allocator.live() + " bytes held by closed tables, expected none");
    }
  }
}
