package dev.tern.serve;

import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TimePart;
import dev.tern.serve.wire.JsonOutput;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What a model's columns are, and an example of a request, in a member that TensorFlow Serving has
 * its signatures in.
 */
public final class SchemaReply {
  private final FeatureEncoder encoder;
  private final Schema schema;
  private final JsonOutput out = new JsonOutput();

  private SchemaReply(FeatureEncoder encoder) {
    this.encoder = encoder;
    schema = encoder.rawSchema();
  }

  /** Answers {@code GET /v1/models/M/metadata}. */
  public static Reply of(ServedVersion version) {
    return new SchemaReply(version.encoder()).write(version);
  }

  private Reply write(ServedVersion version) {
    out.raw("{\"model_spec\":{\"name\":").text(version.model());
    out.raw(",\"signature_name\":\"\",\"version\":\"").integer(version.step());
    out.raw("\"},\"metadata\":{\"columns\":[");
    for (int f = 0; f < schema.denseDim(); f++) {
      out.raw(f == 0 ? "" : ",");
      number(f);
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      out.raw(schema.denseDim() + s == 0 ? "" : ",");
      slot(s);
    }
    out.raw("],\"outputs\":[");
    for (int task = 0; task < version.tasks().size(); task++) {
      out.raw(task == 0 ? "" : ",");
      out.text(TaskNames.of(TaskNames.PROBABILITY, version.tasks(), task));
    }
    out.raw("],\"example\":{\"instances\":[");
    example();
    out.raw("]}}}");
    return Reply.json(200, out.copy());
  }

  private void number(int f) {
    String name = schema.dense().get(f);
    out.raw("{\"name\":").text(name).raw(",\"type\":\"number\"");
    OptionalDouble fill = fill(encoder.dense().get(f));
    if (fill.isPresent()) {
      out.raw(",\"missing\":").number((float) fill.getAsDouble());
    }
    part(name);
    out.put('}');
  }

  /** What a missing number becomes, where it stays a number. */
  private static OptionalDouble fill(NumberEncoding encoding) {
    return switch (encoding) {
      case NumberEncoding.Auto auto -> OptionalDouble.of(auto.fill());
      case NumberEncoding.Scaled scaled -> OptionalDouble.of(scaled.fill());
      case NumberEncoding.Beside beside -> fill(beside.number());
      default -> OptionalDouble.empty();
    };
  }

  private void part(String name) {
    if (TimePart.of(name).isPresent()) {
      out.raw(",\"time\":").text(TimePart.source(name));
    }
  }

  private void slot(int s) {
    Slot slot = schema.slots().get(s);
    IdEncoding encoding = encoder.slots().get(s);
    out.raw("{\"name\":").text(slot.name()).raw(",\"type\":\"");
    out.raw(encoding.text() ? "text" : slot.unsigned() ? "unsigned integer" : "integer").put('"');
    if (slot.hotness() != 1) {
      out.raw(",\"values\":").raw(slot.hotness() == 0 ? "\"any\"" : "" + slot.hotness());
    }
    if (slot.weighted()) {
      out.raw(",\"weighted\":true");
    }
    String separator =
        encoder.reading().map(Reading::separators).map(of -> of.get(slot.name())).orElse("");
    if (!separator.isEmpty()) {
      out.raw(",\"separator\":").text(separator);
    }
    Optional<Sequence> sequence = slot.sequence();
    if (sequence.isPresent()) {
      out.raw(",\"sequence\":").text(sequence.get().name());
      out.raw(",\"longest\":").integer(sequence.get().maxLength());
      out.raw(",\"keep\":").text(sequence.get().keep().text());
    }
    part(slot.name());
    out.put('}');
  }

  /** A row of the most frequent values that the encoder knows, of each column one. */
  private void example() {
    int count = 0;
    for (String name : schema.dense()) {
      out.put(count++ == 0 ? '{' : ',').text(name).raw(":1.0");
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      Slot slot = schema.slots().get(s);
      out.put(count++ == 0 ? '{' : ',').text(slot.name()).put(':');
      boolean text = encoder.slots().get(s).text();
      String value = encoder.value(s, 1).orElse(text ? "text" : "1");
      int values = Math.max(1, slot.hotness());
      out.raw(slot.hotness() == 1 ? "" : slot.weighted() ? "{" : "[");
      for (int i = 0; i < values; i++) {
        out.raw(i == 0 ? "" : ",");
        value(value, text, slot.weighted() && slot.hotness() != 1);
      }
      out.raw(slot.hotness() == 1 ? "" : slot.weighted() ? "}" : "]");
    }
    out.raw(count == 0 ? "{}" : "}");
  }

  private void value(String value, boolean text, boolean weighted) {
    if (text || weighted) {
      out.text(value).raw(weighted ? ":1.0" : "");
    } else {
      out.raw(value);
    }
  }
}
