package dev.tern.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * Deals rows out to parts, of which each gets about its share: at random, by a key, so that all
 * rows of one user, say, are in one part, or by time, earlier rows to earlier parts. Rows keep
 * their order. The same rows, shares and seed make the same parts.
 */
public final class DataSplit {
  /**
   * What a SplittableRandom adds to its seed for each number: row n gets number n of a sequence.
   */
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** Records between two reports of progress. */
  private static final int SOME = 1 << 13;

  private final double[] ends;
  private final Chooser chooser;

  /** Which part a row goes to. */
  @FunctionalInterface
  private interface Chooser {
    int part(Batch batch, int row, long number, Place place);
  }

  /** How a row is called in messages. */
  @FunctionalInterface
  private interface Place {
    String of(long number);
  }

  /** Where the column of a row, a dense one or else a slot, stands in order of time. */
  private record Times(String name, int dense, int slot, int denseDim) {
    static Times of(Schema schema, String name) {
      int dense = schema.dense().indexOf(name);
      int slot = slots(schema).indexOf(name);
      if (dense < 0 && slot < 0) {
        throw new IllegalArgumentException(
            "split: got the column %s, expected one of the numbers %s or the slots %s"
                .formatted(name, schema.dense(), slots(schema)));
      }
      String shown = new SparseColumn(name, SparseColumn.Values.TIME, "").timeSource();
      return new Times(shown, dense, slot, schema.denseDim());
    }

    long of(Batch batch, int row, long number, Place place) {
      if (dense < 0) {
        int[] offsets = batch.offsets(slot);
        int count = offsets[row + 1] - offsets[row];
        if (count != 1) {
          throw missing(name, place.of(number), count);
        }
        return batch.ids(slot)[offsets[row]];
      }
      float time = batch.dense()[row * denseDim + dense];
      if (Float.isNaN(time)) {
        throw missing(name, place.of(number), 0);
      }
      // Bits of floats are in the order of the floats once the bits of negative ones are inverted.
      int bits = Float.floatToIntBits(time + 0.0f);
      return bits ^ (bits >> 31 & Integer.MAX_VALUE);
    }
  }

  private DataSplit(double[] ends, Chooser chooser) {
    this.ends = ends;
    this.chooser = chooser;
  }

  /**
   * Each row to a part at random.
   *
   * @param shares of the parts, above 0; they count in proportion to their sum
   */
  public static DataSplit atRandom(double[] shares, long seed) {
    double[] ends = ends(shares);
    return new DataSplit(
        ends,
        (batch, row, number, place) ->
            part(ends, new SplittableRandom(seed + number * GOLDEN).nextDouble()));
  }

  /**
   * Rows of one key to one part. A key's part depends on the key, the shares and the seed alone, so
   * data that come later are split alike.
   *
   * @param shares the share of the keys that each part has; its share of the rows is about the same
   * @param slot the column that holds the key, one id or several in each row
   */
  public static DataSplit byKey(double[] shares, long seed, Schema schema, String slot) {
    double[] ends = ends(shares);
    int column = slot(schema, slot);
    return new DataSplit(
        ends,
        (batch, row, number, place) -> {
          int[] offsets = batch.offsets(column);
          if (offsets[row] == offsets[row + 1]) {
            throw missing(slot, place.of(number), 0);
          }
          long key = seed;
          for (int i = offsets[row]; i < offsets[row + 1]; i++) {
            key = new SplittableRandom(key ^ batch.ids(column)[i]).nextLong();
          }
          return part(ends, new SplittableRandom(key).nextDouble());
        });
  }

  /**
   * Earlier rows to earlier parts; rows of one time to one part, so that parts are as near to their
   * shares as times allow. Reads what is left of the reader's pass; holds 12 to 24 bytes a row
   * while it does.
   *
   * @param shares of the parts
   * @param column a dense column, whose numbers are F32, or a slot of one id a row, which is then
   *     taken as a signed number
   * @param progress told the rows read so far
   * @throws DataException if a row has no time, or fewer times differ than there are parts
   */
  public static DataSplit byTime(
      double[] shares, DataReader reader, String column, LongConsumer progress) {
    double[] ends = ends(shares);
    Times times = Times.of(reader.schema(), column);
    TimeList read = new TimeList(times);
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        read.add(batch, DataSplit::rowOfData);
      }
      progress.accept(read.count);
    }
    return byTime(ends, read);
  }

  /**
   * Earlier records to earlier parts, as {@link #byTime(double[], DataReader, String,
   * LongConsumer)} does with rows. Reads {@code records} to their end.
   *
   * @param shares of the parts
   * @param records with the time as their key
   * @param progress told the records read so far
   */
  public static DataSplit byTime(double[] shares, RecordCopy records, LongConsumer progress) {
    double[] ends = ends(shares);
    TimeList read =
        new TimeList(Times.of(records.schema(), records.schema().slots().getFirst().name()));
    Batch keys = new Batch(records.schema(), 1);
    while (records.next(keys)) {
      read.add(keys, _ -> records.where());
      keys.clear();
      if (read.count % SOME == 0) {
        progress.accept(read.count);
      }
    }
    return byTime(ends, read);
  }

  private static DataSplit byTime(double[] ends, TimeList read) {
    Times times = read.times;
    long[] begins = begins(read.sorted(), ends, times.name());
    return new DataSplit(
        ends,
        (batch, row, number, place) -> {
          long time = times.of(batch, row, number, place);
          int part = 0;
          while (part < begins.length && time >= begins[part]) {
            part++;
          }
          return part;
        });
  }

  /** The times at which parts 1, 2 ... begin. */
  private static long[] begins(long[] sorted, double[] ends, String column) {
    // Indexes at which a later time begins, the first time's apart.
    int[] edges =
        IntStream.range(1, sorted.length).filter(i -> sorted[i] > sorted[i - 1]).toArray();
    if (sorted.length == 0 || edges.length < ends.length - 1) {
      int different = sorted.length == 0 ? 0 : edges.length + 1;
      throw new DataException(
          "%s: got %d rows of %d different times, expected some for each of %d parts; give fewer"
                  .formatted(column, sorted.length, different, ends.length)
              + " parts, or another column");
    }
    long[] begins = new long[ends.length - 1];
    int edge = -1;
    for (int p = 0; p < begins.length; p++) {
      double wanted = ends[p] * sorted.length;
      // The later parts need an edge each.
      int last = edges.length - begins.length + p;
      edge++;
      while (edge < last && edges[edge + 1] - wanted < wanted - edges[edge]) {
        edge++;
      }
      begins[p] = sorted[edges[edge]];
    }
    return begins;
  }

  /** Times as they are read. */
  private static final class TimeList {
    private final Times times;
    private long[] read = new long[1 << 16];
    private int count;

    TimeList(Times times) {
      this.times = times;
    }

    void add(Batch batch, Place place) {
      if (batch.size() > Integer.MAX_VALUE - 8 - count) {
        throw new DataException(
            "%s: got more than %d rows, expected fewer; split part of the files at a time"
                .formatted(times.name(), count));
      }
      if (count + batch.size() > read.length) {
        long half = Math.min(read.length + read.length / 2L, Integer.MAX_VALUE - 8);
        read = Arrays.copyOf(read, (int) Math.max(half, count + batch.size()));
      }
      for (int row = 0; row < batch.size(); row++) {
        read[count] = times.of(batch, row, count, place);
        count++;
      }
    }

    long[] sorted() {
      long[] sorted = read.length == count ? read : Arrays.copyOf(read, count);
      Arrays.sort(sorted);
      return sorted;
    }
  }

  private static double[] ends(double[] shares) {
    double sum = Arrays.stream(shares).sum();
    boolean valid = shares.length > 0 && Double.isFinite(sum);
    double[] ends = new double[shares.length];
    double end = 0;
    for (int p = 0; p < shares.length; p++) {
      valid &= shares[p] > 0;
      end += shares[p] / sum;
      ends[p] = end;
    }
    if (!valid) {
      throw new IllegalArgumentException(
          "split: got shares " + Arrays.toString(shares) + ", expected numbers above 0");
    }
    return ends;
  }

  private static int part(double[] ends, double at) {
    int part = 0;
    while (part < ends.length - 1 && at >= ends[part]) {
      part++;
    }
    return part;
  }

  private static List<String> slots(Schema schema) {
    return schema.slots().stream().map(Slot::name).toList();
  }

  private static int slot(Schema schema, String name) {
    int index = slots(schema).indexOf(name);
    if (index < 0) {
      throw new IllegalArgumentException(
          "split: got the column %s, expected one of the slots %s".formatted(name, slots(schema)));
    }
    return index;
  }

  private static String rowOfData(long number) {
    return "row " + (number + 1) + " of the data";
  }

  private static DataException missing(String column, String place, int count) {
    return new DataException(
        "%s: got %d values of column %s, by which rows are split, expected one;"
                .formatted(place, count, column)
            + " fill the column or leave such rows out");
  }

  /**
   * Writes what is left of the reader's pass and finishes the writers; closes none. On a failure
   * before all rows are written no writer is finished, so that closing them leaves no file; writers
   * finish one after the other, so should one fail then, those before it have.
   *
   * @param writers one for each part; where they have fewer slots than the reader, the last ones,
   *     by which rows may be split, are not written
   * @param progress told the rows written so far after each batch
   * @return rows of each part
   */
  public long[] write(
      DataReader reader, List<? extends DataWriter> writers, LongConsumer progress) {
    if (writers.size() != ends.length) {
      throw new IllegalArgumentException(
          "split: got %d writers, expected %d, one for each part"
              .formatted(writers.size(), ends.length));
    }
    List<Batch> parts = new ArrayList<>();
    writers.forEach(writer -> parts.add(new Batch(written(reader.schema(), writer), 1024)));
    long[] rows = new long[ends.length];
    long number = 0;
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        deal(batch, number, parts);
        number += batch.size();
      }
      for (int p = 0; p < rows.length; p++) {
        rows[p] += parts.get(p).size();
        writers.get(p).write(parts.get(p));
        parts.get(p).clear();
      }
      progress.accept(number);
    }
    writers.forEach(DataWriter::finish);
    return rows;
  }

  /**
   * Copies what is left of {@code records}, the same numbers to the same parts as {@link #write},
   * and finishes the new files. On a failure before all are copied none is finished, so that
   * closing {@code records} leaves no file.
   *
   * @param records with as many new files as there are parts, and the key by which this splits
   * @param progress told the records copied so far
   * @return records of each part
   */
  public long[] copy(RecordCopy records, LongConsumer progress) {
    Batch keys = new Batch(records.schema(), 1);
    Place place = _ -> records.where();
    long number = 0;
    while (records.next(keys)) {
      records.copyTo(chooser.part(keys, 0, number, place));
      number++;
      keys.clear();
      if (number % SOME == 0) {
        progress.accept(number);
      }
    }
    return records.finish();
  }

  /** What {@code writer} gets of rows of {@code schema}: slots beyond its own are left out. */
  private static Schema written(Schema schema, DataWriter writer) {
    int slots = Math.min(schema.slotCount(), writer.schema().slotCount());
    return new Schema(schema.labels(), schema.dense(), schema.slots().subList(0, slots));
  }

  /** Appends the rows to their parts; rows that follow each other into one part go together. */
  private void deal(Batch batch, long number, List<Batch> parts) {
    int begin = 0;
    int part = -1;
    for (int row = 0; row < batch.size(); row++) {
      int next = chooser.part(batch, row, number + row, DataSplit::rowOfData);
      if (next != part) {
        if (row > begin) {
          parts.get(part).appendRows(batch, begin, row);
        }
        begin = row;
        part = next;
      }
    }
    if (batch.size() > begin) {
      parts.get(part).appendRows(batch, begin, batch.size());
    }
  }
}
