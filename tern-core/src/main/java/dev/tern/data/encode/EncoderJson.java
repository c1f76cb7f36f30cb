package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Encoders as JSON. A vocabulary is an array in the order of its indices. An item is a text, whose
 * raw id is {@link TextHash#of(String)}, or the raw id as an integer if the text is not known.
 */
final class EncoderJson {
  private static final String FORMAT = "tern-encoder";
  private static final int VERSION = 1;

  /** Whether values outside a vocabulary have ids of their own; absent where they have id 0. */
  private static final String UNKNOWN = "unknown";

  private static final String APART = "apart";

  /** The column of the rows' weights; absent where they have none. */
  private static final String WEIGHT = "weight";

  /** What training rows were like; absent where none were read, and in older encoders. */
  private static final String TRAINING = "training";

  private EncoderJson() {}

  static String write(
      FeatureEncoder encoder,
      NumberFeature[] numbers,
      Vocabulary[] vocabularies,
      Optional<TrainingFacts> facts,
      Optional<Reading> reading) {
    Schema raw = encoder.rawSchema();
    List<Json> labels = raw.labels().stream().<Json>map(Json.Str::new).toList();
    List<Json> dense = new ArrayList<>();
    for (int f = 0; f < raw.denseDim(); f++) {
      Json.Obj column = Json.object().put("name", raw.dense().get(f));
      dense.add(NumberJson.write(encoder.dense().get(f), numbers[f], column));
    }
    List<Json> slots = new ArrayList<>();
    for (int s = 0; s < raw.slotCount(); s++) {
      slots.add(slot(raw.slots().get(s), encoder.slots().get(s), vocabularies[s]));
    }
    Json.Obj json =
        Json.object()
            .put("format", FORMAT)
            .put("version", VERSION)
            .put("labels", new Json.Arr(labels))
            .put("dense", new Json.Arr(dense))
            .put("slots", new Json.Arr(slots));
    raw.weight().ifPresent(column -> json.put(WEIGHT, column));
    facts.ifPresent(known -> json.put(TRAINING, training(known)));
    reading.ifPresent(how -> ReadingJson.write(how, json));
    return json.toString();
  }

  private static Json training(TrainingFacts facts) {
    Json.Obj missing = Json.object();
    Json.Obj unknown = Json.object();
    for (TrainingFacts.Column column : facts.columns()) {
      if (column.missing() > 0) {
        missing.put(column.name(), column.missing());
      }
      if (column.unknown() > 0) {
        unknown.put(column.name(), column.unknown());
      }
    }
    return Json.object().put("rows", facts.rows()).put("missing", missing).put(UNKNOWN, unknown);
  }

  private static Optional<TrainingFacts> training(Json.Obj json, Schema schema) {
    if (!json.has(TRAINING)) {
      return Optional.empty();
    }
    Json.Obj training = json.object(TRAINING);
    Json.Obj missing = training.object("missing");
    Json.Obj unknown = training.object(UNKNOWN);
    List<TrainingFacts.Column> columns =
        Stream.concat(schema.dense().stream(), schema.slotNames().stream())
            .map(name ->
                new TrainingFacts.Column(
                    name,
                    missing.has(name) ? missing.integer(name) : 0,
                    unknown.has(name) ? unknown.number(name) : 0,
                    Optional.empty()))
            .toList();
    return Optional.of(new TrainingFacts(training.integer("rows"), columns));
  }

  private static Json slot(Slot slot, IdEncoding encoding, Vocabulary vocabulary) {
    Json.Obj out =
        Json.object()
            .put("name", slot.name())
            .put("hotness", slot.hotness())
            .put("text", encoding.text());
    if (slot.shares()) {
      out.put("table", slot.table());
    }
    if (slot.weighted()) {
      out.put("weighted", true);
    }
    if (slot.unsigned()) {
      out.put("unsigned", true);
    }
    slot.sequence().ifPresent(sequence -> out.put("sequence", sequence(sequence)));
    return switch (encoding) {
      case IdEncoding.Verbatim _ -> out.put("encoding", "id");
      case IdEncoding.Hashed(_, long buckets) ->
          out.put("encoding", "hash").put("buckets", buckets);
      case IdEncoding.Vocabulary(_, long minCount, int maxSize, boolean apart) -> {
        out.put("encoding", "vocabulary").put("min_count", minCount).put("max_size", maxSize);
        if (apart) {
          out.put(UNKNOWN, APART);
        }
        // The slot that owns the table has the values.
        yield out.put("values", values(slot.shares() ? Vocabulary.EMPTY : vocabulary));
      }
    };
  }

  private static Json.Obj sequence(Sequence sequence) {
    return Json.object()
        .put("name", sequence.name())
        .put("max_length", sequence.maxLength())
        .put("keep", sequence.keep().text());
  }

  private static Sequence sequence(Json.Obj json) {
    String keep = json.text("keep");
    for (Sequence.Keep one : Sequence.Keep.values()) {
      if (one.text().equals(keep)) {
        int length = Math.toIntExact(json.integer("max_length"));
        return new Sequence(json.text("name"), length, one);
      }
    }
    throw new DataException(
        "got a sequence that keeps \"%s\", expected first or last".formatted(keep));
  }

  private static Json values(Vocabulary vocabulary) {
    List<Json> values = new ArrayList<>(vocabulary.size());
    for (int index = 1; index <= vocabulary.size(); index++) {
      long id = vocabulary.id(index);
      Optional<String> text = vocabulary.text(index).filter(known -> TextHash.of(known) == id);
      values.add(text.isPresent() ? new Json.Str(text.get()) : new Json.Int(id));
    }
    return new Json.Arr(values);
  }

  static FeatureEncoder read(String text, String source) {
    Json.Obj json = Json.parseObject(text, source);
    try {
      return read(json);
    } catch (DataException | IllegalArgumentException | ArithmeticException e) {
      throw new DataException(source + ": " + e.getMessage(), e);
    }
  }

  private static FeatureEncoder read(Json.Obj json) {
    if (!json.text("format").equals(FORMAT) || json.integer("version") != VERSION) {
      throw new DataException(
          "got format \"%s\" version %d, expected \"%s\" version %d"
              .formatted(json.text("format"), json.integer("version"), FORMAT, VERSION));
    }
    List<String> labels =
        json.array("labels").stream().map(label -> label.asText("labels")).toList();
    Map<String, NumberEncoding> dense = new LinkedHashMap<>();
    List<NumberFeature> numbers = new ArrayList<>();
    for (Json item : json.array("dense")) {
      Json.Obj column = item.asObject("column");
      NumberJson.Column known = NumberJson.read(column, column.text("name"));
      numbers.add(known.feature());
      if (dense.putIfAbsent(column.text("name"), known.encoding()) != null) {
        throw new DataException("got dense column %s twice".formatted(column.text("name")));
      }
    }
    List<Slot> slots = new ArrayList<>();
    List<IdEncoding> encodings = new ArrayList<>();
    List<Vocabulary> vocabularies = new ArrayList<>();
    for (Json item : json.array("slots")) {
      Json.Obj column = item.asObject("column");
      String name = column.text("name");
      int hotness = Math.toIntExact(column.integer("hotness"));
      String table = column.has("table") ? column.text("table") : name;
      boolean weighted = column.has("weighted") && column.flag("weighted");
      boolean unsigned = column.has("unsigned") && column.flag("unsigned");
      Slot slot = new Slot(name, hotness, table, weighted, unsigned);
      slots.add(column.has("sequence") ? slot.in(sequence(column.object("sequence"))) : slot);
      IdEncoding encoding = idEncoding(column);
      encodings.add(encoding);
      vocabularies.add(
          encoding instanceof IdEncoding.Vocabulary values
              ? vocabulary(column.array("values"), values)
              : Vocabulary.EMPTY);
    }
    Optional<String> weight = json.has(WEIGHT) ? Optional.of(json.text(WEIGHT)) : Optional.empty();
    Schema schema = new Schema(labels, List.copyOf(dense.keySet()), slots, weight);
    List<String> names = schema.slotNames();
    List<Vocabulary> ofTables =
        slots.stream().map(slot -> vocabularies.get(names.indexOf(slot.table()))).toList();
    FeatureEncoder encoder =
        new FeatureEncoder(
            schema,
            List.copyOf(dense.values()),
            encodings,
            numbers,
            ofTables,
            training(json, schema));
    return ReadingJson.read(json).map(encoder::withReading).orElse(encoder);
  }

  private static IdEncoding idEncoding(Json.Obj column) {
    boolean text = column.flag("text");
    String encoding = column.text("encoding");
    return switch (encoding) {
      case "id" -> new IdEncoding.Verbatim(text);
      case "hash" -> new IdEncoding.Hashed(text, column.integer("buckets"));
      case "vocabulary" ->
          new IdEncoding.Vocabulary(
              text,
              column.integer("min_count"),
              Math.toIntExact(column.integer("max_size")),
              unknownApart(column));
      default ->
          throw new DataException(
              "slot %s: got encoding \"%s\", expected id, vocabulary or hash"
                  .formatted(column.text("name"), encoding));
    };
  }

  private static boolean unknownApart(Json.Obj column) {
    if (column.has(UNKNOWN) && !column.text(UNKNOWN).equals(APART)) {
      throw new DataException(
          "slot %s: got unknown values \"%s\", expected \"%s\"; use the version of Tern that wrote it"
              .formatted(column.text("name"), column.text(UNKNOWN), APART));
    }
    return column.has(UNKNOWN);
  }

  private static Vocabulary vocabulary(List<Json> values, IdEncoding.Vocabulary encoding) {
    if (values.size() > IdEncoding.Vocabulary.MAX_SIZE) {
      throw new DataException("got a vocabulary of %d values".formatted(values.size()));
    }
    long[] ids = new long[values.size()];
    @Nullable String[] texts = new String[ids.length];
    for (int i = 0; i < ids.length; i++) {
      switch (values.get(i)) {
        case Json.Str(String text) -> {
          texts[i] = text;
          ids[i] = TextHash.of(text);
        }
        case Json.Int(long id) -> ids[i] = id;
        case Json other ->
            throw new DataException(
                "vocabulary: got %s, expected a text or an integer".formatted(other.kind()));
      }
    }
    return new Vocabulary(ids, texts, encoding);
  }
}
