package dev.tern.cli.inspect;

import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import java.io.PrintWriter;
import java.util.Optional;

/** Prints rows for people, one a line: each column by name, ids of a slot in brackets. */
public final class RowPage {
  private RowPage() {}

  /** Prints all rows of {@code reader}; text shows as its hash. */
  public static void print(DataReader reader, PrintWriter out) {
    long row = 0;
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        for (int i = 0; i < batch.size(); i++) {
          row++;
          out.println("row " + row + ": " + line(batch, i));
        }
      }
    }
  }

  private static String line(Batch batch, int row) {
    Schema schema = batch.schema();
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < schema.labelDim(); i++) {
      append(line, schema.labels().get(i), batch.labels()[row * schema.labelDim() + i]);
    }
    for (int i = 0; i < schema.denseDim(); i++) {
      append(line, schema.dense().get(i), batch.dense()[row * schema.denseDim() + i]);
    }
    for (int slot = 0; slot < schema.slotCount(); slot++) {
      line.append(Shown.excerpt(schema.slots().get(slot).name())).append("=[");
      for (int k = batch.offsets(slot)[row]; k < batch.offsets(slot)[row + 1]; k++) {
        line.append(k == batch.offsets(slot)[row] ? "" : " ")
            .append(schema.slots().get(slot).text(batch.ids(slot)[k]));
        if (schema.slots().get(slot).weighted()) {
          line.append(':').append(number(batch.weights(slot)[k]));
        }
      }
      line.append("] ");
    }
    return line.toString().stripTrailing();
  }

  private static void append(StringBuilder line, String name, float value) {
    String text = Float.isNaN(value) ? "missing" : number(value);
    line.append(Shown.excerpt(name)).append('=').append(text).append(' ');
  }

  private static String number(float value) {
    return value == Math.rint(value) && Math.abs(value) < 1e9
        ? Long.toString((long) value)
        : Float.toString(value);
  }
}
