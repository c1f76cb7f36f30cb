package dev.tern.bench.memory;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.internal.memory.Allocator;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * {@code bench allocator}: nanoseconds to allocate and free a block of off-heap memory, beside
 * other allocators; and with {@code --logs} what recorded steps make it hold. Blocks are checked to
 * be apart and to keep their contents before anything is timed, and nothing touches them while it
 * is; only arenas fill theirs. Where a library does not open for want of static TLS, as jemalloc's,
 * {@code GLIBC_TUNABLES=glibc.rtld.optional_static_tls=65536} makes room.
 */
public final class AllocatorBench {
  private static final long BUDGET = 4L << 30;
  private static final int SETTLE_MILLIS = 300;

  private final boolean json;
  private final int rounds;
  private final double nanos;
  private final Allocator allocator = Allocator.of(BUDGET);
  private final Map<String, IntFunction<BlockSource>> sources = new LinkedHashMap<>();

  private AllocatorBench(Arguments arguments) {
    json = arguments.json();
    rounds = arguments.positive("--rounds");
    nanos = arguments.positive("--round-ms") * 1e6;
    sources.put("tern", BlockSource.tern(allocator));
    sources.put("netty", BlockSource.netty());
    sources.put("malloc", BlockSource.malloc());
    if (!arguments.text("--jemalloc").isEmpty()) {
      Path library = Path.of(arguments.text("--jemalloc"));
      sources.put(
          "jemalloc", BlockSource.malloc(SymbolLookup.libraryLookup(library, Arena.global())));
    }
    sources.put("arena", BlockSource.arenas());
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--threads", "1,2");
    defaults.put("--rounds", "9");
    defaults.put("--round-ms", "40");
    defaults.put("--only", "");
    defaults.put("--jemalloc", "");
    defaults.put("--logs", "");
    defaults.put("--rules", "chosen");
    Arguments arguments = Arguments.parse("allocator", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    String logs = arguments.text("--logs");
    if (logs.isEmpty()) {
      new AllocatorBench(arguments).times(arguments);
    } else {
      new TraceTable(arguments.json(), allRules(arguments.text("--rules"))).print(Path.of(logs));
    }
  }

  private static boolean allRules(String rules) {
    return switch (rules) {
      case "all" -> true;
      case "chosen" -> false;
      default ->
          throw new IllegalArgumentException("--rules: got " + rules + ", expected chosen, all");
    };
  }

  private void times(Arguments arguments) {
    sources.forEach((name, source) -> {
      BlockPattern check = BlockPattern.check();
      new BlockLoop(check, source.apply(check.slots())).check(name);
    });
    for (String threads : arguments.list("--threads")) {
      for (BlockPattern pattern : BlockPattern.all()) {
        if (pattern.name().contains(arguments.text("--only"))) {
          compare(pattern, Integer.parseInt(threads));
        }
      }
    }
    allocator.close();
  }

  private void compare(BlockPattern pattern, int threads) {
    double own = 0;
    for (Map.Entry<String, IntFunction<BlockSource>> source : sources.entrySet()) {
      long calls = allocator.statistics().systemCalls();
      Times times = time(pattern, source.getValue(), threads);
      double median = Result.median(times.nanos);
      own = own == 0 ? median : own;
      boolean isTern = source.getKey().equals("tern");
      long made = isTern ? allocator.statistics().systemCalls() - calls - times.warmUpCalls : -1;
      print(pattern, threads, source.getKey(), times, median / own, made);
    }
  }

  /**
   * What was measured.
   *
   * @param nanos of a thread for each pair, by round
   * @param heap bytes for each pair in the round of fewest
   * @param warmUpCalls system calls of Tern's allocator before the first round
   */
  private record Times(List<Double> nanos, double heap, long warmUpCalls) {}

  private Times time(BlockPattern pattern, IntFunction<BlockSource> source, int threads) {
    long calls = allocator.statistics().systemCalls();
    try (BlockThreads team = new BlockThreads(pattern, source, threads)) {
      int count = calibrate(team);
      long warmUpCalls = allocator.statistics().systemCalls() - calls;
      List<Double> times = new ArrayList<>();
      double heap = Double.MAX_VALUE;
      double pairs = (double) count * pattern.pairs();
      for (int i = 0; i < rounds; i++) {
        times.add(team.run(count) / pairs);
        heap = Math.min(heap, team.heap() / (pairs * threads));
      }
      return new Times(times, heap, warmUpCalls);
    }
  }

  /** How often to go through the pattern in a round; warms up. */
  private int calibrate(BlockThreads team) {
    long end = System.nanoTime() + SETTLE_MILLIS * 1_000_000L;
    int count = 1;
    while (true) {
      double time = team.run(count);
      if (time < nanos) {
        count *= 2;
      } else if (System.nanoTime() > end) {
        return Math.max(1, (int) (count * nanos / time));
      }
    }
  }

  private void print(
      BlockPattern pattern, int threads, String name, Times times, double ratio, long calls) {
    String form =
        json
            ? "{\"bench\":\"allocator\",\"case\":\"%s\",\"threads\":%d,\"allocator\":\"%s\","
                + "\"value\":%.2f,\"unit\":\"ns/pair\",\"min\":%.2f,\"max\":%.2f,"
                + "\"heap_bytes\":%.3f,\"system_calls\":%s,\"ratio\":%.3f,\"runs\":[%s]}"
            : "%-28s %d threads  %-9s %9.2f ns/pair (%.2f to %.2f)  heap %.3f B/pair"
                + "  system calls %s  %.2f of tern's  [%s]";
    System.out.println(
        String.format(
            Locale.ROOT,
            form,
            pattern.name(),
            threads,
            name,
            Result.median(times.nanos),
            Collections.min(times.nanos),
            Collections.max(times.nanos),
            times.heap,
            calls >= 0 ? Long.toString(calls) : json ? "null" : "-",
            ratio,
            times.nanos.stream()
                .map(run -> String.format(Locale.ROOT, "%.2f", run))
                .collect(Collectors.joining(","))));
  }
}
