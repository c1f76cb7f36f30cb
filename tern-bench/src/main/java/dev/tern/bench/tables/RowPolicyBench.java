package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.Ids;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Tables that admit and evict, on a Zipf stream of ids: admission by count against an exact count
 * of all ids, which must find no row missing and under 1% too many; then the time that a step takes
 * by each policy.
 */
public final class RowPolicyBench {
  private static final int BATCH = 8192;
  private static final int WIDTH = 16;
  private static final double EXPONENT = 1.05;

  private final Arguments arguments;
  private final int ids;
  private final int[] offsets = IntStream.rangeClosed(0, BATCH).toArray();

  private RowPolicyBench(Arguments arguments) {
    this.arguments = arguments;
    ids = arguments.positive("--ids");
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ids", "100000000");
    defaults.put("--draws", "100000000");
    defaults.put("--count", "10"); // at most 127: exact counts are bytes
    defaults.put("--expected", "30000000");
    defaults.put("--step-draws", "8000000");
    Arguments arguments = Arguments.parse("rows", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    RowPolicyBench bench = new RowPolicyBench(arguments);
    bench.admission();
    bench.steps();
  }

  private static EmbeddingTable table(RowPolicy policy, int width, Allocator allocator) {
    TableConfig config =
        new TableConfig(
            "bench",
            0,
            width,
            1,
            TableOptions.of(Optimizer.rowWiseAdagrad(0.01f)).initRange(0.01f).rows(policy));
    return BenchTables.create(config, allocator);
  }

  private void admission() {
    int count = arguments.positive("--count");
    byte[] exact = new byte[ids];
    RowPolicy policy =
        RowPolicy.ALL.withAdmission(new Admission.ByCount(count, arguments.positive("--expected")));
    Ids stream = Ids.zipf(ids, EXPONENT, 1);
    try (EmbeddingTable table = table(policy, 1, Allocator.of(16L << 30))) {
      Lookup lookup = new Lookup();
      long[] batch = new long[BATCH];
      long nanos = 0;
      long slowest = 0;
      int draws = arguments.positive("--draws") / BATCH;
      for (int i = 0; i < draws; i++) {
        for (int k = 0; k < BATCH; k++) {
          batch[k] = stream.next();
          int id = (int) batch[k];
          exact[id] = (byte) Math.min(Byte.MAX_VALUE, exact[id] + 1);
        }
        long start = System.nanoTime();
        table.find(batch, BATCH, lookup, true);
        long time = System.nanoTime() - start;
        nanos += time;
        slowest = i > draws / 10 ? Math.max(slowest, time) : 0;
      }
      report(table, exact, count);
      print("find, all batches", nanos / ((double) draws * BATCH), "ns/id");
      print("find, slowest batch after the first tenth", slowest / 1e6, "ms");
    }
  }

  private void report(EmbeddingTable table, byte[] exact, int count) {
    long distinct = 0;
    long due = 0;
    for (byte times : exact) {
      distinct += times > 0 ? 1 : 0;
      due += times >= count ? 1 : 0;
    }
    long[] early = {0};
    table.exportTo((block, _, rows) -> {
      for (int i = 0; i < rows; i++) {
        early[0] += exact[(int) block[i]] < count ? 1 : 0;
      }
    });
    TableStatistics statistics = table.statistics();
    long missing = due - (statistics.rows() - early[0]);
    print("distinct ids", distinct, "ids");
    print("rows admitted", statistics.rows(), "rows");
    print("rows that an exact count admits", due, "rows");
    print("rows missing", missing, "rows");
    print("rows admitted early", early[0], "rows");
    print("rows admitted early, of those admitted", 100.0 * early[0] / statistics.rows(), "%");
    print("ids that share a counter, estimated", statistics.sharedCounters(), "ids");
    print("filter", statistics.filterBytes(), "bytes");
    print("filter per distinct id", statistics.filterBytes() / (double) distinct, "bytes");
    print("table without filter", statistics.bytes() - statistics.filterBytes(), "bytes");
    if (missing != 0 || early[0] > statistics.rows() / 100) {
      throw new IllegalStateException("rows bench: got rows that no exact count admits");
    }
  }

  private void steps() {
    int draws = arguments.positive("--step-draws");
    int most = draws / 40;
    step("all", RowPolicy.ALL);
    step("count 10", RowPolicy.ALL.withAdmission(new Admission.ByCount(10, draws / 2)));
    step("share 0.1", RowPolicy.ALL.withAdmission(new Admission.ByProbability(0.1)));
    step("unseen 100", RowPolicy.ALL.withEviction(new Eviction.Unseen(100)));
    long[] ended = {0};
    InstantSource clock = () -> Instant.ofEpochSecond(++ended[0]);
    step(
        "unseen for the time of 100",
        RowPolicy.ALL.withEviction(new Eviction.UnseenFor(Duration.ofSeconds(100), clock)));
    // A row seen once goes after 100 steps, too.
    step("low score", RowPolicy.ALL.withEviction(new Eviction.LowScore(0.99, 0.37f)));
    step("small norm", RowPolicy.ALL.withEviction(new Eviction.SmallNorm(0.03f, 100)));
    step("at most " + most, RowPolicy.ALL.withMaxRows(most, WhenFull.UNKNOWN));
    step("least recent of " + most, RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), most));
    step(
        "least frequent of " + most,
        RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastFrequent(), most));
  }

  /** Find and update over a stream; the median and the slowest batch of its second half. */
  private void step(String name, RowPolicy policy) {
    Allocator allocator = Allocator.of(16L << 30);
    long grads = allocator.allocate(4L * WIDTH * BATCH, "bench");
    Memory.zero(grads, 4L * WIDTH * BATCH);
    Ids stream = Ids.zipf(ids, EXPONENT, 2);
    int draws = arguments.positive("--step-draws") / BATCH;
    long[] batch = new long[BATCH];
    double[] nanos = new double[draws];
    Lookup lookup = new Lookup();
    try (EmbeddingTable table = table(policy, WIDTH, allocator)) {
      for (int i = 0; i < draws; i++) {
        for (int k = 0; k < BATCH; k++) {
          batch[k] = stream.next();
        }
        long start = System.nanoTime();
        table.find(batch, BATCH, lookup, true);
        BenchTables.apply(table, lookup, offsets, BATCH, Combiner.SUM, grads, WIDTH, 0.01f, i + 1);
        nanos[i] = System.nanoTime() - start;
      }
      double[] half = Arrays.copyOfRange(nanos, draws / 2, draws);
      Arrays.sort(half);
      print("find + update, " + name, half[half.length / 2] / BATCH, "ns/id");
      print("find + update, " + name + ", slowest batch", half[half.length - 1] / 1e6, "ms");
      TableStatistics statistics = table.statistics();
      print("rows, " + name, statistics.rows(), "rows");
      print("evicted, " + name, statistics.evicted(), "rows");
    }
    allocator.free(grads);
  }

  private void print(String name, double value, String unit) {
    String full = String.format(Locale.ROOT, "%s, zipf %s of %d ids", name, EXPONENT, ids);
    Result result = new Result("rows", full, 1, List.of(value), unit, "", List.of());
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }
}
