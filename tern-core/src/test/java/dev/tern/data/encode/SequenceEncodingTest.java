package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of the ids of a row that are a sequence. */
final class SequenceEncodingTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"),
          List.of(),
          List.of(Slot.oneHot("item"), Slot.ragged("items"), Slot.ragged("times")));

  /** A row for each of {@code lengths}, with ids 1, 2, 3 and so on in both sequences. */
  private static Batch rows(int... lengths) {
    Batch batch = new Batch(SCHEMA, lengths.length);
    for (int length : lengths) {
      batch.setLabel(0, 0);
      batch.addId(0, length);
      for (int i = 1; i <= length; i++) {
        batch.addId(1, i);
        batch.addId(2, 10L * i);
      }
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(IdEncoding items, Sequence sequence) {
    FeatureEncoder plain =
        FeatureEncoder.fit(
            Readers.inMemory(rows(6, 5)),
            List.of(),
            List.of(items, items, IdEncoding.verbatim()),
            Map.of("items", "item"),
            TextDictionary.none(),
            read -> {});
    return plain.withSequences(Map.of("items", sequence, "times", sequence));
  }

  private static List<Long> ids(Batch batch, int slot) {
    return Arrays.stream(batch.ids(slot), 0, batch.idCount(slot)).boxed().toList();
  }

  @ParameterizedTest
  @EnumSource(Sequence.Keep.class)
  void oneEndOfALongSequenceIsKeptInAllOfItsSlots(Sequence.Keep keep) {
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), new Sequence("seen", 3, keep));
    Batch encoded = new Batch(encoder.schema(), 5);
    encoder.apply(rows(2, 5, 0, 3, 4), 1, 5, encoded);
    boolean last = keep == Sequence.Keep.LAST;
    assertThat(Arrays.copyOf(encoded.offsets(1), 5)).containsExactly(0, 3, 3, 6, 9);
    assertThat(ids(encoded, 1))
        .isEqualTo(
            last
                ? List.of(3L, 4L, 5L, 1L, 2L, 3L, 2L, 3L, 4L)
                : List.of(1L, 2L, 3L, 1L, 2L, 3L, 1L, 2L, 3L));
    assertThat(ids(encoded, 2)).isEqualTo(ids(encoded, 1).stream().map(id -> 10 * id).toList());
    assertThat(ids(encoded, 0)).containsExactly(5L, 0L, 3L, 4L);
  }

  @Test
  void aRowWithoutIdsIsAnEmptySequenceAndNotAMissingValue() {
    IdEncoding vocabulary = new IdEncoding.Vocabulary(false, 1, 100);
    FeatureEncoder encoder = encoder(vocabulary, Sequence.last("seen", 4));
    Batch encoded = new Batch(encoder.schema(), 2);
    encoder.apply(rows(0, 6), encoded);
    assertThat(Arrays.copyOf(encoded.offsets(1), 3)).containsExactly(0, 0, 4);
    int known = encoder.vocabularySize(1);
    assertThat(ids(encoded, 1)).allSatisfy(id -> assertThat(id).isBetween(1L, (long) known));
    FeatureEncoder hashed = encoder(new IdEncoding.Hashed(false, 7), Sequence.last("seen", 4));
    Batch buckets = new Batch(hashed.schema(), 2);
    hashed.apply(rows(0, 6), buckets);
    assertThat(buckets.idCount(1)).isEqualTo(4);
    assertThat(ids(buckets, 1)).allSatisfy(id -> assertThat(id).isBetween(0L, 6L));
  }

  @Test
  void slotsOfOneSequenceNeedEquallyManyIdsInEachRow() {
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), Sequence.last("seen", 4));
    Batch raw = rows(1, 2);
    raw.setLabel(0, 0);
    raw.addId(0, 1);
    raw.addId(1, 1);
    raw.endRow();
    Batch encoded = new Batch(encoder.schema(), 3);
    assertThatThrownBy(() -> encoder.apply(raw, encoded))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(
            "slot times: got 0 ids in row 3 of this batch, expected 1 as in slot items");
    encoder.apply(raw, 0, 2, encoded);
    assertThat(encoded.size()).isEqualTo(2);
  }

  @Test
  void sequencesAreKeptInTheEncodersText() {
    Sequence sequence = new Sequence("seen", 3, Sequence.Keep.FIRST);
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), sequence);
    FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "test");
    assertThat(read.schema()).isEqualTo(encoder.schema());
    assertThat(read.schema().slots().get(1).sequence()).contains(sequence);
    assertThat(read.schema().sequences()).isEqualTo(Map.of("seen", List.of(1, 2)));
    assertThat(read.toJson()).isEqualTo(encoder.toJson());
    String wrong = encoder.toJson().replace("\"first\"", "\"middle\"");
    assertThatThrownBy(() -> FeatureEncoder.fromJson(wrong, "test"))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("keeps \"middle\", expected first or last");
  }

  @Test
  void sequencesOfOneNameAreCutAlikeAndNameSlots() {
    FeatureEncoder encoder = encoder(IdEncoding.verbatim(), Sequence.last("seen", 4));
    Map<String, Sequence> different =
        Map.of("items", Sequence.last("seen", 3), "times", Sequence.last("seen", 4));
    assertThatThrownBy(() -> encoder.withSequences(different))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slots of one sequence are cut alike");
    assertThatThrownBy(() -> encoder.withSequences(Map.of("clicks", Sequence.last("x", 1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "got a sequence for slot clicks, expected one of [item, items, times]");
    assertThatThrownBy(() -> Sequence.last("x", 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected 1 or more");
  }

  @Test
  void aReaderNamesTheRowWhoseSlotsHaveDifferentLengths() {
    Batch raw = rows(1, 2, 3);
    raw.setLabel(0, 0);
    raw.addId(0, 1);
    raw.addId(1, 1);
    raw.endRow();
    List<List<String>> seen = List.of(List.of("items", "times"), List.of("item"));
    DataReader reader = Readers.withEqualLengths(Readers.inMemory(raw), seen, "rows.csv");
    assertThatThrownBy(reader::next)
        .isInstanceOf(DataException.class)
        .hasMessageContaining(
            "rows.csv: row 4: got 0 values of times and 1 of items, which are one sequence");
    reader.start(0);
    assertThat(reader.skip(2)).isEqualTo(2);
    assertThatThrownBy(reader::next)
        .isInstanceOf(DataException.class)
        .hasMessageContaining("row 4");
    DataReader even = Readers.withEqualLengths(Readers.inMemory(rows(1, 0)), seen, "rows.csv");
    assertThat(even.next().orElseThrow().size()).isEqualTo(2);
    DataReader plain = Readers.inMemory(raw);
    assertThat(Readers.withEqualLengths(plain, List.of(List.of("item", "none")), "x"))
        .isSameAs(plain);
  }
}
