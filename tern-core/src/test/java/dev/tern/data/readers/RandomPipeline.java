package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/** A pipeline of random readers. The same seed makes the same one, as often as it is opened. */
final class RandomPipeline {
  /** What is known of the rows of a pass. */
  enum Known {
    /** All of them, in order. */
    LISTED,
    /** All of them, in any order. */
    COUNTED,
    /** Which they are depends on the speed of threads. */
    LOOSE
  }

  private static final int MAX_ROWS = 1000;

  private final SplittableRandom random;
  private final int failures;
  private Known known = Known.LISTED;
  private final DataReader reader;

  /**
   * @param failures how often each flaky reader in it fails
   */
  RandomPipeline(long seed, int depth, int failures) {
    random = new SplittableRandom(seed);
    this.failures = failures;
    reader = build(depth);
  }

  Known known() {
    return known;
  }

  DataReader reader() {
    return reader;
  }

  private DataReader build(int depth) {
    return depth == 0 ? source() : decorated(depth);
  }

  private DataReader source() {
    int count = random.nextInt(90);
    DataReader rows = NumberedRows.reader(count, 1 + random.nextInt(20));
    return random.nextInt(4) == 0 ? new Flaky(rows, random.nextInt(12), failures) : rows;
  }

  private DataReader decorated(int depth) {
    int choice = random.nextInt(20);
    if (choice < 3) {
      return several(choice, depth);
    }
    DataReader source = build(depth - 1);
    Schema schema = source.schema();
    int size = 1 + random.nextInt(20);
    return switch (choice) {
      case 3, 4 -> Readers.shuffled(source, size, random.nextLong());
      case 5 -> Readers.batched(source, size, false);
      case 6 -> selecting(Readers.batched(source, size, true));
      case 7 -> Readers.prefetched(source, 1 + random.nextInt(4));
      case 8 -> selecting(Readers.take(source, random.nextInt(60)));
      case 9 -> repeated(source);
      case 10 -> selecting(Readers.shard(source, random.nextInt(2), 2 + random.nextInt(2)));
      case 11 -> Readers.mapped(source, schema, NumberedRows::shift);
      case 12, 13 -> Readers.mapped(source, schema, RandomPipeline::slowly, 1 + random.nextInt(3));
      case 14, 15 -> unordered(source, size);
      case 16 -> Readers.filtered(source, (batch, row) -> batch.labels()[row] % 5 != 2);
      case 17 -> Readers.cached(source, 1 << 20);
      case 18 -> bucketed(source, size, false);
      default -> selecting(bucketed(source, size, true));
    };
  }

  private DataReader several(int choice, int depth) {
    long seed = random.nextLong();
    DataReader one = child(seed, depth - 1);
    DataReader two = child(seed, depth - 1);
    return switch (choice) {
      case 0 -> Readers.concat(List.of(one, two));
      case 1 -> Readers.interleaved(List.of(one, two), 1 + random.nextInt(7));
      default -> composed(one, two, depth);
    };
  }

  private DataReader child(long seed, int depth) {
    RandomPipeline child = new RandomPipeline(seed, depth, failures);
    known = child.known;
    return child.reader;
  }

  private DataReader composed(DataReader one, DataReader two, int depth) {
    if (known != Known.LISTED) {
      two.close();
      return one; // the numbers of their rows may differ
    }
    Schema other = NumberedRows.renamed(two.schema(), "." + depth);
    return Readers.composed(List.of(one, Readers.mapped(two, other, NumberedRows::shift)));
  }

  private DataReader repeated(DataReader source) {
    boolean few = source.rowCount().orElse(100) <= MAX_ROWS / 3;
    return few ? Readers.repeat(source, 1 + random.nextInt(3)) : source;
  }

  private DataReader unordered(DataReader source, int size) {
    known = known == Known.LISTED ? Known.COUNTED : known;
    int threads = 1 + random.nextInt(3);
    return Readers.mappedUnordered(source, source.schema(), RandomPipeline::slowly, threads, size);
  }

  private DataReader bucketed(DataReader source, int size, boolean dropLast) {
    return Readers.bucketed(source, "many", new int[] {0, 2}, size, dropLast);
  }

  /** Which rows are left by {@code reader} depends on their order. */
  private DataReader selecting(DataReader reader) {
    known = known == Known.LISTED ? known : Known.LOOSE;
    return reader;
  }

  /** Shifts, now and then after a pause, so that batches overtake each other. */
  private static void slowly(Batch from, Batch to) {
    NumberedRows.shift(from, to);
    if (Math.floorMod(from.ids(0)[0], 4) == 0) {
      LockSupport.parkNanos(50_000);
    }
  }

  /** Throws a few times, from some batch on. */
  private static final class Flaky extends FailingReader {
    private int calls;
    private int failures;

    Flaky(DataReader source, int healthy, int failures) {
      super(source, Integer.MAX_VALUE);
      calls = -healthy;
      this.failures = failures;
    }

    private void call() {
      if (++calls > 0 && failures > 0) {
        failures--;
        throw new DataException("flaky");
      }
    }

    @Override
    public Optional<Batch> next() {
      call();
      return super.next();
    }

    @Override
    public long skip(long rows) {
      call();
      return super.skip(rows);
    }
  }
}
