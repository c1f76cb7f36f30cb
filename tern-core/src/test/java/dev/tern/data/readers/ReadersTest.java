package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every reader made of readers keeps: rows, resumption, counts, schemas, memory. */
final class ReadersTest {
  private static final int[] COUNTS = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65};
  private static final int[] CUTS = {1, 3, 8, 100};

  /** A way to make a reader of {@code count} rows from sources that cut batches at will. */
  record Decoration(String name, Function<DataReader, DataReader> make) {
    DataReader of(int count, int cut) {
      return make.apply(NumberedRows.reader(count, cut));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Decoration> decorations() {
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            NumberedRows.reader(20, 6),
            List.of(NumberEncoding.standardize(), NumberEncoding.quantiles(4)),
            List.of(new IdEncoding.Vocabulary(false, 1, 10), new IdEncoding.Hashed(false, 50)),
            TextDictionary.none(),
            rows -> {});
    return Stream.of(
        new Decoration("in memory", source -> source),
        new Decoration("encoded", source -> Readers.encoded(source, encoder)),
        new Decoration("shuffled by 8", source -> Readers.shuffled(source, 8, 1)),
        new Decoration("shuffled whole", source -> Readers.shuffled(source, 1000, 1)),
        new Decoration("batched by 8", source -> Readers.batched(source, 8, false)),
        new Decoration("batched by 8, last dropped", source -> Readers.batched(source, 8, true)),
        new Decoration("prefetched 1", source -> Readers.prefetched(source, 1)),
        new Decoration("prefetched 3", source -> Readers.prefetched(source, 3)),
        new Decoration("take 17", source -> Readers.take(source, 17)),
        new Decoration("take 0", source -> Readers.take(source, 0)),
        new Decoration(
            "concat",
            source ->
                Readers.concat(
                    List.of(source, NumberedRows.reader(0, 1), NumberedRows.reader(9, 4)))),
        new Decoration("repeat 3", source -> Readers.repeat(source, 3)),
        new Decoration("shard 0 of 3", source -> Readers.shard(source, 0, 3)),
        new Decoration("shard 2 of 3", source -> Readers.shard(source, 2, 3)),
        new Decoration(
            "mapped", source -> Readers.mapped(source, NumberedRows.SCHEMA, NumberedRows::shift)),
        new Decoration(
            "mapped by 3 threads",
            source -> Readers.mapped(source, NumberedRows.SCHEMA, NumberedRows::shift, 3)),
        new Decoration(
            "mapped by 1 thread, unordered",
            source ->
                Readers.mappedUnordered(source, NumberedRows.SCHEMA, NumberedRows::shift, 1, 4)),
        new Decoration("filtered", ReadersTest::odd),
        new Decoration("cached", source -> Readers.cached(source, 1 << 20)),
        new Decoration(
            "interleaved by 1",
            source -> Readers.interleaved(List.of(NumberedRows.reader(9, 4), source), 1)),
        new Decoration(
            "interleaved by 5",
            source ->
                Readers.interleaved(
                    List.of(source, NumberedRows.reader(0, 1), NumberedRows.reader(19, 4)), 5)),
        new Decoration("composed", ReadersTest::composedWithShuffled),
        new Decoration(
            "bucketed", source -> Readers.bucketed(source, "many", new int[] {0, 2}, 4, false)),
        new Decoration(
            "bucketed, last dropped",
            source -> Readers.bucketed(source, "many", new int[] {2}, 3, true)),
        new Decoration(
            "usual chain",
            source ->
                Readers.prefetched(
                    Readers.encoded(
                        Readers.batched(Readers.shuffled(source, 16, 5), 6, true), encoder),
                    2)),
        new Decoration(
            "repeat of shuffled",
            source -> Readers.shard(Readers.repeat(Readers.shuffled(source, 8, 9), 2), 1, 2)));
  }

  private static DataReader odd(DataReader source) {
    return Readers.filtered(source, (batch, row) -> batch.labels()[row] % 2 == 1);
  }

  /** The rows beside shuffled rows of the same number. */
  private static DataReader composedWithShuffled(DataReader source) {
    int count = (int) source.rowCount().orElseThrow();
    return Readers.composed(
        List.of(
            source,
            Readers.shuffled(
                Readers.mapped(
                    NumberedRows.reader(count, 5),
                    NumberedRows.renamed(NumberedRows.SCHEMA, "2"),
                    NumberedRows::shift),
                8,
                3)));
  }

  @Test
  void whoeverWritesToABatchDoesNotChangeRowsKeptInMemory() {
    List<UnaryOperator<DataReader>> chains =
        List.of(
            memory -> Readers.batched(memory, 8, false),
            memory -> Readers.repeat(memory, 1),
            memory -> Readers.prefetched(Readers.batched(memory, 8, false), 2));
    for (UnaryOperator<DataReader> chain : chains) {
      try (DataReader reader = chain.apply(NumberedRows.reader(32, 8))) {
        for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
          Batch batch = next.get();
          Arrays.fill(batch.labels(), -7);
          Arrays.fill(batch.ids(0), -7);
          batch.close();
        }
        reader.start(0);
        assertThat(NumberedRows.rest(reader)).isEqualTo(NumberedRows.expected(32));
      }
    }
  }

  @Test
  void rowsThatABatchedReaderDropsDoNotCountAsDelivered() {
    try (DataReader batched = Readers.batched(NumberedRows.reader(30, 7), 8, true)) {
      Batch target = new Batch(NumberedRows.SCHEMA, 8);
      while (batched.nextInto(target)) {
        target.clear();
      }
      assertThat(batched.state().rows()).isEqualTo(24);
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void rowsDoNotDependOnHowTheSourceCutsBatches(Decoration decoration) {
    for (int count : COUNTS) {
      for (int epoch = 0; epoch < 2; epoch++) {
        Set<List<String>> seen = new HashSet<>();
        for (int cut : CUTS) {
          try (DataReader reader = decoration.of(count, cut)) {
            reader.start(epoch);
            seen.add(NumberedRows.rest(reader));
          }
        }
        assertThat(seen).as("%d rows, epoch %d", count, epoch).hasSize(1);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void everyWayToAskForRowsGivesThoseThatComeNext(Decoration decoration) {
    for (int skipped : new int[] {0, 2, 9}) {
      try (DataReader reader = decoration.of(60, 7)) {
        List<String> all = NumberedRows.rest(reader);
        reader.start(0);
        int at = (int) reader.skip(Math.min(skipped, all.size()));
        List<String> rows = new ArrayList<>();
        for (int ask = 0; at + rows.size() < all.size(); ask++) {
          Batch copy = new Batch(reader.schema(), 1);
          switch (ask % 3) {
            case 0 -> append(reader.next(), copy);
            case 1 -> assertThat(reader.nextInto(copy)).isTrue();
            default -> append(reader.nextView(), copy);
          }
          rows.addAll(NumberedRows.texts(copy));
        }
        assertThat(rows).isEqualTo(all.subList(at, all.size()));
        assertThat(reader.nextInto(new Batch(reader.schema(), 1))).isFalse();
      }
    }
  }

  private static void append(Optional<Batch> lent, Batch copy) {
    try (Batch batch = lent.orElseThrow()) {
      copy.appendRows(batch, 0, batch.size());
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void startAndSkipResumeExactly(Decoration decoration) {
    for (int count : COUNTS) {
      for (int cut : CUTS) {
        try (DataReader reader = decoration.of(count, cut)) {
          List<String> all = NumberedRows.rest(reader);
          assertThat(reader.next()).isEmpty();
          for (int rows = 0; rows <= all.size(); rows++) {
            reader.start(0);
            assertThat(reader.skip(rows)).isEqualTo(rows);
            assertThat(NumberedRows.rest(reader))
                .as("%d rows cut by %d, %d skipped", count, cut, rows)
                .isEqualTo(all.subList(rows, all.size()));
          }
          reader.start(0);
          assertThat(reader.skip(all.size() + 5L)).isEqualTo(all.size());
          assertThat(reader.next()).isEmpty();
          assertThat(reader.skip(1)).isZero();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void skipsAmongBatchesAndAfterSkipsAreExact(Decoration decoration) {
    for (int count : COUNTS) {
      try (DataReader reader = decoration.of(count, 3)) {
        List<String> all = NumberedRows.rest(reader);
        for (int first : new int[] {0, 1, 2, 7, 9}) {
          for (int second : new int[] {0, 1, 5, 8, 16, 20}) {
            reader.start(0);
            int at = (int) reader.skip(first);
            Optional<Batch> next = reader.next();
            if (next.isPresent()) {
              at += next.get().size();
              next.get().close();
            }
            at += (int) reader.skip(second);
            at += (int) reader.skip(second);
            assertThat(NumberedRows.rest(reader))
                .as("%d rows, skips of %d and %d", count, first, second)
                .isEqualTo(all.subList(at, all.size()));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void rowCountIsTheNumberOfRows(Decoration decoration) {
    for (int count : COUNTS) {
      try (DataReader reader = decoration.of(count, 3)) {
        OptionalLong rows = reader.rowCount();
        if (decoration.name().matches("filtered|bucketed, last dropped")) {
          assertThat(rows).isEmpty();
        } else {
          assertThat(rows).hasValue(NumberedRows.rest(reader).size());
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void batchesHaveTheSchemaOfTheReader(Decoration decoration) {
    try (DataReader reader = decoration.of(30, 7)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          assertThat(batch.schema()).isEqualTo(reader.schema());
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void closingTwiceIsHarmless(Decoration decoration) {
    DataReader reader = decoration.of(30, 7);
    reader.next().ifPresent(Batch::close);
    reader.close();
    reader.close();
  }

  @Test
  void closingClosesTheSource() {
    for (Decoration decoration : decorations().skip(1).toList()) {
      int[] closed = new int[1];
      DataReader source =
          new FailingReader(NumberedRows.reader(30, 7), Integer.MAX_VALUE) {
            @Override
            public void close() {
              closed[0]++;
            }
          };
      DataReader reader = decoration.make().apply(source);
      reader.next().ifPresent(Batch::close);
      reader.close();
      assertThat(closed[0]).as(decoration.name()).isPositive();
    }
  }

  @Test
  void arraysOfBatchesAreRecycledOnceClosed() {
    List<Function<DataReader, DataReader>> recycling =
        List.of(
            source -> Readers.shuffled(source, 10, 1),
            source -> Readers.batched(source, 10, false),
            source -> Readers.prefetched(source, 2),
            source -> Readers.shard(source, 0, 2));
    for (Function<DataReader, DataReader> make : recycling) {
      Set<float[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
      try (DataReader reader = make.apply(NumberedRows.reader(1000, 10))) {
        for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
          arrays.add(next.get().labels());
          next.get().close();
        }
      }
      assertThat(arrays).hasSizeBetween(1, 4);
    }
  }

  @Test
  void writingToABatchDoesNotChangeRowsInMemory() {
    DataReader reader = NumberedRows.reader(5, 5);
    Batch batch = reader.next().orElseThrow();
    batch.ids(0)[2] = 99;
    batch.clear();
    batch.close();
    reader.start(1);
    assertThat(NumberedRows.rest(reader)).isEqualTo(NumberedRows.expected(5));
  }

  @Test
  void skippingAllThereIsEndsAtTheEnd() {
    for (Decoration decoration : decorations().toList()) {
      try (DataReader reader = decoration.of(65, 8)) {
        int rows = NumberedRows.rest(reader).size();
        reader.start(0);
        assertThat(reader.skip(Long.MAX_VALUE)).as(decoration.name()).isEqualTo(rows);
        assertThat(reader.next()).isEmpty();
      }
    }
  }

  @Test
  void rowsGivenToMemoryAreCopied() {
    Batch batch = NumberedRows.batch(0, 5);
    DataReader reader = Readers.inMemory(batch);
    batch.clear();
    assertThat(NumberedRows.rest(reader)).isEqualTo(NumberedRows.expected(5));
  }

  @Test
  void sourcesOfOtherSchemasAreRefused() {
    Schema other = new Schema(List.of("label"), List.of(), List.of());
    DataReader empty = Readers.inMemory(other, List.of());
    assertThatThrownBy(() -> Readers.concat(List.of(NumberedRows.reader(1, 1), empty)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("concat: got rows of Schema[labels=[label], dense=[]");
  }

  @Test
  void argumentsOutOfRangeAreRefused() {
    DataReader reader = NumberedRows.reader(1, 1);
    List<Runnable> calls =
        List.of(
            () -> Readers.shuffled(reader, 0, 1),
            () -> Readers.batched(reader, 0, true),
            () -> Readers.prefetched(reader, 0),
            () -> Readers.take(reader, -1),
            () -> Readers.repeat(reader, 0),
            () -> Readers.shard(reader, 3, 3),
            () -> Readers.shard(reader, -1, 3),
            () -> Readers.concat(List.of()),
            () -> Readers.interleaved(List.of(), 1),
            () -> Readers.interleaved(List.of(reader), 0),
            () -> Readers.composed(List.of()),
            () -> Readers.composed(List.of(reader, reader)),
            () -> Readers.cached(reader, -1),
            () -> Readers.mapped(reader, NumberedRows.SCHEMA, NumberedRows::shift, 0),
            () -> Readers.mappedUnordered(reader, NumberedRows.SCHEMA, NumberedRows::shift, 0, 1),
            () -> Readers.mappedUnordered(reader, NumberedRows.SCHEMA, NumberedRows::shift, 1, 0),
            () -> Readers.bucketed(reader, "none", new int[] {1}, 1, false),
            () -> Readers.bucketed(reader, "many", new int[] {2, 2}, 1, false),
            () -> Readers.bucketed(reader, "many", new int[] {1}, 0, false),
            () -> reader.skip(-1),
            () -> Readers.inMemory());
    for (Runnable call : calls) {
      assertThatThrownBy(call::run)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got ")
          .hasMessageContaining("expected ");
    }
  }
}
