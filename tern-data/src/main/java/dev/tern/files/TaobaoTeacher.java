package dev.tern.files;

import dev.tern.base.SplitMix64;
import java.util.Arrays;

/**
 * What the rows of {@link TaobaoGenerator} are drawn from. Every draw is a hash of (seed, row,
 * place), and only exact operations of IEEE 754 and {@link StrictMath} take part, so a row is the
 * same on every machine.
 *
 * <p>A user is interested in {@value #INTERESTS} categories. Seven of ten items of the history, and
 * half of the items shown, are of these; others of any category. With {@code m} items of the shown
 * item's category in the history, the click's logit is
 *
 * <pre>
 * -2.6 + 0.5 user + 0.7 item + 1.5 ln(1 + m)
 * </pre>
 *
 * where {@code user} and {@code item} are nearly normal effects. Of what is clicked, the purchase's
 * logit is
 *
 * <pre>
 * -0.8 - 0.8 patience(user) (price - 1) + 1.2 recent + affinity (logit of the click)
 * </pre>
 *
 * where {@code recent} is 1 if one of the last 5 items is of the category, else 0.
 */
final class TaobaoTeacher {
  static final int MAX_LENGTH = 50;
  static final int INTERESTS = 6;

  private static final double USERS = 987_994;
  private static final double ITEMS = 4_162_024;
  private static final double CATEGORIES = 9_439;
  private static final int RECENT = 5;

  /** Days in which all items of a place in the catalogue are replaced once. */
  private static final int LIFE = 20;

  private final long seed;
  private final int users;
  private final int categories;
  private final int perCategory;
  private final long dayRows;
  private final double affinity;

  /** One row; arrays hold {@code length} entries. */
  static final class Row {
    int day;
    long user;
    long item;
    long category;
    double price;
    int length;
    final long[] items = new long[MAX_LENGTH];
    final long[] categories = new long[MAX_LENGTH];
    double taste;
    double clickRate;
    double buyRate;
  }

  TaobaoTeacher(long seed, double scale, long dayRows, double affinity) {
    this.seed = seed;
    users = (int) Math.max(100, Math.rint(USERS * scale));
    categories = (int) Math.max(50, Math.rint(CATEGORIES * scale));
    perCategory = (int) Math.max(4, Math.rint(ITEMS * scale / categories));
    this.dayRows = dayRows;
    this.affinity = affinity;
  }

  /** Draws everything of row {@code number} except its labels. */
  void draw(long number, Row row) {
    long state = SplitMix64.mix(seed ^ SplitMix64.mix(number));
    row.day = Math.toIntExact(number / dayRows);
    row.user = SplitMix64.bounded(state + 1, users);
    row.category = category(row.user, uniform(state + 2) < 0.5, state + 3);
    row.item = item(row.category, row.day, state + 4);
    row.length = uniform(state + 5) < 0.1 ? 0 : 1 + (int) SplitMix64.bounded(state + 6, MAX_LENGTH);
    int matches = 0;
    boolean recent = false;
    for (int i = 0; i < row.length; i++) {
      long at = state + 10 + 3L * i;
      row.categories[i] = category(row.user, uniform(at) < 0.7, at + 1);
      row.items[i] = item(row.categories[i], row.day, at + 2);
      if (row.categories[i] == row.category) {
        matches++;
        recent |= i >= row.length - RECENT;
      }
    }
    row.price = 1 + uniform(hash(3, row.item));
    row.taste = -2.6 + 0.5 * normal(hash(4, row.user));
    double click = clickLogit(row, row.item, matches);
    row.clickRate = sigmoid(click);
    double patience = normal(hash(5, row.user));
    double own = -0.8 - 0.8 * patience * (row.price - 1) + (recent ? 1.2 : 0);
    row.buyRate = sigmoid(own + affinity * click);
  }

  private double clickLogit(Row row, long item, int matches) {
    double quality = normal(hash(2, item));
    return row.taste + 0.7 * quality + 1.5 * StrictMath.log1p(matches);
  }

  private double clickRate(Row row, long item, int matches) {
    return sigmoid(clickLogit(row, item, matches));
  }

  /**
   * Whether fewer than {@code most} items are shown to the row's user, and clicked, more often than
   * the row's item.
   */
  boolean isAmongBest(Row row, int most) {
    int[] matches = new int[categories];
    for (int i = 0; i < row.length; i++) {
      matches[(int) row.categories[i]]++;
    }
    double[] shown = shownRates(row.user);
    int category = (int) row.category;
    int rank = (int) (row.item % ((long) categories * perCategory) / categories);
    double own = shown[category] * rankRate(rank) * clickRate(row, row.item, matches[category]);
    int better = 0;
    for (int c = 0; c < categories; c++) {
      // The click's rate is at most 1, and ranks fall.
      for (int r = 0; r < perCategory && shown[c] * rankRate(r) > own; r++) {
        long item = generation(c + (long) categories * r, row.day);
        better += shown[c] * rankRate(r) * clickRate(row, item, matches[c]) > own ? 1 : 0;
        if (better == most) {
          return false;
        }
      }
    }
    return true;
  }

  /** How often an item of each category is shown to a user. */
  private double[] shownRates(long user) {
    double[] rates = new double[categories];
    Arrays.fill(rates, 0.5 / categories);
    for (int interest = 0; interest < INTERESTS; interest++) {
      rates[(int) category(user, interest)] += 0.5 / INTERESTS;
    }
    return rates;
  }

  /** How often an item of a category is its one of this rank. */
  private double rankRate(int rank) {
    return StrictMath.cbrt((rank + 1.0) / perCategory)
        - StrictMath.cbrt((double) rank / perCategory);
  }

  boolean clicks(long number, Row row) {
    return uniform(SplitMix64.mix(seed ^ SplitMix64.mix(number)) - 1) < row.clickRate;
  }

  boolean buys(long number, Row row) {
    return uniform(SplitMix64.mix(seed ^ SplitMix64.mix(number)) - 2) < row.buyRate;
  }

  /** One of the user's categories, or any. */
  private long category(long user, boolean own, long draw) {
    if (!own) {
      return SplitMix64.bounded(draw, categories);
    }
    return category(user, SplitMix64.bounded(draw, INTERESTS));
  }

  /** The category of an interest of a user. */
  private long category(long user, long interest) {
    return SplitMix64.bounded(hash(1, user * INTERESTS + interest), categories);
  }

  /**
   * An item of a category on a day, by a power law. The ids of a place in the catalogue follow each
   * other, one every {@value #LIFE} days.
   */
  private long item(long category, int day, long draw) {
    double u = uniform(draw);
    return generation(category + (long) categories * (int) (perCategory * u * u * u), day);
  }

  /** The item that is at a place of the catalogue on a day. */
  private long generation(long place, int day) {
    long generation = (day + SplitMix64.bounded(hash(6, place), LIFE)) / LIFE;
    return place + generation * categories * perCategory;
  }

  private long hash(int what, long of) {
    return SplitMix64.mix(SplitMix64.mix(seed + 0x7A0BA0L * what) ^ of);
  }

  /** In [0, 1), from the bits of a number that need not be mixed. */
  private static double uniform(long bits) {
    return (SplitMix64.mix(bits) >>> 11) * 0x1p-53;
  }

  /** Nearly normal: the sum of 12 uniform numbers less 6. */
  private static double normal(long bits) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
      sum += uniform(bits + i);
    }
    return sum;
  }

  private static double sigmoid(double x) {
    return 1 / (1 + StrictMath.exp(-x));
  }
}
