package dev.tern.files;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Synthetic rows like the behaviour of Taobao's users: an item is shown to a user who has looked at
 * others before. Columns, in order:
 *
 * <ul>
 *   <li>labels {@code click} and {@code buy}; only what was clicked may be bought;
 *   <li>numbers {@code day}, counted from 0, and the item's {@code price};
 *   <li>one-hot slots {@code user}, {@code item} and {@code category};
 *   <li>sequences {@code item_history} and {@code category_history} of equal lengths, the last item
 *       at the end: in a tenth of the rows empty, else up to 50 long.
 * </ul>
 *
 * <p>The planted teacher looks for items of the shown one's category in the history, which a sum of
 * the history's vectors hardly tells where categories outnumber the vectors' elements. Days are
 * drawn in order; each replaces one in twenty items by new ones.
 */
public final class TaobaoGenerator implements RowGenerator {
  private static final Schema SCHEMA =
      new Schema(
          List.of("click", "buy"),
          List.of("day", "price"),
          List.of(
              Slot.oneHot("user"),
              Slot.oneHot("item"),
              Slot.oneHot("category"),
              Slot.ragged("item_history"),
              Slot.ragged("category_history")));

  /** Items of a user among which a clicked one is looked for. */
  private static final int BEST = 10;

  private final long seed;
  private final double scale;
  private final long dayRows;
  private final TaobaoTeacher teacher;

  private TaobaoGenerator(long seed, double scale, long dayRows, double affinity) {
    this.seed = seed;
    this.scale = scale;
    this.dayRows = dayRows;
    teacher = new TaobaoTeacher(seed, scale, dayRows, affinity);
  }

  /**
   * A world of rows.
   *
   * @param scale factor of Taobao's 987,994 users, 4,162,024 items and 9,439 categories (User
   *     Behavior Data from Taobao, Tianchi data set 649), above 0 to 100
   * @param dayRows rows of a day, 1 or more: row {@code r} is of day {@code r / dayRows}
   */
  public static TaobaoGenerator of(long seed, double scale, long dayRows) {
    if (!(scale > 0 && scale <= 100)) {
      throw new IllegalArgumentException(
          "generate: got scale " + scale + ", expected above 0 to 100; 1 is as many ids as Taobao");
    }
    if (dayRows < 1) {
      throw new IllegalArgumentException(
          "generate: got %d rows a day, expected 1 or more".formatted(dayRows));
    }
    return new TaobaoGenerator(seed, scale, dayRows, 0);
  }

  /**
   * The same world, with purchases that depend on what draws clicks. All but the label {@code buy}
   * stays as it is.
   *
   * @param affinity factor of the click's logit in that of the purchase, 0 to 10. With 0, as by
   *     {@link #of}, the two labels have little in common that a model could learn; with 1 they
   *     have the effects of user, item and category alike
   */
  public TaobaoGenerator withAffinity(double affinity) {
    if (!(affinity >= 0 && affinity <= 10)) {
      throw new IllegalArgumentException(
          "generate: got affinity " + affinity + ", expected 0 to 10");
    }
    return new TaobaoGenerator(seed, scale, dayRows, affinity);
  }

  @Override
  public Schema schema() {
    return SCHEMA;
  }

  @Override
  public DataReader open(long firstRow, long rows) {
    RowGenerator.requireRange(firstRow, rows);
    TaobaoTeacher.Row row = new TaobaoTeacher.Row();
    return new GeneratedRows(SCHEMA, (number, to) -> put(number, row, to), firstRow, rows);
  }

  private void put(long number, TaobaoTeacher.Row row, Batch batch) {
    teacher.draw(number, row);
    boolean click = teacher.clicks(number, row);
    batch.setLabel(0, click ? 1 : 0);
    batch.setLabel(1, click && teacher.buys(number, row) ? 1 : 0);
    batch.setDense(0, row.day);
    batch.setDense(1, (float) row.price);
    batch.addId(0, row.user);
    batch.addId(1, row.item);
    batch.addId(2, row.category);
    for (int i = 0; i < row.length; i++) {
      batch.addId(3, row.items[i]);
      batch.addId(4, row.categories[i]);
    }
  }

  /**
   * What a perfect model reaches: of clicks in all rows, or of purchases in the rows that were
   * clicked.
   */
  @Override
  public Optimum optimum(int label, long firstRow, long rows, LongConsumer progress) {
    RowGenerator.requireOptimum(firstRow, rows);
    double[] probabilities = new double[(int) rows];
    TaobaoTeacher.Row row = new TaobaoTeacher.Row();
    int positive = 0;
    int negative = probabilities.length;
    int best = 0;
    for (long number = firstRow; number < firstRow + rows; number++) {
      teacher.draw(number, row);
      boolean click = teacher.clicks(number, row);
      if (label == 0 || click) {
        double p = label == 0 ? row.clickRate : row.buyRate;
        if (label == 0 ? click : teacher.buys(number, row)) {
          probabilities[positive++] = p;
          best += label == 0 && teacher.isAmongBest(row, BEST) ? 1 : 0;
        } else {
          probabilities[--negative] = p;
        }
      }
      if ((number & 0xFFF) == 0) {
        progress.accept(number - firstRow);
      }
    }
    int counted = positive + probabilities.length - negative;
    System.arraycopy(
        probabilities, negative, probabilities, positive, probabilities.length - negative);
    Optimum optimum = Optimum.of(Arrays.copyOf(probabilities, counted), positive);
    return label == 0 ? optimum.withRecallAt10((double) best / positive) : optimum;
  }
}
