package dev.tern.files.text;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.files.LineInput;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How lines of features are written down: {@code label feature:value ...} as LIBSVM does, or {@code
 * label field:feature:value ...} as LIBFFM does.
 *
 * <p>Columns go by the numbers in the file. In LIBSVM's notation a dense column is a feature, as in
 * {@code 7}; one slot, of any name, takes all other features as ids; a slot named {@code qid} takes
 * the query that a line may name behind its label. In LIBFFM's a slot is a field, as in {@code 3},
 * which takes the field's features as ids; a dense column is one feature of a field, as in {@code
 * 3:17}, or {@code 3} where that has the field's number.
 *
 * @param fields whether features have fields, as in LIBFFM
 * @param names names that may stand for numbers: of features from 1 on, or of fields from 0 on
 * @param skipUnnamed features that no column takes are left out; false: each is a fault
 * @param values what the values of ids mean; an id with the value 0 is one that the row does not
 *     have
 * @param text what the lines are written in, and how many at the beginning are no records; its sign
 *     of comments is none, as comments begin with {@code #} here
 */
public record LibsvmOptions(
    boolean fields, List<String> names, boolean skipUnnamed, Values values, TextOptions text) {
  /** What the values of ids mean. */
  public enum Values {
    /** All are 1; another one, which a slot without weights cannot keep, is a fault. */
    ONE,
    /** Nothing. */
    IGNORED,
    /** They are weights: the slots have {@link Slot#weighted}. */
    WEIGHTS
  }

  /** The slot that takes the query of a line. */
  static final String QUERY = "qid";

  private static final String NUMBER = "[0-9]+";

  public LibsvmOptions {
    names = List.copyOf(names);
    if (!text.comment().isEmpty()) {
      throw new IllegalArgumentException(
          "libsvm: got a sign of comments, expected none, as comments begin with # here");
    }
  }

  /** Lines of UTF-8 that are all records. */
  public LibsvmOptions(boolean fields, List<String> names, boolean skipUnnamed, Values values) {
    this(fields, names, skipUnnamed, values, TextOptions.DEFAULT);
  }

  /** Features without fields, known by their numbers. */
  public static LibsvmOptions libsvm() {
    return new LibsvmOptions(false, List.of(), false, Values.ONE);
  }

  /** Features with fields, known by their numbers. */
  public static LibsvmOptions libffm() {
    return new LibsvmOptions(true, List.of(), false, Values.ONE);
  }

  /** These options with names for features from 1 on, or for fields from 0 on. */
  public LibsvmOptions withNames(List<String> names) {
    return new LibsvmOptions(fields, names, skipUnnamed, values, text);
  }

  /** These options, and features that no column takes are left out. */
  public LibsvmOptions skippingUnnamed() {
    return new LibsvmOptions(fields, names, true, values, text);
  }

  /** These options, and ids are taken whatever their value. */
  public LibsvmOptions ignoringValues() {
    return with(Values.IGNORED);
  }

  /** These options, and values of ids are their weights. */
  public LibsvmOptions weighing() {
    return with(Values.WEIGHTS);
  }

  private LibsvmOptions with(Values other) {
    return new LibsvmOptions(fields, names, skipUnnamed, other, text);
  }

  /** The schema of rows that are read as {@code columns}: with weights where values are such. */
  Schema schema(Schema columns) {
    if (values != Values.WEIGHTS) {
      return columns;
    }
    List<Slot> slots =
        columns.slots().stream()
            .map(slot ->
                !fields && slot.name().equals(QUERY)
                    ? slot
                    : Slot.weighted(slot.name()).withUnsigned(true))
            .toList();
    return new Schema(columns.labels(), columns.dense(), slots);
  }

  /** These options for lines as {@code options} say. */
  public LibsvmOptions withText(TextOptions options) {
    return new LibsvmOptions(fields, names, skipUnnamed, values, options);
  }

  /**
   * These options with numbers for the columns of {@code schema}: their names where all are
   * numbers, else in order, dense columns before slots.
   */
  public LibsvmOptions withNamesOf(Schema schema) {
    List<String> slots = fields ? schema.slots().stream().map(Slot::name).toList() : List.of();
    String feature = fields ? NUMBER + "(:" + NUMBER + ")?" : NUMBER;
    boolean numbers =
        schema.dense().stream().allMatch(name -> name.matches(feature))
            && slots.stream().allMatch(name -> name.matches(NUMBER));
    List<String> all = new ArrayList<>(schema.dense());
    all.addAll(slots);
    return withNames(numbers ? List.of() : all);
  }

  /** Whether {@code name} is a feature's number or name, without fields. */
  boolean isFeature(String name) {
    return name.matches(NUMBER) || names.contains(name);
  }

  /** Opens the lines of {@code file} that may be records. */
  LineInput lines(Path file) {
    return LineInput.open(file, text.encoding(), text.skipLines());
  }

  /** The name of the notation, for messages. */
  String notation() {
    return fields ? "libffm" : "libsvm";
  }
}
