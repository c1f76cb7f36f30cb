package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights of rows on their way through readers and encoders: each row keeps its own. */
final class RowWeightsTest {
  private static final Schema PLAIN =
      new Schema(
          List.of("y", "w"), List.of("x"), List.of(Slot.oneHot("id"), Slot.weighted("tags")));
  private static final Schema WEIGHTED =
      PLAIN.withLabels(List.of("y")).withWeight(Optional.of("w"));
  private static final int ROWS = 100;

  /** Row n has the number n and the weight n / 4. */
  private static DataReader reader() {
    Batch batch = new Batch(PLAIN, 1);
    for (int n = 0; n < ROWS; n++) {
      batch.setLabel(0, n % 2);
      batch.setLabel(1, n / 4f);
      batch.setDense(0, n);
      batch.addId(0, n);
      batch.addId(1, n, n / 8f);
      batch.endRow();
    }
    return Readers.weighted(Readers.batched(Readers.inMemory(batch), 9, false), "w");
  }

  /** The weight of each row by its number. */
  private static Map<Float, Float> weights(DataReader reader) {
    Map<Float, Float> weights = new HashMap<>();
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int row = 0; row < batch.size(); row++) {
          weights.put(batch.dense()[row * batch.schema().denseDim()], batch.rowWeight(row));
        }
      }
    }
    return weights;
  }

  static Stream<UnaryOperator<DataReader>> decorations() {
    return Stream.of(
        rows -> rows,
        rows -> Readers.batched(rows, 7, false),
        rows -> Readers.shuffled(rows, 16, 3),
        rows -> Readers.shuffled(rows, 1000, 3),
        rows -> Readers.prefetched(Readers.batched(rows, 7, false), 2),
        rows -> Readers.cached(rows, 1 << 20),
        rows -> Readers.interleaved(List.of(rows, reader()), 3),
        rows -> Readers.concat(List.of(rows, reader())),
        rows -> Readers.filtered(rows, (batch, row) -> batch.labels()[row] == 1),
        rows -> Readers.bucketed(rows, "tags", new int[] {1}, 8, false),
        rows -> Readers.take(rows, 60),
        rows -> Readers.shard(rows, 1, 3),
        rows -> Readers.repeat(rows, 2),
        rows ->
            Readers.mapped(rows, WEIGHTED, (from, to) -> to.appendRows(from, 0, from.size()), 2),
        rows -> Readers.composed(List.of(Readers.inMemory(other(50)), Readers.take(rows, 50))),
        rows -> Readers.encoded(rows, encoder(rows.schema())),
        RowWeightsTest::restored);
  }

  private static Batch other(int rows) {
    Batch batch = new Batch(new Schema(List.of(), List.of("n"), List.of()), 1);
    for (int n = 0; n < rows; n++) {
      batch.setDense(0, n);
      batch.endRow();
    }
    return batch;
  }

  private static DataReader restored(DataReader rows) {
    ReaderState state = new ReaderState(0, 40, PassOrder.FIXED);
    rows.restore(state);
    return rows;
  }

  private static FeatureEncoder encoder(Schema schema) {
    return FeatureEncoder.fit(
        Readers.inMemory(schema, List.of()),
        List.of(NumberEncoding.none()),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  @ParameterizedTest
  @MethodSource("decorations")
  void readersKeepThem(UnaryOperator<DataReader> decoration) {
    try (DataReader reader = decoration.apply(reader())) {
      assertThat(reader.schema().weight()).contains("w");
      Map<Float, Float> weights = weights(reader);
      assertThat(weights).hasSizeGreaterThan(30);
      weights.forEach((row, weight) -> assertThat(weight).as("row %s", row).isEqualTo(row / 4));
    }
  }

  @Test
  void theLabelThatIsTheWeightIsNoLabel() {
    try (DataReader reader = reader()) {
      assertThat(reader.schema()).isEqualTo(WEIGHTED);
      try (Batch batch = reader.next().orElseThrow()) {
        assertThat(batch.labels()[3]).isEqualTo(1);
        assertThat(batch.weights(1)[5]).isEqualTo(5 / 8f);
        assertThat(batch.rowWeights()[5]).isEqualTo(5 / 4f);
      }
    }
  }

  @Test
  void oneLabelOfSeveralKeepsTheWeightsOfRowsAndIds() {
    Schema three = PLAIN.withLabels(List.of("a", "w", "b"));
    Batch batch = new Batch(three, 1);
    for (int n = 0; n < 5; n++) {
      batch.setLabel(0, 0);
      batch.setLabel(1, 2 + n);
      batch.setLabel(2, 1);
      batch.setDense(0, n);
      batch.addId(0, n);
      batch.addId(1, n, 3 + n);
      batch.endRow();
    }
    try (DataReader reader =
        Readers.withLabel(Readers.weighted(Readers.inMemory(batch), "w"), "b")) {
      Batch read = reader.next().orElseThrow();
      assertThat(reader.schema().labels()).containsExactly("b");
      assertThat(read.labels()[4]).isEqualTo(1);
      assertThat(read.rowWeight(4)).isEqualTo(6);
      assertThat(read.weights(1)[4]).isEqualTo(7);
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {-1, Float.NaN, Float.POSITIVE_INFINITY})
  void aWeightThatIsNoneNamesItsRow(float weight) {
    Batch batch = new Batch(PLAIN, 1);
    for (int n = 0; n < 3; n++) {
      batch.setLabel(0, 0);
      batch.setLabel(1, n == 1 ? weight : 1);
      batch.setDense(0, n);
      batch.endRow();
    }
    try (DataReader reader = Readers.weighted(Readers.inMemory(batch), "w")) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(DataException.class)
          .hasMessageContaining("row 2 of pass 0")
          .hasMessageContaining("got the weight " + weight)
          .hasMessageContaining("expected a finite number of 0 or more");
    }
    Batch own = new Batch(WEIGHTED, 1);
    assertThatThrownBy(() -> own.setRowWeight(weight)).hasMessageContaining("0 or more");
  }

  @Test
  void aRowHasTheWeightOneUntilItIsSet() {
    BatchPool pool = new BatchPool(WEIGHTED, 2);
    List<Float> weights = new ArrayList<>();
    for (int pass = 0; pass < 2; pass++) {
      try (Batch batch = pool.take()) {
        for (int n = 0; n < 5; n++) {
          batch.setLabel(0, 0);
          batch.setDense(0, n);
          if (n == 3) {
            batch.setRowWeight(9);
            batch.abandonRow();
          }
          if (n == 2 && pass == 0) {
            batch.setRowWeight(7);
          }
          batch.endRow();
          weights.add(batch.rowWeight(n));
        }
        batch.resize(7);
        weights.add(batch.rowWeight(6));
      }
    }
    assertThat(weights).containsExactly(1f, 1f, 7f, 1f, 1f, 1f, 1f, 1f, 1f, 1f, 1f, 1f);
    Batch plain = new Batch(PLAIN, 1);
    assertThat(plain.rowWeights()).isEmpty();
    assertThat(plain.rowWeight(0)).isEqualTo(1);
    assertThatThrownBy(() -> plain.setRowWeight(1)).hasMessageContaining("expected none");
  }

  @Test
  void weightsAreNotLostBetweenSchemas() {
    try (DataReader reader = reader()) {
      Batch weighted = reader.next().orElseThrow();
      Batch plain = new Batch(WEIGHTED.withWeight(Optional.empty()), 1);
      assertThatThrownBy(() -> plain.appendRow(weighted, 0))
          .hasMessageContaining("got rows with the weights w, expected rows without");
      assertThatThrownBy(() -> plain.gatherRows(weighted, new int[] {0}, 0, 1))
          .hasMessageContaining("expected rows without");
      assertThatThrownBy(() -> Readers.encoded(reader(), encoder(plain.schema())))
          .hasMessageContaining("FeatureEncoder.withWeight");
      assertThatThrownBy(() -> Readers.weighted(reader(), "y"))
          .hasMessageContaining("rows that have the weights w");
      assertThatThrownBy(() -> Readers.composed(List.of(reader(), reader())))
          .hasMessageContaining("compose: got the columns of weights [w, w], expected one");
    }
  }

  @Test
  void encodersRememberTheColumnAndTakeRowsWithoutIt() {
    FeatureEncoder encoder = encoder(WEIGHTED);
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoders.json");
    assertThat(read.rawSchema()).isEqualTo(WEIGHTED);
    assertThat(read.schema().weighted()).isTrue();
    assertThat(encoder(PLAIN).toJson()).doesNotContain("weight\"");
    assertThat(read.withWeight(Optional.empty()).schema().weighted()).isFalse();
    assertThat(read.encodesIdsAs(read.withWeight(Optional.empty()))).isTrue();
    Batch raw = new Batch(read.rawSchema(), 1);
    read.addRow(Map.of("x", 1, "w", 3), raw);
    read.addRow(Map.of("x", 1), raw);
    assertThat(raw.rowWeight(0)).isEqualTo(3);
    assertThat(raw.rowWeight(1)).isEqualTo(1);
    Batch bare = new Batch(WEIGHTED.withWeight(Optional.empty()), 1);
    bare.setLabel(0, 1);
    bare.setDense(0, 1);
    bare.endRow();
    Batch encoded = new Batch(read.schema(), 1);
    encoded.resize(1);
    encoded.rowWeights()[0] = 5;
    read.apply(bare, encoded);
    assertThat(encoded.rowWeight(0)).isEqualTo(1);
  }
}
