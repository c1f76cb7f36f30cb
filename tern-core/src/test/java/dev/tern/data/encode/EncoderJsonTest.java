package dev.tern.data.encode;

import static dev.tern.data.encode.FeatureEncoderTest.apply;
import static dev.tern.data.encode.FeatureEncoderTest.everything;
import static dev.tern.data.encode.FeatureEncoderTest.mixed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.readers.NumberedRows;
import dev.tern.data.readers.Readers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Encoders as JSON: read back, damaged, cut short. */
final class EncoderJsonTest {
  @Test
  void jsonReadsBackExactly() {
    for (TextDictionary dictionary : List.of(new TextDictionary(), TextDictionary.none())) {
      Batch raw = mixed(dictionary);
      FeatureEncoder encoder = everything(Readers.inMemory(raw), dictionary);
      FeatureEncoder read = FeatureEncoder.fromJson(encoder.toJson(), "encoder.json");
      assertThat(read.toJson()).isEqualTo(encoder.toJson());
      assertThat(read.schema()).isEqualTo(encoder.schema());
      assertThat(read.rawSchema()).isEqualTo(encoder.rawSchema());
      assertThat(read.dense()).isEqualTo(encoder.dense());
      assertThat(read.slots()).isEqualTo(encoder.slots());
      assertThat(NumberedRows.texts(apply(read, raw)))
          .isEqualTo(NumberedRows.texts(apply(encoder, raw)));
      assertThat(read.text(0, 1)).isEqualTo(encoder.text(0, 1));
    }
  }

  @Test
  void textsOfTheVocabularyAreKept() {
    TextDictionary dictionary = new TextDictionary();
    FeatureEncoder encoder = everything(Readers.inMemory(mixed(dictionary)), dictionary);
    assertThat(encoder.text(0, 1)).hasValueSatisfying(t -> assertThat(t).startsWith("värde \""));
    assertThat(encoder.text(0, 0)).isEmpty();
    assertThat(encoder.text(0, 21)).isEmpty();
    assertThat(encoder.text(1, 1)).isEmpty();
    assertThat(encoder.text(5, 1)).isEmpty();
    assertThat(encoder.toJson()).contains("\"värde \\\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"tern-encoder\"|\"other\"|expected \"tern-encoder\" version 1",
        "\"version\":1|\"version\":2|expected \"tern-encoder\" version 1",
        "\"encoding\":\"scaled\"|\"encoding\":\"scale\"|expected scaled, quantiles, boundaries",
        "\"encoding\":\"hash\"|\"encoding\":\"h\"|expected id, vocabulary or hash",
        "\"values\":|\"valves\":|\"values\": got none",
        "\"name\":\"b\"|\"name\":\"a\"|got dense column a twice",
        "\"deviation\":|\"deviation\":-|expected above 0",
        "\"hotness\":0|\"hotness\":-1|expected 0 (varies) or more",
        "\"hotness\":0|\"hotness\":99999999999|overflow",
        "\"labels\":[|\"labels\":[1,|\"labels\": got the integer 1, expected a text",
        "\"values\":[|\"values\":[true,|expected a text or an integer",
        "\"values\":[|\"values\":[7,7,|got the id 7 twice",
        "\"boundaries\":[|\"boundaries\":[1e30,|expected ascending numbers",
        "\"boundaries\":[|\"boundaries\":[1e39,|expected a finite number",
        "{|[|expected",
      })
  void damagedJsonIsRefused(String find, String replace, String message) {
    TextDictionary dictionary = TextDictionary.none();
    String json = everything(Readers.inMemory(mixed(dictionary)), dictionary).toJson();
    int at = json.indexOf(find);
    assertThat(at).isNotNegative();
    String damaged = json.substring(0, at) + replace + json.substring(at + find.length());
    assertThatThrownBy(() -> FeatureEncoder.fromJson(damaged, "encoder.json"))
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith("encoder.json: ")
        .hasMessageContaining(message);
  }

  @Test
  void truncatedJsonIsRefused() {
    TextDictionary dictionary = TextDictionary.none();
    String json = everything(Readers.inMemory(mixed(dictionary)), dictionary).toJson();
    for (int length = 0; length < json.length(); length += 13) {
      String part = json.substring(0, length);
      assertThatThrownBy(() -> FeatureEncoder.fromJson(part, "encoder.json"))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("encoder.json: ");
    }
  }
}
