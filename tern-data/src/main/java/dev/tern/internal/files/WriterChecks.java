package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.KeyType;
import java.nio.file.Path;

/** What all writers ask of the rows they are given. */
public final class WriterChecks {
  private WriterChecks() {}

  public static void requireSameShape(Schema expected, Batch batch) {
    Schema got = batch.schema();
    if (got.labelDim() != expected.labelDim()
        || got.denseDim() != expected.denseDim()
        || got.slotCount() != expected.slotCount()) {
      throw new IllegalArgumentException(
          "write: got a batch of %s, expected %s as the writer was created with"
              .formatted(shape(got), shape(expected)));
    }
    for (int s = 0; s < got.slotCount(); s++) {
      if (got.slots().get(s).weighted() != expected.slots().get(s).weighted()) {
        throw new IllegalArgumentException(
            "write: got a batch whose slot %s has %s, expected %s as the writer was created with"
                .formatted(
                    got.slots().get(s).name(),
                    got.slots().get(s).weighted() ? "weights" : "no weights",
                    expected.slots().get(s).weighted() ? "weights" : "none"));
      }
    }
  }

  /** Refuses slots with weights for a format that cannot hold them. */
  public static void requireUnweighted(Path file, Schema schema, String format) {
    for (Slot slot : schema.slots()) {
      if (slot.weighted()) {
        throw new IllegalArgumentException(
            "%s: got slot %s, whose ids have weights, expected ids alone, as %s holds no weights; write libsvm or libffm"
                .formatted(file, slot.name(), format));
      }
    }
  }

  private static String shape(Schema schema) {
    return schema.labelDim()
        + " labels, "
        + schema.denseDim()
        + " dense numbers and "
        + schema.slotCount()
        + " slots";
  }

  /** The fault of a row with {@code count} ids in a slot whose rows all hold the same number. */
  public static DataException badHotness(Path file, long row, Slot slot, int count) {
    return new DataException(
        ("%s: row %s: got %s ids in slot %s, expected %s; write it as a slot of varying "
                + "hotness, or mend the data")
            .formatted(file, row + 1, count, slot.name(), slot.hotness()));
  }

  /** The fault of an id that keys of {@code type} cannot hold. */
  public static DataException badKey(Path file, long row, Slot slot, long id, KeyType type) {
    return new DataException(
        ("%s: row %s, slot %s: got id %s, expected one that a %s key holds; write I64 "
                + "keys, or encode the ids first")
            .formatted(file, row + 1, slot.name(), slot.text(id), type));
  }
}
