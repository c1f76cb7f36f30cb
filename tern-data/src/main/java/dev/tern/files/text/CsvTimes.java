package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.TimeParser;
import dev.tern.data.encode.TimePart;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.TimeOrder;
import java.util.Optional;

/** Times in the fields of a CSV file, as parts of them or as their order. */
final class CsvTimes {
  /**
   * A column of times.
   *
   * @param name as asked for
   * @param field that holds the times
   * @param part of them; empty for their order
   * @param slot whether it is slot {@code index}, else dense number {@code index}
   * @param values what ids are: hashes of the text of the part, or the part; where each row must
   *     have one, {@link SparseColumn.Values#INSTANT}
   */
  record Column(
      String name,
      int field,
      Optional<TimePart> part,
      boolean slot,
      int index,
      SparseColumn.Values values) {
    boolean text() {
      return values == SparseColumn.Values.TEXT;
    }
  }

  private final CsvInput input;
  private final TimeOrder order;
  private final TextDictionary dictionary;
  private final NumberParser numbers = new NumberParser();

  CsvTimes(CsvInput input, TimeOrder order, TextDictionary dictionary) {
    this.input = input;
    this.order = order;
    this.dictionary = dictionary;
  }

  /** Puts the time in the column's field, or that it is missing, into the row. */
  void read(Batch batch, Column column, boolean missing) {
    int from = input.start(column.field());
    int to = input.end(column.field());
    if (missing && column.values() != SparseColumn.Values.INSTANT) {
      addMissing(batch, column);
      return;
    }
    if (column.part().isEmpty()) {
      long place = order.of(input.bytes(), from, to, numbers);
      if (place == TimeOrder.NONE) {
        throw fault(column, from, to, order.expected() + "; mend it");
      }
      batch.addId(column.index(), place);
      return;
    }
    long micros = TimeParser.parse(input.bytes(), from, to);
    if (micros == TimeParser.NONE) {
      throw fault(
          column,
          from,
          to,
          "a time such as 2026-01-31T08:30:00Z, or a number of seconds since 1970; mend it");
    }
    TimePart part = column.part().get();
    if (!column.slot()) {
      batch.setDense(column.index(), part.number(micros));
    } else if (column.text()) {
      long whole = part.whole(micros);
      long hash = TextHash.ofInteger(whole);
      dictionary.sawInteger(hash, whole);
      batch.addId(column.index(), hash);
    } else {
      batch.addId(column.index(), part.whole(micros));
    }
  }

  private void addMissing(Batch batch, Column column) {
    if (!column.slot()) {
      batch.setDense(column.index(), Float.NaN);
    } else if (column.text()) {
      dictionary.saw(TextHash.EMPTY, new byte[0], 0, 0);
      batch.addId(column.index(), TextHash.EMPTY);
    }
  }

  private DataException fault(Column column, int from, int to, String expected) {
    return new DataException(
        "%s, column %s: got %s, expected %s"
            .formatted(input.where(from), column.name(), input.quoted(from, to), expected));
  }
}
