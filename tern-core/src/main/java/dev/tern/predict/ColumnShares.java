package dev.tern.predict;

import dev.tern.data.Batch;
import dev.tern.data.ColumnPart;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextHash;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * What each column adds to the logits of rows: the logit less the one that the row has with the
 * column missing. Slots of one sequence are left out together, under the name of the sequence
 * ({@link ColumnPart}).
 *
 * <p>With {@code N} rows, {@code C} columns and {@code T} tasks, {@code logits} is {@code N x T}
 * and {@code shares} is {@code N x C x T}, row-major. For example, where a logit of 1.5 becomes
 * 1.25 without {@code age}, the share of {@code age} is 0.25. Shares need not add up to the logit:
 * columns that say the same are each missed little.
 *
 * @param columns names of the columns
 * @param rows number of rows
 * @param logits of the rows as they are
 * @param shares of the columns
 */
public record ColumnShares(List<String> columns, int rows, float[] logits, float[] shares) {
  /**
   * Explains rows: each is scored once more for each of its columns.
   *
   * @param base raw rows of the model
   * @param encoder of the model, which says how a missing value is written
   * @param tasks of the model
   * @param model writes the logits of rows, of each one for each task, to an array
   */
  public static ColumnShares of(
      Batch base, FeatureEncoder encoder, int tasks, BiConsumer<Batch, float[]> model) {
    // The encoder's, as rows from files do not say what their sequences are.
    List<ColumnPart> parts = ColumnPart.of(encoder.rawSchema());
    int rows = base.size();
    float[] whole = new float[rows * tasks];
    model.accept(base, whole);
    float[] without = new float[whole.length];
    float[] shares = new float[Math.multiplyExact(whole.length, parts.size())];
    Batch scratch = new Batch(base.schema(), Math.max(1, rows));
    for (int c = 0; c < parts.size(); c++) {
      scratch.clear();
      scratch.appendRows(base, 0, rows);
      leaveOut(parts.get(c), scratch, encoder);
      model.accept(scratch, without);
      for (int row = 0; row < rows; row++) {
        for (int task = 0; task < tasks; task++) {
          shares[(row * parts.size() + c) * tasks + task] =
              whole[row * tasks + task] - without[row * tasks + task];
        }
      }
    }
    List<String> names = parts.stream().map(ColumnPart::name).toList();
    return new ColumnShares(names, rows, whole, shares);
  }

  private static void leaveOut(ColumnPart part, Batch rows, FeatureEncoder encoder) {
    int dim = rows.schema().denseDim();
    for (int number : part.dense()) {
      for (int row = 0; row < rows.size(); row++) {
        rows.dense()[row * dim + number] = Float.NaN;
      }
    }
    for (int slot : part.slots()) {
      boolean text = encoder.slots().get(slot).text();
      boolean filled = text && rows.schema().slots().get(slot).hotness() == 1;
      long[] ids = rows.ensureIds(slot, rows.size());
      for (int row = 0; row < rows.size(); row++) {
        ids[row] = TextHash.EMPTY;
        rows.offsets(slot)[row + 1] = filled ? row + 1 : 0;
      }
      if (rows.schema().slots().get(slot).weighted()) {
        int count = filled ? rows.size() : 0;
        Arrays.fill(rows.ensureWeights(slot, count), 0, count, 1);
      }
    }
  }

  /** Tasks of the model; 0 where there are no rows. */
  public int tasks() {
    return rows == 0 ? 0 : logits.length / rows;
  }

  /** The share of a column in the logit of a row. */
  public float share(int row, int column, int task) {
    return shares[(row * columns.size() + column) * tasks() + task];
  }
}
