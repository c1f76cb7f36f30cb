package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.LineInput;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.TimeOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The key of a line of features: its query, the value of one feature, or the ids of a field. */
final class LibsvmKey {
  /** What stands for a feature that a line does not have, with room for a word behind it. */
  private static final byte[] ZERO = Arrays.copyOf(new byte[] {'0'}, 2 * Long.BYTES);

  private static final long ZERO_KEY = TextHash.ofInteger(0);

  /** Below this a double that is a whole number is that number alone. */
  private static final double WHOLE = 1L << 53;

  private final LineInput input;
  private final LibsvmOptions options;
  private final NumberParser numbers = new NumberParser();
  private final TimeOrder order;
  private final boolean time;
  private final byte[][] missing;
  private final String name;
  private final boolean query;

  /** Whether the key is all ids of {@link #field}; else it is the value of {@link #feature}. */
  private final boolean ids;

  private final long field;
  private final long feature;

  /** Whether the line has {@link #feature}. */
  private boolean found;

  /**
   * Finds the only slot of {@code columns} in the lines of {@code input}.
   *
   * @throws IllegalArgumentException where the notation has no such column
   */
  LibsvmKey(Columns columns, LineInput input, LibsvmOptions options, TimeOrder order) {
    SparseColumn key = columns.sparse().getFirst();
    missing = CsvFile.utf8(columns.missing());
    this.input = input;
    this.options = options;
    this.order = order;
    time = key.values() == SparseColumn.Values.TIME;
    name = key.timeSource();
    query = !options.fields() && name.equals(LibsvmOptions.QUERY);
    ids = !query && (options.fields() ? !name.contains(":") : !options.isFeature(name));
    long[] place = LibsvmColumns.place(name, ids, options);
    field = place[0];
    feature = place[1];
  }

  /** Adds the key of the current line, if it has one, to the row that is being made. */
  void addTo(Batch keys) {
    int end = input.end();
    found = query || ids;
    int p = skipSpaces(afterLabel(), end);
    byte[] bytes = input.bytes();
    while (p < end && bytes[p] != '#') {
      int to = wordEnd(p);
      if (!options.fields() && bytes[p] == 'q') {
        addQuery(keys, p, to);
      } else {
        addFeature(keys, p, to);
      }
      p = skipSpaces(to, end);
    }
    if (!found) {
      keys.addId(0, time ? zeroPlace() : ZERO_KEY);
    }
  }

  private long zeroPlace() {
    long place = order.of(ZERO, 0, 1, numbers);
    if (place == TimeOrder.NONE) {
      throw new DataException(
          "%s, column %s: got no such feature, which is 0, expected %s; mend it"
              .formatted(input.where(input.end()), name, order.expected()));
    }
    return place;
  }

  /** Where the label ends, if there is one. */
  private int afterLabel() {
    byte[] bytes = input.bytes();
    int to = wordEnd(input.start());
    for (int p = input.start(); p < to; p++) {
      if (bytes[p] == ':') {
        return input.start();
      }
    }
    return to;
  }

  private void addQuery(Batch keys, int from, int to) {
    byte[] bytes = input.bytes();
    int number = from + 4;
    boolean named = to > number && bytes[from + 1] == 'i' && bytes[from + 2] == 'd';
    if (!named || bytes[from + 3] != ':' || numbers.parseWhole(bytes, number) != to) {
      throw malformed(from, to, "qid:number or feature:value");
    }
    if (query) {
      keys.addId(0, time ? place(number, to) : numbers.integer());
    }
  }

  private void addFeature(Batch keys, int from, int to) {
    byte[] bytes = input.bytes();
    long inField = 0;
    int at = from;
    if (options.fields()) {
      int colon = numbers.parseWhole(bytes, at);
      inField = numbers.integer();
      at = colon > at && bytes[colon] == ':' ? colon + 1 : to;
    }
    int colon = at == to ? to : numbers.parseWhole(bytes, at);
    if (colon == at || colon >= to || bytes[colon] != ':') {
      throw malformed(from, to, options.fields() ? "field:feature:value" : "feature:value");
    }
    long number = numbers.integer();
    if (query || inField != field || !ids && number != feature) {
      return;
    }
    if (!ids) {
      found = true;
      addValue(keys, colon + 1, to);
    } else if (!isZero(colon + 1, to)) {
      keys.addId(0, time ? place(at, colon) : number);
    }
  }

  /** Adds the value of the feature; one that means none is no time, and the key of no text. */
  private void addValue(Batch keys, int from, int to) {
    byte[] bytes = input.bytes();
    boolean none = CsvFile.isOneOf(missing, bytes, from, to);
    if (!time) {
      keys.addId(0, none ? TextHash.EMPTY : valueKey(bytes, from, to));
    } else if (!none) {
      keys.addId(0, place(from, to));
    }
  }

  /** The key of a value: of a number however it is written, of another text as it is. */
  private long valueKey(byte[] bytes, int from, int to) {
    if (numbers.parseInteger(bytes, from, to)) {
      return TextHash.ofInteger(numbers.integer());
    }
    // Names of numbers end in a letter; floats are too few to tell numbers apart.
    if (bytes[to - 1] > '9' || !numbers.parseFloat(bytes, from, to)) {
      return TextHash.of(bytes, from, to);
    }
    String text = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    double number = Double.parseDouble(text);
    boolean whole = Math.abs(number) < WHOLE && number == (long) number;
    return TextHash.ofInteger(whole ? (long) number : Double.doubleToLongBits(number));
  }

  /** Whether a value says that the line does not have the id before it. */
  private boolean isZero(int from, int to) {
    return numbers.parseFloat(input.bytes(), from, to) && numbers.number() == 0;
  }

  private long place(int from, int to) {
    long place = order.of(input.bytes(), from, to, numbers);
    if (place == TimeOrder.NONE) {
      throw new DataException(
          "%s, column %s: got %s, expected %s; mend it"
              .formatted(input.where(from), name, input.quoted(from, to), order.expected()));
    }
    return place;
  }

  private DataException malformed(int from, int to, String expected) {
    return new DataException(
        "%s: got %s, expected %s; mend the line"
            .formatted(input.where(from), input.quoted(from, to), expected));
  }

  private int skipSpaces(int from, int end) {
    byte[] bytes = input.bytes();
    int p = from;
    while (p < end && LineInput.isSpace(bytes[p])) {
      p++;
    }
    return p;
  }

  private int wordEnd(int from) {
    byte[] bytes = input.bytes();
    int p = from;
    while (!LibsvmFile.endsWord(bytes[p])) {
      p++;
    }
    return p;
  }
}
