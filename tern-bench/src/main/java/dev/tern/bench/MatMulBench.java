package dev.tern.bench;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.kernel.matmul.ProductSpec;
import dev.tern.internal.kernel.warmup.Warmup;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code bench matmul}: the matrix products of the models (forward, gradient of the input, gradient
 * of the weights) and odd shapes, beside PyTorch's on the same shapes and layouts. A sample of each
 * result's elements is compared with sums in double precision before anything is timed.
 *
 * <p>Each line names what bounds the case on this machine, as measured beside it: multiplications
 * at the rate of fused multiply-adds on registers, or operands and results at the rate of reading
 * and writing memory of their size once; and the share of that bound which was reached.
 */
final class MatMulBench {
  private static final long WARM_MILLIS = 60_000;

  private static final int WARM_UP_MILLIS = 1500;
  private static final int CHECKED = 200;

  private final boolean json;
  private final List<Double> ratios = new ArrayList<>();
  private final List<Double> oddRatios = new ArrayList<>();
  private boolean warm;

  private MatMulBench(boolean json) {
    this.json = json;
  }

  /** C (m x n) = A (m x k) B (k x n); {@code ta} and {@code tb} say which one lies transposed. */
  private record Case(String name, int m, int n, int k, boolean ta, boolean tb) {
    String request() {
      return String.format(
          Locale.ROOT,
          "{\"op\": \"matmul\", \"m\": %d, \"n\": %d, \"k\": %d, \"ta\": %b, \"tb\": %b}",
          m,
          n,
          k,
          ta,
          tb);
    }

    double flops() {
      return 2.0 * m * n * k;
    }

    boolean isOdd() {
      return name.endsWith("odd");
    }
  }

  /** The least nanoseconds of a case, by arithmetic and by what it must move. */
  private record Bound(double arithmetic, double memory) {
    static Bound of(Case each, int threads) {
      long read = (long) each.m * each.k + (long) each.k * each.n;
      long written = (long) each.m * each.n;
      int size = Math.toIntExact(read + written);
      double moving = read / Limits.read(threads, size) + written / Limits.write(threads, size);
      return new Bound(each.flops() / Limits.gigaflops(threads), 4 * moving);
    }

    /** What a result says about it; {@code rate} in billions of operations a second. */
    String beside(Case each, double rate, boolean json) {
      double most = each.flops() / Math.max(arithmetic, memory);
      return String.format(
          Locale.ROOT,
          json
              ? ",\"bound\":\"%s\",\"bound_value\":%.1f,\"share\":%.3f"
              : "  bound by %s %.1f  share %.2f",
          arithmetic >= memory ? "multiply-adds" : "memory",
          most,
          rate / most);
    }
  }

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--batch", "4096");
    defaults.put("--threads", "1,2");
    defaults.put("--rounds", "7");
    defaults.put("--round-ms", "40");
    defaults.put("--only", "");
    defaults.put("--peer-python", "");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("matmul", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String threads : arguments.list("--threads")) {
      new MatMulBench(arguments.json()).measure(arguments, Integer.parseInt(threads));
    }
  }

  private void measure(Arguments arguments, int threads) {
    double millis = arguments.positive("--round-ms");
    Rounds rounds = new Rounds(arguments.positive("--rounds"), millis);
    String python = arguments.text("--peer-python");
    String only = arguments.text("--only");
    try (Workers workers = Workers.of(threads);
        Peers peers = new Peers(python, arguments.text("--peers"), threads, millis)) {
      for (Case each : cases(arguments.positive("--batch"))) {
        if (each.name().contains(only)) {
          print(each, time(each, workers, rounds, peers));
        }
      }
    }
    String rows = " of %s rows".formatted(arguments.text("--batch"));
    Ratios.print("matmul", rows, threads, ratios, json);
    Ratios.print("matmul", " of other numbers of rows", threads, oddRatios, json);
  }

  private static List<Case> cases(int batch) {
    List<Case> cases = new ArrayList<>();
    int[][] layers = {
      {429, 400},
      {400, 400},
      {400, 1},
      {13, 512},
      {512, 256},
      {256, 16},
      {367, 512},
      {256, 1},
      {429, 429},
    };
    for (int[] layer : layers) {
      int in = layer[0];
      int out = layer[1];
      String name = batch + "x" + in + "x" + out;
      cases.add(new Case(name + " forward", batch, out, in, false, false));
      cases.add(new Case(name + " input gradient", batch, in, out, false, true));
      cases.add(new Case(name + " weight gradient", in, out, batch, true, false));
    }
    for (int rows : new int[] {1, 7, 63, 1000}) {
      cases.add(new Case(rows + "x429x400 odd", rows, 400, 429, false, false));
      cases.add(new Case(rows + "x13x512 odd", rows, 512, 13, false, false));
      cases.add(new Case(rows + "x400x1 odd", rows, 1, 400, false, false));
    }
    return cases;
  }

  private Result time(Case each, Workers workers, Rounds rounds, Peers peers) {
    Allocator allocator = Allocator.of(1L << 32);
    long a = random(allocator, (long) each.m * each.k, 1);
    long b = random(allocator, (long) each.k * each.n, 2);
    long c = allocator.allocate(4L * each.m * each.n, "c");
    long scratch =
        allocator.allocate(
            Math.max(64, MatMul.scratchBytes(each.m, each.n, each.k, workers.threads())),
            "scratch");
    ProductSpec spec =
        new ProductSpec(
            each.ta ? 1 : each.k,
            each.ta ? each.m : 1,
            each.tb ? 1 : each.n,
            each.tb ? each.k : 1,
            each.n,
            each.m,
            each.n,
            each.k,
            false);
    MatMul product = new MatMul(workers, spec, scratch, Epilogue.NONE);
    Runnable work = () -> product.run(a, b, c);
    work.run();
    check(each, a, b, c);
    if (!warm) {
      warm = true;
      awaitVectorCode();
      long end = System.nanoTime() + WARM_UP_MILLIS * 1_000_000L;
      while (System.nanoTime() < end) {
        work.run();
      }
    }
    Rounds.Times times = peers.time(rounds, work, each.request());
    for (long address : new long[] {a, b, c, scratch}) {
      allocator.free(address);
    }
    return new Result(
        "matmul",
        each.name,
        workers.threads(),
        times.own().stream().map(nanos -> each.flops() / nanos).toList(),
        "GFLOP/s",
        "pytorch",
        times.peer().stream().map(nanos -> each.flops() / nanos).toList());
  }

  /** What scalar code does would be no figure of the products. */
  private static void awaitVectorCode() {
    long end = System.nanoTime() + WARM_MILLIS * 1_000_000;
    while (!Warmup.isIdle() && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
    if (MatMul.isPending()) {
      throw new IllegalStateException(
          "bench matmul: got products in scalar code after %d s, expected vectors; close what keeps the cores busy"
              .formatted(WARM_MILLIS / 1000));
    }
  }

  private void print(Case each, Result result) {
    if (!result.peerRuns().isEmpty()) {
      (each.isOdd() ? oddRatios : ratios).add(result.ratio());
    }
    String beside =
        VectorSupport.available()
            ? Bound.of(each, result.threads()).beside(each, result.value(), json)
            : "";
    System.out.println(json ? result.toJson(beside) : result.toText() + beside);
  }

  private static long random(Allocator allocator, long count, long seed) {
    long address = allocator.allocate(4 * count, "bench");
    SplittableRandom random = new SplittableRandom(seed);
    for (long i = 0; i < count; i++) {
      Memory.setFloat(address + 4 * i, (float) random.nextDouble(-1, 1));
    }
    return address;
  }

  private static void check(Case each, long a, long b, long c) {
    SplittableRandom random = new SplittableRandom(3);
    for (int sample = 0; sample < CHECKED; sample++) {
      long i = random.nextInt(each.m);
      long j = random.nextInt(each.n);
      double expected = 0;
      double size = 0;
      for (long p = 0; p < each.k; p++) {
        double x = Memory.getFloat(a + 4 * (each.ta ? p * each.m + i : i * each.k + p));
        double y = Memory.getFloat(b + 4 * (each.tb ? j * each.k + p : p * each.n + j));
        expected += x * y;
        size += Math.abs(x * y);
      }
      double got = Memory.getFloat(c + 4 * (i * each.n + j));
      // Rounding errors of a sum of k terms: at most k half ulps of the sum of their sizes.
      if (!(Math.abs(got - expected) <= each.k * 0x1p-24 * size)) {
        throw new IllegalStateException(
            "matmul "
                + each.name
                + ": got "
                + got
                + " at "
                + i
                + ", "
                + j
                + ", expected "
                + expected);
      }
    }
  }
}
