package dev.tern.bench.tables;

import dev.tern.base.DType;
import dev.tern.base.Workers;
import dev.tern.bench.Arguments;
import dev.tern.bench.Ids;
import dev.tern.bench.Machine;
import dev.tern.bench.Peers;
import dev.tern.bench.Result;
import dev.tern.bench.Rounds;
import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.SelectedRows;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Time per id of what training does with embedding tables of 16 weights a row: find, insert, pool,
 * update. Results are checked before they are timed; a run is the median over batches of wall time,
 * after as many untimed runs.
 */
public final class TableBench {
  private static final int WIDTH = 16;
  private static final int BATCHES = 64;

  /** Ids of a batch of 2048 examples whose 26 features share one table. */
  static final int LARGE_BATCH = 26 * 2048;

  private static final int TABLES = 26;
  private static final int STEP_ROUNDS = 4;
  private static final float LR = 0.01f;

  private final boolean json;
  private final int rows;
  private final int batch;
  private final DType storage;

  /** Whether tables note which rows change, anew with each round of batches. */
  private final boolean tracking;

  private final List<EmbeddingTable> open = new ArrayList<>();
  private final Allocator allocator = Allocator.of(16L << 30);
  private final int[] offsets;
  private final long pooled;
  private final long grads;

  private TableBench(boolean json, int rows, int batch, DType storage, boolean tracking) {
    this.storage = storage;
    this.tracking = tracking;
    this.json = json;
    this.rows = rows;
    this.batch = batch;
    offsets = IntStream.rangeClosed(0, batch).toArray();
    pooled = allocator.allocate(4L * WIDTH * batch, "bench");
    grads = allocator.allocate(4L * WIDTH * batch, "bench");
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < batch * WIDTH; i++) {
      Memory.setFloat(grads + 4L * i, (float) random.nextDouble(-1e-3, 1e-3));
    }
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--rows", "1000000");
    defaults.put("--batch", "4096");
    defaults.put("--storage", "f32");
    defaults.put("--changes", "ignored");
    defaults.put("--index", "");
    defaults.put("--rounds", "5");
    defaults.put("--round-ms", "50");
    defaults.put("--peer-python", "");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("table", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    int batch = arguments.positive("--batch");
    for (int ids : arguments.positives("--index")) {
      new IndexBench(batch, arguments.json()).run(ids);
    }
    int rows = arguments.positive("--rows");
    DType storage = storage(arguments.text("--storage"));
    boolean tracking = tracking(arguments.text("--changes"));
    TableBench bench = new TableBench(arguments.json(), rows, batch, storage, tracking);
    bench.run();
    new TableBench(arguments.json(), rows, LARGE_BATCH, storage, tracking).updates();
    if (!arguments.text("--peer-python").isEmpty()) {
      bench.besidePeer(arguments);
    }
  }

  private static DType storage(String name) {
    return switch (name) {
      case "f32" -> DType.F32;
      case "f16" -> DType.F16;
      case "bf16" -> DType.BF16;
      default ->
          throw new IllegalArgumentException(
              "--storage: got " + name + ", expected f32, f16, bf16");
    };
  }

  private static boolean tracking(String name) {
    return switch (name) {
      case "ignored" -> false;
      case "noted" -> true;
      default ->
          throw new IllegalArgumentException(
              "--changes: got " + name + ", expected ignored, noted");
    };
  }

  private void run() {
    long[][] uniform = batches(Ids.uniform(rows, 1));
    long[][] zipf = batches(Ids.zipf(rows, 1.05, 1));
    try (EmbeddingTable first = table(0, Optimizer.sgd(LR))) {
      double nanos = Arrays.stream(fill(first, rows)).sum() / rows;
      print("insert while growing, in new memory", 1, List.of(nanos), "ns/id");
    }
    open.clear();
    try (EmbeddingTable table = table(0, Optimizer.sgd(LR))) {
      insert(table);
      check(table, uniform[0]);
      Lookup lookup = new Lookup();
      time("find uniform", uniform, ids -> table.find(ids, batch, lookup, true));
      time("find zipf", zipf, ids -> table.find(ids, batch, lookup, true));
      time("find + pool uniform", uniform, ids -> findAndPool(table, ids, lookup, pooled));
      time("find + pool zipf", zipf, ids -> findAndPool(table, ids, lookup, pooled));
      update("dedup, merge, sgd zipf", table, zipf);
      findAndUpdate("find + update sgd uniform", table, uniform);
      findAndUpdate("find + update sgd zipf", table, zipf);
      requests(table, zipf);
    }
    Optimizer[] optimizers = {
      Optimizer.rowWiseAdagrad(LR),
      Optimizer.adagrad(LR),
      Optimizer.lazyAdam(LR),
      Optimizer.ftrl(LR)
    };
    for (Optimizer optimizer : optimizers) {
      open.clear();
      try (EmbeddingTable table = table(0, optimizer)) {
        fill(table, rows);
        String name = optimizer.getClass().getSimpleName().toLowerCase(Locale.ROOT);
        update(name + " uniform", table, uniform);
        update(name + " zipf", table, zipf);
      }
    }
    steps(1);
    steps(2);
  }

  /** What a step does with ids beside pooling their rows. */
  private void updates() {
    long[][] uniform = batches(Ids.uniform(rows, 1));
    long[][] zipf = batches(Ids.zipf(rows, 1.05, 1));
    try (EmbeddingTable table = table(0, Optimizer.sgd(LR))) {
      fill(table, rows);
      Lookup lookup = new Lookup();
      time("find uniform", uniform, ids -> table.find(ids, batch, lookup, true));
      time("find zipf", zipf, ids -> table.find(ids, batch, lookup, true));
      findAndUpdate("find + update sgd uniform", table, uniform);
      findAndUpdate("find + update sgd zipf", table, zipf);
      merge("dedup + merge-add, scratch kept, uniform", table, uniform);
      merge("dedup + merge-add, scratch kept, zipf", table, zipf);
    }
  }

  /**
   * Adds up the rows of a gradient, one for each position, that are of one id; in turn with a find
   * of the same ids.
   */
  private void merge(String name, EmbeddingTable table, long[][] batches) {
    SplittableRandom random = new SplittableRandom(4);
    float[] values = new float[batch * WIDTH];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-100, 100);
    }
    List<SelectedRows> gradients = new ArrayList<>();
    for (long[] ids : batches) {
      gradients.add(SelectedRows.of(SelectedRows.UNBOUNDED, WIDTH, ids, values));
    }
    Lookup scratch = new Lookup();
    checkMerged(batches[0], values, gradients.getFirst().merged(scratch));
    Lookup lookup = new Lookup();
    int rounds = rounds();
    double[] merges = new double[rounds * BATCHES];
    double[] finds = new double[rounds * BATCHES];
    for (int i = 0; i < 2 * merges.length; i++) {
      int number = i % BATCHES;
      long start = System.nanoTime();
      gradients.get(number).merged(scratch);
      long middle = System.nanoTime();
      table.find(batches[number], batch, lookup, true);
      merges[i % merges.length] = middle - start;
      finds[i % finds.length] = System.nanoTime() - middle;
    }
    print(name, 1, medians(merges, batch), "ns/id");
    print(
        name + ", rate beside find",
        1,
        rates(medians(merges, 1)),
        "M ids/s",
        "find",
        rates(medians(finds, 1)));
  }

  private int rounds() {
    return Math.max(4, 2_000_000 / (batch * BATCHES));
  }

  private static void checkMerged(long[] ids, float[] values, SelectedRows merged) {
    Map<Long, float[]> sums = new LinkedHashMap<>();
    for (int i = 0; i < ids.length; i++) {
      float[] sum = sums.computeIfAbsent(ids[i], _ -> new float[WIDTH]);
      for (int j = 0; j < WIDTH; j++) {
        sum[j] += values[i * WIDTH + j];
      }
    }
    long[] numbers = merged.rows();
    float[] rows = merged.values();
    int u = 0;
    for (Map.Entry<Long, float[]> sum : sums.entrySet()) {
      float[] row = Arrays.copyOfRange(rows, u * WIDTH, (u + 1) * WIDTH);
      require(numbers[u] == sum.getKey() && Arrays.equals(row, sum.getValue()), "merge");
      u++;
    }
    require(u == merged.size(), "merge");
  }

  private void findAndUpdate(String name, EmbeddingTable table, long[][] batches) {
    Lookup lookup = new Lookup();
    int[] at = {0};
    time(
        name,
        batches,
        ids -> {
          table.find(ids, batch, lookup, true);
          BenchTables.apply(table, lookup, offsets, batch, Combiner.SUM, grads, WIDTH, LR, ++at[0]);
        });
  }

  /**
   * Scoring, and how much of it is what keeps changes away: a call that does nothing else. Requests
   * of one id are for as many rows as there are batches, which caches hold.
   */
  private void requests(EmbeddingTable table, long[][] batches) {
    print(
        "lock of a read, with no other thread", 1, nanosPerCall(1 << 20, _ -> table.size()), "ns");
    Lookup lookup = new Lookup();
    for (int count : new int[] {1, batch}) {
      List<Double> nanos =
          nanosPerCall(
              Math.max(200, (1 << 20) / count),
              call ->
                  BenchTables.findAndPool(
                      table,
                      batches[call % BATCHES],
                      count,
                      lookup,
                      false,
                      offsets,
                      count,
                      Combiner.SUM,
                      pooled,
                      WIDTH));
      String name = "request of ids: %d, of %d batches in turn".formatted(count, BATCHES);
      print(name, 1, nanos, "ns");
    }
  }

  private static List<Double> nanosPerCall(int calls, IntConsumer call) {
    List<Double> nanos = new ArrayList<>();
    for (int round = 0; round < 6; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        call.accept(i);
      }
      if (round > 0) { // the first one warms up
        nanos.add((System.nanoTime() - start) / (double) calls);
      }
    }
    return nanos;
  }

  private EmbeddingTable table(int index, Optimizer optimizer) {
    EmbeddingTable table =
        BenchTables.create(
            new TableConfig(
                "bench" + index,
                index,
                WIDTH,
                1,
                TableOptions.of(optimizer).initRange(0.01f).storage(storage)),
            allocator);
    open.add(table);
    return table;
  }

  private void beginRound(int batchNumber) {
    if (tracking && batchNumber % BATCHES == 0) {
      open.forEach(EmbeddingTable::trackChanges);
    }
  }

  private long[][] batches(Ids ids) {
    long[][] batches = new long[BATCHES][batch];
    for (long[] each : batches) {
      for (int i = 0; i < batch; i++) {
        each[i] = ids.next();
      }
    }
    return batches;
  }

  private void insert(EmbeddingTable table) {
    double[] nanos = fill(table, rows);
    print("insert while growing", 1, List.of(Arrays.stream(nanos).sum() / rows), "ns/id");
    double slowest = Arrays.stream(nanos).max().orElseThrow() / 1e6;
    print("insert, slowest batch", 1, List.of(slowest), "ms");
    double bytes = table.bytes() / (double) rows;
    print("bytes per row", 1, List.of(bytes), "bytes");
    double beyond = bytes - storage.bytes() * WIDTH;
    print("bytes per row beyond its weights", 1, List.of(beyond), "bytes");
  }

  /** Inserts all ids below {@code count}; nanoseconds per batch. */
  private double[] fill(EmbeddingTable table, int count) {
    Lookup lookup = new Lookup();
    long[] ids = new long[batch];
    double[] nanos = new double[(count + batch - 1) / batch];
    for (int done = 0; done < count; done += batch) {
      int length = Math.min(batch, count - done);
      for (int i = 0; i < length; i++) {
        ids[i] = Ids.scatter(done + i, count);
      }
      long start = System.nanoTime();
      table.find(ids, length, lookup, true);
      nanos[done / batch] = System.nanoTime() - start;
    }
    require(table.size() == count, "insert");
    return nanos;
  }

  /** Pooling a batch gives the rows of its ids one by one, before and after an update. */
  private void check(EmbeddingTable table, long[] ids) {
    Lookup lookup = new Lookup();
    findAndPool(table, ids, lookup, pooled);
    require(table.size() == rows, "find");
    long row = allocator.allocate(4L * WIDTH, "bench");
    Lookup one = new Lookup();
    for (int i = 0; i < batch; i++) {
      read(table, ids[i], one, row);
      require(Memory.getFloat(row) == Memory.getFloat(pooled + 4L * WIDTH * i), "pool");
    }
    BenchTables.apply(table, lookup, offsets, batch, Combiner.SUM, grads, WIDTH, 1, 1);
    for (int i = 0; i < batch; i += batch / 16) {
      double expected = Memory.getFloat(pooled + 4L * WIDTH * i);
      for (int k = 0; k < batch; k++) {
        expected -= ids[k] == ids[i] ? Memory.getFloat(grads + 4L * WIDTH * k) : 0;
      }
      read(table, ids[i], one, row);
      double rounding = storage == DType.F32 ? 1e-6 : Math.abs(expected) / 128;
      require(Math.abs(Memory.getFloat(row) - expected) <= rounding, "apply");
    }
    allocator.free(row);
  }

  private static void read(EmbeddingTable table, long id, Lookup lookup, long row) {
    table.find(new long[] {id}, 1, lookup, false);
    BenchTables.ragged(table, lookup, row);
  }

  private void findAndPool(EmbeddingTable table, long[] ids, Lookup lookup, long target) {
    table.find(ids, batch, lookup, true);
    BenchTables.pool(table, lookup, offsets, 0, batch, Combiner.SUM, target, WIDTH);
  }

  private void update(String name, EmbeddingTable table, long[][] batches) {
    Lookup[] lookups = new Lookup[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
      lookups[i] = new Lookup();
      table.find(batches[i], batch, lookups[i], true);
    }
    int[] at = {0};
    time(
        "update " + name,
        batches,
        _ -> {
          Lookup lookup = lookups[at[0] % BATCHES];
          BenchTables.apply(table, lookup, offsets, batch, Combiner.SUM, grads, WIDTH, LR, ++at[0]);
        });
  }

  /** The tables' part of a training step: 26 tables that share the rows, each a task. */
  private void steps(int threads) {
    open.clear();
    EmbeddingTable[] tables = new EmbeddingTable[TABLES];
    Lookup[] lookups = new Lookup[TABLES];
    long[][][] batches = new long[TABLES][][];
    long[] pools = new long[TABLES];
    for (int t = 0; t < TABLES; t++) {
      tables[t] = table(t, Optimizer.adagrad(LR));
      fill(tables[t], rows / TABLES);
      lookups[t] = new Lookup();
      batches[t] = batches(Ids.zipf(rows / TABLES, 1.05, t));
      pools[t] = allocator.allocate(4L * WIDTH * batch, "bench");
    }
    try (Workers workers = Workers.of(threads)) {
      double[] nanos = new double[STEP_ROUNDS * BATCHES];
      for (int i = 0; i < 2 * nanos.length; i++) {
        int number = i;
        beginRound(i);
        long start = System.nanoTime();
        workers.run(
            TABLES,
            (t, _) -> {
              long[] ids = batches[t][number % BATCHES];
              findAndPool(tables[t], ids, lookups[t], pools[t]);
              BenchTables.apply(
                  tables[t],
                  lookups[t],
                  offsets,
                  batch,
                  Combiner.SUM,
                  grads,
                  WIDTH,
                  LR,
                  number + 1);
            });
        nanos[i % nanos.length] = System.nanoTime() - start;
      }
      List<Double> runs = medians(nanos, (double) batch * TABLES);
      print("find + pool + adagrad zipf, 26 tables", threads, runs, "ns/id");
    }
    for (int t = 0; t < TABLES; t++) {
      allocator.free(pools[t]);
      tables[t].close();
    }
  }

  /** A table's part of a step, one id a bag, beside PyTorch's {@code EmbeddingBag}; one thread. */
  private void besidePeer(Arguments arguments) {
    double millis = arguments.positive("--round-ms");
    Rounds rounds = new Rounds(arguments.positive("--rounds"), millis);
    Map<String, Optimizer> optimizers = new LinkedHashMap<>();
    optimizers.put("sgd", Optimizer.sgd(LR));
    optimizers.put("adagrad", Optimizer.adagrad(LR));
    optimizers.put("adam", Optimizer.lazyAdam(LR));
    try (Peers peers =
        new Peers(arguments.text("--peer-python"), arguments.text("--peers"), 1, millis)) {
      for (String stream : List.of("uniform", "zipf")) {
        Ids ids = stream.equals("zipf") ? Ids.zipf(rows, 1.05, 1) : Ids.uniform(rows, 1);
        long[][] batches = batches(ids);
        for (Map.Entry<String, Optimizer> each : optimizers.entrySet()) {
          open.clear();
          try (EmbeddingTable table = table(0, each.getValue())) {
            fill(table, rows);
            beside(table, stream, batches, each.getKey(), rounds, peers);
          }
        }
      }
    }
  }

  private void beside(
      EmbeddingTable table,
      String stream,
      long[][] batches,
      String optimizer,
      Rounds rounds,
      Peers peers) {
    Lookup lookup = new Lookup();
    int[] at = {0};
    Runnable work =
        () -> {
          findAndPool(table, batches[at[0]++ % BATCHES], lookup, pooled);
          BenchTables.apply(table, lookup, offsets, batch, Combiner.SUM, grads, WIDTH, LR, at[0]);
        };
    for (int i = 0; i < STEP_ROUNDS * BATCHES; i++) {
      work.run();
    }
    String request =
        String.format(
            Locale.ROOT,
            "{\"op\": \"table\", \"rows\": %d, \"width\": %d, \"batch\": %d, \"ids\": \"%s\","
                + " \"optimizer\": \"%s\"}",
            rows,
            WIDTH,
            batch,
            stream,
            optimizer);
    Rounds.Times times = peers.time(rounds, work, request);
    String name =
        "find + pool + %s %s, %s, %d rows, batch %d"
            .formatted(optimizer, stream, storage, rows, batch);
    Result result =
        new Result("table", name, 1, rates(times.own()), "M ids/s", "pytorch", rates(times.peer()));
    System.out.println(json ? result.toJson() : result.toText());
  }

  private List<Double> rates(List<Double> nanos) {
    return nanos.stream().map(each -> batch * 1e3 / each).toList();
  }

  /** Work on one batch of ids. */
  @FunctionalInterface
  private interface Work {
    void run(long[] ids);
  }

  private void time(String name, long[][] batches, Work work) {
    double[] nanos = new double[rounds() * BATCHES];
    for (int i = 0; i < 2 * nanos.length; i++) {
      beginRound(i);
      long start = System.nanoTime();
      work.run(batches[i % BATCHES]);
      nanos[i % nanos.length] = System.nanoTime() - start;
    }
    print(name, 1, medians(nanos, batch), "ns/id");
  }

  /** The median time per id of each round of batches. */
  private static List<Double> medians(double[] nanos, double ids) {
    List<Double> medians = new ArrayList<>();
    for (int from = 0; from < nanos.length; from += BATCHES) {
      double[] round = Arrays.copyOfRange(nanos, from, from + BATCHES);
      Arrays.sort(round);
      medians.add(round[BATCHES / 2] / ids);
    }
    return medians;
  }

  private void print(String name, int threads, List<Double> runs, String unit) {
    print(name, threads, runs, unit, "", List.of());
  }

  private void print(
      String name,
      int threads,
      List<Double> runs,
      String unit,
      String peer,
      List<Double> peerRuns) {
    String full =
        String.format(Locale.ROOT, "%s, %s, %d rows, batch %d", name, storage, rows, batch);
    Result result = new Result("table", full, threads, runs, unit, peer, peerRuns);
    System.out.println(json ? result.toJson() : result.toText());
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("table bench: got a wrong result from " + what);
    }
  }
}
