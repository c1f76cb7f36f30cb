package dev.tern.bench.tables;

import com.sun.management.OperatingSystemMXBean;
import dev.tern.bench.Arguments;
import dev.tern.bench.Ids;
import dev.tern.bench.Result;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * The store of the file tier beside RocksDB, each by itself: a tenth of the rows is in memory, and
 * {@link ResidentRows} says which records a training stream then reads and writes in each step.
 * Both stores get the same requests, a round each in turn, once all rows were written and the
 * stream ran for a while; what either reads is compared with what was written, at first every row
 * of it. RocksDB may hold as much memory as it is told; what either holds in the end is printed.
 * Both have the system cache their files. What a table does to find out what is cold, the same for
 * any store, is not in the times.
 *
 * <p>What RocksDB does in the background is not in the times either, but in the processor time that
 * a row takes, of reads and writes together.
 */
final class StoreBench implements AutoCloseable {
  private static final String PEER = "RocksDB";
  private static final double EXPONENT = 1.05;

  /** Of the rows, one part in so many is in memory. */
  private static final int SHARE = 10;

  private static final int WARM_ROUNDS = 2;
  private static final int ROUNDS = 7;
  private static final int STEPS = 100;

  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Arguments arguments;
  private final int ids;
  private final int batch;
  private final int recordBytes;
  private final ResidentRows rows;
  private final Allocator allocator = Allocator.of(8L << 30);
  private final RowStore own;
  private final RowStore peer;
  private long buffer = allocator.allocate(Long.BYTES, "bench");
  private long bufferBytes = Long.BYTES;

  private StoreBench(Arguments arguments) throws IOException {
    this.arguments = arguments;
    ids = arguments.positive("--store-ids");
    batch = arguments.positive("--batch");
    if (ids / SHARE < batch) {
      throw new IllegalArgumentException(
          "bench tier: got --store-ids %d for --batch %d, expected %d times as many"
              .formatted(ids, batch, SHARE));
    }
    recordBytes = 4 * arguments.positive("--width") + Float.BYTES + Long.BYTES;
    rows = new ResidentRows(ids, ids / SHARE);
    Path folder = Path.of(arguments.text("--folder"));
    own = new RowStore.Own(folder, recordBytes, rows.partitions(), allocator);
    long memory = Long.parseLong(arguments.text("--store-memory"));
    peer = new RocksStore(folder, recordBytes, memory, batch);
  }

  static void run(Arguments arguments) {
    try (StoreBench bench = new StoreBench(arguments)) {
      bench.run();
    } catch (IOException e) {
      throw new UncheckedIOException("tier bench: cannot write files", e);
    }
  }

  /** Millions of rows a second: read, written, and of both a second of processor time. */
  private record Rates(double read, double written, double processor) {}

  private void run() {
    fill();
    Ids stream = Ids.zipf(ids, EXPONENT, 3);
    List<Rates> ours = new ArrayList<>();
    List<Rates> theirs = new ArrayList<>();
    for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
      List<ResidentRows.Step> steps = steps(stream::next, STEPS * (long) batch);
      Rates first = replay(own, steps);
      Rates second = replay(peer, steps);
      if (round >= 0) {
        ours.add(first);
        theirs.add(second);
      }
    }
    check(own);
    check(peer);
    String rate = "M rows/s";
    print("cold rows read", rate, rates(ours, 0), rates(theirs, 0));
    print("cold rows written", rate, rates(ours, 1), rates(theirs, 1));
    print("cold rows of both, by processor time", rate, rates(ours, 2), rates(theirs, 2));
    double bytes = 0;
    for (int id = 0; id < ids; id++) {
      bytes += rows.recorded(id) > 0 ? recordBytes : 0;
    }
    List<Double> files = List.of(peer.fileBytes() / bytes);
    print("files, of the bytes of records", "times", List.of(own.fileBytes() / bytes), files);
    print("memory of it", "MB", List.of(own.memory() / 1e6), List.of(peer.memory() / 1e6));
  }

  private static List<Double> rates(List<Rates> rounds, int which) {
    return rounds.stream()
        .map(r -> which == 0 ? r.read() : which == 1 ? r.written() : r.processor())
        .toList();
  }

  /** Every id once, a tenth of them at a time. */
  private void fill() {
    int[] next = {0};
    while (next[0] < ids) {
      int count = Math.min(ids - next[0], (ids / SHARE / batch + 1) * batch);
      List<ResidentRows.Step> steps = steps(() -> Ids.scatter(next[0]++, ids), count);
      replay(own, steps);
      replay(peer, steps);
    }
    check(own);
    check(peer);
  }

  private List<ResidentRows.Step> steps(LongSupplier stream, long count) {
    List<ResidentRows.Step> steps = new ArrayList<>();
    for (long left = count; left > 0; left -= batch) {
      steps.add(rows.step(stream, (int) Math.min(batch, left)));
    }
    return steps;
  }

  /** Gives the requests of some steps to a store. */
  private Rates replay(RowStore store, List<ResidentRows.Step> steps) {
    Clock reading = new Clock();
    Clock writing = new Clock();
    long process = system.getProcessCpuTime();
    long thread = threads.getCurrentThreadCpuTime();
    for (ResidentRows.Step step : steps) {
      read(store, step.cold(), step.versions(), step.cold().length, reading);
      int count = step.leaving().length;
      long records = room(count);
      ResidentRows.write(step.leaving(), step.leavingVersions(), count, recordBytes, records);
      RowStore.Leaving leaving =
          new RowStore.Leaving(
              step.partitions(), step.ends(), step.replaced(), step.leaving(), records);
      writing.time(() -> store.write(leaving), count);
    }
    // What this thread does beside the store does not count.
    long inStore = reading.processor + writing.processor;
    long beside = threads.getCurrentThreadCpuTime() - thread - inStore;
    store.settle();
    double processor = system.getProcessCpuTime() - process - beside;
    double moved = reading.rows + writing.rows;
    return new Rates(reading.rate(), writing.rate(), 1e3 * moved / processor);
  }

  /** Time spent in a store, for rows. */
  private final class Clock {
    private long nanos;
    private long processor;
    private long rows;

    void time(Runnable work, int count) {
      long before = threads.getCurrentThreadCpuTime();
      long start = System.nanoTime();
      work.run();
      nanos += System.nanoTime() - start;
      processor += threads.getCurrentThreadCpuTime() - before;
      rows += count;
    }

    /** Millions of rows a second. */
    double rate() {
      return 1e3 * rows / nanos;
    }
  }

  /** Reads records and compares them with the records of rows that changed so often. */
  private void read(RowStore store, long[] wanted, int[] versions, int count, Clock clock) {
    long got = room(2 * count);
    long expected = got + (long) count * recordBytes;
    clock.time(() -> requireAll(store.read(wanted, count, got), count), count);
    ResidentRows.write(wanted, versions, count, recordBytes, expected);
    if (segment(got, count).mismatch(segment(expected, count)) >= 0) {
      throw new IllegalStateException(
          "tier bench: got other rows from %s than were written"
              .formatted(store.getClass().getSimpleName()));
    }
  }

  private static void requireAll(int found, int count) {
    if (found != count) {
      throw new IllegalStateException(
          "tier bench: got %d rows of a store, expected %d".formatted(found, count));
    }
  }

  private MemorySegment segment(long address, int count) {
    return Memory.ALL.asSlice(address, (long) count * recordBytes);
  }

  /** Reads every record there is. */
  private void check(RowStore store) {
    long[] wanted = new long[batch];
    int[] versions = new int[batch];
    int count = 0;
    for (int id = 0; id < ids; id++) {
      if (rows.recorded(id) > 0) {
        wanted[count] = id;
        versions[count++] = rows.recorded(id);
      }
      if (count == batch || id == ids - 1) {
        read(store, wanted, versions, count, new Clock());
        count = 0;
      }
    }
  }

  /** Memory for so many records, used again. */
  private long room(int records) {
    long bytes = (long) records * recordBytes;
    if (bytes > bufferBytes) {
      allocator.free(buffer);
      buffer = allocator.allocate(bytes, "bench");
      bufferBytes = bytes;
    }
    return buffer;
  }

  private void print(String name, String unit, List<Double> ours, List<Double> theirs) {
    String full =
        String.format(Locale.ROOT, "%s, %d ids x %s", name, ids, arguments.text("--width"));
    Result result = new Result("tier", full, 1, ours, unit, PEER, theirs);
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }

  @Override
  public void close() {
    own.close();
    peer.close();
    allocator.free(buffer);
    allocator.close();
  }
}
