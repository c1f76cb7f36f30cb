package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DataSplitTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"), List.of("time", "x"), List.of(new Slot("user", 0), Slot.oneHot("day")));
  private static final double[] SHARES = {70, 20, 10};

  /** Rows whose label is their number; users and times repeat. */
  private static Batch rows(int count) {
    SplittableRandom random = new SplittableRandom(7);
    Batch rows = new Batch(SCHEMA, Math.max(1, count));
    for (int i = 0; i < count; i++) {
      rows.setLabel(0, i);
      rows.setDense(0, random.nextInt(-500, 500) / 8f);
      rows.setDense(1, Float.NaN);
      rows.addId(0, random.nextLong(300) - 150);
      if (i % 3 == 0) {
        rows.addId(0, 5);
      }
      rows.addId(1, random.nextLong(-40, 40));
      rows.endRow();
    }
    return rows;
  }

  private static DataReader reader(Batch rows, int cut) {
    List<Batch> batches = new ArrayList<>();
    for (int from = 0; from < rows.size(); from += cut) {
      Batch batch = new Batch(SCHEMA, cut);
      batch.appendRows(rows, from, Math.min(rows.size(), from + cut));
      batches.add(batch);
    }
    return Readers.inMemory(SCHEMA, batches);
  }

  /** Keeps what is written. */
  private static final class Part implements DataWriter {
    final Batch rows = new Batch(SCHEMA, 16);
    boolean finished;

    @Override
    public Schema schema() {
      return SCHEMA;
    }

    @Override
    public void write(Batch batch) {
      rows.appendRows(batch, 0, batch.size());
    }

    @Override
    public void finish() {
      finished = true;
    }

    @Override
    public void close() {}

    List<Integer> numbers() {
      return IntStream.range(0, rows.size()).mapToObj(i -> (int) rows.labels()[i]).toList();
    }
  }

  private static List<Part> parts(DataSplit split, Batch rows, int cut) {
    List<Part> parts = List.of(new Part(), new Part(), new Part());
    long[] counts = split.write(reader(rows, cut), parts, done -> {});
    List<Integer> all = new ArrayList<>();
    for (int p = 0; p < parts.size(); p++) {
      List<Integer> numbers = parts.get(p).numbers();
      assertThat(numbers).isSorted().hasSize((int) counts[p]);
      assertThat(parts.get(p).finished).isTrue();
      all.addAll(numbers);
    }
    Collections.sort(all);
    assertThat(all).isEqualTo(IntStream.range(0, rows.size()).boxed().toList());
    return parts;
  }

  private static List<List<Integer>> numbers(DataSplit split, Batch rows, int cut) {
    return parts(split, rows, cut).stream().map(Part::numbers).toList();
  }

  private static void assertShares(List<List<Integer>> parts, double tolerance) {
    double all = parts.stream().mapToInt(List::size).sum();
    for (int p = 0; p < SHARES.length; p++) {
      assertThat(parts.get(p).size() / all).isCloseTo(SHARES[p] / 100, within(tolerance));
    }
  }

  @Test
  void rowsAtRandomDependOnTheSeedButNotOnHowTheyAreCut() {
    Batch rows = rows(20_000);
    List<List<Integer>> parts = numbers(DataSplit.atRandom(SHARES, 1), rows, 1000);
    assertShares(parts, 0.02);
    assertThat(numbers(DataSplit.atRandom(SHARES, 1), rows, 777)).isEqualTo(parts);
    DataSplit other = DataSplit.atRandom(new double[] {0.7, 0.2, 0.1}, 2);
    assertShares(numbers(other, rows, 1000), 0.02);
    assertThat(numbers(other, rows, 1000)).isNotEqualTo(parts);
  }

  @Test
  void rowsOfOneKeyGoToOnePartWhateverOtherRowsThereAre() {
    Batch rows = rows(20_000);
    DataSplit split = DataSplit.byKey(SHARES, 1, SCHEMA, "day");
    List<Part> parts = parts(split, rows, 1000);
    int[] partOf = new int[80];
    Arrays.fill(partOf, -1);
    for (int p = 0; p < parts.size(); p++) {
      Batch part = parts.get(p).rows;
      for (int row = 0; row < part.size(); row++) {
        int key = (int) part.ids(1)[row] + 40;
        assertThat(partOf[key]).isIn(-1, p);
        partOf[key] = p;
      }
    }
    assertThat(IntStream.of(partOf).boxed()).contains(0, 1, 2).doesNotContain(-1);
    Batch some = new Batch(SCHEMA, 100);
    some.appendRows(rows, 500, 600);
    List<Part> few = List.of(new Part(), new Part(), new Part());
    split.write(reader(some, 7), few, done -> {});
    for (int p = 0; p < few.size(); p++) {
      Batch part = few.get(p).rows;
      for (int row = 0; row < part.size(); row++) {
        assertThat(partOf[(int) part.ids(1)[row] + 40]).isEqualTo(p);
      }
    }
  }

  @Test
  void keysOfSeveralIdsGoToOnePart() {
    List<Part> parts = parts(DataSplit.byKey(SHARES, 3, SCHEMA, "user"), rows(20_000), 1000);
    assertShares(parts.stream().map(Part::numbers).toList(), 0.1);
    Map<List<Long>, Integer> partOf = new HashMap<>();
    for (int p = 0; p < parts.size(); p++) {
      Batch part = parts.get(p).rows;
      int[] offsets = part.offsets(0);
      for (int row = 0; row < part.size(); row++) {
        long[] key = Arrays.copyOfRange(part.ids(0), offsets[row], offsets[row + 1]);
        Integer before = partOf.putIfAbsent(LongStream.of(key).boxed().toList(), p);
        assertThat(before).isIn(null, p);
      }
    }
    assertThat(partOf).hasSizeGreaterThan(300);
  }

  private static DataReader timed(int... counts) {
    Batch rows = new Batch(SCHEMA, 8);
    for (int time = 0; time < counts.length; time++) {
      for (int i = 0; i < counts[time]; i++) {
        rows.setLabel(0, rows.size());
        rows.setDense(0, time);
        rows.setDense(1, 0);
        rows.addId(1, 0);
        rows.endRow();
      }
    }
    return reader(rows, 10);
  }

  private static long[] byTime(double[] shares, int... counts) {
    DataSplit split = DataSplit.byTime(shares, timed(counts), "time", done -> {});
    List<Part> parts = DoubleStream.of(shares).mapToObj(share -> new Part()).toList();
    return split.write(timed(counts), parts, done -> {});
  }

  @Test
  void partsByTimeAreAsNearToTheirSharesAsTimesAllow() {
    assertThat(byTime(new double[] {6, 1}, 10, 10, 10, 10, 10, 10, 9)).containsExactly(60, 9);
    assertThat(byTime(new double[] {50, 50}, 60, 40)).containsExactly(60, 40);
    assertThat(byTime(new double[] {50, 50}, 40, 60)).containsExactly(40, 60);
    assertThat(byTime(new double[] {90, 10}, 1, 99)).containsExactly(1, 99);
    assertThat(byTime(new double[] {98, 1, 1}, 1, 1, 98)).containsExactly(1, 1, 98);
    assertThat(byTime(new double[] {1, 1, 98}, 98, 1, 1)).containsExactly(98, 1, 1);
    assertThat(byTime(new double[] {1}, 3, 4)).containsExactly(7);
  }

  @ParameterizedTest
  @ValueSource(strings = {"time", "day"})
  void earlierRowsGoToEarlierParts(String column) {
    Batch rows = rows(20_000);
    DataSplit split = DataSplit.byTime(SHARES, reader(rows, 999), column, done -> {});
    List<Part> parts = parts(split, rows, 1000);
    assertShares(parts.stream().map(Part::numbers).toList(), 0.03);
    double before = Double.NEGATIVE_INFINITY;
    for (Part part : parts) {
      double[] times =
          IntStream.range(0, part.rows.size())
              .mapToDouble(
                  i -> column.equals("day") ? part.rows.ids(1)[i] : part.rows.dense()[2 * i])
              .sorted()
              .toArray();
      assertThat(times[0]).isGreaterThan(before);
      before = times[times.length - 1];
    }
  }

  @Test
  void rowsWithoutTheColumnAreAnErrorThatNamesThem() {
    Batch rows = rows(10);
    assertThatThrownBy(() -> DataSplit.byTime(SHARES, reader(rows, 4), "x", done -> {}))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith("row 1 of the data: got 0 values of column x");
    assertThatThrownBy(() -> DataSplit.byTime(SHARES, reader(rows, 4), "user", done -> {}))
        .hasMessageStartingWith("row 1 of the data: got 2 values of column user");
    Batch empty = rows(4);
    empty.setLabel(0, 4);
    empty.setDense(0, 0);
    empty.setDense(1, 0);
    empty.addId(1, 0);
    empty.endRow();
    List<Part> parts = List.of(new Part(), new Part(), new Part());
    DataSplit split = DataSplit.byKey(SHARES, 1, SCHEMA, "user");
    assertThatThrownBy(() -> split.write(reader(empty, 2), parts, done -> {}))
        .hasMessageStartingWith("row 5 of the data: got 0 values of column user");
    assertThat(parts).noneMatch(part -> part.finished);
  }

  @Test
  void partsThatWouldHoldNothingAreAnError() {
    Batch rows = new Batch(SCHEMA, 8);
    assertThatThrownBy(() -> DataSplit.byTime(SHARES, reader(rows, 4), "time", done -> {}))
        .hasMessageStartingWith("time: got 0 rows of 0 different times, expected some");
    assertThatThrownBy(() -> DataSplit.byTime(SHARES, timed(4, 1), "time", done -> {}))
        .hasMessageStartingWith("time: got 5 rows of 2 different times, expected some");
  }

  @Test
  void wrongSharesColumnsAndWritersAreRefused() {
    assertThatThrownBy(() -> DataSplit.atRandom(new double[] {1, 0}, 1))
        .hasMessage("split: got shares [1.0, 0.0], expected numbers above 0");
    assertThatThrownBy(() -> DataSplit.atRandom(new double[0], 1))
        .hasMessageContaining("expected numbers above 0");
    assertThatThrownBy(() -> DataSplit.byTime(SHARES, timed(), "hour", done -> {}))
        .hasMessage(
            "split: got the column hour, expected one of the numbers [time, x] or the slots"
                + " [user, day]");
    assertThatThrownBy(() -> DataSplit.byKey(SHARES, 1, SCHEMA, "time"))
        .hasMessage("split: got the column time, expected one of the slots [user, day]");
    assertThatThrownBy(
            () -> DataSplit.atRandom(SHARES, 1).write(reader(rows(1), 1), List.of(), done -> {}))
        .hasMessage("split: got 0 writers, expected 3, one for each part");
  }
}
