package dev.tern.bench;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.runtime.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * {@code bench accuracy}: every elementwise function of one float on all 2^32 floats, or every
 * {@code --stride}th, computed by its vector kernel. The results are compared with double
 * arithmetic ({@link Exact}), and bit by bit with the scalar function; the bits of a NaN are not
 * compared. A result beyond the stated bound, or other bits, are an error.
 */
final class AccuracyBench {
  private static final int BLOCK = 1 << 16;
  private static final long FLOATS = 1L << 32;
  private static final long BUDGET = 1L << 26;

  private AccuracyBench() {}

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--stride", "1");
    defaults.put("--threads", "2");
    defaults.put("--only", "");
    Arguments arguments = Arguments.parse("accuracy", args, defaults);
    Machine.vectorsAtOnce();
    if (!arguments.json()) {
      System.out.println(Machine.line() + ", vectors of " + VectorSupport.lanes() + " floats");
    }
    List<String> only = arguments.list("--only");
    List<Op.Unary> wrong = new ArrayList<>();
    for (Op.Unary op : Op.Unary.values()) {
      if (only.isEmpty() || only.contains(op.name().toLowerCase(Locale.ROOT))) {
        long start = System.nanoTime();
        Found found = measure(op, arguments.positive("--stride"), arguments.positive("--threads"));
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.println(
            arguments.json() ? found.toJson(op, seconds) : found.toText(op, seconds));
        if (!found.isWithin(op)) {
          wrong.add(op);
        }
      }
    }
    if (!wrong.isEmpty()) {
      throw new IllegalStateException("accuracy: got " + wrong + " beyond their stated bounds");
    }
  }

  /**
   * What was found of one function.
   *
   * @param ulps largest error
   * @param at argument of the largest error
   * @param rounded results that are the nearest float
   * @param differences arguments where vector and scalar code give other bits
   */
  record Found(long floats, double ulps, float at, long rounded, long differences) {
    Found and(Found other) {
      boolean worse = other.ulps > ulps;
      return new Found(
          floats + other.floats,
          worse ? other.ulps : ulps,
          worse ? other.at : at,
          rounded + other.rounded,
          differences + other.differences);
    }

    boolean isWithin(Op.Unary op) {
      return ulps <= Exact.ulps(op) && differences == 0;
    }

    private double correct() {
      return 100.0 * rounded / floats;
    }

    String toText(Op.Unary op, double seconds) {
      return String.format(
          Locale.ROOT,
          "accuracy %-10s %d floats: at most %.4f ulp, at %s (bound %s); %.2f%% rounded right;"
              + " %d unlike scalar code; %.0f s",
          op.name().toLowerCase(Locale.ROOT),
          floats,
          ulps,
          Float.toHexString(at),
          Exact.ulps(op),
          correct(),
          differences,
          seconds);
    }

    String toJson(Op.Unary op, double seconds) {
      return String.format(
          Locale.ROOT,
          "{\"bench\":\"accuracy\",\"case\":\"%s\",\"floats\":%d,\"value\":%.4f,\"unit\":\"ulp\","
              + "\"at\":\"%s\",\"bound\":%s,\"rounded_right\":%.4f,\"unlike_scalar\":%d,"
              + "\"lanes\":%d,\"seconds\":%.1f}",
          op.name().toLowerCase(Locale.ROOT),
          floats,
          ulps,
          Float.toHexString(at),
          Exact.ulps(op),
          correct(),
          differences,
          VectorSupport.lanes(),
          seconds);
    }
  }

  /** {@code op} on every {@code stride}th float. */
  static Found measure(Op.Unary op, int stride, int threads) {
    long count = (FLOATS + stride - 1) / stride;
    AtomicLong next = new AtomicLong();
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<CompletableFuture<Found>> parts = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        parts.add(CompletableFuture.supplyAsync(() -> blocks(op, stride, count, next), pool));
      }
      return parts.stream().map(CompletableFuture::join).reduce(Found::and).orElseThrow();
    }
  }

  private static Found blocks(Op.Unary op, int stride, long count, AtomicLong next) {
    float[] x = new float[BLOCK];
    Found found = new Found(0, 0, 0, 0, 0);
    try (Evaluation evaluation = new Evaluation(op, BLOCK)) {
      for (long from = next.getAndAdd(BLOCK); from < count; from = next.getAndAdd(BLOCK)) {
        int size = (int) Math.min(BLOCK, count - from);
        for (int i = 0; i < size; i++) {
          x[i] = Float.intBitsToFloat((int) ((from + i) * stride));
        }
        found = found.and(evaluation.compare(x, size));
      }
    }
    return found;
  }

  /** One function as a program of its own, on memory of its own. */
  static final class Evaluation implements AutoCloseable {
    private final Op.Unary op;
    private final float[] result;
    private final Engine engine = new Engine(1, BUDGET, BUDGET);
    private final Node input;
    private final Engine.Bound bound;

    Evaluation(Op.Unary op, int size) {
      this.op = op;
      result = new float[size];
      input = engine.allocate(Shape.of(size), DType.F32, "input");
      Node output = Nodes.unary(op, input);
      bound = engine.bind(Program.of(List.of(output), List.of()), ScheduleFinder.QUICK);
    }

    /** The first {@code count} of {@code x}, which has as many as this was made for. */
    Found compare(float[] x, int count) {
      Memory.copyIn(x, 0, ((Op.Leaf) input.op()).buffer().address(), x.length);
      bound.run();
      Memory.copyOut(bound.execution().output(0), result, 0, result.length);
      double most = 0;
      float at = 0;
      long rounded = 0;
      long differences = 0;
      for (int i = 0; i < count; i++) {
        float got = result[i];
        double exact = Exact.apply(op, x[i]);
        boolean zero = x[i] == 0 && Float.compare(got, (float) exact) != 0;
        double error = zero ? Double.POSITIVE_INFINITY : Exact.error(got, exact);
        if (error > most) {
          most = error;
          at = x[i];
        }
        rounded += Float.compare(got, (float) exact) == 0 ? 1 : 0;
        float scalar = Pointwise.apply(op, x[i]);
        differences += Float.floatToIntBits(got) == Float.floatToIntBits(scalar) ? 0 : 1;
      }
      return new Found(count, most, at, rounded, differences);
    }

    @Override
    public void close() {
      bound.close();
      engine.close();
    }
  }
}
