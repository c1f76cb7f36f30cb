package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Rows with columns that their source lacks. */
final class AllColumnsTest {
  private static final Slot TAGS = new Slot("tags", 0, "tags", true);
  private static final Schema WANTED =
      new Schema(
          List.of("other"),
          List.of("age", "price"),
          List.of(Slot.oneHot("user"), TAGS, Slot.oneHot("item")));

  @Test
  void columnsAreMatchedByNameAndOthersAreMissingInEachRow() {
    Schema got =
        new Schema(List.of("click"), List.of("price", "unused"), List.of(Slot.oneHot("item"), TAGS))
            .withWeight(Optional.of("times"));
    Batch rows = new Batch(got, 2);
    for (int i = 0; i < 2; i++) {
      rows.setLabel(0, i);
      rows.setDense(0, 10 + i);
      rows.setDense(1, 99);
      rows.setRowWeight(3 + i);
      rows.addId(0, 7 + i);
      for (int t = 0; t <= i; t++) {
        rows.addId(1, 20 + t, 0.5f + t);
      }
      rows.endRow();
    }
    try (DataReader read = Readers.withColumns(Readers.inMemory(rows, rows), WANTED)) {
      assertThat(read.schema().labels()).containsExactly("click");
      assertThat(read.schema().weight()).contains("times");
      assertThat(read.schema().slots()).isEqualTo(WANTED.slots());
      for (int pass = 0; pass < 2; pass++) { // A batch that is used again has nothing left over.
        try (Batch batch = read.next().orElseThrow()) {
          assertThat(Arrays.copyOf(batch.labels(), 2)).containsExactly(0, 1);
          assertThat(Arrays.copyOf(batch.dense(), 4)).containsExactly(Float.NaN, 10, Float.NaN, 11);
          assertThat(batch.rowWeight(1)).isEqualTo(4);
          assertThat(batch.idCount(0)).isZero();
          assertThat(Arrays.copyOf(batch.offsets(1), 3)).containsExactly(0, 1, 3);
          assertThat(Arrays.copyOf(batch.ids(1), 3)).containsExactly(20, 20, 21);
          assertThat(Arrays.copyOf(batch.weights(1), 3)).containsExactly(0.5f, 0.5f, 1.5f);
          assertThat(Arrays.copyOf(batch.ids(2), 2)).containsExactly(7, 8);
        }
      }
    }
  }

  @Test
  void rowsThatHaveAllColumnsStayAsTheyAre() {
    Batch rows = new Batch(WANTED, 1);
    DataReader read = Readers.inMemory(rows);
    assertThat(Readers.withColumns(read, WANTED)).isSameAs(read);
  }
}
