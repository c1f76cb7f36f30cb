package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How fields were read is a part of an encoder. */
final class ReadingTest {
  private static final Schema SCHEMA =
      new Schema(List.of("y"), List.of("a"), List.of(Slot.oneHot("city"), Slot.ragged("tags")));
  private static final Reading READING =
      new Reading(" \t", Map.of("tags", "||"), Set.of("NA", "?", ""), "{\"format\":\"csv\"}");

  private static FeatureEncoder encoder() {
    return FeatureEncoder.fit(
        rows(),
        List.of(NumberEncoding.none()),
        List.of(new IdEncoding.Verbatim(true), new IdEncoding.Verbatim(true)),
        TextDictionary.none(),
        done -> {});
  }

  private static DataReader rows() {
    Batch batch = new Batch(SCHEMA, 1);
    batch.setLabel(0, 1);
    batch.setDense(0, 2);
    batch.addId(0, 3);
    batch.endRow();
    return Readers.inMemory(SCHEMA, List.of(batch));
  }

  @Test
  void itIsKeptAndItsBytesDoNotDependOnTheOrderOfMaps() {
    FeatureEncoder read = FeatureEncoder.fromJson(encoder().withReading(READING).toJson(), "e");
    assertThat(read.reading()).contains(READING);
    assertThat(read.toJson())
        .endsWith(
            ",\"reading\":{\"trimmed\":\" \\t\",\"separators\":{\"tags\":\"||\"},"
                + "\"missing\":[\"\",\"?\",\"NA\"],\"settings\":{\"format\":\"csv\"}}}");
  }

  @Test
  void anEncoderWithoutOneHasTheBytesOfEarlierBuilds() {
    String json = encoder().toJson();
    assertThat(json).doesNotContain("reading");
    assertThat(FeatureEncoder.fromJson(json, "e").reading()).isEmpty();
    assertThat(FeatureEncoder.fromJson(json, "e").toJson()).isEqualTo(json);
  }

  @Test
  void itDoesNotChangeWhichIdsAreEqual() {
    assertThat(encoder().encodesIdsAs(encoder().withReading(READING))).isTrue();
  }

  @Test
  void fieldsAreTakenApartAsItSays() {
    FeatureEncoder encoder = encoder().withReading(READING);
    Batch raw = new Batch(SCHEMA, 1);
    encoder.addRow(Map.of("city", "\t Oslo ", "tags", " a || b||NA||||a "), raw);
    assertThat(raw.ids(0)[0]).isEqualTo(TextHash.of("Oslo"));
    // What stands between separators is a value as it is; "" and NA are missing.
    assertThat(raw.idCount(1)).isEqualTo(3);
    assertThat(List.of(raw.ids(1)[0], raw.ids(1)[1], raw.ids(1)[2]))
        .containsExactly(TextHash.of("a "), TextHash.of(" b"), TextHash.of("a"));
    encoder.addRow(Map.of("city", "?", "tags", "NA"), raw);
    assertThat(raw.ids(0)[1]).isEqualTo(TextHash.EMPTY);
    assertThat(raw.idCount(1)).isEqualTo(3);
  }

  @Test
  void valuesInListsAreTakenAsTheyAre() {
    FeatureEncoder encoder = encoder().withReading(READING);
    Batch raw = new Batch(SCHEMA, 1);
    encoder.addRow(Map.of("city", List.of(" Oslo"), "tags", List.of("a||b", " c")), raw);
    assertThat(raw.ids(0)[0]).isEqualTo(TextHash.of(" Oslo"));
    assertThat(List.of(raw.ids(1)[0], raw.ids(1)[1]))
        .containsExactly(TextHash.of("a||b"), TextHash.of(" c"));
    for (List<String> wrong : List.of(List.<String>of(), List.of("Oslo", "Bergen"))) {
      assertThatThrownBy(() -> encoder.addRow(Map.of("city", wrong), raw))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected one value");
    }
  }

  @Test
  void withoutOneAFieldIsItsValue() {
    Batch raw = new Batch(SCHEMA, 1);
    encoder().addRow(Map.of("city", " Oslo", "tags", "a||b"), raw);
    assertThat(raw.ids(0)[0]).isEqualTo(TextHash.of(" Oslo"));
    assertThat(raw.ids(1)[0]).isEqualTo(TextHash.of("a||b"));
  }

  @Test
  void brokenOnesAreErrors() {
    String json = encoder().withReading(READING).toJson();
    for (String wrong : List.of("\"trimmed\":7", "\"trimmed\":null")) {
      String broken = json.replace("\"trimmed\":\" \\t\"", wrong);
      assertThatThrownBy(() -> FeatureEncoder.fromJson(broken, "e.json"))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("e.json")
          .hasMessageContaining("trimmed");
    }
  }
}
