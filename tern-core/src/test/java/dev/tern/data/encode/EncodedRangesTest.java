package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.NumberedRows;
import dev.tern.data.readers.Readers;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Rows of a batch that are encoded where they lie, beside the same rows in a batch of their own.
 */
final class EncodedRangesTest {
  @Test
  void aRangeOfRowsIsEncodedAsThoseRowsAlone() {
    Batch mixed = FeatureEncoderTest.mixed(TextDictionary.none());
    requireSameRanges(
        FeatureEncoderTest.everything(Readers.inMemory(mixed), TextDictionary.none()), mixed);
    Slot weighted = new Slot("weighted", 0, "weighted", true);
    Schema schema = new Schema(List.of(), List.of("x"), List.of(Slot.oneHot("one"), weighted));
    Batch gaps = new Batch(schema, 8);
    SplittableRandom random = new SplittableRandom(5);
    for (int row = 0; row < 60; row++) {
      gaps.setDense(0, random.nextInt(3) == 0 ? Float.NaN : row);
      if (random.nextInt(3) > 0) {
        gaps.addId(0, random.nextInt(9));
      }
      for (int i = random.nextInt(4); i > 0; i--) {
        gaps.addId(1, random.nextInt(9), random.nextInt(5));
      }
      gaps.endRow();
    }
    for (IdEncoding ids :
        List.of(IdEncoding.vocabulary(), IdEncoding.hashed(50), IdEncoding.verbatim())) {
      FeatureEncoder encoder =
          FeatureEncoder.fit(
              Readers.inMemory(gaps),
              List.of(NumberEncoding.standardize()),
              List.of(ids, ids),
              TextDictionary.none(),
              rows -> {});
      requireSameRanges(encoder, gaps);
    }
  }

  private static void requireSameRanges(FeatureEncoder encoder, Batch raw) {
    Batch range = new Batch(encoder.schema(), 1);
    for (int[] ends : new int[][] {{0, 60}, {0, 1}, {1, 2}, {7, 7}, {13, 50}, {59, 60}}) {
      Batch alone = new Batch(raw.schema(), 1);
      alone.appendRows(raw, ends[0], ends[1]);
      Batch expected = new Batch(encoder.schema(), 1);
      encoder.apply(alone, expected);
      encoder.apply(raw, ends[0], ends[1], range);
      assertThat(NumberedRows.texts(range)).isEqualTo(NumberedRows.texts(expected));
      for (int slot = 0; slot < encoder.schema().slotCount(); slot++) {
        int count = range.idCount(slot);
        if (encoder.schema().slots().get(slot).weighted()) {
          assertThat(Arrays.copyOf(range.weights(slot), count))
              .isEqualTo(Arrays.copyOf(expected.weights(slot), count));
        }
      }
    }
    assertThatThrownBy(() -> encoder.apply(raw, 59, raw.size() + 1, range))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
