package dev.tern.bench.exchange;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import dev.tern.exchange.ExchangeProgram;
import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshOptions;
import dev.tern.exchange.Reduction;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/** One rank of {@link ExchangeBench}: checks, then times; rank 0 prints. */
final class ExchangeRank {
  static final String HEAD =
      "link      operation                           runs    p10 us    p50 us    p90 us   GB/s p10"
          + "   p50  CPU ns/B  garbage B/step";

  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final byte[] SECRET =
      "known to the ranks of a benchmark".getBytes(StandardCharsets.US_ASCII);
  private static final int MB = 1 << 20;
  private static final int CHECKED_PROGRAMS = 4;

  private final Mesh mesh;
  private final String link;
  private final double seconds;
  private final boolean json;
  private final MemorySegment counts;

  private ExchangeRank(Mesh mesh, String link, double seconds, boolean json) {
    this.mesh = mesh;
    this.link = link;
    this.seconds = seconds;
    this.json = json;
    counts = Arena.global().allocate(16, 8);
  }

  /** Rank, ranks, folder, kind, whether encrypted, seconds a case, bytes a frame, JSON. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int rank = Integer.parseInt(args[0]);
    int ranks = Integer.parseInt(args[1]);
    Path folder = Path.of(args[2]);
    MeshOptions options =
        MeshOptions.of(rank, ranks, SECRET)
            .encrypted(args[4].equals("yes"))
            .frameBytes(Integer.parseInt(args[6]));
    try (Mesh mesh = RankPort.connect(options, args[3].equals("unix"), folder)) {
      String link = args[3] + (args[4].equals("yes") ? "+aes" : "");
      ExchangeRank bench =
          new ExchangeRank(mesh, link, Double.parseDouble(args[5]), Boolean.parseBoolean(args[7]));
      bench.check();
      bench.time();
      mesh.barrier().await();
    }
  }

  private void check() {
    for (int seed = 0; seed < CHECKED_PROGRAMS; seed++) {
      ExchangeProgram program = new ExchangeProgram(mesh.ranks(), 40, 600_000, seed);
      String difference = program.difference(mesh.rank(), program.run(mesh));
      if (!difference.isEmpty()) {
        throw new IllegalStateException("exchange: got other bits than expected: " + difference);
      }
    }
  }

  private void time() {
    int n = mesh.ranks();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment a = arena.allocate(16L * MB * n, 64);
      MemorySegment b = arena.allocate(16L * MB * n, 64);
      a.fill((byte) 1);
      b.fill((byte) 2);
      for (int bytes : new int[] {64, 4 << 10, 64 << 10, MB, 16 * MB}) {
        MemorySegment values = a.asSlice(0, bytes);
        long sent = bytes <= 8 << 10 ? bytes * (n - 1L) : 2L * bytes * (n - 1) / n;
        measure(
            "all-reduce of " + text(bytes),
            sent,
            bytes,
            () -> mesh.allReduce(values, Reduction.FLOAT_SUM).await());
      }
      MemorySegment few = a.asSlice(0, 4 << 10);
      measure("there and back, 4 KB", 4 << 10, 2 * (4 << 10), () -> thereAndBack(few));
      for (int bytes : new int[] {4 << 10, 64 << 10, MB, 16 * MB}) {
        MemorySegment out = a.asSlice(0, (long) bytes * n);
        MemorySegment in = b.asSlice(0, (long) bytes * n);
        long sent = bytes * (n - 1L);
        measure(
            "all-to-all of " + text(bytes) + " a pair",
            sent,
            sent * n,
            () -> mesh.allToAll(out, in).await());
      }
    }
  }

  private long thereAndBack(MemorySegment few) {
    if (mesh.rank() == 0) {
      return mesh.send(1, few).await() + mesh.receive(1, few).await();
    }
    return mesh.rank() == 1 ? mesh.receive(0, few).await() + mesh.send(0, few).await() : 0;
  }

  /** What is timed; all ranks run it as often. */
  @FunctionalInterface
  private interface Work {
    long run();
  }

  /**
   * @param sent bytes that each rank sends, for its CPU time
   * @param moved bytes to divide by the time, for the rate
   */
  private void measure(String name, long sent, long moved, Work work) {
    int runs = runs(work);
    double[] micros = new double[runs];
    mesh.barrier().await();
    long garbage = THREADS.getTotalThreadAllocatedBytes();
    long cpu = SYSTEM.getProcessCpuTime();
    for (int i = 0; i < runs; i++) {
      long start = System.nanoTime();
      work.run();
      micros[i] = (System.nanoTime() - start) / 1e3;
    }
    cpu = SYSTEM.getProcessCpuTime() - cpu;
    garbage = THREADS.getTotalThreadAllocatedBytes() - garbage;
    counts.setAtIndex(ValueLayout.JAVA_LONG, 0, cpu);
    counts.setAtIndex(ValueLayout.JAVA_LONG, 1, garbage);
    mesh.allReduce(counts, Reduction.LONG_SUM).await();
    if (mesh.rank() == 0) {
      double allCpu = counts.getAtIndex(ValueLayout.JAVA_LONG, 0);
      double allGarbage = counts.getAtIndex(ValueLayout.JAVA_LONG, 1);
      Arrays.sort(micros);
      print(name, micros, moved, allCpu / runs / mesh.ranks() / sent, allGarbage / runs);
    }
  }

  /** Warms up; how many runs fill the time, the same number on all ranks. */
  private int runs(Work work) {
    long start = System.nanoTime();
    int count = 0;
    do {
      for (int i = 0; i < 10; i++) {
        work.run();
      }
      count += 10;
      counts.setAtIndex(ValueLayout.JAVA_LONG, 0, System.nanoTime() - start);
      counts.setAtIndex(ValueLayout.JAVA_LONG, 1, 0);
      mesh.allReduce(counts, Reduction.LONG_MAX).await();
    } while (counts.getAtIndex(ValueLayout.JAVA_LONG, 0) < 5e8 * seconds);
    double each = counts.getAtIndex(ValueLayout.JAVA_LONG, 0) / (double) count;
    return (int) Math.clamp((long) (seconds * 1e9 / each), 20, 200_000);
  }

  private void print(String name, double[] sorted, long moved, double cpu, double garbage) {
    int runs = sorted.length;
    double p10 = sorted[runs / 10];
    double p50 = sorted[runs / 2];
    double p90 = sorted[runs * 9 / 10];
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\": \"exchange\", \"link\": \"%s\", \"name\": \"%s\", \"runs\": %d,"
                + " \"p10_us\": %.1f, \"p50_us\": %.1f, \"p90_us\": %.1f, \"gbs_p10\": %.2f,"
                + " \"gbs_p50\": %.2f, \"cpu_ns_per_byte\": %.3f, \"garbage_per_step\": %.1f}%n"
            : "%-8s  %-32s %7d %9.1f %9.1f %9.1f %10.2f %5.2f %9.3f %15.1f%n",
        link,
        name,
        runs,
        p10,
        p50,
        p90,
        moved / p10 / 1e3,
        moved / p50 / 1e3,
        cpu,
        garbage);
  }

  private static String text(int bytes) {
    return bytes >= MB ? bytes / MB + " MB" : bytes >= 1024 ? bytes / 1024 + " KB" : bytes + " B";
  }
}
