package dev.tern.files;

import dev.tern.data.DataException;
import java.util.Objects;

/**
 * What readers accept.
 *
 * @param anyLabel false: labels must be 0 or 1; true: any finite number
 * @param faults what becomes of bad records
 */
public record ReadPolicy(boolean anyLabel, Faults faults) {
  /** Labels 0 or 1; the first fault stops. */
  public static final ReadPolicy STRICT = new ReadPolicy(false, Faults.STRICT);

  public ReadPolicy {
    Objects.requireNonNull(faults, "faults");
  }

  /** This policy with labels of any finite value. */
  public ReadPolicy withAnyLabel() {
    return new ReadPolicy(true, faults);
  }

  /** This policy with another treatment of bad records. */
  public ReadPolicy withFaults(Faults faults) {
    return new ReadPolicy(anyLabel, faults);
  }

  boolean accepts(float label) {
    return anyLabel ? Float.isFinite(label) : label == 0 || label == 1;
  }

  /** The fault of a dense number that is infinite; {@code where} names file, record and column. */
  static DataException infinite(String where, String got) {
    return new DataException(
        where
            + ": got "
            + got
            + ", expected a finite number, at most 3.4e38; mend it, or put NaN where it is"
            + " missing");
  }

  /** The fault of a label that {@link #accepts} refuses; {@code where} names file and record. */
  DataException badLabel(String where, String got) {
    return new DataException(
        "%s: got label %s%s"
            .formatted(
                where,
                got,
                (anyLabel
                    ? ", expected a finite number; mend the data"
                    : ", expected 0 or 1; mend the data, or name the texts that mean 1 as"
                        + " positive")));
  }
}
