package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rows by column number and by name, beside a plain reading of the same values. */
final class RowFillerTest {
  private static final List<String> TEXTS =
      List.of(
          "",
          "a",
          " a ",
          "Oslo",
          "NA",
          "?",
          "x|y",
          "|x",
          "x|",
          "x||NA|y",
          "\u00a0\u00e6\u00f8 ",
          "\ud83d\ude00",
          "7",
          "-7",
          "007",
          "+5",
          "18446744073709551615",
          "-9223372036854775808",
          "9999999999999999999999",
          "2026-01-31",
          "2026-01-31T08:30:00Z",
          "1700000000",
          "1.5",
          "-",
          " 12|13 ",
          "a text that is longer than thirty-two characters, so that blocks are hashed");

  private static final Schema SCHEMA =
      new Schema(
          List.of("click", "buy"),
          List.of("age", "price", "seen@hour", "when@days"),
          List.of(
              Slot.oneHot("city"),
              Slot.ragged("tags"),
              Slot.weighted("words"),
              Slot.oneHot("item").withUnsigned(true),
              Slot.ragged("items"),
              new Slot("pair", 2),
              Slot.oneHot("seen@weekday"),
              Slot.oneHot("when"),
              new Slot("weighted pair", 2, "weighted pair", true),
              Slot.ragged("when@month")),
          Optional.of("weight"));

  private static FeatureEncoder encoder(Schema schema, int texts, boolean reading) {
    List<IdEncoding> slots = new ArrayList<>();
    for (int s = 0; s < schema.slotCount(); s++) {
      slots.add(new IdEncoding.Verbatim((texts >> s & 1) == 1));
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(schema, List.of()),
            schema.dense().stream().map(_ -> NumberEncoding.none()).toList(),
            slots,
            TextDictionary.none(),
            rows -> {});
    return reading
        ? encoder.withReading(
            new Reading(
                " \t\u00a0", Map.of("tags", "|", "items", "|"), Set.of("NA", "?", ""), "{}"))
        : encoder;
  }

  private static Object value(Random random) {
    return switch (random.nextInt(11)) {
      case 0 -> random.nextInt(100) - 50;
      case 1 -> random.nextLong();
      case 2 -> random.nextFloat();
      case 3 -> random.nextBoolean() ? random.nextGaussian() : Double.NaN;
      case 4, 5, 6 -> TEXTS.get(random.nextInt(TEXTS.size()));
      case 7 -> list(random);
      case 8 -> weights(random);
      case 9 -> java.time.Instant.ofEpochSecond(random.nextInt());
      default -> (short) random.nextInt();
    };
  }

  private static List<Object> list(Random random) {
    List<Object> list = new ArrayList<>();
    boolean texts = random.nextBoolean();
    for (int i = random.nextInt(4); i > 0; i--) {
      list.add(texts ? TEXTS.get(random.nextInt(TEXTS.size())) : (Object) random.nextLong());
    }
    return list;
  }

  private static Map<Object, Object> weights(Random random) {
    Map<Object, Object> weights = new LinkedHashMap<>();
    list(random).forEach(key -> weights.put(key, random.nextFloat(-1, 1)));
    return weights;
  }

  private static Map<String, Object> row(Random random, Schema schema) {
    List<String> names = new ArrayList<>(schema.labels());
    names.addAll(schema.dense());
    names.addAll(schema.slotNames());
    names.addAll(List.of("weight", "seen"));
    Map<String, Object> row = new LinkedHashMap<>();
    for (String name : names) {
      if (random.nextInt(3) > 0 || name.endsWith("pair")) {
        row.put(name, fitting(random, schema, name));
      }
    }
    return row;
  }

  /** A value that the column takes as a rule, else any. */
  private static Object fitting(Random random, Schema schema, String name) {
    int kind = random.nextInt(60);
    if (kind == 0) {
      return value(random);
    }
    if (name.equals("pair")) {
      return List.of(random.nextLong(), random.nextLong());
    }
    if (name.equals("weighted pair")) {
      return kind < 30
          ? List.of(1L, 2)
          : new LinkedHashMap<>(Map.of(random.nextLong(), 0.5f, random.nextLong(), 2));
    }
    if (name.equals("weight")) {
      return random.nextFloat();
    }
    if (name.equals("seen")) {
      return kind < 20
          ? random.nextInt()
          : kind < 40 ? "2026-01-31T08:30:00Z" : kind < 50 ? "" : "no";
    }
    if (schema.slotNames().contains(name)) {
      return switch (kind % 4) {
        case 0 -> random.nextInt(5);
        case 1 -> TEXTS.get(random.nextInt(TEXTS.size()));
        case 2 -> name.equals("words") ? weights(random) : random.nextLong();
        default -> name.endsWith("s") ? list(random) : List.of(random.nextLong());
      };
    }
    return kind < 30 ? (Object) random.nextFloat() : kind < 50 ? random.nextGaussian() : 7;
  }

  private static void requireSame(Batch got, Batch expected) {
    int rows = expected.size();
    assertThat(got.size()).isEqualTo(rows);
    Schema schema = expected.schema();
    requireSame(got.labels(), expected.labels(), rows * schema.labelDim());
    requireSame(got.dense(), expected.dense(), rows * schema.denseDim());
    requireSame(got.rowWeights(), expected.rowWeights(), schema.weighted() ? rows : 0);
    for (int s = 0; s < schema.slotCount(); s++) {
      assertThat(Arrays.copyOf(got.offsets(s), rows + 1))
          .isEqualTo(Arrays.copyOf(expected.offsets(s), rows + 1));
      int ids = expected.idCount(s);
      assertThat(Arrays.copyOf(got.ids(s), ids)).isEqualTo(Arrays.copyOf(expected.ids(s), ids));
      requireSame(got.weights(s), expected.weights(s), schema.slots().get(s).weighted() ? ids : 0);
    }
  }

  private static void requireSame(float[] got, float[] expected, int count) {
    for (int i = 0; i < count; i++) {
      assertThat(Float.floatToIntBits(got[i])).isEqualTo(Float.floatToIntBits(expected[i]));
    }
  }

  @Test
  void rowsByNameAreThoseOfAPlainReadingToTheBit() {
    int taken = 0;
    int refused = 0;
    for (int seed = 0; seed < 400; seed++) {
      Random random = new Random(seed);
      FeatureEncoder encoder = encoder(SCHEMA, random.nextInt(), random.nextBoolean());
      PlainRows plain = new PlainRows(encoder);
      Batch expected = new Batch(SCHEMA, 1);
      Batch got = new Batch(SCHEMA, 1);
      for (int i = 0; i < 40; i++) {
        Map<String, Object> row = row(random, SCHEMA);
        boolean fits = true;
        try {
          plain.add(row, expected);
        } catch (IllegalArgumentException e) {
          fits = false;
        }
        if (fits) {
          encoder.addRow(row, got);
          taken++;
        } else {
          assertThatThrownBy(() -> encoder.addRow(row, got))
              .as("seed %d row %s", seed, row)
              .isInstanceOf(IllegalArgumentException.class);
          refused++;
        }
      }
      requireSame(got, expected);
      requireAppendable(got, expected);
    }
    assertThat(taken).isGreaterThan(2000);
    assertThat(refused).isGreaterThan(2000);
  }

  /** What a batch is written by besides goes on from a filled one. */
  private static void requireAppendable(Batch got, Batch expected) {
    for (Batch batch : List.of(got, expected)) {
      Batch one = new Batch(batch.schema(), 1);
      for (int s = 0; s < batch.schema().slotCount(); s++) {
        one.addId(s, 17 + s);
      }
      one.endRow();
      batch.appendRow(one, 0);
      for (int f = 0; f < batch.schema().denseDim(); f++) {
        batch.setDense(f, 3);
      }
      batch.setLabel(0, 1);
      batch.setLabel(1, 1);
      batch.addId(2, 5);
      batch.endRow();
    }
    requireSame(got, expected);
  }

  /** Sets a column by number to what the map of a row has under its name. */
  private static void set(RowFiller filler, int column, Object value, Random random) {
    switch (value) {
      case String text -> {
        switch (random.nextInt(3)) {
          case 0 -> filler.setText(column, text);
          case 1 -> {
            char[] padded = ("[[" + text + "]").toCharArray();
            filler.setText(column, padded, 2, padded.length - 1);
          }
          default -> {
            byte[] padded = ("[[" + text + "]").getBytes(StandardCharsets.UTF_8);
            filler.setText(column, padded, 2, padded.length - 1);
          }
        }
      }
      case Float number -> filler.setNumber(column, number);
      case Double number -> filler.setNumber(column, number);
      case Number number -> filler.setInteger(column, number.longValue());
      case List<?> list -> {
        filler.beginList(column);
        list.forEach(element -> add(filler, element, random));
        filler.endList();
      }
      case Map<?, ?> weights -> {
        filler.beginList(column);
        weights.forEach((key, weight) -> {
          add(filler, key, random);
          filler.addWeight(((Number) weight).floatValue());
        });
        filler.endList();
      }
      default -> throw new IllegalArgumentException("a time");
    }
  }

  private static void add(RowFiller filler, Object element, Random random) {
    if (element instanceof String text) {
      if (random.nextBoolean()) {
        filler.addText(text);
      } else {
        filler.addText(text.toCharArray(), 0, text.length());
      }
    } else {
      filler.addInteger(((Number) element).longValue());
    }
  }

  @Test
  void rowsByNumberAndColumnsByNumberAreRowsByName() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      FeatureEncoder encoder = encoder(SCHEMA, random.nextInt(), random.nextBoolean());
      RowFiller filler = encoder.filler();
      Batch expected = new Batch(SCHEMA, 1);
      Batch byRow = new Batch(SCHEMA, 1);
      List<Map<String, Object>> rows = new ArrayList<>();
      filler.begin(byRow);
      while (rows.size() < 12) {
        Map<String, Object> row = row(random, SCHEMA);
        try {
          encoder.addRow(row, expected);
        } catch (IllegalArgumentException e) {
          continue;
        }
        boolean odd = row.get("seen") instanceof List<?> || row.get("seen") instanceof Map<?, ?>;
        if (odd || row.values().stream().anyMatch(java.time.Instant.class::isInstance)) {
          expected.resize(rows.size());
          continue;
        }
        rows.add(row);
        row.forEach((name, value) -> {
          int column = filler.column(("x" + name).toCharArray(), 1, 1 + name.length());
          assertThat(column).isNotNegative().isEqualTo(filler.column(name));
          set(filler, column, value, random);
        });
        filler.endRow();
      }
      requireSame(byRow, expected);
      requireSame(byColumn(encoder, rows, random), withGaps(encoder, rows));
    }
  }

  /** Rows in which a column that some have and others have not is null in those. */
  private static Batch withGaps(FeatureEncoder encoder, List<Map<String, Object>> rows) {
    Batch batch = new Batch(SCHEMA, 1);
    for (Map<String, Object> row : rows) {
      Map<String, Object> whole = new LinkedHashMap<>();
      rows.forEach(other -> other.keySet().forEach(name -> whole.put(name, row.get(name))));
      encoder.addRow(whole, batch);
    }
    return batch;
  }

  private static Batch byColumn(
      FeatureEncoder encoder, List<Map<String, Object>> rows, Random random) {
    Batch batch = new Batch(SCHEMA, 1);
    RowFiller filler = encoder.filler();
    filler.beginColumns(batch, rows.size());
    for (int column = filler.columns() - 1; column >= 0; column--) {
      String name = filler.name(column);
      if (rows.stream().anyMatch(row -> row.containsKey(name))) {
        filler.beginColumn(column);
        for (Map<String, Object> row : rows) {
          Object value = row.get(name);
          if (value == null) {
            filler.setMissing(column);
          } else {
            set(filler, column, value, random);
          }
        }
        filler.endColumn(column);
      }
    }
    filler.endColumns();
    return batch;
  }

  @Test
  void bytesOfAColumnAreItsValues() {
    FeatureEncoder encoder = encoder(SCHEMA, 1 | 1 << 5 | 1 << 9, false);
    Batch got = new Batch(SCHEMA, 1);
    Batch expected = new Batch(SCHEMA, 1);
    RowFiller filler = encoder.filler();
    for (int row = 0; row < 5; row++) {
      encoder.addRow(
          Map.of(
              "age",
              row - 0.5f,
              "click",
              row,
              "city",
              row,
              "words",
              -row,
              "item",
              row,
              "when",
              1700000000L + row,
              "pair",
              List.of(1, 2),
              "weighted pair",
              List.of(3, 4)),
          expected);
    }
    filler.beginColumns(got, 5);
    ByteBuffer numbers = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = 0; row < 5; row++) {
      numbers.putFloat(4 + 4 * row, row - 0.5f).putFloat(24 + 4 * row, row);
      numbers.putLong(44 + 8 * row, row).putLong(84 + 8 * row, -row);
      numbers.putLong(124 + 8 * row, 1700000000L + row);
    }
    filler.setNumbers(filler.column("age"), numbers.array(), 4);
    filler.setNumbers(filler.column("click"), numbers.array(), 24);
    filler.setIntegers(filler.column("city"), numbers.array(), 44);
    filler.setIntegers(filler.column("item"), numbers.array(), 44);
    filler.setIntegers(filler.column("words"), numbers.array(), 84);
    filler.setIntegers(filler.column("when"), numbers.array(), 124);
    for (String pair : List.of("pair", "weighted pair")) {
      filler.beginColumn(filler.column(pair));
      for (int row = 0; row < 5; row++) {
        filler.beginList(filler.column(pair));
        filler.addInteger(pair.equals("pair") ? 1 : 3);
        filler.addInteger(pair.equals("pair") ? 2 : 4);
        filler.endList();
      }
    }
    filler.endColumns();
    requireSame(got, expected);
  }

  @Test
  void valuesForAllRowsAreThoseOfEach() {
    FeatureEncoder encoder = encoder(SCHEMA, -1, false);
    RowFiller one = encoder.filler();
    Batch once = new Batch(SCHEMA, 1);
    one.begin(once);
    one.setNumber(one.column("age"), 41);
    one.setText(one.column("seen"), "2026-01-31T08:30:00Z");
    one.beginList(one.column("words"));
    one.addText("a");
    one.addWeight(0.25);
    one.addText("b");
    one.endList();
    one.beginList(one.column("pair"));
    one.addInteger(1);
    one.addInteger(2);
    one.endList();
    one.endOnce();
    RowFiller filler = encoder.filler();
    Batch rows = new Batch(SCHEMA, 1);
    Batch expected = new Batch(SCHEMA, 1);
    filler.begin(rows);
    filler.beginRepeated(one);
    Map<String, Float> words = new LinkedHashMap<>();
    words.put("a", 0.25f);
    words.put("b", 1f);
    for (String city : List.of("Oslo", "Rome", "Lund")) {
      filler.setText(filler.column("city"), city);
      filler.beginList(filler.column("weighted pair"));
      filler.addInteger(1);
      filler.addInteger(2);
      filler.endList();
      filler.endRow();
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("age", 41);
      row.put("seen", "2026-01-31T08:30:00Z");
      row.put("words", words);
      row.put("pair", List.of(1, 2));
      row.put("weighted pair", List.of(1, 2));
      row.put("city", city);
      encoder.addRow(row, expected);
    }
    filler.endRepeated(once);
    requireSame(rows, expected);
    assertThatThrownBy(() -> filler.setNumber(filler.column("age"), 1))
        .hasMessageContaining("row 4, column age: got it twice");
  }

  private static void setPairs(RowFiller filler) {
    for (String pair : List.of("pair", "weighted pair")) {
      filler.beginList(filler.column(pair));
      filler.addInteger(1);
      filler.addInteger(2);
      filler.endList();
    }
  }

  @Test
  void errorsSayRowAndColumnAndShowLittle() {
    FeatureEncoder encoder = encoder(SCHEMA, 1, true);
    RowFiller filler = encoder.filler();
    Batch rows = new Batch(SCHEMA, 1);
    filler.begin(rows);
    setPairs(filler);
    filler.endRow();
    String expected = "row 2, column ";
    assertThatThrownBy(() -> filler.setText(filler.column("age"), "41"))
        .hasMessage(
            expected + "age: got \"41\", expected a number, or nothing where it is missing");
    filler.abandonRow();
    assertThatThrownBy(() -> filler.setText(filler.column("item"), "x".repeat(1000)))
        .hasMessage(
            expected + "item: got \"" + "x".repeat(61) + "...\", expected integers of 64 bits");
    filler.abandonRow();
    assertThatThrownBy(() -> filler.setNumber(filler.column("item"), 1.5))
        .hasMessage(expected + "item: got 1.5, expected an integer of 64 bits");
    filler.abandonRow();
    filler.setMissing(filler.column("city"));
    assertThatThrownBy(() -> filler.setInteger(filler.column("city"), 1))
        .hasMessage(expected + "city: got it twice, expected it once; leave one out");
    filler.abandonRow();
    assertThatThrownBy(
            () -> filler.setText(filler.column("city"), new char[] {'a', '\ud800'}, 0, 2))
        .hasMessageContaining("half of a pair of surrogates");
    filler.abandonRow();
    assertThatThrownBy(filler::endRow)
        .hasMessage(expected + "pair: got nothing, expected a list of 2 values");
    filler.abandonRow();
    filler.setText(filler.column("seen"), "yesterday");
    setPairs(filler);
    assertThatThrownBy(filler::endRow)
        .hasMessageContaining(expected + "seen: got \"yesterday\", expected a time");
    filler.abandonRow();
    setPairs(filler);
    filler.endRow();
    assertThat(rows.size()).isEqualTo(2);
    assertThatThrownBy(() -> filler.begin(new Batch(SCHEMA.withWeight(Optional.empty()), 1)))
        .hasMessageContaining("row: got a batch of");
  }
}
