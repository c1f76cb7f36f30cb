package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ColumnPickTest {
  private static final Schema READ =
      new Schema(
          List.of("click", "buy"),
          List.of("age", "price"),
          List.of(Slot.oneHot("user"), Slot.ragged("tags"), Slot.weighted("words")));

  private static Batch rows() {
    Batch rows = new Batch(READ, 2);
    for (int row = 0; row < 3; row++) {
      rows.setLabel(0, row % 2);
      rows.setLabel(1, 0);
      rows.setDense(0, 10 + row);
      rows.setDense(1, Float.NaN);
      rows.addId(0, 100 + row);
      for (int i = 0; i < row; i++) {
        rows.addId(1, 200 + i);
        rows.addId(2, 300 + i, 0.5f * i);
      }
      rows.endRow();
    }
    return rows;
  }

  private static Schema wanted(List<String> dense, Slot... slots) {
    return new Schema(List.of("click"), dense, List.of(slots));
  }

  @Test
  void columnsAreTakenByNameInTheOrderAskedFor() {
    ColumnPick pick =
        ColumnPick.of(
            READ, wanted(List.of("price", "age"), Slot.weighted("words"), Slot.ragged("tags")));
    for (int time = 0; time < 2; time++) {
      Batch got = pick.of(rows());
      assertThat(got.size()).isEqualTo(3);
      assertThat(got.schema().labels()).containsExactly("click", "buy");
      assertThat(Arrays.copyOf(got.labels(), 6)).containsExactly(0, 0, 1, 0, 0, 0);
      assertThat(got.schema().dense()).containsExactly("price", "age");
      assertThat(got.dense()[1]).isEqualTo(10);
      assertThat(got.dense()[4]).isNaN();
      assertThat(got.dense()[5]).isEqualTo(12);
      assertThat(got.schema().slotNames()).containsExactly("words", "tags");
      assertThat(Arrays.copyOf(got.offsets(0), 4)).containsExactly(0, 0, 1, 3);
      assertThat(Arrays.copyOf(got.ids(0), 3)).containsExactly(300, 300, 301);
      assertThat(Arrays.copyOf(got.weights(0), 3)).containsExactly(0, 0, 0.5f);
      assertThat(Arrays.copyOf(got.ids(1), 3)).containsExactly(200, 200, 201);
    }
  }

  @Test
  void rowsWithoutOtherColumnsAreTakenAsTheyAre() {
    Batch rows = rows();
    assertThat(ColumnPick.of(READ, READ).of(rows)).isSameAs(rows);
  }

  @Test
  void aSlotKeepsTheNumberOfIdsThatTheRowsHave() {
    Batch got = ColumnPick.of(READ, wanted(List.of(), Slot.oneHot("tags"))).of(rows());
    assertThat(got.schema().slots().getFirst().hotness()).isZero();
  }

  @Test
  void aSlotIsTakenWithoutTheOwnerOfItsTable() {
    Schema shared =
        new Schema(
            List.of(), List.of(), List.of(Slot.oneHot("item"), new Slot("history", 0, "item")));
    Batch rows = new Batch(shared, 1);
    rows.addId(1, 7);
    rows.endRow();
    Batch got = ColumnPick.of(shared, wanted(List.of(), Slot.ragged("history"))).of(rows);
    assertThat(got.ids(0)[0]).isEqualTo(7);
  }

  @Test
  void aColumnThatTheRowsLackIsRefused() {
    assertThatThrownBy(() -> ColumnPick.of(READ, wanted(List.of("size"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "rows: got the numbers [age, price] and the slots [user, tags, words], expected the"
                + " column size; read it with the rows");
    assertThatThrownBy(() -> ColumnPick.of(READ, wanted(List.of(), Slot.oneHot("item"))))
        .hasMessageContaining("expected the column item");
  }
}
