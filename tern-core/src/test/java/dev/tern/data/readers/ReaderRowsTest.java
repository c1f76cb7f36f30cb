package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which rows each reader made of readers gives, in which order and batches. */
final class ReaderRowsTest {
  @Test
  void shuffleKeepsRowsWithinTheirBlock() {
    List<Integer> numbers =
        NumberedRows.numbers(Readers.shuffled(NumberedRows.reader(1000, 37), 100, 7));
    for (int block = 0; block < 10; block++) {
      List<Integer> rows = numbers.subList(100 * block, 100 * block + 100);
      assertThat(rows)
          .containsExactlyInAnyOrderElementsOf(
              IntStream.range(100 * block, 100 * block + 100).boxed().toList());
      assertThat(rows).isNotEqualTo(rows.stream().sorted().toList());
    }
  }

  @Test
  void oneLabelOfSeveralIsKeptAndAllElse() {
    Schema renamed = NumberedRows.renamed(NumberedRows.SCHEMA, "2");
    DataReader both =
        Readers.composed(
            List.of(
                NumberedRows.reader(20, 7),
                Readers.mapped(NumberedRows.reader(20, 3), renamed, NumberedRows::shift)));
    assertThat(both.schema().labels()).containsExactly("label", "label2");
    DataReader one = Readers.withLabel(both, "label2");
    assertThat(one.schema())
        .isEqualTo(new Schema(List.of("label2"), both.schema().dense(), both.schema().slots()));
    List<String> all = allTexts(both);
    both.start(0);
    List<String> kept = allTexts(one);
    assertThat(kept).hasSize(20);
    for (int i = 0; i < 20; i++) {
      String label = i + ".0";
      assertThat(all.get(i)).startsWith("[" + label + ", " + label + "]");
      assertThat(kept.get(i)).isEqualTo("[" + label + "]" + all.get(i).split("\\]", 2)[1]);
    }
    DataReader plain = NumberedRows.reader(1, 1);
    assertThat(Readers.withLabel(plain, "label")).isSameAs(plain);
    assertThatThrownBy(() -> Readers.withLabel(one, "label"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("got the name label", "expected one of [label2]");
  }

  private static List<String> allTexts(DataReader reader) {
    List<String> texts = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        texts.addAll(NumberedRows.texts(batch));
      }
    }
    return texts;
  }

  @Test
  void shuffleDependsOnSeedEpochAndBlock() {
    List<List<Integer>> orders = new ArrayList<>();
    for (long seed = 0; seed < 2; seed++) {
      for (int epoch = 0; epoch < 2; epoch++) {
        DataReader reader = Readers.shuffled(NumberedRows.reader(100, 10), 50, seed);
        reader.start(epoch);
        List<Integer> numbers = NumberedRows.numbers(reader);
        orders.add(numbers.subList(0, 50));
        orders.add(numbers.subList(50, 100).stream().map(number -> number - 50).toList());
      }
    }
    assertThat(new HashSet<>(orders)).hasSize(8);
  }

  @Test
  void shufflePutsEveryRowEverywhereEquallyOften() {
    int[][] hits = new int[6][6];
    DataReader reader = Readers.shuffled(NumberedRows.reader(6, 6), 6, 3);
    int epochs = 6000;
    for (int epoch = 0; epoch < epochs; epoch++) {
      reader.start(epoch);
      List<Integer> numbers = NumberedRows.numbers(reader);
      for (int i = 0; i < 6; i++) {
        hits[i][numbers.get(i)]++;
      }
    }
    // 1000 expected, standard deviation 29.
    for (int[] row : hits) {
      assertThat(IntStream.of(row).allMatch(n -> n > 850 && n < 1150)).isTrue();
    }
  }

  @Test
  void skipOfShuffledSkipsWholeBlocksInTheSource() {
    long[] skipped = new long[1];
    DataReader source =
        new FailingReader(NumberedRows.reader(1000, 10), Integer.MAX_VALUE) {
          @Override
          public long skip(long rows) {
            skipped[0] += rows;
            return super.skip(rows);
          }
        };
    DataReader reader = Readers.shuffled(source, 100, 1);
    assertThat(reader.skip(950)).isEqualTo(950);
    assertThat(skipped[0]).isEqualTo(900);
  }

  @Test
  void batchesHaveTheirSize() {
    for (boolean dropLast : new boolean[] {false, true}) {
      List<Integer> sizes = new ArrayList<>();
      DataReader reader = Readers.batched(NumberedRows.reader(30, 7), 8, dropLast);
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        sizes.add(next.get().size());
        next.get().close();
      }
      assertThat(sizes).isEqualTo(dropLast ? List.of(8, 8, 8) : List.of(8, 8, 8, 6));
    }
  }

  @Test
  void contentsAreWhatTheDecoratorsSay() {
    assertThat(NumberedRows.rest(NumberedRows.reader(100, 7)))
        .isEqualTo(NumberedRows.expected(100));
    assertThat(NumberedRows.rest(Readers.take(NumberedRows.reader(100, 7), 20)))
        .isEqualTo(NumberedRows.expected(20));
    try (DataReader prefetched = Readers.prefetched(NumberedRows.reader(100, 7), 3)) {
      assertThat(NumberedRows.rest(prefetched)).isEqualTo(NumberedRows.expected(100));
    }
    assertThat(NumberedRows.rest(Readers.batched(NumberedRows.reader(100, 7), 9, true)))
        .isEqualTo(NumberedRows.expected(99));
    List<String> twice = new ArrayList<>(NumberedRows.expected(10));
    twice.addAll(NumberedRows.expected(10));
    assertThat(NumberedRows.rest(Readers.repeat(NumberedRows.reader(10, 3), 2))).isEqualTo(twice);
    assertThat(
            NumberedRows.rest(
                Readers.concat(List.of(NumberedRows.reader(10, 3), NumberedRows.reader(10, 4)))))
        .isEqualTo(twice);
    assertThat(NumberedRows.numbers(Readers.shard(NumberedRows.reader(10, 4), 1, 4)))
        .containsExactly(1, 5, 9);
  }

  @Test
  void interleavedRowsComeInTurnsUntilSourcesEnd() {
    List<DataReader> sources =
        List.of(
            NumberedRows.reader(5, 2),
            NumberedRows.reader(0, 1),
            Readers.take(NumberedRows.reader(9, 9), 3));
    assertThat(NumberedRows.numbers(Readers.interleaved(sources, 2)))
        .containsExactly(0, 1, 0, 1, 2, 3, 2, 4);
  }

  @Test
  void composedRowsHaveTheColumnsOfAll() {
    DataReader other =
        Readers.mapped(
            NumberedRows.reader(10, 4),
            NumberedRows.renamed(NumberedRows.SCHEMA, "2"),
            NumberedRows::shift);
    try (DataReader reader = Readers.composed(List.of(NumberedRows.reader(10, 3), other))) {
      assertThat(reader.schema())
          .isEqualTo(
              new Schema(
                  List.of("label", "label2"),
                  List.of("x", "y", "x2", "y2"),
                  List.of(
                      Slot.oneHot("one"),
                      Slot.ragged("many"),
                      Slot.oneHot("one2"),
                      Slot.ragged("many2"))));
      assertThat(NumberedRows.rest(reader).get(5))
          .isEqualTo("[5.0, 5.0][2.5, -5.0, 5.0, -10.0][5000015][-50][5000022][-43]");
    }
  }

  @Test
  void composedRowsEndWithTheRowThatOneSourceLacks() {
    for (int skipped : new int[] {0, 3, 8}) {
      DataReader other =
          Readers.mapped(
              NumberedRows.reader(7, 4),
              NumberedRows.renamed(NumberedRows.SCHEMA, "2"),
              NumberedRows::shift);
      try (DataReader reader = Readers.composed(List.of(NumberedRows.reader(10, 3), other))) {
        reader.start(2);
        assertThatThrownBy(
                () -> {
                  reader.skip(skipped);
                  assertThat(reader.next().orElseThrow().size()).isEqualTo(7 - skipped);
                  reader.next();
                })
            .isInstanceOf(DataException.class)
            .hasMessage(
                "compose: row 8 of pass 2: got the end of reader 2 of 2, expected a row as in"
                    + " reader 1; give readers of as many rows each");
      }
    }
  }

  @Test
  void bucketsHoldRowsOfSimilarNumbersOfIds() {
    // Row i has i % 4 ids.
    DataReader reader =
        Readers.bucketed(NumberedRows.reader(20, 6), "many", new int[] {0, 2}, 4, false);
    List<List<Integer>> batches = new ArrayList<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        List<Integer> numbers = new ArrayList<>();
        for (int row = 0; row < batch.size(); row++) {
          numbers.add((int) batch.labels()[row]);
        }
        batches.add(numbers);
      }
    }
    assertThat(batches)
        .containsExactly(
            List.of(1, 2, 5, 6),
            List.of(0, 4, 8, 12),
            List.of(9, 10, 13, 14),
            List.of(3, 7, 11, 15),
            List.of(16),
            List.of(17, 18),
            List.of(19));
  }

  @Test
  void aCacheReadsItsSourceOnce() {
    int[] reads = new int[1];
    DataReader source =
        new FailingReader(Readers.shuffled(NumberedRows.reader(50, 10), 20, 1), Integer.MAX_VALUE) {
          @Override
          public Optional<Batch> next() {
            reads[0]++;
            return super.next();
          }
        };
    try (DataReader reader = Readers.cached(source, 1 << 20)) {
      reader.next().orElseThrow().close();
      reader.start(3);
      List<String> first = NumberedRows.rest(reader);
      assertThat(first)
          .isEqualTo(NumberedRows.rest(Readers.shuffled(NumberedRows.reader(50, 10), 20, 1)));
      int all = reads[0];
      reader.start(4);
      assertThat(NumberedRows.rest(reader)).isEqualTo(first);
      assertThat(reads[0]).isEqualTo(all);
      assertThat(reader.rowCount()).hasValue(50);
    }
  }

  @Test
  void aCacheThatIsFullSaysSoAtItsRow() {
    try (DataReader reader = Readers.cached(NumberedRows.reader(1000, 10), 2000)) {
      for (int pass = 0; pass < 2; pass++) {
        reader.start(pass);
        assertThatThrownBy(() -> NumberedRows.rest(reader))
            .isInstanceOf(DataException.class)
            .hasMessageMatching(
                "cache: rows \\d+1 to \\d+0: got \\d+ bytes in all, expected at most 2000; .*");
      }
      reader.start(2);
      assertThat(reader.skip(15)).isEqualTo(15);
      assertThat(NumberedRows.texts(reader.next().orElseThrow()))
          .isEqualTo(NumberedRows.expected(20).subList(15, 20));
    }
  }

  @Test
  void repeatGivesSuccessiveEpochsToItsSource() {
    DataReader repeated = Readers.repeat(Readers.shuffled(NumberedRows.reader(50, 50), 50, 1), 2);
    repeated.start(3);
    List<Integer> numbers = NumberedRows.numbers(repeated);
    DataReader plain = Readers.shuffled(NumberedRows.reader(50, 50), 50, 1);
    plain.start(6);
    List<Integer> expected = new ArrayList<>(NumberedRows.numbers(plain));
    plain.start(7);
    expected.addAll(NumberedRows.numbers(plain));
    assertThat(numbers).isEqualTo(expected);
  }
}
