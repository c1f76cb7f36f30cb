package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.NumberedRows;
import dev.tern.data.readers.Readers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Numbers as slots: their ids and weights, what is fitted, kept and refused. */
final class NumberVectorsTest {
  private static final float NAN = Float.NaN;
  private static final Schema SCHEMA = new Schema(List.of(), List.of("x"), List.of());

  private static Batch numbers(float... values) {
    Batch batch = new Batch(SCHEMA, 4);
    for (float value : values) {
      batch.setDense(0, value);
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder fit(NumberEncoding encoding, float... training) {
    return FeatureEncoder.fit(
        Readers.inMemory(numbers(training)),
        List.of(encoding),
        List.of(),
        TextDictionary.none(),
        rows -> {});
  }

  private static FeatureEncoder grown(
      FeatureEncoder earlier, NumberEncoding encoding, float... training) {
    return earlier.grown(
        Readers.inMemory(numbers(training)),
        List.of(encoding),
        List.of(),
        Map.of(),
        TextDictionary.none(),
        rows -> {});
  }

  private static Batch apply(FeatureEncoder encoder, float... values) {
    return FeatureEncoderTest.apply(encoder, numbers(values));
  }

  /** The ids of a row of the first slot, each with its weight: {@code 1*0.5 2*1.0}. */
  private static String row(Batch encoded, int row) {
    List<String> ids = new ArrayList<>();
    for (int i = encoded.offsets(0)[row]; i < encoded.offsets(0)[row + 1]; i++) {
      ids.add(encoded.ids(0)[i] + "*" + encoded.weights(0)[i]);
    }
    return String.join(" ", ids);
  }

  private static List<String> rows(FeatureEncoder encoder, float... values) {
    Batch encoded = apply(encoder, values);
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < encoded.size(); row++) {
      rows.add(row(encoded, row));
    }
    return rows;
  }

  @Test
  void aFieldHasTheNumberAsTheWeightOfOneId() {
    FeatureEncoder plain = fit(new NumberEncoding.Field(NumberEncoding.none()));
    assertThat(rows(plain, 3, -0.5f, 0, NAN)).containsExactly("1*3.0", "1*-0.5", "1*0.0", "0*1.0");
    assertThat(plain.schema().dense()).isEmpty();
    assertThat(plain.schema().slots()).containsExactly(Slot.ofNumber("x", 1));
    assertThat(plain.idBound(0)).hasValue(2);
    FeatureEncoder scaled = fit(new NumberEncoding.Field(NumberEncoding.standardize()), 0, 2, NAN);
    assertThat(rows(scaled, 0, 2, 4, NAN)).containsExactly("1*-1.0", "1*1.0", "1*3.0", "0*1.0");
  }

  @Test
  void aFieldChoosesItsTransformAsANumberDoes() {
    float[] skewed = new float[1000];
    for (int i = 0; i < skewed.length; i++) {
      skewed[i] = i == 0 ? 1e6f : i % 3;
    }
    FeatureEncoder encoder = fit(new NumberEncoding.Field(NumberEncoding.auto()), skewed);
    NumberEncoding chosen = new NumberEncoding.Scaled(true, true, 0);
    assertThat(encoder.dense()).containsExactly(new NumberEncoding.Field(chosen));
    float number = apply(fit(NumberEncoding.auto(), skewed), 2).dense()[0];
    assertThat(rows(encoder, 2)).containsExactly("1*" + number);
  }

  @Test
  void piecesAreFullBelowTheNumberAndAShareWhereItLies() {
    FeatureEncoder encoder = fit(new NumberEncoding.PiecesBetween(List.of(0f, 10f, 30f)));
    assertThat(rows(encoder, 15, 10, 5, 30, 0, NAN))
        .containsExactly(
            "1*1.0 2*1.0 3*0.25",
            "1*1.0 2*1.0",
            "1*1.0 2*0.5",
            "1*1.0 2*1.0 3*1.0",
            "1*1.0",
            "0*1.0");
    assertThat(rows(encoder, -1, 1e30f, -Float.MAX_VALUE, Float.MAX_VALUE))
        .as("numbers beyond the ends")
        .containsExactly("1*1.0", "1*1.0 2*1.0 3*1.0", "1*1.0", "1*1.0 2*1.0 3*1.0");
    assertThat(encoder.schema().slots()).containsExactly(Slot.ofNumber("x", 0));
    assertThat(encoder.idBound(0)).hasValue(4);
  }

  @Test
  void piecesOfTheWidestEdgesHaveFiniteShares() {
    float most = Float.MAX_VALUE;
    FeatureEncoder encoder = fit(new NumberEncoding.PiecesBetween(List.of(-most, most)));
    assertThat(rows(encoder, 0, most, -most))
        .containsExactly("1*1.0 2*0.5", "1*1.0 2*1.0", "1*1.0");
    float tiny = Float.MIN_VALUE;
    FeatureEncoder narrow = fit(new NumberEncoding.PiecesBetween(List.of(0f, tiny)));
    assertThat(rows(narrow, tiny, 1)).containsExactly("1*1.0 2*1.0", "1*1.0 2*1.0");
  }

  @Test
  void piecesHaveEquallyManyTrainingRowsAndEndWhereTheyDo() {
    float[] training = new float[1000];
    for (int i = 0; i < training.length; i++) {
      training[i] = (i * 7919) % 1000;
    }
    FeatureEncoder encoder = fit(NumberEncoding.pieces(4), training);
    assertThat(encoder.idBound(0)).hasValue(6);
    // The encoding of Gorishniy et al., equation 1, with quantiles as they are here.
    float[] edges = {0, 250, 500, 750, 999};
    for (float x : new float[] {0, 1, 249, 250, 600.5f, 999}) {
      double[] expected = new double[4];
      for (int t = 0; t < 4; t++) {
        expected[t] = Math.clamp((x - edges[t]) / (edges[t + 1] - edges[t]), 0, 1);
      }
      Batch encoded = apply(encoder, x);
      double[] got = new double[4];
      for (int i = 1; i < encoded.idCount(0); i++) {
        got[(int) encoded.ids(0)[i] - 2] = encoded.weights(0)[i];
      }
      assertThat(got).as("of %s", x).containsExactly(expected, within(1e-3));
    }
  }

  @Test
  void fewDistinctTrainingNumbersMakeFewerPieces() {
    assertThat(rows(fit(NumberEncoding.pieces(8), 5, 5, 5), 4, 5, 6, NAN))
        .containsExactly("1*1.0", "1*1.0", "1*1.0", "0*1.0");
    assertThat(rows(fit(NumberEncoding.pieces(8)), 4, NAN)).containsExactly("1*1.0", "0*1.0");
    assertThat(rows(fit(NumberEncoding.pieces(8), NAN), 4, NAN)).containsExactly("1*1.0", "0*1.0");
    assertThat(rows(fit(NumberEncoding.pieces(1), 0, 4), 1)).containsExactly("1*1.0 2*0.25");
  }

  @Test
  void aNumberMayStandBesideItsSlot() {
    NumberEncoding both =
        new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.boundaries(1));
    FeatureEncoder encoder = fit(both, 0, 2, NAN);
    assertThat(encoder.schema())
        .isEqualTo(new Schema(List.of(), List.of("x"), List.of(Slot.oneHot("x"))));
    Batch encoded = apply(encoder, 0, 4, NAN);
    assertThat(Arrays.copyOf(encoded.dense(), 3)).containsExactly(-1, 3, 0);
    assertThat(Arrays.copyOf(encoded.ids(0), 3)).containsExactly(1, 2, 0);
  }

  @Test
  void slotsOfNumbersFollowTheOthersInTheOrderOfTheirColumns() {
    Schema raw = new Schema(List.of(), List.of("a", "b", "c", "d"), List.of(Slot.oneHot("s")));
    Batch rows = new Batch(raw, 1);
    for (int f = 0; f < 4; f++) {
      rows.setDense(f, f + 1);
    }
    rows.addId(0, 9);
    rows.endRow();
    NumberEncoding none = NumberEncoding.none();
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(
                new NumberEncoding.Field(none),
                none,
                new NumberEncoding.Beside(none, new NumberEncoding.PiecesBetween(List.of(0f, 4f))),
                new NumberEncoding.Boundaries(List.of(1f))),
            List.of(IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    assertThat(encoder.schema().dense()).containsExactly("b", "c");
    assertThat(encoder.schema().slotNames()).containsExactly("s", "a", "c", "d");
    Batch encoded = FeatureEncoderTest.apply(encoder, rows);
    assertThat(Arrays.copyOf(encoded.dense(), 2)).containsExactly(2, 3);
    assertThat(encoded.weights(1)[0]).isEqualTo(1);
    assertThat(encoded.ids(2)[1]).isEqualTo(2);
    assertThat(encoded.weights(2)[1]).isEqualTo(0.75f);
    assertThat(encoded.ids(3)[0]).isEqualTo(2);
  }

  private static List<NumberEncoding> all() {
    List<NumberEncoding> slots =
        List.of(
            new NumberEncoding.Field(NumberEncoding.auto()),
            new NumberEncoding.Field(NumberEncoding.log1pStandardize()),
            NumberEncoding.pieces(7),
            new NumberEncoding.PiecesBetween(List.of(-0.5f, 0.25f, 1f)),
            NumberEncoding.quantiles(5),
            NumberEncoding.boundaries(0, 0.5f));
    List<NumberEncoding> all = new ArrayList<>(slots);
    slots.forEach(slot -> all.add(new NumberEncoding.Beside(NumberEncoding.auto(), slot)));
    return all;
  }

  private static float[] drawn(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[200];
    for (int i = 0; i < values.length; i++) {
      values[i] = i % 9 == 0 ? NAN : random.nextInt(-5, 20) * 0.1f;
    }
    return values;
  }

  private static String shown(FeatureEncoder encoder, float... values) {
    return NumberedRows.texts(apply(encoder, values)).toString();
  }

  @Test
  void jsonReadsBackExactly() {
    for (NumberEncoding encoding : all()) {
      FeatureEncoder encoder = fit(encoding, drawn(1));
      FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoder.json");
      assertThat(read.toJson()).isEqualTo(encoder.toJson());
      assertThat(read.dense()).isEqualTo(encoder.dense());
      assertThat(read.schema()).isEqualTo(encoder.schema());
      assertThat(shown(read, drawn(2))).isEqualTo(shown(encoder, drawn(2)));
      assertThat(read.encodesIdsAs(encoder)).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"encoding\":\"beside\"|\"encoding\":\"besides\"|expected scaled, quantiles",
        "\"encoding\":\"pieces\"|\"encoding\":\"field\"|\"number\": got none",
        "\"encoding\":\"scaled\"|\"encoding\":\"pieces\"|\"count\": got none",
        "\"count\":7|\"count\":0|got 0 of them, expected 1 to 1024",
        "\"count\":7|\"count\":2|edges of 2 pieces, expected at most one more",
        "\"count\":7|\"count\":5000000000|overflow",
        "\"edges\":[|\"edges\":[9,|expected ascending numbers",
        "\"edges\":[|\"edges\":[1e39,|expected a finite number",
        "\"edges\":[|\"edges\":[\"a\",|expected a number",
        "\"slot\":{|\"slots\":{|\"slot\": got none",
        "\"deviation\":|\"deviation\":-|expected above 0",
      })
  void damagedJsonIsRefused(String find, String replace, String message) {
    NumberEncoding both =
        new NumberEncoding.Beside(NumberEncoding.standardize(), NumberEncoding.pieces(7));
    String json = fit(both, drawn(1)).toJson();
    int at = json.indexOf(find);
    assertThat(at).isNotNegative();
    String damaged = json.substring(0, at) + replace + json.substring(at + find.length());
    assertThatThrownBy(() -> FeatureEncoder.fromJson(damaged, "encoder.json"))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith("encoder.json: ")
        .hasMessageContaining(message);
  }

  @Test
  void anEncoderThatGrowsKeepsWhatItLearned() {
    for (NumberEncoding encoding : all()) {
      FeatureEncoder before = fit(encoding, drawn(1));
      FeatureEncoder after = grown(before, encoding, 100, 200, 300);
      assertThat(shown(after, drawn(2))).as("%s", encoding).isEqualTo(shown(before, drawn(2)));
      assertThat(after.keepsIds(before, "x")).isTrue();
      assertThat(after.rescaled(before)).isEmpty();
    }
  }

  @Test
  void aNumberThatGetsAVectorKeepsItsScaling() {
    FeatureEncoder before = fit(NumberEncoding.standardize(), 0, 2);
    NumberEncoding field = new NumberEncoding.Field(NumberEncoding.standardize());
    FeatureEncoder after =
        grown(before, new NumberEncoding.Beside(NumberEncoding.standardize(), field), 100, 200);
    Batch encoded = apply(after, 4);
    assertThat(encoded.dense()[0]).isEqualTo(3);
    assertThat(row(encoded, 0)).isEqualTo("1*3.0");
    assertThat(after.keepsIds(before, "x")).isFalse();
    assertThat(rows(grown(after, field, 7, 8), 4)).containsExactly("1*3.0");
  }

  @Test
  void otherPiecesAreOtherIds() {
    FeatureEncoder before = fit(NumberEncoding.pieces(4), drawn(1));
    FeatureEncoder after = grown(before, NumberEncoding.pieces(5), drawn(1));
    assertThat(after.keepsIds(before, "x")).isFalse();
    assertThat(after.encodesIdsAs(before)).isFalse();
    FeatureEncoder field = grown(before, new NumberEncoding.Field(NumberEncoding.none()));
    assertThat(field.keepsIds(before, "x")).isFalse();
  }

  @Test
  void numbersWithoutAPlaceAreRefused() {
    FeatureEncoder field = fit(new NumberEncoding.Field(NumberEncoding.standardize()), 0, 1e-30f);
    assertThatThrownBy(() -> apply(field, 0, 3e38f))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("dense column x: got 3.0E38 in row 2 of this batch, whose vector is")
        .hasMessageContaining("multiplied with Infinity");
    for (NumberEncoding encoding : all()) {
      FeatureEncoder encoder = fit(encoding, 0, 1);
      assertThatThrownBy(() -> apply(encoder, 1, Float.NEGATIVE_INFINITY))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got -Infinity in row 2");
    }
  }

  @Test
  void encodingsThatDoNotGoTogetherAreRefused() {
    NumberEncoding pieces = NumberEncoding.pieces(3);
    assertThatThrownBy(() -> new NumberEncoding.Field(pieces))
        .hasMessageContaining("expected an encoding that scales numbers");
    assertThatThrownBy(() -> new NumberEncoding.Beside(pieces, pieces))
        .hasMessageContaining("expected an encoding that scales numbers");
    assertThatThrownBy(
            () -> new NumberEncoding.Beside(NumberEncoding.none(), NumberEncoding.none()))
        .hasMessageContaining("expected an encoding that makes a slot");
    assertThatThrownBy(() -> new NumberEncoding.PiecesBetween(List.of(1f)))
        .hasMessageContaining("got 1 of them, expected 2 to 1025");
    assertThatThrownBy(() -> new NumberEncoding.PiecesBetween(List.of(1f, 1f)))
        .hasMessageContaining("expected ascending numbers");
    assertThatThrownBy(() -> new NumberEncoding.Pieces(1025))
        .hasMessageContaining("expected 1 to 1024");
    assertThatThrownBy(() -> new Slot("x", 1, "x", false, false, Optional.empty(), true))
        .hasMessageContaining("got a number with ids without weights");
  }
}
