package dev.tern.bench.tables;

import dev.tern.base.Workers;
import dev.tern.bench.Ids;
import dev.tern.bench.Result;
import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;

/**
 * Time per id to find and insert ids, in batches, beside maps of other libraries. Tern's is a table
 * of one weight a row, so that its times hold what a lookup does beside: ids of a batch that are
 * alike are found out, rows have addresses, new rows get their weight. Its index alone does what
 * the maps do: it finds the row number of each id. What is found is checked before and while it is
 * timed. Tables take turns in the memory of one allocator, as maps do in the heap: the time of the
 * first of a size, in memory that is new to the process, holds what the system takes to give it.
 *
 * <p>To find ids, all take turns round by round, so that all meet the same pace of a shared
 * machine. Each round begins with an untimed pass, as the caches hold what another one read. A last
 * line has Tern's table beside the fastest of {@link #RIVALS}.
 */
final class IndexBench {
  private static final String OWN = "tern";
  private static final int BATCHES = 64;
  private static final int WARM_ROUNDS = 5;
  private static final int WARM_IDS = 500_000;

  /** Maps that a table is held against. */
  private static final List<String> RIVALS = List.of("fastutil", "Agrona", "JCTools");

  /** Ids above which only Tern is measured: boxed ones would not fit into the heap. */
  private static final int MOST_FOR_PEERS = 20_000_000;

  private final int batch;
  private final boolean json;

  IndexBench(int batch, boolean json) {
    this.batch = batch;
    this.json = json;
  }

  /** All maps with {@code ids} ids each. */
  void run(int ids) {
    try (Allocator allocator = Allocator.of(16L << 30)) {
      List<IndexPeers.Contender> contenders = new ArrayList<>();
      contenders.add(new IndexPeers.Contender(OWN, () -> new Own(allocator)));
      contenders.add(new IndexPeers.Contender("tern, index alone", () -> new Alone(allocator)));
      if (ids <= MOST_FOR_PEERS) {
        contenders.addAll(IndexPeers.all());
      }
      Map<IndexPeers.Contender, IndexPeers.Index> indexes = new LinkedHashMap<>();
      try {
        for (IndexPeers.Contender contender : contenders) {
          warm(contender);
          insert(contender, ids);
          indexes.put(contender, filled(contender, ids));
        }
        findInTurn(indexes, ids);
      } finally {
        indexes.values().forEach(IndexPeers.Index::close);
      }
    }
  }

  private static final class Own implements IndexPeers.Index {
    private final EmbeddingTable table;
    private final ThreadLocal<Lookup> lookup = ThreadLocal.withInitial(Lookup::new);

    Own(Allocator allocator) {
      table =
          BenchTables.create(
              new TableConfig("index", 0, 1, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0)),
              allocator);
    }

    @Override
    public void insert(long[] ids, int count) {
      table.find(ids, count, lookup.get(), true);
    }

    @Override
    public boolean find(long[] ids, int count) {
      Lookup mine = lookup.get();
      table.find(ids, count, mine, false);
      return mine.isComplete();
    }

    @Override
    public long size() {
      return table.size();
    }

    @Override
    public void close() {
      table.close();
    }
  }

  private static final class Alone implements IndexPeers.Index {
    private final BareIndex index;

    Alone(Allocator allocator) {
      index = new BareIndex(allocator);
    }

    @Override
    public void insert(long[] ids, int count) {
      index.insert(ids, count);
    }

    @Override
    public boolean find(long[] ids, int count) {
      return index.find(ids, count);
    }

    @Override
    public long size() {
      return index.size();
    }

    @Override
    public void close() {
      index.close();
    }
  }

  /** Has insertion compiled: the times of one that starts cold would be the JIT's. */
  private void warm(IndexPeers.Contender contender) {
    for (int round = 0; round < WARM_ROUNDS; round++) {
      try (IndexPeers.Index index = contender.maker().get()) {
        insert(index, WARM_IDS, i -> Ids.scatter((int) i, WARM_IDS));
      }
    }
  }

  private void insert(IndexPeers.Contender contender, int ids) {
    try (IndexPeers.Index first = contender.maker().get()) {
      double nanos = perId(insert(first, ids, i -> i), ids);
      print(contender, ids, "insert, in new memory", batch, 1, List.of(nanos), "ns/id");
    }
    try (IndexPeers.Index sequential = contender.maker().get()) {
      double[] nanos = insert(sequential, ids, i -> i);
      print(contender, ids, "insert, ascending", batch, 1, List.of(perId(nanos, ids)), "ns/id");
    }
  }

  /** An index of all ids, checked. */
  private IndexPeers.Index filled(IndexPeers.Contender contender, int ids) {
    IndexPeers.Index index = contender.maker().get();
    double[] nanos = insert(index, ids, i -> Ids.scatter((int) i, ids));
    print(contender, ids, "insert, shuffled", batch, 1, List.of(perId(nanos, ids)), "ns/id");
    double slowest = Arrays.stream(nanos).max().orElseThrow() / 1e6;
    print(contender, ids, "insert, slowest batch", batch, 1, List.of(slowest), "ms");
    if (index instanceof Own own) {
      double bytes = own.table.statistics().indexBytes() / (double) ids;
      print(contender, ids, "bytes of the index", batch, 1, List.of(bytes), "bytes/id");
    }
    check(index, ids);
    return index;
  }

  private void findInTurn(Map<IndexPeers.Contender, IndexPeers.Index> indexes, int ids) {
    for (int threads = 1; threads <= 2; threads++) {
      for (int length : new int[] {batch, TableBench.LARGE_BATCH}) {
        findInTurn(indexes, ids, "find uniform", batches(Ids.uniform(ids, 1), length), threads);
        findInTurn(indexes, ids, "find zipf", batches(Ids.zipf(ids, 1.05, 1), length), threads);
      }
    }
  }

  private static double perId(double[] nanos, int ids) {
    return Arrays.stream(nanos).sum() / ids;
  }

  /** Nanoseconds for each batch of the ids that {@code order} gives of 0, 1, 2 ... */
  private double[] insert(IndexPeers.Index index, int ids, LongUnaryOperator order) {
    long[] next = new long[batch];
    double[] nanos = new double[(ids + batch - 1) / batch];
    for (int done = 0; done < ids; done += batch) {
      int count = Math.min(batch, ids - done);
      for (int i = 0; i < count; i++) {
        next[i] = order.applyAsLong(done + i);
      }
      long start = System.nanoTime();
      index.insert(next, count);
      nanos[done / batch] = System.nanoTime() - start;
    }
    require(index.size() == ids, "insert");
    return nanos;
  }

  /** Ids that are there are found and not inserted again; others are, and then found. */
  private void check(IndexPeers.Index index, int ids) {
    long[] some = new long[batch];
    Ids uniform = Ids.uniform(ids, 5);
    for (int round = 0; round < BATCHES; round++) {
      Arrays.setAll(some, _ -> uniform.next());
      index.insert(some, batch);
      require(index.find(some, batch), "find");
      require(index.size() == ids, "insert of ids that are there");
    }
    long[] others = {-1, Long.MIN_VALUE + 1, -1};
    require(!index.find(others, 1) && !index.find(others, 3), "find of ids that are not there");
    index.insert(others, 3);
    require(index.size() == ids + 2L, "insert of ids that are not there");
    require(index.find(others, 3), "find after insert");
  }

  private void findInTurn(
      Map<IndexPeers.Contender, IndexPeers.Index> indexes,
      int ids,
      String name,
      long[][] batches,
      int threads) {
    int length = batches[0].length;
    int rounds = Math.max(5, 4_000_000 / (length * BATCHES));
    Map<IndexPeers.Contender, List<Double>> runs = new LinkedHashMap<>();
    try (Workers workers = Workers.of(threads)) {
      for (int round = -WARM_ROUNDS; round < rounds; round++) {
        for (Map.Entry<IndexPeers.Contender, IndexPeers.Index> each : indexes.entrySet()) {
          find(each.getValue(), batches, workers);
          double nanos = find(each.getValue(), batches, workers);
          if (round >= 0) {
            runs.computeIfAbsent(each.getKey(), _ -> new ArrayList<>()).add(nanos);
          }
        }
      }
    }
    runs.forEach(
        (contender, nanos) -> print(contender, ids, name, length, threads, nanos, "ns/id"));
    String full = String.format(Locale.ROOT, "tern: %s, %d ids, batch %d", name, ids, length);
    printBesideBest(full, threads, runs);
  }

  /** Nanoseconds per id of a pass over all batches. */
  private static double find(IndexPeers.Index index, long[][] batches, Workers workers) {
    AtomicBoolean lost = new AtomicBoolean();
    int length = batches[0].length;
    long start = System.nanoTime();
    workers.run(
        batches.length,
        (b, worker) -> {
          if (!index.find(batches[b], length)) {
            lost.set(true);
          }
        });
    long nanos = System.nanoTime() - start;
    require(!lost.get(), "find");
    return nanos / ((double) length * batches.length);
  }

  private void printBesideBest(
      String name, int threads, Map<IndexPeers.Contender, List<Double>> runs) {
    List<Double> own = List.of();
    List<Double> best = List.of();
    String rival = "";
    for (Map.Entry<IndexPeers.Contender, List<Double>> each : runs.entrySet()) {
      List<Double> rates = each.getValue().stream().map(nanos -> 1e3 / nanos).toList();
      String contender = each.getKey().name();
      if (contender.equals(OWN)) {
        own = rates;
      } else if (RIVALS.contains(contender)
          && (best.isEmpty() || Result.median(rates) > Result.median(best))) {
        best = rates;
        rival = contender;
      }
    }
    if (!best.isEmpty()) {
      print(new Result("table", name, threads, own, "M ids/s", rival, best));
    }
  }

  private static long[][] batches(Ids stream, int length) {
    long[][] batches = new long[BATCHES][length];
    for (long[] each : batches) {
      Arrays.setAll(each, _ -> stream.next());
    }
    return batches;
  }

  private void print(
      IndexPeers.Contender contender,
      int ids,
      String name,
      int length,
      int threads,
      List<Double> runs,
      String unit) {
    String full =
        String.format(Locale.ROOT, "%s: %s, %d ids, batch %d", contender.name(), name, ids, length);
    print(new Result("table", full, threads, runs, unit, "", List.of()));
  }

  private void print(Result result) {
    System.out.println(json ? result.toJson() : result.toText());
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException("table bench: got a wrong result from " + what);
    }
  }
}
