package dev.tern.bench;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * {@code bench data}: files of rows like Criteo's into batches, from the page cache. First each
 * reader's rows are checked against those that were written; then whole passes are timed, all
 * readers and peers in turn, round after round. Beside each reader stands a plain copy of the same
 * bytes out of the page cache, by as many threads.
 *
 * <p>Then DLRM is trained on rows of each file, read by one thread, and the share of its time that
 * it waits for them is printed ({@code --waiting no} leaves that out, {@code only} all else).
 *
 * <p>Parquet has two peers: parquet-java's record reader and, where {@code --duckdb} names the jar
 * of its JDBC driver, DuckDB, once with every value fetched into Java arrays and once with nothing
 * but the sum of each column.
 */
final class DataBench {
  private static final int CHUNK = 1 << 20;
  private static final long WARM_UP_NANOS = 3_000_000_000L;

  private final Arguments arguments;
  private final int threads;
  private final Path folder;
  private final DataSet set = new DataSet(1);
  private final List<Case> cases = new ArrayList<>();
  private Optional<DuckDbScan> duck = Optional.empty();

  /**
   * What is timed.
   *
   * @param beside the reader whose peer this is; empty for a reader
   * @param pass one pass over the file; returns what {@code expected} is
   */
  private record Case(
      DataFormat format,
      String name,
      String beside,
      Path file,
      long rows,
      LongSupplier pass,
      long expected,
      List<Double> seconds) {}

  private DataBench(Arguments arguments, Path folder) {
    this.arguments = arguments;
    this.folder = folder;
    threads = arguments.positive("--threads");
  }

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--size", "1000000000");
    defaults.put("--rounds", "5");
    defaults.put("--threads", "2");
    defaults.put("--formats", "raw,norm none,norm sum,parquet,csv,libffm");
    defaults.put("--folder", "");
    defaults.put("--peers", "copy,parquet-java");
    defaults.put("--duckdb", "");
    defaults.put("--waiting", "yes");
    Arguments arguments = Arguments.parse("data", args, defaults);
    // parquet-java logs every page where nothing says which levels count: most of its time.
    System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    try {
      String parent = arguments.text("--folder");
      Path folder =
          parent.isEmpty()
              ? Files.createTempDirectory("tern-bench-data")
              : Files.createTempDirectory(Path.of(parent), "tern-bench-data");
      try {
        new DataBench(arguments, folder).run();
      } finally {
        remove(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("bench data: cannot write its files", e);
    }
  }

  private static void remove(Path folder) throws IOException {
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  private void run() {
    List<String> wanted = arguments.list("--formats");
    try {
      for (DataFormat format : DataFormat.values()) {
        if (wanted.contains(format.title())) {
          add(format);
        }
      }
      if (arguments.choice("--waiting", "yes", "no", "only").equals("only")) {
        reportWaiting();
        return;
      }
      cases.forEach(this::warmUp);
      for (int round = 0; round < arguments.positive("--rounds"); round++) {
        cases.forEach(this::time);
      }
    } finally {
      duck.ifPresent(DuckDbScan::close);
    }
    report();
    if (arguments.text("--waiting").equals("yes")) {
      reportWaiting();
    }
  }

  /** For each reader, on one thread, how much of a training step is spent waiting for its rows. */
  private void reportWaiting() {
    for (Case own : cases) {
      if (own.beside.isEmpty()) {
        DataReader reader = own.format.reader(own.file, set.schema(), ReadPolicy.STRICT);
        List<Double> shares = DataWaiting.percent(reader, threads);
        print(own, shares, "% of dlrm waiting", "", List.of());
      }
    }
  }

  /** Writes a file, checks its reader and adds what is to be timed. */
  private void add(DataFormat format) {
    Path file = format.file(folder);
    long size = Long.parseLong(arguments.text("--size"));
    DataSet.Digest expected = set.expected(set.write(format, file, size));
    DataSet.Digest got = new DataSet.Digest();
    read(format, file, got::add);
    got.require(format.title(), expected);
    Case own =
        new Case(
            format,
            format.title(),
            "",
            file,
            expected.rows(),
            () -> read(format, file, _ -> {}),
            expected.rows(),
            new ArrayList<>());
    cases.add(own);
    if (arguments.list("--peers").contains("copy")) {
      addPeer("copy", own, () -> copy(file), 0);
    }
    if (format == DataFormat.PARQUET) {
      addParquetPeers(own, expected.idSum());
    }
  }

  private void addParquetPeers(Case own, long idSum) {
    if (arguments.list("--peers").contains("parquet-java")) {
      ParquetJavaScan java = new ParquetJavaScan(own.file, set.schema(), threads);
      addPeer("parquet-java", own, java::arrays, idSum);
    }
    String jar = arguments.text("--duckdb");
    if (!jar.isEmpty()) {
      DuckDbScan scan = new DuckDbScan(Path.of(jar), threads, own.file, set.schema());
      duck = Optional.of(scan);
      addPeer("duckdb to arrays", own, scan::arrays, idSum);
      addPeer("duckdb sums", own, scan::sums, idSum);
    }
  }

  private void addPeer(String name, Case own, LongSupplier pass, long expected) {
    cases.add(
        new Case(
            own.format, name, own.name, own.file, own.rows, pass, expected, new ArrayList<>()));
  }

  /** Passes that do not count, until the JIT has had time for all that they run. */
  private void warmUp(Case each) {
    long start = System.nanoTime();
    do {
      time(each);
    } while (System.nanoTime() - start < WARM_UP_NANOS);
    each.seconds.clear();
  }

  private void time(Case each) {
    long start = System.nanoTime();
    long got = each.pass.getAsLong();
    each.seconds.add((System.nanoTime() - start) / 1e9);
    if (got != each.expected) {
      throw new IllegalStateException(
          "bench data: %s: got %d, expected %d".formatted(each.name, got, each.expected));
    }
  }

  /** One pass of Tern's reader; returns the rows. */
  private long read(DataFormat format, Path file, java.util.function.Consumer<Batch> use) {
    long rows = 0;
    try (DataReader reader =
        format.reader(file, set.schema(), ReadPolicy.STRICT.withThreads(threads))) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          use.accept(batch);
          rows += batch.size();
        }
      }
    }
    return rows;
  }

  /** Copies a mapped file a chunk at a time, each thread to a buffer of its own. */
  private long copy(Path file) {
    try (FileChannel channel = FileChannel.open(file);
        Arena arena = Arena.ofShared()) {
      MemorySegment source = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      List<Thread> team =
          IntStream.range(0, threads)
              .mapToObj(t -> Thread.ofPlatform().start(() -> copy(source, t)))
              .toList();
      for (Thread thread : team) {
        thread.join();
      }
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void copy(MemorySegment source, int thread) {
    MemorySegment target = MemorySegment.ofArray(new byte[CHUNK]);
    for (long at = (long) thread * CHUNK; at < source.byteSize(); at += (long) threads * CHUNK) {
      long count = Math.min(CHUNK, source.byteSize() - at);
      MemorySegment.copy(source, at, target, 0, count);
    }
  }

  /** For each reader a line beside each of its peers, then its rows. */
  private void report() {
    for (Case own : cases) {
      if (own.beside.isEmpty()) {
        for (Case peer : cases) {
          if (peer.beside.equals(own.name)) {
            print(own, rates(own), "GB/s", peer.name, rates(peer));
          }
        }
        List<Double> rows = own.seconds.stream().map(s -> own.rows / s / 1e6).toList();
        print(own, rows, "M rows/s", "", List.of());
      }
    }
  }

  private static List<Double> rates(Case each) {
    try {
      double bytes = Files.size(each.file);
      return each.seconds.stream().map(s -> bytes / s / 1e9).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void print(Case own, List<Double> runs, String unit, String peer, List<Double> peerRuns) {
    Result result = new Result("data", own.name, threads, runs, unit, peer, peerRuns);
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }
}
