package dev.tern.files;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Objects;

/**
 * What readers accept.
 *
 * @param labels what labels may be
 * @param faults what becomes of bad records
 * @param threads how many threads read; 1: the one that takes the batches, alone. More read beside
 *     that one, or for Parquet together with it, as one of them. Rows and their order do not depend
 *     on it. Where bad records are dropped, one reads
 * @param once whether one pass is read, so that files of lines may be pipes
 */
public record ReadPolicy(Labels labels, Faults faults, int threads, boolean once) {
  /** What labels may be. */
  public enum Labels {
    /** 0 or 1. */
    BINARY,
    /** Any finite number. */
    FINITE,
    /**
     * Not read: rows have none, and files may lack them or hold anything in their place. Where a
     * Raw file's size fits both, it has labels if what is in their place looks like it: 0 and 1, or
     * the same in all rows. If they may be labels of another kind, as 1 to 5, it is a fault.
     */
    NONE
  }

  /** Labels 0 or 1; the first fault stops. */
  public static final ReadPolicy STRICT = new ReadPolicy(Labels.BINARY, Faults.STRICT, 1);

  /** A policy of files that may be read more than once. */
  public ReadPolicy(Labels labels, Faults faults, int threads) {
    this(labels, faults, threads, false);
  }

  public ReadPolicy {
    Objects.requireNonNull(labels, "labels");
    Objects.requireNonNull(faults, "faults");
    if (threads < 1) {
      throw new IllegalArgumentException("read: got " + threads + " threads, expected 1 or more");
    }
  }

  /** This policy with labels of any finite value. */
  public ReadPolicy withAnyLabel() {
    return new ReadPolicy(Labels.FINITE, faults, threads, once);
  }

  /** This policy with rows that have no labels, whether or not the files do. */
  public ReadPolicy withoutLabels() {
    return new ReadPolicy(Labels.NONE, faults, threads, once);
  }

  /** This policy with another treatment of bad records. */
  public ReadPolicy withFaults(Faults faults) {
    return new ReadPolicy(labels, faults, threads, once);
  }

  /** This policy with {@code threads} threads that read. */
  public ReadPolicy withThreads(int threads) {
    return new ReadPolicy(labels, faults, threads, once);
  }

  /**
   * This policy for one pass over files of lines: pipes and devices are read too, by one thread,
   * and without a look into them before. A second pass over a pipe finds no rows.
   */
  public ReadPolicy readOnce() {
    return new ReadPolicy(labels, faults, threads, true);
  }

  /** Threads to read with: one where bad records are dropped, so that they are found in order. */
  public int readers() {
    return strict() && !once ? threads : 1;
  }

  /** Whether the first fault stops. */
  public boolean strict() {
    return faults.equals(Faults.STRICT);
  }

  public boolean accepts(float label) {
    return switch (labels) {
      case BINARY -> label == 0 || label == 1;
      case FINITE -> Float.isFinite(label);
      case NONE -> true;
    };
  }

  /** What rows of a file of {@code schema} hold. */
  public Schema delivered(Schema schema) {
    return labels == Labels.NONE ? new Schema(List.of(), schema.dense(), schema.slots()) : schema;
  }

  /** The columns to read, out of {@code columns}. */
  public Columns read(Columns columns) {
    return labels == Labels.NONE ? columns.withoutLabels() : columns;
  }

  /** The fault of a dense number that is infinite; {@code where} names file, record and column. */
  public static DataException infinite(String where, String got) {
    return new DataException(
        where
            + ": got "
            + got
            + ", expected a finite number, at most 3.4e38; mend it, or put NaN where it is"
            + " missing");
  }

  /** The fault of a label that {@link #accepts} refuses; {@code where} names file and record. */
  public DataException badLabel(String where, String got) {
    return new DataException(
        "%s: got label %s%s"
            .formatted(
                where,
                got,
                (labels == Labels.FINITE
                    ? ", expected a finite number; mend the data"
                    : ", expected 0 or 1; mend the data, or list the texts that mean 1 in"
                        + " data.label.positive")));
  }
}
