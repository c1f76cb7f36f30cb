package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.NumberedRows;
import dev.tern.data.readers.Readers;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rows given as values by name, as a predictor gets them. */
final class FeatureRowTest {
  private static final Schema ROW =
      new Schema(
          List.of("click"),
          List.of("age"),
          List.of(
              Slot.oneHot("city"), Slot.ragged("tags"), Slot.oneHot("item"), new Slot("pair", 2)));

  private static final FeatureEncoder ROWS =
      FeatureEncoder.fit(
          Readers.inMemory(ROW, List.of()),
          List.of(NumberEncoding.none()),
          List.of(
              IdEncoding.vocabulary(),
              IdEncoding.hashed(10),
              IdEncoding.verbatim(),
              IdEncoding.verbatim()),
          TextDictionary.none(),
          rows -> {});

  private static Map<String, Object> row(Object... pairs) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("pair", List.of(1, 2));
    for (int i = 0; i < pairs.length; i += 2) {
      row.put((String) pairs[i], pairs[i + 1]);
    }
    return row;
  }

  private static String rawRow(Map<String, Object> row) {
    Batch raw = new Batch(ROW, 1);
    ROWS.addRow(row, raw);
    assertThat(raw.size()).isEqualTo(1);
    return NumberedRows.texts(raw).get(0);
  }

  @Test
  void rowOfValuesByNameBecomesARawRow() {
    long lund = TextHash.of("Lund");
    assertThat(
            rawRow(
                row(
                    "age",
                    41,
                    "city",
                    "Lund",
                    "tags",
                    List.of("a", "", 7),
                    "item",
                    -9L,
                    "click",
                    1)))
        .isEqualTo(
            "[1.0][41.0][%d][%d, %d, %d][-9][1, 2]"
                .formatted(lund, TextHash.of("a"), TextHash.EMPTY, TextHash.of("7")));
    assertThat(rawRow(row("age", 1.5, "city", 12L, "tags", "a", "item", (byte) 3)))
        .isEqualTo("[NaN][1.5][%d][%d][3][1, 2]".formatted(TextHash.of("12"), TextHash.of("a")));
  }

  @Test
  void absentColumnsOfARowAreMissing() {
    String missing = "[NaN][NaN][%d][][][1, 2]".formatted(TextHash.EMPTY);
    assertThat(rawRow(row())).isEqualTo(missing);
    Map<String, Object> nulls = row();
    for (String name : List.of("click", "age", "city", "tags", "item")) {
      nulls.put(name, null);
    }
    assertThat(rawRow(nulls)).isEqualTo(missing);
    assertThat(rawRow(row("city", "", "tags", List.of()))).isEqualTo(missing);
  }

  @Test
  void wrongValuesOfARowAreRefusedWithTheirColumn() {
    Map<Map<String, Object>, String> wrong = new LinkedHashMap<>();
    wrong.put(row("age", "41"), "column age: got 41 of type String, expected a number");
    wrong.put(row("city", 1.5), "column city: got 1.5 of type Double, expected a text");
    wrong.put(row("city", List.of("a", "b")), "column city: got [a, b] of type");
    wrong.put(row("tags", Arrays.asList("a", null)), "column tags: got null, expected a text");
    wrong.put(row("item", "5"), "column item: got 5 of type String, expected an integer");
    wrong.put(row("item", 5.0f), "column item: got 5.0 of type Float, expected an integer");
    wrong.put(row("pair", List.of(1)), "expected 2 values");
    wrong.put(row("pair", 1), "column pair: got 1 of type Integer, expected a list of 2 values");
    wrong.put(row("pair", null), "column pair: got nothing, expected a list of 2 values");
    wrong.put(row("cty", "Lund"), "column cty: got a value for it, expected only [age]");
    wrong.put(row("click", true), "column click: got true of type Boolean, expected a number");
    wrong.forEach((row, message) -> {
      Batch raw = new Batch(ROW, 1);
      assertThatThrownBy(() -> ROWS.addRow(row, raw))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(message);
      assertThat(raw.size()).isZero();
      ROWS.addRow(row("item", 4), raw);
      assertThat(NumberedRows.texts(raw).get(0)).endsWith("[4][1, 2]");
    });
  }

  @Test
  void rowIntoABatchOfAnotherSchemaIsRefused() {
    Schema other = new Schema(List.of("label"), List.of("x"), List.of());
    assertThatThrownBy(() -> ROWS.addRow(row(), new Batch(other, 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("row: got a batch of");
  }
}
