package dev.tern.files;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * @param apart what labels of some names may be, which are numbers whatever texts mean the label 1
 */
public record ReadPolicy(
    Labels labels, Faults faults, int threads, boolean once, Map<String, Labels> apart) {
  /**
   * What labels may be.
   *
   * @param kind numbers of which kind
   * @param classes of {@link Kind#CLASS} how many there are, else 0
   * @param optional whether a row may lack the label, which is NaN then: where a file has nothing,
   *     null, NaN or a text that means a missing value
   * @param missing where labels are optional, a number that says so too, as -1 does in HugeCTR's
   *     files; else NaN
   */
  public record Labels(Kind kind, int classes, boolean optional, float missing) {
    /** Kinds of labels. */
    public enum Kind {
      /** 0 or 1. */
      BINARY,
      /** Any finite number. */
      FINITE,
      /** 0 to 1, as shares are. */
      SHARE,
      /** A finite number of 0 or more, as counts are. */
      COUNT,
      /** A whole number from 0 to below the number of classes. */
      CLASS,
      /** How often a row counts, which is no label: a finite number of 0 or more. */
      WEIGHT,
      /**
       * Not read: rows have none, and files may lack them or hold anything in their place. Where a
       * Raw file's size fits both, it has labels if what is in their place looks like it: 0 and 1,
       * or the same in all rows. If they may be labels of another kind, as 1 to 5, it is a fault.
       */
      NONE
    }

    /** {@link Kind#BINARY}. */
    public static final Labels BINARY = new Labels(Kind.BINARY, 0);

    /** {@link Kind#FINITE}. */
    public static final Labels FINITE = new Labels(Kind.FINITE, 0);

    /** {@link Kind#SHARE}. */
    public static final Labels SHARE = new Labels(Kind.SHARE, 0);

    /** {@link Kind#COUNT}. */
    public static final Labels COUNT = new Labels(Kind.COUNT, 0);

    /** {@link Kind#WEIGHT}. */
    public static final Labels WEIGHT = new Labels(Kind.WEIGHT, 0);

    /** {@link Kind#NONE}. */
    public static final Labels NONE = new Labels(Kind.NONE, 0);

    /** Labels that each row has. */
    public Labels(Kind kind, int classes) {
      this(kind, classes, false, Float.NaN);
    }

    public Labels {
      if (optional && (kind == Kind.WEIGHT || kind == Kind.NONE)
          || !optional && !Float.isNaN(missing)) {
        throw new IllegalArgumentException(
            "labels: got %s of the kind %s that rows may lack, or %s for those, expected labels and a number where rows may lack them"
                .formatted(noun(kind), kind, missing));
      }
      if (kind == Kind.CLASS ? classes < 1 : classes != 0) {
        throw new IllegalArgumentException(
            "labels: got %d classes of the kind %s, expected 1 or more of classes and else 0"
                .formatted(classes, kind));
      }
    }

    /** One of {@code count} classes. */
    public static Labels classes(int count) {
      return new Labels(Kind.CLASS, count);
    }

    /** The same labels where rows may lack them, and nothing in a file says so. */
    public Labels optionally() {
      return optionally(Float.NaN);
    }

    /** The same labels where rows may lack them, for which files may have {@code number}. */
    public Labels optionally(float number) {
      return new Labels(kind, classes, true, number);
    }

    /** Whether a number in a file says that the row lacks the label. */
    public boolean isMissing(float label) {
      return optional && (Float.isNaN(label) || label == missing);
    }

    /** What rows have for a number of a file that {@link #accepts}: NaN for a missing label. */
    public float of(float label) {
      return optional && label == missing ? Float.NaN : label;
    }

    /** Whether a file may have {@code label}: one of the kind, or one that is missing. */
    public boolean accepts(float label) {
      return isOfKind(label) || isMissing(label);
    }

    private boolean isOfKind(float label) {
      return switch (kind) {
        case BINARY -> label == 0 || label == 1;
        case FINITE -> Float.isFinite(label);
        case SHARE -> label >= 0 && label <= 1;
        case COUNT, WEIGHT -> label >= 0 && label < Float.POSITIVE_INFINITY;
        case CLASS -> label >= 0 && label < classes && label == (int) label;
        case NONE -> true;
      };
    }

    /** What messages call it. */
    public String noun() {
      return noun(kind);
    }

    private static String noun(Kind kind) {
      return kind == Kind.WEIGHT ? "weight" : "label";
    }

    /** The fault of a label that {@link #accepts} refuses; {@code where} names file and record. */
    public DataException fault(String where, String got) {
      String expected =
          switch (kind) {
            case BINARY ->
                "0 or 1; mend the data, or list the texts that mean 1 in data.label.positive";
            case SHARE -> "0 to 1; mend the data";
            case COUNT, WEIGHT -> "a finite number of 0 or more; mend the data";
            case CLASS -> "a whole number from 0 to " + (classes - 1) + "; mend the data";
            case FINITE, NONE -> "a finite number; mend the data";
          };
      return new DataException(
          "%s: got %s %s, expected %s".formatted(where, noun(), got, expected));
    }
  }

  /** Labels 0 or 1; the first fault stops. */
  public static final ReadPolicy STRICT = new ReadPolicy(Labels.BINARY, Faults.STRICT, 1);

  /** A policy of files that may be read more than once. */
  public ReadPolicy(Labels labels, Faults faults, int threads) {
    this(labels, faults, threads, false, Map.of());
  }

  public ReadPolicy {
    Objects.requireNonNull(labels, "labels");
    Objects.requireNonNull(faults, "faults");
    apart = Map.copyOf(apart);
    if (threads < 1) {
      throw new IllegalArgumentException("read: got " + threads + " threads, expected 1 or more");
    }
  }

  /** This policy with labels of any finite value. */
  public ReadPolicy withAnyLabel() {
    return new ReadPolicy(Labels.FINITE, faults, threads, once, apart);
  }

  /** This policy with rows that have no labels, whether or not the files do. */
  public ReadPolicy withoutLabels() {
    return new ReadPolicy(Labels.NONE, faults, threads, once, apart);
  }

  /** This policy where the label {@code name} may be other than others. */
  public ReadPolicy withLabel(String name, Labels values) {
    Map<String, Labels> all = new HashMap<>(apart);
    all.put(name, values);
    return new ReadPolicy(labels, faults, threads, once, all);
  }

  /** This policy with another treatment of bad records. */
  public ReadPolicy withFaults(Faults faults) {
    return new ReadPolicy(labels, faults, threads, once, apart);
  }

  /** This policy with {@code threads} threads that read. */
  public ReadPolicy withThreads(int threads) {
    return new ReadPolicy(labels, faults, threads, once, apart);
  }

  /**
   * This policy for one pass over files of lines: pipes and devices are read too, by one thread,
   * and without a look into them before. A second pass over a pipe finds no rows.
   */
  public ReadPolicy readOnce() {
    return new ReadPolicy(labels, faults, threads, true, apart);
  }

  /** Threads to read with: one where bad records are dropped, so that they are found in order. */
  public int readers() {
    return strict() && !once ? threads : 1;
  }

  /** Whether the first fault stops. */
  public boolean strict() {
    return faults.equals(Faults.STRICT);
  }

  /** What the label {@code name} may be. */
  public Labels labels(String name) {
    return labels.equals(Labels.NONE) ? labels : apart.getOrDefault(name, labels);
  }

  /** What each of the labels {@code names} may be. */
  public Labels[] labels(List<String> names) {
    return names.stream().map(this::labels).toArray(Labels[]::new);
  }

  /** Whether texts may say what the label {@code name} is. */
  public boolean takesTexts(String name) {
    return labels(name).kind() == Labels.Kind.BINARY || !apart.containsKey(name);
  }

  /** What rows of a file of {@code schema} hold. */
  public Schema delivered(Schema schema) {
    return labels.equals(Labels.NONE) ? schema.withLabels(List.of()) : schema;
  }

  /** The columns to read, out of {@code columns}. */
  public Columns read(Columns columns) {
    return labels.equals(Labels.NONE) ? columns.withoutLabels() : columns;
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
}
