package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * Synthetic rows like Criteo's display advertising data: label, 13 counts (some missing) I1 to I13
 * and 26 one-hot slots C1 to C26 of Zipf-like ids, about a quarter of the labels 1.
 *
 * <p>Labels are drawn from a planted teacher whose probability of every row is known, so the best
 * AUC (about 0.80) and log loss that any model can reach on a set of rows are known too ({@link
 * #optimum}). A row depends on seed, scale and its number only: sets of different rows, such as one
 * to train and one to evaluate, share teacher and ids. Ids of different slots differ.
 */
public final class CriteoGenerator implements RowGenerator {
  /** Distinct ids of C1 to C26 in Criteo's 45,840,617 rows. */
  private static final int[] CARDINALITIES = {
    1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992,
    5461306, 10, 5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572
  };

  private static final double CRITEO_ROWS = 45_840_617;
  private static final int SMALL = 100;

  private static final Schema SCHEMA =
      new Schema(
          List.of("label"),
          IntStream.rangeClosed(1, CriteoTeacher.DENSE).mapToObj(i -> "I" + i).toList(),
          IntStream.rangeClosed(1, CriteoTeacher.SLOTS)
              .mapToObj(i -> Slot.oneHot("C" + i))
              .toList());

  private final int[] cardinalities;
  private final long[] firstIds;
  private final CriteoTeacher teacher;

  private CriteoGenerator(long seed, double scale) {
    cardinalities =
        Arrays.stream(CARDINALITIES)
            .map(n -> Math.max(Math.min(n, SMALL), (int) Math.rint(n * scale)))
            .toArray();
    firstIds = new long[cardinalities.length];
    for (int s = 1; s < firstIds.length; s++) {
      firstIds[s] = firstIds[s - 1] + cardinalities[s - 1];
    }
    teacher = new CriteoTeacher(seed, cardinalities);
  }

  /**
   * A world of rows.
   *
   * @param scale factor of Criteo's cardinalities, above 0 to 100; slots of up to 100 ids keep
   *     theirs
   */
  public static CriteoGenerator of(long seed, double scale) {
    if (!(scale > 0 && scale <= 100)) {
      throw new IllegalArgumentException(
          "generate: got scale " + scale + ", expected above 0 to 100; 1 is as many ids as Criteo");
    }
    return new CriteoGenerator(seed, scale);
  }

  /** The scale at which {@code rows} rows see each id about as often as Criteo's rows do. */
  public static double scaleFor(long rows) {
    return Math.clamp(rows / CRITEO_ROWS, 1e-6, 1);
  }

  /** label, I1 to I13, C1 to C26. */
  @Override
  public Schema schema() {
    return SCHEMA;
  }

  /** Ids of each slot, C1 first. */
  public int[] cardinalities() {
    return cardinalities.clone();
  }

  @Override
  public DataReader open(long firstRow, long rows) {
    RowGenerator.requireRange(firstRow, rows);
    float[] dense = new float[CriteoTeacher.DENSE];
    int[] ranks = new int[CriteoTeacher.SLOTS];
    return new GeneratedRows(SCHEMA, (row, to) -> put(row, dense, ranks, to), firstRow, rows);
  }

  private void put(long row, float[] dense, int[] ranks, Batch batch) {
    double probability = teacher.draw(row, dense, ranks);
    batch.setLabel(0, teacher.label(row, probability) ? 1 : 0);
    for (int d = 0; d < dense.length; d++) {
      batch.setDense(d, dense[d]);
    }
    for (int s = 0; s < ranks.length; s++) {
      batch.addId(s, firstIds[s] + ranks[s]);
    }
  }

  /** The probability that the label of {@code row} is 1. */
  public double probability(long row) {
    return teacher.draw(row, new float[CriteoTeacher.DENSE], new int[CriteoTeacher.SLOTS]);
  }

  @Override
  public Optimum optimum(int label, long firstRow, long rows, LongConsumer progress) {
    RowGenerator.requireOptimum(firstRow, rows);
    double[] probabilities = new double[(int) rows];
    int positive = 0;
    int negative = probabilities.length;
    float[] dense = new float[CriteoTeacher.DENSE];
    int[] ranks = new int[CriteoTeacher.SLOTS];
    for (long row = firstRow; row < firstRow + rows; row++) {
      double p = teacher.draw(row, dense, ranks);
      if (teacher.label(row, p)) {
        probabilities[positive] = p;
        positive++;
      } else {
        negative--;
        probabilities[negative] = p;
      }
      if ((row & 0xFFF) == 0) {
        progress.accept(row - firstRow);
      }
    }
    return Optimum.of(probabilities, positive);
  }
}
