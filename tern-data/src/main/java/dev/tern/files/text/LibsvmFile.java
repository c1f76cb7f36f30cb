package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.LineInput;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.RowSource;
import java.nio.file.Path;
import java.util.Arrays;

/** The rows of one file of features by number. */
final class LibsvmFile implements RowSource {
  /** Whole numbers of fewer digits are below 2<sup>63</sup>. */
  private static final int EXACT_DIGITS = 19;

  private final LineInput input;
  private final LibsvmOptions options;
  private final LibsvmColumns columns;
  private final ReadPolicy policy;
  private final NumberParser numbers = new NumberParser();
  private final boolean labelled;
  private final byte[][] positive;
  private final ReadPolicy.Labels values;
  private final boolean takesTexts;
  private final byte[][] missing;
  private final int denseDim;

  /** The place of the only field of a notation without fields. */
  private final int everything;

  /** Of each dense column the last row that had it, to find those that have it twice. */
  private final long[] seen;

  private long row;

  /** The value last read. */
  private float value;

  /** What stands for an id that needs no look at its value; no byte where values are weights. */
  private final int one;

  private final boolean weighs;

  /** Ids of the row so far in the slot of {@link #everything}, the last of them, their order. */
  private int ids;

  private long lastId;
  private boolean ascending;
  private long[] sorted = new long[64];

  private LibsvmFile(
      LineInput input,
      LibsvmOptions options,
      Columns named,
      LibsvmColumns columns,
      ReadPolicy policy) {
    this.input = input;
    this.options = options;
    this.columns = columns;
    this.policy = policy;
    labelled = !named.labels().isEmpty();
    values = labelled ? policy.labels(named.labels().getFirst()) : policy.labels();
    takesTexts = labelled && policy.takesTexts(named.labels().getFirst());
    positive = CsvFile.utf8(named.positive());
    missing = CsvFile.utf8(named.missing());
    denseDim = named.dense().size();
    everything = columns.field(0);
    seen = new long[denseDim];
    weighs = options.values() == LibsvmOptions.Values.WEIGHTS;
    one = weighs ? Integer.MAX_VALUE : '1';
  }

  static LibsvmFile open(
      Path file, LibsvmOptions options, Columns named, LibsvmColumns columns, ReadPolicy policy) {
    return new LibsvmFile(options.lines(file), options, named, columns, policy);
  }

  @Override
  public void fill(Batch batch, int limit) {
    while (batch.size() < limit && input.next()) {
      try {
        readRow(batch);
        batch.endRow();
      } catch (DataException e) {
        batch.abandonRow();
        policy.faults().report(e);
      }
    }
  }

  private void readRow(Batch batch) {
    int end = input.end();
    if (input.start() == end) {
      throw emptyLine(input);
    }
    row++;
    ids = 0;
    ascending = true;
    int p = skipSpaces(readLabel(batch), end);
    for (int i = 0; i < denseDim; i++) {
      batch.setDense(i, 0);
    }
    byte[] bytes = input.bytes();
    if (bytes[p] == 'q' && !options.fields()) {
      p = skipSpaces(readQuery(batch, p), end);
    }
    while (p < end && bytes[p] != '#') {
      p =
          skipSpaces(
              options.fields() ? readOfField(batch, p) : readFeature(batch, p, p, everything), end);
    }
    if (!ascending) {
      requireDistinct(batch);
    }
  }

  /** The fault of the line that {@code input} is at. */
  static DataException emptyLine(LineInput input) {
    return new DataException(
        input.where(input.end())
            + ": got an empty line, expected a label and features; remove the line");
  }

  private int skipSpaces(int from, int end) {
    byte[] bytes = input.bytes();
    int p = from;
    while (p < end && LineInput.isSpace(bytes[p])) {
      p++;
    }
    return p;
  }

  /** Where the text without spaces that {@code from} is in ends. */
  private int wordEnd(int from) {
    byte[] bytes = input.bytes();
    int p = from;
    while (!endsWord(bytes[p])) {
      p++;
    }
    return p;
  }

  static boolean endsWord(byte value) {
    return value <= '#'
        && (value == ' ' || value == '\t' || value == '\n' || value == '\r' || value == '#');
  }

  /** Returns where the label, if there is one, ends. */
  private int readLabel(Batch batch) {
    byte[] bytes = input.bytes();
    int from = input.start();
    int to = from;
    while (!endsWord(bytes[to]) && bytes[to] != ':') {
      to++;
    }
    if (bytes[to] == ':') {
      if (labelled) {
        throw fault(
            from,
            "got %s in place of a label, expected a number; %s"
                .formatted(
                    input.quoted(from, wordEnd(from)),
                    bytes[from] != ':' && input.quoted(from, to).contains(",")
                        ? "put spaces between label and features, and no commas"
                        : "put one before it"));
      }
      return from;
    }
    if (labelled) {
      batch.setLabel(0, label(from, to));
    }
    return to;
  }

  private float label(int from, int to) {
    byte[] bytes = input.bytes();
    if (values.optional()
        && numbers.parseFloat(bytes, from, to)
        && values.isMissing(numbers.number())) {
      return Float.NaN;
    }
    if (positive.length > 0 && takesTexts) {
      return CsvFile.isOneOf(positive, bytes, from, to) ? 1 : 0;
    }
    if (!numbers.parseFloat(bytes, from, to)) {
      throw values.fault(input.where(from), input.quoted(from, to));
    }
    float label = numbers.number();
    // Both notations say -1 for what is 0 here.
    label = label == -1 && values.kind() == ReadPolicy.Labels.Kind.BINARY ? 0 : label;
    if (!values.accepts(label)) {
      throw values.fault(input.where(from), input.quoted(from, to));
    }
    return label;
  }

  private int readQuery(Batch batch, int from) {
    byte[] bytes = input.bytes();
    int to = wordEnd(from);
    int number = from + 4;
    boolean named = to > number && bytes[from + 1] == 'i' && bytes[from + 2] == 'd';
    if (!named || bytes[from + 3] != ':' || numbers.parseWhole(bytes, number) != to) {
      throw fault(
          from,
          "got %s, expected qid:number or feature:value; mend the line"
              .formatted(input.quoted(from, to)));
    }
    if (columns.query >= 0) {
      batch.addId(columns.query, numbers.integer());
    } else if (!options.skipUnnamed()) {
      throw unnamed(from, to, "name a slot qid to keep it");
    }
    return to;
  }

  private int readOfField(Batch batch, int from) {
    byte[] bytes = input.bytes();
    int colon = numbers.parseWhole(bytes, from);
    if (colon == from || bytes[colon] != ':') {
      throw malformed(from);
    }
    return readFeature(batch, from, colon + 1, columns.field(numbers.integer()));
  }

  /**
   * Reads the rest of a feature; returns where it ends.
   *
   * @param start where it starts
   * @param from where its number starts
   * @param field the place of its field, or -1
   */
  private int readFeature(Batch batch, int start, int from, int field) {
    byte[] bytes = input.bytes();
    int colon = numbers.parseWhole(bytes, from);
    if (colon == from || bytes[colon] != ':') {
      throw malformed(start);
    }
    int at = colon + 1;
    long feature = numbers.integer();
    int dense = field < 0 ? -1 : columns.dense(field, feature);
    int slot = field < 0 ? -1 : columns.slot(field);
    if (dense < 0 && slot >= 0 && bytes[at] == one && endsWord(bytes[at + 1])) {
      addId(batch, slot, feature, start);
      return at + 1;
    }
    int to = readValue(start, at);
    if (dense >= 0) {
      setNumber(batch, dense, start, to);
    } else if (slot >= 0) {
      addWeighted(batch, slot, feature, start, to);
    } else if (!options.skipUnnamed()) {
      throw unnamed(start, to, "name it, or have unnamed features skipped");
    }
    return to;
  }

  /**
   * Reads the {@link #value} of the feature that starts at {@code start}; returns where it ends.
   */
  private int readValue(int start, int from) {
    byte[] bytes = input.bytes();
    int to = numbers.parseWhole(bytes, from);
    if (to > from && to - from < EXACT_DIGITS && endsWord(bytes[to])) {
      value = numbers.integer();
      return to;
    }
    to = wordEnd(to);
    if (numbers.parseFloat(bytes, from, to)) {
      value = numbers.number();
    } else if (CsvFile.isOneOf(missing, bytes, from, to)) {
      value = Float.NaN;
    } else {
      throw badValue(start, from, to);
    }
    return to;
  }

  private void setNumber(Batch batch, int dense, int from, int to) {
    if (seen[dense] == row) {
      throw twice(from, to);
    }
    seen[dense] = row;
    if (Float.isInfinite(value)) {
      throw ReadPolicy.infinite(input.where(from), input.quoted(from, to));
    }
    batch.setDense(dense, value);
  }

  /** Adds an id with a value that is not written as 1; 0 says that the row does not have it. */
  private void addWeighted(Batch batch, int slot, long feature, int from, int to) {
    if (value == 0) {
      return;
    }
    boolean any = options.values() != LibsvmOptions.Values.ONE;
    if (value != 1 && !(any && Float.isFinite(value))) {
      throw fault(
          from,
          any
              ? "got %s, expected a finite value; mend the line".formatted(input.quoted(from, to))
              : "got %s, expected the value 1, as ids have no weights; make it a dense column, or give data.id_values: weight or ignore"
                  .formatted(input.quoted(from, to)));
    }
    if (weighs) {
      requireNext(feature, from);
      batch.addId(slot, feature, value);
    } else {
      addId(batch, slot, feature, from);
    }
  }

  private void addId(Batch batch, int slot, long id, int from) {
    requireNext(id, from);
    batch.addId(slot, id);
  }

  /** Notes an id of a row without fields, whose ids must be distinct. */
  private void requireNext(long id, int from) {
    if (!options.fields()) {
      if (ids > 0 && Long.compareUnsigned(id, lastId) <= 0) {
        if (id == lastId) {
          throw twice(from, wordEnd(from));
        }
        ascending = false;
      }
      ids++;
      lastId = id;
    }
  }

  /** Of ids in any order each must be there once. */
  private void requireDistinct(Batch batch) {
    if (sorted.length < ids) {
      sorted = new long[2 * ids];
    }
    int slot = columns.slot(everything);
    System.arraycopy(batch.ids(slot), batch.offsets(slot)[batch.size()], sorted, 0, ids);
    Arrays.sort(sorted, 0, ids);
    for (int i = 1; i < ids; i++) {
      if (sorted[i] == sorted[i - 1]) {
        throw fault(
            input.start(),
            "got the feature %s twice, expected each once; mend the line"
                .formatted(Long.toUnsignedString(sorted[i])));
      }
    }
  }

  private DataException twice(int from, int to) {
    return fault(
        from,
        "got %s, a feature that the line has already, expected each once; mend the line"
            .formatted(input.quoted(from, to)));
  }

  private DataException malformed(int from) {
    int end = wordEnd(from);
    int colons = 0;
    for (int at = from; at < end; at++) {
      colons += input.bytes()[at] == ':' ? 1 : 0;
    }
    boolean other = colons == (options.fields() ? 1 : 2);
    return fault(
        from,
        "got %s, expected %s below 2^64; mend the line%s"
            .formatted(
                input.quoted(from, end),
                options.fields()
                    ? "field:feature:value with whole numbers"
                    : "feature:value with a whole number",
                other
                    ? ", or set data.format to " + (options.fields() ? "libsvm" : "libffm")
                    : ""));
  }

  /** The fault of a feature whose value, from {@code from} on, is no number. */
  private DataException badValue(int start, int from, int to) {
    boolean field = !options.fields() && input.quoted(from, to).contains(":");
    return fault(
        start,
        "got %s, expected %sfeature:value with a number as value; mend the line%s"
            .formatted(
                input.quoted(start, to),
                options.fields() ? "field:" : "",
                field ? ", or set data.format to libffm" : ""));
  }

  private DataException unnamed(int from, int to, String advice) {
    return fault(
        from,
        "got %s, which belongs to no column, expected only features that do; %s"
            .formatted(input.quoted(from, to), advice));
  }

  private DataException fault(int at, String text) {
    return new DataException(input.where(at) + ": " + text);
  }

  @Override
  public long skip(long rows) {
    return input.skip(rows);
  }

  @Override
  public void close() {
    input.close();
  }
}
