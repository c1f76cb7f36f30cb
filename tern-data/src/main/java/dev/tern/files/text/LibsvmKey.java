package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextHash;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.LineInput;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.TimeOrder;

/** The key of a line of features: its query, the value of one feature, or the ids of a field. */
final class LibsvmKey {
  private final LineInput input;
  private final LibsvmOptions options;
  private final NumberParser numbers = new NumberParser();
  private final TimeOrder order;
  private final boolean time;
  private final String name;
  private final boolean query;

  /** Whether the key is all ids of {@link #field}; else it is the value of {@link #feature}. */
  private final boolean ids;

  private final long field;
  private final long feature;

  /**
   * Finds {@code key} in the lines of {@code input}.
   *
   * @throws IllegalArgumentException where the notation has no such column
   */
  LibsvmKey(SparseColumn key, LineInput input, LibsvmOptions options, TimeOrder order) {
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
      keys.addId(0, time ? place(colon + 1, to) : TextHash.of(bytes, colon + 1, to));
    } else if (!isZero(colon + 1, to)) {
      keys.addId(0, time ? place(at, colon) : number);
    }
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
