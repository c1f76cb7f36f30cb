package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What a slot held: rows without a value, and whether all values are the same. */
final class SlotValues {
  private final boolean text;
  private long missing;
  private long first;
  private boolean some;
  private boolean several;

  private SlotValues(boolean text) {
    this.text = text;
  }

  /** One for each slot. */
  static SlotValues[] of(Schema schema, List<IdEncoding> slots) {
    SlotValues[] values = new SlotValues[schema.slotCount()];
    Arrays.setAll(values, slot -> new SlotValues(slots.get(slot).text()));
    return values;
  }

  void add(Batch batch, int slot) {
    missing += missing(batch, slot, text);
    long[] ids = batch.ids(slot);
    int count = batch.idCount(slot);
    for (int i = 0; i < count && !several; i++) {
      if (!text || ids[i] != TextHash.EMPTY) {
        several = some && ids[i] != first;
        first = ids[i];
        some = true;
      }
    }
  }

  /** Rows of a raw batch without an id other than the empty text's, where ids are of texts. */
  static int missing(Batch batch, int slot, boolean text) {
    int[] offsets = batch.offsets(slot);
    long[] ids = batch.ids(slot);
    int missing = 0;
    for (int row = 0; row < batch.size(); row++) {
      int at = offsets[row];
      while (text && at < offsets[row + 1] && ids[at] == TextHash.EMPTY) {
        at++;
      }
      missing += at == offsets[row + 1] ? 1 : 0;
    }
    return missing;
  }

  TrainingFacts.Column facts(String name, double unknown, TextDictionary dictionary) {
    Optional<String> only =
        some && !several
            ? Optional.of(text ? dictionary.text(first).orElse("one value") : Long.toString(first))
            : Optional.empty();
    return new TrainingFacts.Column(name, missing, unknown, only);
  }
}
