package dev.tern.bench.memory;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.replay.TraceLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What recorded steps make allocators hold, by what is live: one step, and five whose sizes vary,
 * one after the other in the same memory. Tern's allocator runs on addresses without memory; what
 * it holds is what would have memory. Rules of placement count how far blocks reach. A plan knows
 * all lifetimes of a step ahead. The first and the last have bounds.
 */
final class TraceTable {
  private static final double[] ONE = {1.0};
  private static final double[] FIVE = {1.0, 1.03, 0.97, 1.10, 1.06};

  /** The most that may be held, by what is live. */
  private static final double BOUND = 1.02;

  private static final double BOUND_OF_PLAN = 1.001;

  private final boolean json;
  private final boolean allRules;

  TraceTable(boolean json, boolean allRules) {
    this.json = json;
    this.allRules = allRules;
  }

  /** Replays all logs of a folder, in the order of their names. */
  void print(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path log : files.filter(file -> file.toString().contains(".log")).sorted().toList()) {
        AllocationTrace trace = AllocationTrace.of(TraceLog.read(log));
        for (double[] scales : List.of(ONE, FIVE)) {
          print(String.valueOf(log.getFileName()), trace, scales);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("--logs: cannot list " + folder, e);
    }
  }

  private void print(String log, AllocationTrace trace, double[] scales) {
    long live = peakLive(trace, scales);
    tern(log, trace, scales, live);
    long planned = planned(trace, scales);
    print(log, scales, "planned ahead", live, planned, -1);
    require(planned <= BOUND_OF_PLAN * live, log, BOUND_OF_PLAN);
    if (allRules) {
      for (Placement.Named rule : Placement.rules()) {
        Placement range = rule.range().get();
        for (double scale : scales) {
          trace.visit(scale, visitor(range));
        }
        print(log, scales, rule.name(), live, range.reserved(), -1);
      }
    }
  }

  private void tern(String log, AllocationTrace trace, double[] scales, long live) {
    try (Allocator allocator = Allocator.rehearsal(Long.MAX_VALUE)) {
      long[] addresses = new long[trace.blocks()];
      long before = 0;
      for (double scale : scales) {
        before = allocator.statistics().systemCalls();
        trace.visit(
            scale,
            new AllocationTrace.Visitor() {
              @Override
              public void allocate(int block, long bytes) {
                addresses[block] = allocator.allocate(bytes, "trace");
              }

              @Override
              public void free(int block) {
                allocator.free(addresses[block]);
              }
            });
      }
      long calls = allocator.statistics().systemCalls() - before;
      long reserved = allocator.statistics().reserved().peak();
      print(log, scales, "tern", live, reserved, calls);
      require(reserved <= BOUND * live, log, BOUND);
    }
  }

  private static AllocationTrace.Visitor visitor(Placement range) {
    return new AllocationTrace.Visitor() {
      @Override
      public void allocate(int block, long bytes) {
        range.allocate(block, BlockArena.rounded(bytes));
      }

      @Override
      public void free(int block) {
        range.free(block);
      }
    };
  }

  private static long planned(AllocationTrace trace, double[] scales) {
    long[] reach = new long[1];
    for (double scale : scales) {
      long[] offsets = trace.plan(scale);
      trace.visit(
          scale,
          new AllocationTrace.Visitor() {
            @Override
            public void allocate(int block, long bytes) {
              reach[0] = Math.max(reach[0], offsets[block] + BlockArena.rounded(bytes));
            }

            @Override
            public void free(int block) {}
          });
    }
    return reach[0];
  }

  private static long peakLive(AllocationTrace trace, double[] scales) {
    long[] sizes = new long[trace.blocks()];
    long[] live = new long[2];
    for (double scale : scales) {
      trace.visit(
          scale,
          new AllocationTrace.Visitor() {
            @Override
            public void allocate(int block, long bytes) {
              sizes[block] = BlockArena.rounded(bytes);
              live[0] += sizes[block];
              live[1] = Math.max(live[0], live[1]);
            }

            @Override
            public void free(int block) {
              live[0] -= sizes[block];
            }
          });
    }
    return live[1];
  }

  private static void require(boolean holds, String log, double bound) {
    if (!holds) {
      throw new IllegalStateException(
          "bench allocator: got more held for " + log + ", expected at most " + bound);
    }
  }

  /** Prints a row; {@code calls} counts the last step's calls, negative where there are none. */
  private void print(
      String log, double[] scales, String rule, long live, long reserved, long calls) {
    String form =
        json
            ? "{\"bench\":\"allocator\",\"case\":\"trace %s\",\"steps\":%d,\"rule\":\"%s\","
                + "\"peak_live\":%d,\"peak_reserved\":%d,\"ratio\":%.4f,\"system_calls\":%s}"
            : "trace %-20s %d steps  %-40s live %12d  reserved %12d  ratio %.4f  system calls %s";
    String count = calls >= 0 ? Long.toString(calls) : json ? "null" : "-";
    System.out.println(
        String.format(
            Locale.ROOT,
            form,
            log,
            scales.length,
            rule,
            live,
            reserved,
            (double) reserved / live,
            count));
  }
}
