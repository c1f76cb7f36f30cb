package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Weights of ids on their way through readers and encoders: each id keeps its own. */
final class WeightedRowsTest {
  private static final Schema SCHEMA = schema("w");
  private static final int ROWS = 100;

  private static Schema schema(String slot) {
    return new Schema(List.of(), List.of(), List.of(Slot.weighted(slot)));
  }

  /** Row n has n % 4 ids; id i has the weight i / 8. */
  private static Batch rows(Schema schema) {
    Batch batch = new Batch(schema, 1);
    for (int n = 0; n < ROWS; n++) {
      for (int i = 0; i < n % 4; i++) {
        batch.addId(0, 4L * n + i, (4 * n + i) / 8f);
      }
      batch.endRow();
    }
    return batch;
  }

  private static DataReader reader() {
    return Readers.inMemory(rows(SCHEMA));
  }

  static Stream<DataReader> readers() {
    return Stream.of(
        reader(),
        Readers.batched(reader(), 7, false),
        Readers.shuffled(reader(), 16, 3),
        Readers.prefetched(Readers.batched(reader(), 7, false), 2),
        Readers.cached(reader(), 1 << 20),
        Readers.composed(
            List.of(Readers.inMemory(rows(schema("other"))), Readers.batched(reader(), 9, false))),
        Readers.interleaved(List.of(reader(), reader()), 3));
  }

  @ParameterizedTest
  @MethodSource("readers")
  void readersKeepThem(DataReader source) {
    int ids = 0;
    try (DataReader reader = source) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          int slot = batch.schema().slotCount() - 1;
          for (int i = 0; i < batch.idCount(slot); i++) {
            assertThat(batch.weights(slot)[i]).isEqualTo(batch.ids(slot)[i] / 8f);
            ids++;
          }
        }
      }
    }
    assertThat(ids % 150).isZero();
    assertThat(ids).isPositive();
  }

  private static FeatureEncoder encoder(IdEncoding encoding, DataReader reader) {
    return FeatureEncoder.fit(reader, List.of(), List.of(encoding), TextDictionary.none(), _ -> {});
  }

  @Test
  void encodersKeepThem() {
    Batch raw = rows(SCHEMA);
    for (IdEncoding encoding :
        List.of(
            IdEncoding.verbatim(),
            new IdEncoding.Hashed(false, 50),
            new IdEncoding.Vocabulary(false, 1, 1000))) {
      FeatureEncoder fitted = encoder(encoding, reader());
      FeatureEncoder encoder = FeatureEncoder.fromJson(fitted.toJson(), "encoders.json");
      assertThat(encoder.schema()).isEqualTo(SCHEMA);
      Batch encoded = new Batch(encoder.schema(), 1);
      for (int pass = 0; pass < 2; pass++) {
        encoder.apply(raw, encoded);
        assertThat(encoded.idCount(0)).isEqualTo(raw.idCount(0));
        for (int i = 0; i < raw.idCount(0); i++) {
          assertThat(encoded.weights(0)[i]).isEqualTo(raw.weights(0)[i]);
        }
      }
    }
  }

  @Test
  void aRowWithoutAnIdOfAOneHotSlotGetsThePlaceOfAMissingOneWithTheWeightOne() {
    Schema oneHot = new Schema(List.of(), List.of(), List.of(new Slot("w", 1, "w", true)));
    Batch raw = new Batch(oneHot, 1);
    raw.addId(0, 7, 0.5f);
    raw.endRow();
    raw.endRow();
    raw.addId(0, 7, 0.25f);
    raw.endRow();
    FeatureEncoder encoder = encoder(new IdEncoding.Hashed(false, 50), Readers.inMemory(raw));
    Batch encoded = new Batch(encoder.schema(), 1);
    encoder.apply(raw, encoded);
    assertThat(List.of(encoded.weights(0)[0], encoded.weights(0)[1], encoded.weights(0)[2]))
        .containsExactly(0.5f, 1f, 0.25f);
  }

  @Test
  void rowsWithoutWeightsDoNotPassForRowsWithThem() {
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), reader());
    Schema plain = new Schema(List.of(), List.of(), List.of(Slot.ragged("w")));
    Batch without = new Batch(plain, 1);
    without.addId(0, 3);
    without.endRow();
    assertThatThrownBy(() -> encoder.apply(without, new Batch(encoder.schema(), 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slot w: got ids without weights, expected ids with weights");
    FeatureEncoder other = encoder(IdEncoding.verbatim(), Readers.inMemory(without));
    assertThatThrownBy(() -> other.apply(rows(SCHEMA), new Batch(other.schema(), 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slot w: got ids with weights, expected ids without weights");
    assertThat(encoder.encodesIdsAs(other)).isFalse();
  }

  @Test
  void rowsByNameGiveWeightsAsAMap() {
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), reader());
    Batch raw = new Batch(encoder.rawSchema(), 1);
    encoder.addRow(Map.of("w", new TreeMap<>(Map.of(3L, 0.5, 9L, -2))), raw);
    encoder.addRow(Map.of("w", List.of(4, 5)), raw);
    encoder.addRow(Map.of("w", 6), raw);
    encoder.addRow(Map.of(), raw);
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < raw.idCount(0); i++) {
      rows.add(raw.ids(0)[i] + ":" + raw.weights(0)[i]);
    }
    assertThat(rows).containsExactly("3:0.5", "9:-2.0", "4:1.0", "5:1.0", "6:1.0");
    assertThat(raw.size()).isEqualTo(4);
    assertThatThrownBy(() -> encoder.addRow(Map.of("w", Map.of(3L, 1e40)), raw))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column w: got the weight Infinity");
    assertThatThrownBy(() -> encoder.addRow(Map.of("w", Map.of(3L, "x")), raw))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column w: got x");
    Schema plain = new Schema(List.of(), List.of(), List.of(Slot.ragged("w")));
    FeatureEncoder other = encoder(IdEncoding.verbatim(), Readers.inMemory(new Batch(plain, 1)));
    assertThatThrownBy(
            () -> other.addRow(Map.of("w", Map.of(3L, 1)), new Batch(other.rawSchema(), 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("column w: got {3=1}");
  }
}
