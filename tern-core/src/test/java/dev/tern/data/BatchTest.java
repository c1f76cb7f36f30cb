package dev.tern.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.readers.NumberedRows;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BatchTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000})
  void rowsAppendedInPiecesAreTheRows(int count) {
    Batch source = NumberedRows.batch(0, count);
    for (int piece : new int[] {1, 3, 64, 1000}) {
      Batch target = new Batch(NumberedRows.SCHEMA, 1);
      for (int from = 0; from < count; from += piece) {
        target.appendRows(source, from, Math.min(count, from + piece));
      }
      assertThat(NumberedRows.texts(target)).isEqualTo(NumberedRows.expected(count));
    }
  }

  @Test
  void rowsAreGatheredInTheOrderAsked() {
    Batch source = NumberedRows.batch(0, 50);
    int[] rows = {-1, 49, 0, 7, 7, 23, -1};
    Batch target = new Batch(NumberedRows.SCHEMA, 1);
    NumberedRows.add(target, 99);
    target.gatherRows(source, rows, 1, 6);
    List<String> expected = new ArrayList<>(NumberedRows.texts(NumberedRows.batch(99, 100)));
    for (int row : new int[] {49, 0, 7, 7, 23}) {
      expected.addAll(NumberedRows.texts(NumberedRows.batch(row, row + 1)));
    }
    assertThat(NumberedRows.texts(target)).isEqualTo(expected);
  }

  @Test
  void gatherFollowsASlotThatStopsHoldingOneIdARow() {
    Batch source = new Batch(NumberedRows.SCHEMA, 4);
    int[] rows = {2, 0, 1, 3, 2};
    for (int pass = 0; pass < 3; pass++) {
      source.clear();
      for (int row = 0; row < 4; row++) {
        source.setLabel(0, row);
        source.setDense(0, row);
        source.setDense(1, row);
        for (int i = pass == 1 ? row : 1; i > 0; i--) {
          source.addId(1, 10 * row + i);
        }
        source.addId(0, row);
        source.endRow();
      }
      List<String> all = NumberedRows.texts(source);
      Batch target = new Batch(NumberedRows.SCHEMA, 1);
      target.gatherRows(source, rows, 0, 3);
      source.appendRows(NumberedRows.batch(7, 8), 0, 1);
      target.gatherRows(source, rows, 3, 5);
      assertThat(NumberedRows.texts(target))
          .containsExactly(all.get(2), all.get(0), all.get(1), all.get(3), all.get(2));
    }
  }

  @Test
  void rowBegunAfterABulkAppendStartsEmpty() {
    Batch batch = NumberedRows.batch(0, 20);
    batch.clear();
    batch.appendRows(NumberedRows.batch(0, 5), 1, 4);
    NumberedRows.add(batch, 4);
    batch.addId(1, 77);
    batch.abandonRow();
    NumberedRows.add(batch, 5);
    assertThat(NumberedRows.texts(batch)).isEqualTo(NumberedRows.texts(NumberedRows.batch(1, 6)));
  }

  @Test
  void rowsOutsideTheSourceAreRefused() {
    Batch source = NumberedRows.batch(0, 5);
    Batch target = new Batch(NumberedRows.SCHEMA, 8);
    assertThatThrownBy(() -> target.appendRows(source, 3, 6))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(target.size()).isZero();
  }

  @Test
  void columnsMayBeFilledDirectlyAfterAResize() {
    for (int rows : new int[] {0, 1, 7, 64, 1000}) {
      Batch source = NumberedRows.batch(0, rows);
      Batch target = new Batch(NumberedRows.SCHEMA, 1);
      target.resize(rows);
      System.arraycopy(
          source.labels(), 0, target.labels(), 0, rows * NumberedRows.SCHEMA.labelDim());
      System.arraycopy(source.dense(), 0, target.dense(), 0, rows * NumberedRows.SCHEMA.denseDim());
      for (int slot = 0; slot < NumberedRows.SCHEMA.slotCount(); slot++) {
        int count = source.idCount(slot);
        System.arraycopy(source.ids(slot), 0, target.ensureIds(slot, count), 0, count);
        System.arraycopy(source.offsets(slot), 0, target.offsets(slot), 0, rows + 1);
      }
      NumberedRows.add(target, rows);
      assertThat(NumberedRows.texts(target))
          .isEqualTo(NumberedRows.texts(NumberedRows.batch(0, rows + 1)));
      target.resize(rows / 2);
      NumberedRows.add(target, rows / 2);
      assertThat(NumberedRows.texts(target))
          .isEqualTo(NumberedRows.texts(NumberedRows.batch(0, rows / 2 + 1)));
    }
    assertThatThrownBy(() -> NumberedRows.batch(0, 1).resize(-1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static final Schema WEIGHTED =
      new Schema(List.of(), List.of(), List.of(Slot.weighted("w"), Slot.ragged("u")));

  /** Row {@code n} has n ids in the slot with weights; id i has the weight i / 8, every third 1. */
  private static void addWeighted(Batch batch, int n) {
    for (int i = 0; i < n; i++) {
      if (i % 3 == 2) {
        batch.addId(0, 8);
      } else {
        batch.addId(0, 10 * n + i, (10 * n + i) / 8f);
      }
      batch.addId(1, i);
    }
    batch.endRow();
  }

  private static List<String> weighted(Batch batch) {
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < batch.size(); row++) {
      StringBuilder text = new StringBuilder();
      for (int i = batch.offsets(0)[row]; i < batch.offsets(0)[row + 1]; i++) {
        assertThat(batch.weights(0)[i]).isEqualTo(batch.ids(0)[i] / 8f);
        text.append(batch.ids(0)[i]).append(' ');
      }
      rows.add(text.toString());
    }
    assertThat(batch.weights(1)).isEmpty();
    return rows;
  }

  @Test
  void weightsFollowTheirIds() {
    Batch source = new Batch(WEIGHTED, 1);
    for (int n = 0; n < 20; n++) {
      addWeighted(source, n);
      // A row that is dropped leaves no weights behind.
      source.addId(0, 5, 99);
      source.addId(0, 5, 99);
      source.abandonRow();
    }
    List<String> rows = weighted(source);
    assertThat(rows.get(4)).isEqualTo("40 41 8 43 ");
    Batch appended = new Batch(WEIGHTED, 1);
    addWeighted(appended, 3);
    appended.appendRows(source, 5, 12);
    addWeighted(appended, 4);
    assertThat(weighted(appended))
        .containsExactly(
            rows.get(3),
            rows.get(5),
            rows.get(6),
            rows.get(7),
            rows.get(8),
            rows.get(9),
            rows.get(10),
            rows.get(11),
            rows.get(4));
    Batch gathered = new Batch(WEIGHTED, 1);
    gathered.gatherRows(source, new int[] {9, 0, 9, 2}, 0, 4);
    addWeighted(gathered, 1);
    assertThat(weighted(gathered))
        .containsExactly(rows.get(9), rows.get(0), rows.get(9), rows.get(2), rows.get(1));
    gathered.resize(3);
    addWeighted(gathered, 5);
    assertThat(weighted(gathered).getLast()).isEqualTo(rows.get(5));
  }

  @Test
  void aRecycledBatchForgetsItsWeights() {
    BatchPool pool = new BatchPool(WEIGHTED, 2);
    Batch batch = pool.take();
    batch.addId(0, 1, 7);
    batch.endRow();
    batch.close();
    Batch again = pool.take();
    again.addId(0, 1);
    again.endRow();
    assertThat(again.weights(0)[0]).isEqualTo(1);
  }

  @Test
  void weightsWithoutAPlaceAreRefused() {
    Batch source = new Batch(WEIGHTED, 1);
    addWeighted(source, 2);
    Batch plain =
        new Batch(new Schema(List.of(), List.of(), List.of(Slot.ragged("w"), Slot.ragged("u"))), 1);
    assertThatThrownBy(() -> plain.addId(0, 3, 0.5f))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slot w: got the weight 0.5 for an id, expected none");
    assertThatThrownBy(() -> plain.appendRow(source, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got weights for the ids of slot w, expected none");
    for (float weight : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> source.addId(0, 3, weight))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected a finite number");
    }
    plain.clear();
    addPlain(plain);
    source.appendRow(plain, 0);
    assertThat(source.weights(0)[2]).isEqualTo(1);
  }

  private static void addPlain(Batch batch) {
    batch.addId(0, 8);
    batch.endRow();
  }
}
