package dev.tern.cli.understand;

import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import java.util.ArrayList;
import java.util.List;

/**
 * The values that a row has in the columns of a part, for people.
 *
 * @param texts the texts of the ids that are hashes
 */
record ShownValues(FeatureEncoder encoder, TextDictionary texts) {
  private static final int MOST = 3;

  /** The values of {@code row}; of many ids the first. */
  String of(Batch rows, int row, ColumnPart part) {
    List<String> values = new ArrayList<>();
    for (int number : part.dense()) {
      values.add(number(rows.dense()[row * rows.schema().denseDim() + number]));
    }
    for (int slot : part.slots()) {
      values.add(ids(rows, row, slot));
    }
    return String.join(" / ", values);
  }

  private static String number(float value) {
    boolean whole = value == Math.rint(value) && Math.abs(value) < 1e9;
    return Float.isNaN(value)
        ? "missing"
        : whole ? Long.toString((long) value) : Float.toString(value);
  }

  private String ids(Batch rows, int row, int slot) {
    List<String> values = new ArrayList<>();
    int from = rows.offsets(slot)[row];
    int count = rows.idCount(slot, row);
    for (int i = from; i < from + Math.min(count, MOST); i++) {
      values.add(id(rows.ids(slot)[i], slot));
    }
    return count == 0
        ? "missing"
        : String.join(" ", values) + (count > MOST ? " and " + (count - MOST) + " more" : "");
  }

  private String id(long id, int slot) {
    Slot of = encoder.rawSchema().slots().get(slot);
    if (!encoder.slots().get(slot).text()) {
      return of.text(id);
    }
    return id == TextHash.EMPTY
        ? "missing"
        : texts.text(id).map(Shown::excerpt).orElseGet(() -> of.text(id));
  }
}
