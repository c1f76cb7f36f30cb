package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shares of columns, and scores of rows that are encoded already. */
final class ColumnSharesTest {
  @TempDir Path folder;

  private Predictor predictor() {
    return Predictor.open(PredictorTest.saved(folder, ModelConfig.Type.DEEPFM, UnknownRow.MEAN));
  }

  @Test
  void theShareOfAColumnIsTheLogitLessTheOneWithoutIt() {
    Batch rows = PredictorTest.HELD;
    try (Predictor predictor = predictor()) {
      ColumnShares shares = ColumnShares.of(rows, predictor.encoder(), 1, predictor::logits);
      assertThat(shares.columns()).containsExactly("age", "price", "site", "tags");
      float[] whole = new float[rows.size()];
      predictor.logits(rows, whole);
      assertThat(shares.logits()).isEqualTo(whole);
      Batch one = new Batch(predictor.schema(), 1);
      float[] without = new float[1];
      for (int row = 0; row < 50; row++) {
        for (String column : shares.columns()) {
          Map<String, Object> values = new HashMap<>(PredictorTest.row(rows, row));
          values.remove(column);
          one.clear();
          predictor.encoder().addRow(values, one);
          predictor.logits(one, without);
          assertThat(shares.share(row, shares.columns().indexOf(column), 0))
              .as("row %d without %s", row, column)
              .isEqualTo(whole[row] - without[0]);
        }
      }
    }
  }

  @Test
  void rowsThatAreEncodedAlreadyHaveTheSameLogits() {
    Batch rows = PredictorTest.HELD;
    try (Predictor predictor = predictor()) {
      Batch encoded = new Batch(predictor.encoder().schema(), 1);
      predictor.encoder().apply(rows, encoded);
      float[] expected = new float[rows.size()];
      predictor.logits(rows, expected);
      float[] got = new float[rows.size()];
      predictor.encodedLogits(encoded, got);
      assertThat(got).isEqualTo(expected);
      assertThatThrownBy(() -> predictor.encodedLogits(rows, got))
          .hasMessageContaining("got rows of another schema");
      assertThatThrownBy(() -> predictor.encodedLogits(encoded, new float[1]))
          .hasMessageContaining("got room for 1 results");
    }
  }

  @Test
  void aRawColumnReachesTheEncodedColumnsThatComeFromItAlone() {
    Schema schema = new Schema(List.of("y"), List.of("a", "b", "c"), List.of(Slot.oneHot("s")));
    Batch rows = new Batch(schema, 4);
    for (int i = 0; i < 40; i++) {
      for (int f = 0; f < 3; f++) {
        rows.setDense(f, i * (f + 1) % 7);
      }
      rows.addId(0, i % 3);
      rows.setLabel(0, i % 2);
      rows.endRow();
    }
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(
                NumberEncoding.quantiles(3), NumberEncoding.standardize(), NumberEncoding.log1p()),
            List.of(IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    List<ColumnPart> parts = ColumnPart.of(schema).stream().map(encoder::encoded).toList();
    // The first number became a slot behind the own one, so the others moved to the front.
    assertThat(parts)
        .containsExactly(
            new ColumnPart("a", List.of(), List.of(1)),
            new ColumnPart("b", List.of(0), List.of()),
            new ColumnPart("c", List.of(1), List.of()),
            new ColumnPart("s", List.of(), List.of(0)));
  }
}
