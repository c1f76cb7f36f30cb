package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * Turns raw columns into features: scales numbers or gives them vectors, and turns values of slots
 * into ids. It is fitted once on the training data, kept in the checkpoint, and applied to all rows
 * that are trained on, evaluated or scored.
 *
 * <p>The encoded schema has the labels of the raw schema, the dense columns that stay numbers, the
 * slots of the raw schema, and then a slot for each dense column that has a vector, under the name
 * of the column.
 *
 * <p>Immutable and thread-safe.
 */
public final class FeatureEncoder {
  private final Schema rawSchema;
  private final Schema schema;
  private final List<NumberEncoding> dense;
  private final List<IdEncoding> slots;
  final NumberFeature[] numbers;
  private final NumberColumns columns;
  final Vocabulary[] vocabularies;
  private final Optional<TrainingFacts> training;
  private final Optional<Reading> reading;
  private final RawRow rawRow;

  /** The slots of each sequence. */
  private final List<List<Integer>> sequences;

  /**
   * The schema of rows that had the columns of {@link #rawSchema} last: comparing names for each
   * piece of a batch would make garbage.
   */
  private volatile Schema fitting;

  FeatureEncoder(
      Schema rawSchema,
      List<NumberEncoding> dense,
      List<IdEncoding> slots,
      List<NumberFeature> numbers,
      List<Vocabulary> vocabularies,
      Optional<TrainingFacts> training) {
    this.training = training;
    this.rawSchema = rawSchema;
    this.dense = List.copyOf(dense);
    this.slots = List.copyOf(slots);
    this.numbers = numbers.toArray(NumberFeature[]::new);
    columns = NumberColumns.of(rawSchema.dense(), this.numbers, slots.size());
    this.vocabularies = vocabularies.toArray(Vocabulary[]::new);
    schema = encodedSchema(rawSchema, numbers);
    requireSameEncodings();
    reading = Optional.empty();
    fitting = rawSchema;
    sequences = List.copyOf(rawSchema.sequences().values());
    rawRow = new RawRow(rawSchema, this.slots, Optional.empty());
  }

  /** {@code other} for rows whose fields were read in another way, or are used in another. */
  private FeatureEncoder(FeatureEncoder other, Schema rawSchema, Optional<Reading> reading) {
    this.reading = reading;
    this.rawSchema = rawSchema;
    training = other.training;
    schema = encodedSchema(rawSchema, List.of(other.numbers));
    dense = other.dense;
    slots = other.slots;
    numbers = other.numbers;
    columns = other.columns;
    vocabularies = other.vocabularies;
    fitting = rawSchema;
    sequences = List.copyOf(rawSchema.sequences().values());
    rawRow = new RawRow(rawSchema, slots, RawFields.of(rawSchema, reading));
  }

  /**
   * Fits encodings on one pass of {@code training}. Reads nothing if no encoding learns from data.
   * Of a column encoded by {@link NumberEncoding.Auto}, {@link #dense} then says what was chosen.
   *
   * @param dense encoding of each dense column of the reader's schema, in order
   * @param slots encoding of each slot, in order
   * @param dictionary texts that the reader saw, to be kept with the vocabularies; or {@link
   *     TextDictionary#none()}
   * @param progress receives the rows read so far, after each batch
   */
  public static FeatureEncoder fit(
      DataReader training,
      List<NumberEncoding> dense,
      List<IdEncoding> slots,
      TextDictionary dictionary,
      LongConsumer progress) {
    return fit(training, dense, slots, Map.of(), dictionary, progress);
  }

  /**
   * Fits encodings of slots of which some share an embedding table. Slots of one table must have
   * equal encodings, and share one vocabulary.
   *
   * @param tables for a slot by name the slot whose table it uses; other slots use the table that
   *     the reader's schema names
   */
  public static FeatureEncoder fit(
      DataReader training,
      List<NumberEncoding> dense,
      List<IdEncoding> slots,
      Map<String, String> tables,
      TextDictionary dictionary,
      LongConsumer progress) {
    return fit(training, dense, slots, tables, dictionary, progress, EncoderFit.Learned.NOTHING);
  }

  /**
   * As {@link #fit(DataReader, List, List, Map, TextDictionary, LongConsumer)}, for a model that
   * goes on from one of this encoder. Numbers of a column that this encoder has in the same
   * encoding keep its scaling or buckets. A vocabulary begins with the values of this encoder's,
   * under their ids, and new values follow by descending count; what was left out as rare may enter
   * now. So an id of this encoder means the same value, and only columns that this encoder does not
   * have begin anew. Sequences are not taken over; {@link #withSequences} names them.
   */
  public FeatureEncoder grown(
      DataReader training,
      List<NumberEncoding> dense,
      List<IdEncoding> slots,
      Map<String, String> tables,
      TextDictionary dictionary,
      LongConsumer progress) {
    return fit(training, dense, slots, tables, dictionary, progress, new EncoderGrowth(this));
  }

  /** The first number, by name, that is a number in both and scaled in another way in each. */
  public Optional<String> rescaled(FeatureEncoder earlier) {
    return new EncoderGrowth(earlier).rescaled(this);
  }

  /**
   * Whether the ids of a table mean the same values here as in {@code earlier}, which has a table
   * of this name.
   */
  public boolean keepsIds(FeatureEncoder earlier, String table) {
    return new EncoderGrowth(earlier).keepsIds(this, table);
  }

  /** The number of values in the vocabulary of slot {@code slot} of the raw schema; 0 for none. */
  public int vocabularySize(int slot) {
    return vocabularies[slot].size();
  }

  private static FeatureEncoder fit(
      DataReader training,
      List<NumberEncoding> dense,
      List<IdEncoding> slots,
      Map<String, String> tables,
      TextDictionary dictionary,
      LongConsumer progress,
      EncoderFit.Learned earlier) {
    Schema raw = training.schema().withTables(tables);
    requireOneEach("dense columns", raw.denseDim(), dense.size());
    requireOneEach("slots", raw.slotCount(), slots.size());
    EncoderFit fit = new EncoderFit(raw, dense, slots, earlier);
    if (fit.needsData()) {
      fit.read(training, progress);
    }
    List<NumberFeature> numbers = fit.numbers();
    List<Vocabulary> vocabularies = fit.vocabularies(dictionary);
    FeatureEncoder fitted =
        new FeatureEncoder(
            raw, chosen(dense, numbers), slots, numbers, vocabularies, fit.facts(dictionary));
    return new FeatureEncoder(fitted, raw, training.reading());
  }

  /** The encodings with what was chosen in place of {@link NumberEncoding.Auto}. */
  private static List<NumberEncoding> chosen(
      List<NumberEncoding> dense, List<NumberFeature> numbers) {
    return IntStream.range(0, dense.size())
        .mapToObj(f -> chosen(dense.get(f), numbers.get(f)))
        .toList();
  }

  private static NumberEncoding chosen(NumberEncoding encoding, NumberFeature feature) {
    return switch (encoding) {
      case NumberEncoding.Auto(float fill) ->
          new NumberEncoding.Scaled(feature.scaling().orElseThrow().log1p(), true, fill);
      case NumberEncoding.Field(NumberEncoding number) ->
          new NumberEncoding.Field(chosen(number, feature));
      case NumberEncoding.Beside(NumberEncoding number, NumberEncoding slot) ->
          new NumberEncoding.Beside(
              chosen(number, feature), chosen(slot, feature.slot().orElseThrow()));
      default -> encoding;
    };
  }

  /** Checks that slots of one table turn equal values into equal ids. */
  private void requireSameEncodings() {
    for (int s = 0; s < slots.size(); s++) {
      Slot slot = rawSchema.slots().get(s);
      int owner = rawSchema.slotNames().indexOf(slot.table());
      if (!slots.get(owner).equals(slots.get(s))) {
        throw new IllegalArgumentException(
            "slot %s: got the encoding %s for the table of slot %s, expected that one's, %s"
                .formatted(slot.name(), slots.get(s), slot.table(), slots.get(owner)));
      }
    }
  }

  private static void requireOneEach(String what, int columns, int encodings) {
    if (columns != encodings) {
      throw new IllegalArgumentException(
          "encoder: got %d encodings for %d %s, expected one each"
              .formatted(encodings, columns, what));
    }
  }

  private static Schema encodedSchema(Schema raw, List<NumberFeature> numbers) {
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>(raw.slots());
    for (int f = 0; f < numbers.size(); f++) {
      String name = raw.dense().get(f);
      numbers.get(f).number().ifPresent(_ -> dense.add(name));
      numbers.get(f).slot().ifPresent(feature -> slots.add(feature.named(name)));
    }
    return new Schema(raw.labels(), dense, slots, raw.weight());
  }

  /** The columns that {@link #apply} expects. */
  public Schema rawSchema() {
    return rawSchema;
  }

  /** The features that {@link #apply} makes. */
  public Schema schema() {
    return schema;
  }

  /**
   * The columns of encoded rows that come from columns of raw rows, and from no others.
   *
   * @param raw places in {@link #rawSchema}
   */
  public ColumnPart encoded(ColumnPart raw) {
    List<Integer> numberPlaces = new ArrayList<>();
    List<Integer> slotPlaces = new ArrayList<>(raw.slots());
    raw.dense().forEach(f -> columns.addPlaces(f, numberPlaces, slotPlaces));
    return new ColumnPart(raw.name(), numberPlaces, slotPlaces);
  }

  /** How each dense column of the raw schema is encoded. */
  public List<NumberEncoding> dense() {
    return dense;
  }

  /**
   * How dense column {@code column} of the raw schema is encoded, with what was fitted: its part of
   * {@link #toJson}.
   */
  public String numberJson(int column) {
    return NumberJson.write(dense.get(column), numbers[column], Json.object()).toString();
  }

  /** How each slot of the raw schema is encoded. */
  public List<IdEncoding> slots() {
    return slots;
  }

  /**
   * What the training rows were like; empty where no encoding learned from them, and in a
   * checkpoint of an earlier version.
   */
  public Optional<TrainingFacts> training() {
    return training;
  }

  /**
   * How fields of text became the values of the training rows: what their reader said. Empty where
   * rows came from no fields, and in a checkpoint of an earlier version.
   */
  public Optional<Reading> reading() {
    return reading;
  }

  /** This encoder for rows whose fields are read as {@code how} says. */
  public FeatureEncoder withReading(Reading how) {
    return new FeatureEncoder(this, rawSchema, Optional.of(how));
  }

  /**
   * This encoder for models that read some slots as sequences. Longer ones are cut as {@link
   * Sequence} says, and the ids of one sequence must be equally many in each row.
   *
   * @param of the sequence of each such slot, by the slot's name; others are no part of one
   */
  public FeatureEncoder withSequences(Map<String, Sequence> of) {
    return new FeatureEncoder(this, rawSchema.withSequences(of), reading);
  }

  /** This encoder for rows with another column of weights, or none. */
  public FeatureEncoder withWeight(Optional<String> column) {
    return rawSchema.weight().equals(column)
        ? this
        : new FeatureEncoder(this, rawSchema.withWeight(column), reading);
  }

  /**
   * The upper bound, exclusive, of ids of slot {@code slot} of {@link #schema()}; empty if
   * verbatim. Values outside a vocabulary may have negative ids.
   */
  public OptionalLong idBound(int slot) {
    if (slot >= slots.size()) {
      return OptionalLong.of(columns.idBound(slot));
    }
    return switch (slots.get(slot)) {
      case IdEncoding.Verbatim _ -> OptionalLong.empty();
      case IdEncoding.Vocabulary _ -> OptionalLong.of(vocabularies[slot].size() + 1L);
      case IdEncoding.Hashed(_, long buckets) -> OptionalLong.of(buckets);
    };
  }

  /** Tables whose vocabulary gives unknown values negative ids, which never get a row. */
  public Set<String> tablesOfKnown() {
    Set<String> tables = new TreeSet<>();
    for (int s = 0; s < slots.size(); s++) {
      if (slots.get(s) instanceof IdEncoding.Vocabulary vocabulary && vocabulary.apart()) {
        tables.add(rawSchema.slots().get(s).table());
      }
    }
    return tables;
  }

  /** Whether {@code id} of an encoded slot, one of the raw schema, means a missing value. */
  boolean isMissing(int slot, long id) {
    return switch (slots.get(slot)) {
      case IdEncoding.Vocabulary _ -> id == 0;
      case IdEncoding.Verbatim(boolean text) -> text && id == TextHash.EMPTY;
      case IdEncoding.Hashed(_, long buckets) -> id == SplitMix64.bounded(TextHash.EMPTY, buckets);
    };
  }

  /** Whether some vocabulary leaves values of the training data without a row. */
  public boolean leavesIdsWithout() {
    return slots.stream()
        .anyMatch(slot ->
            slot instanceof IdEncoding.Vocabulary vocabulary
                && vocabulary.apart()
                && vocabulary.leavesOut());
  }

  /** The vocabulary of slot {@code slot} of the encoded schema; an empty one where it has none. */
  Vocabulary vocabulary(int slot) {
    return slot < vocabularies.length ? vocabularies[slot] : Vocabulary.EMPTY;
  }

  /** The text of id {@code id} of slot {@code slot}, if its vocabulary knows it. */
  public Optional<String> text(int slot, long id) {
    Vocabulary vocabulary = vocabulary(slot);
    return id < 1 || id > vocabulary.size() ? Optional.empty() : vocabulary.text((int) id);
  }

  /**
   * The value that has id {@code id} in slot {@code slot}, as data have it: a text, or an integer
   * in decimal. Empty for the id of missing values, for hashes, and for a text that is not known.
   */
  public Optional<String> value(int slot, long id) {
    return slot < slots.size() ? ValueIds.value(this, slot, id) : Optional.empty();
  }

  /**
   * Encodes all rows of {@code raw}; they replace the rows of {@code encoded}.
   *
   * @param raw rows of {@link #rawSchema()}; without labels, labels are NaN. Rows without weights
   *     have the weight 1, and weights that {@link #schema} lacks are left behind
   * @param encoded a batch of {@link #schema()}
   * @throws DataException if a dense number is infinite, or too far from those of training for
   *     {@link NumberEncoding.Field}, or the slots of a sequence have different numbers of ids in a
   *     row
   */
  public void apply(Batch raw, Batch encoded) {
    apply(raw, 0, raw.size(), encoded);
  }

  /** As {@link #apply(Batch, Batch)} for rows {@code [first, end)} of {@code raw}. */
  public void apply(Batch raw, int first, int end, Batch encoded) {
    Objects.checkFromToIndex(first, end, raw.size());
    requireFits(raw, first, end);
    SequenceCopy.requireEqualLengths(rawSchema.slots(), sequences, raw, first, end);
    requireEncoded(encoded.schema());
    int rows = end - first;
    encoded.clear();
    encoded.resize(rows);
    int labels = schema.labelDim();
    if (raw.schema().labelDim() == labels) {
      System.arraycopy(raw.labels(), first * labels, encoded.labels(), 0, rows * labels);
    } else {
      Arrays.fill(encoded.labels(), 0, rows * labels, Float.NaN);
    }
    if (schema.weighted() && raw.schema().weighted()) {
      System.arraycopy(raw.rowWeights(), first, encoded.rowWeights(), 0, rows);
    }
    columns.apply(raw, first, encoded);
    for (int s = 0; s < slots.size(); s++) {
      encodeSlot(raw, first, s, encoded);
    }
  }

  /**
   * Checks that rows have the columns of the training data by name, and no more ids in a slot than
   * its hotness. Fewer ids count as missing ones.
   *
   * @throws IllegalArgumentException if columns differ
   * @throws DataException if a row has too many ids
   */
  public void requireFits(Batch rows) {
    requireFits(rows, 0, rows.size());
  }

  private void requireFits(Batch rows, int first, int end) {
    Schema got = rows.schema();
    if (got == rawSchema) {
      return;
    }
    if (got != fitting && !hasColumns(got)) {
      throw new IllegalArgumentException(
          ("rows: got %s, expected the columns of training, %s; give rows of the same columns, or"
                  + " the checkpoint of a model of these")
              .formatted(columns(got), columns(rawSchema)));
    }
    fitting = got;
    for (int s = 0; s < got.slotCount(); s++) {
      Slot slot = rawSchema.slots().get(s);
      if (slot.hotness() > 0 && got.slots().get(s).hotness() != slot.hotness()) {
        requireHotness(rows, first, end, s, slot);
      }
      if (got.slots().get(s).weighted() != slot.weighted()) {
        throw new IllegalArgumentException(
            "slot %s: got ids %s weights, expected ids %s weights as in training; read them as training did"
                .formatted(
                    slot.name(),
                    slot.weighted() ? "without" : "with",
                    slot.weighted() ? "with" : "without"));
      }
    }
  }

  private boolean hasColumns(Schema got) {
    return (got.labelDim() == 0 || got.labelDim() == rawSchema.labelDim())
        && got.dense().equals(rawSchema.dense())
        && got.slotNames().equals(rawSchema.slotNames());
  }

  private static void requireHotness(Batch rows, int first, int end, int s, Slot slot) {
    for (int row = first; row < end; row++) {
      if (rows.idCount(s, row) > slot.hotness()) {
        throw new DataException(
            "slot %s: got %d ids in row %d of this batch, expected at most %d as in training"
                .formatted(slot.name(), rows.idCount(s, row), row + 1, slot.hotness()));
      }
    }
  }

  private static String columns(Schema schema) {
    return "%d labels, numbers %s, slots %s"
        .formatted(schema.labelDim(), schema.dense(), schema.slotNames());
  }

  private void requireEncoded(Schema encoded) {
    if (encoded != schema && !encoded.equals(schema)) {
      throw new IllegalArgumentException(
          "encode: got a batch of %s to fill, expected %s".formatted(encoded, schema));
    }
  }

  private void encodeSlot(Batch raw, int first, int slot, Batch encoded) {
    switch (slots.get(slot)) {
      case IdEncoding.Verbatim _ -> SlotCopy.ids(raw, first, slot, false, encoded);
      case IdEncoding.Vocabulary _ -> {
        Vocabulary vocabulary = vocabularies[slot];
        int count = SlotCopy.ids(raw, first, slot, true, encoded);
        long[] ids = encoded.ids(slot);
        for (int i = 0; i < count; i++) {
          ids[i] = vocabulary.indexOf(ids[i]);
        }
        SlotCopy.setMissing(raw, first, slot, 0, encoded);
      }
      case IdEncoding.Hashed(_, long buckets) -> {
        int count = SlotCopy.ids(raw, first, slot, true, encoded);
        long[] ids = encoded.ids(slot);
        for (int i = 0; i < count; i++) {
          ids[i] = SplitMix64.bounded(ids[i], buckets);
        }
        SlotCopy.setMissing(raw, first, slot, SplitMix64.bounded(TextHash.EMPTY, buckets), encoded);
      }
    }
  }

  /**
   * Appends one row to {@code raw}, a batch of {@link #rawSchema()}, from values by column name.
   *
   * <ul>
   *   <li>A dense column takes a {@link Number}.
   *   <li>A slot of texts takes a text, or an integer for its decimal text.
   *   <li>A slot of integers takes an integer.
   *   <li>Where {@link #reading} is known, a slot takes a field of text as a file holds it: what is
   *       trimmed in files is dropped, a missing marker is missing, and values are split where the
   *       slot has a separator.
   *   <li>A slot of several ids takes a {@link List} of these, or one.
   *   <li>A slot with weights takes a {@link Map} from these to finite {@link Number}s, in its
   *       order; those of a list, or one alone, have the weight 1.
   *   <li>A part of a time, such as {@code t@hour}, takes what it is, as any column does; or the
   *       row has the time as {@code t}: an {@link java.time.Instant}, {@link java.time.LocalDate},
   *       {@link java.time.LocalDateTime}, {@link java.time.OffsetDateTime} or {@link
   *       java.time.ZonedDateTime}, or a text or number as {@link TimeParser} reads it.
   *   <li>A label takes a {@link Number}; without it the label is NaN.
   *   <li>The column of weights takes a {@link Number}; without it the weight is 1.
   * </ul>
   *
   * A column that is absent or null is missing. A name that is no column is an error: else a
   * misspelt name would be a missing column.
   *
   * @throws IllegalArgumentException naming the column, what was got and what is expected
   */
  public void addRow(Map<String, ?> columns, Batch raw) {
    if (!raw.schema().equals(rawSchema)) {
      throw new IllegalArgumentException(
          "row: got a batch of %s to fill, expected %s".formatted(raw.schema(), rawSchema));
    }
    rawRow.add(columns, raw);
  }

  /** Fills batches of {@link #rawSchema()} from values by the number of their column. */
  public RowFiller filler() {
    return rawRow.filler();
  }

  /** This encoder as JSON text, which {@link #fromJson} reads. */
  public String toJson() {
    return EncoderJson.write(this, numbers, vocabularies, training, reading);
  }

  /** Whether both turn equal values into equal ids. Means and deviations of numbers may differ. */
  public boolean encodesIdsAs(FeatureEncoder other) {
    return unscaled().equals(other.unscaled());
  }

  private String unscaled() {
    NumberFeature[] without = numbers.clone();
    for (int f = 0; f < without.length; f++) {
      without[f] =
          without[f].withScaling(
              scale -> new NumberFeature.Scale(scale.log1p(), 0, 1, scale.fill()));
    }
    FeatureEncoder pooled = withSequences(Map.of()).withWeight(Optional.empty());
    return EncoderJson.write(pooled, without, vocabularies, Optional.empty(), Optional.empty());
  }

  /**
   * Reads the text that {@link #toJson} wrote.
   *
   * @param source name of the file, for errors
   * @throws DataException if the text is no encoder
   */
  public static FeatureEncoder fromJson(String json, String source) {
    return EncoderJson.read(json, source);
  }
}
