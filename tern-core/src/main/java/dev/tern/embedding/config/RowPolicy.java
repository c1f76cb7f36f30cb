package dev.tern.embedding.config;

import java.util.Objects;

/**
 * Which ids have rows.
 *
 * @param admission which new ids get a row in training
 * @param eviction which rows are removed
 * @param maxRows rows at most, 1 or more; {@link Long#MAX_VALUE} for any number
 * @param whenFull what becomes of an id for which there is no room
 */
public record RowPolicy(Admission admission, Eviction eviction, long maxRows, WhenFull whenFull) {
  /** Every id has a row from when it is first met, for good. */
  public static final RowPolicy ALL =
      new RowPolicy(new Admission.Always(), new Eviction.Never(), Long.MAX_VALUE, WhenFull.ERROR);

  public RowPolicy {
    Objects.requireNonNull(admission, "admission");
    Objects.requireNonNull(eviction, "eviction");
    Objects.requireNonNull(whenFull, "whenFull");
    require(maxRows >= 1, "maxRows", maxRows, "1 or more");
    if (eviction.makesRoom() && maxRows == Long.MAX_VALUE) {
      throw new IllegalArgumentException(
          "row policy: got " + eviction + " without a limit, expected one; give maxRows");
    }
  }

  /** The same with another rule of admission. */
  public RowPolicy withAdmission(Admission rule) {
    return new RowPolicy(rule, eviction, maxRows, whenFull);
  }

  /** The same with another rule of eviction. */
  public RowPolicy withEviction(Eviction rule) {
    return new RowPolicy(admission, rule, maxRows, whenFull);
  }

  /** The same with at most {@code rows} rows. */
  public RowPolicy withMaxRows(long rows, WhenFull full) {
    return new RowPolicy(admission, eviction, rows, full);
  }

  /** The same with at most {@code rows} rows, which {@code rule} removes to make room. */
  public RowPolicy withRoomMadeBy(Eviction rule, long rows) {
    return new RowPolicy(admission, rule, rows, whenFull);
  }

  /** Whether every id gets a row and keeps it. */
  public boolean isAll() {
    return admission instanceof Admission.Always
        && eviction instanceof Eviction.Never
        && maxRows == Long.MAX_VALUE;
  }

  /** Whether an id that training meets may be left without a row. */
  public boolean leavesIdsWithout() {
    return !(admission instanceof Admission.Always)
        || maxRows != Long.MAX_VALUE && whenFull == WhenFull.UNKNOWN;
  }

  /**
   * Whether positions in clicked samples count differently from others. Training lookups then need
   * labels: a {@code BatchLookup} takes the first label of each sample, a {@code Lookup} is given
   * them by {@code label}.
   */
  public boolean weighsClicks() {
    return admission instanceof Admission.ByCount counted && counted.clickWeight() != 1
        || eviction instanceof Eviction.LowScore low && low.showWeight() != low.clickWeight();
  }

  /** Requires a whole number from 1 to {@code most}. */
  static void requireUpTo(long most, String name, long got) {
    require(got >= 1 && got <= most, name, got, "1 to " + most);
  }

  static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "row policy: got " + name + " " + got + ", expected " + expected);
    }
  }
}
