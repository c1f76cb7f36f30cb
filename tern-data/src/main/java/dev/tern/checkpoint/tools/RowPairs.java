package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.memory.Memory;

/** Walks over the ids of a table in two checkpoints in ascending order, with the rows of each. */
final class RowPairs implements AutoCloseable {
  private final int width;
  private final SavedTable firstTable;
  private final SavedTable secondTable;
  private final RowWalk first;
  private final RowWalk second;

  /** Whether each walk has a current row, and whether that row has the current id. */
  private boolean firstLeft;

  private boolean secondLeft;
  private boolean inFirst = true;
  private boolean inSecond = true;

  private RowPairs(
      int width, SavedTable firstTable, RowWalk first, SavedTable secondTable, RowWalk second) {
    this.width = width;
    this.firstTable = firstTable;
    this.secondTable = secondTable;
    this.first = first;
    this.second = second;
  }

  /**
   * Opens table {@code slot} of both.
   *
   * @throws DataException if the checkpoints have different models, different encoders (an id would
   *     stand for different values), or different widths of this table
   */
  static RowPairs open(Checkpoint first, Checkpoint second, int slot) {
    requireEqual("the tables", first, first.tables(), second, second.tables());
    requireEqual("the model", first, first.modelText(), second, second.modelText());
    requireSameEncoders(first, second);
    RowShape before = RowShape.of(first.tableFiles(slot).getLast());
    RowShape after = RowShape.of(second.tableFiles(slot).getLast());
    requireEqual(
        "the number of weights in a row of " + first.tables().get(slot),
        first,
        before.width(),
        second,
        after.width());
    SavedTable left = SavedTable.open(first.tableFiles(slot), before);
    try {
      SavedTable right = SavedTable.open(second.tableFiles(slot), after);
      return new RowPairs(
          before.width(), left, new RowWalk(before, left), right, new RowWalk(after, right));
    } catch (RuntimeException | Error e) {
      left.close();
      throw e;
    }
  }

  private static void requireSameEncoders(Checkpoint first, Checkpoint second) {
    if (!second.encodesAs(first)) {
      throw new DataException(
          "%s: got other encoders than in %s, expected the same, or ids stand for other values;"
                  .formatted(second.folder(), first.folder())
              + " compare checkpoints of one run, or of runs on the same training files");
    }
  }

  private static void requireEqual(
      String what, Checkpoint first, Object expected, Checkpoint second, Object got) {
    if (!got.equals(expected)) {
      throw new DataException(
          "%s: got %s %s, expected %s as in %s; compare checkpoints of one model"
              .formatted(second.folder(), what, got, expected, first.folder()));
    }
  }

  /** Goes to the next id; the first call goes to the first. Returns whether there is one. */
  boolean next() {
    if (inFirst) {
      firstLeft = first.next();
    }
    if (inSecond) {
      secondLeft = second.next();
    }
    inFirst = firstLeft && (!secondLeft || first.id() <= second.id());
    inSecond = secondLeft && (!firstLeft || second.id() <= first.id());
    return inFirst || inSecond;
  }

  boolean inFirst() {
    return inFirst;
  }

  boolean inSecond() {
    return inSecond;
  }

  long id() {
    return inFirst ? first.id() : second.id();
  }

  /** Whether the weights of an id that both have differ in any bit. */
  boolean differ() {
    for (int j = 0; j < width; j++) {
      if (Float.floatToRawIntBits(first.weight(j)) != Float.floatToRawIntBits(second.weight(j))) {
        return true;
      }
    }
    return false;
  }

  /** The L2 norm of the difference of the weights of an id that both have. */
  double distance() {
    double sum = 0;
    for (int j = 0; j < width; j++) {
      double difference = (double) first.weight(j) - second.weight(j);
      sum = Math.fma(difference, difference, sum);
    }
    return Math.sqrt(sum);
  }

  /** Whether the row is new in the second, or has other weights there. */
  boolean changed() {
    return inSecond && (!inFirst || differ());
  }

  /** The row in the second. */
  RowWalk second() {
    return second;
  }

  /** Copies the weights of the row in the second to row {@code row} of the rows at {@code rows}. */
  void copyWeights(long rows, int row) {
    Memory.copy(second.row(), rows + 4L * width * row, 4L * width);
  }

  /** Weights of a row. */
  int width() {
    return width;
  }

  @Override
  public void close() {
    first.close();
    second.close();
    firstTable.close();
    secondTable.close();
  }
}
