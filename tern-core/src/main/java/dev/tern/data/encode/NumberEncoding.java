package dev.tern.data.encode;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How a dense column becomes a feature. Encodings are fitted on the training data only. */
public sealed interface NumberEncoding {
  /**
   * Standardised, and before that {@code log(1 + x)} where the training data have no negative
   * number and a skewness above 2. An encoder that was fitted says by {@link Scaled} which it was.
   *
   * @param fill what a missing number becomes; 0 is the mean
   */
  record Auto(float fill) implements NumberEncoding {
    public Auto {
      requireFinite(fill, "fill");
    }
  }

  /**
   * A number. With {@code log1p} it is first {@code sign(x) log(1 + |x|)}; with {@code standardize}
   * then {@code (x - mean) / deviation}, both of the training data. A missing number becomes {@code
   * fill}, which is not transformed: 0 is the mean of standardised numbers.
   */
  record Scaled(boolean log1p, boolean standardize, float fill) implements NumberEncoding {
    public Scaled {
      requireFinite(fill, "fill");
    }
  }

  /**
   * A slot of its own with one id in each row: 1 to at most {@code count} for buckets that have
   * about the same number of rows of the training data, 0 for a missing number. Boundaries are
   * accurate to one part in 2048. If many rows share a value there may be fewer buckets.
   */
  record Quantiles(int count) implements NumberEncoding {
    public Quantiles {
      if (count < 2 || count > 1_000_000) {
        throw new IllegalArgumentException(
            "quantiles: got " + count + " buckets, expected 2 to 1000000");
      }
    }
  }

  /**
   * A slot of its own with one id in each row: 1 + the number of {@code values} up to the number, 0
   * for a missing number. Example: with values 10 and 20, the number 10 has id 2. {@code values}
   * ascend.
   */
  record Boundaries(List<Float> values) implements NumberEncoding {
    public Boundaries {
      values = List.copyOf(values);
      requireAscending(values, "boundaries");
    }
  }

  /**
   * A slot of its own with one id in each row and the number as its weight, so that its vector is
   * {@code x v}: id 1 with the weight {@code x}, the number as {@code number} scales it, or id 0
   * with the weight 1 for a missing number. Factorization machines take numbers so (Rendle 2010),
   * and AutoInt (Song et al. 2019).
   *
   * <p>Example: the number 3, not scaled, and the row {@code (0.1, 0.2)} of id 1 give the vector
   * {@code (0.3, 0.6)}.
   *
   * @param number how numbers are scaled, {@link Auto} or {@link Scaled}; what it says of missing
   *     ones is not used
   */
  record Field(NumberEncoding number) implements NumberEncoding {
    public Field {
      requireNumber(number);
    }
  }

  /**
   * The piecewise linear encoding of Gorishniy et al. ("On Embeddings for Numerical Features in
   * Tabular Deep Learning", 2022, equation 1), then a linear layer: a slot of its own whose vector
   * is {@code b + e_1 w_1 + ... + e_T w_T}. The pieces have about the same number of rows of the
   * training data. {@code e_t} is the share of piece {@code t} that lies below the number, from 0
   * to 1; numbers beyond those of training count as the outermost of these. {@code b} is row 1 of
   * the slot's table, {@code w_t} row {@code 1 + t}, and the vector of a missing number is row 0.
   *
   * <p>Example: with pieces between 0, 10 and 30 the number 15 has {@code e = (1, 0.25)}.
   *
   * @param count pieces, fewer where many rows share a number
   */
  record Pieces(int count) implements NumberEncoding {
    /** Most pieces: a number may have as many ids. */
    public static final int MOST = 1024;

    public Pieces {
      if (count < 1 || count > MOST) {
        throw new IllegalArgumentException(
            "pieces: got %d of them, expected 1 to %d".formatted(count, MOST));
      }
    }
  }

  /** {@link Pieces} between ascending {@code edges}, of which there are two or more. */
  record PiecesBetween(List<Float> edges) implements NumberEncoding {
    public PiecesBetween {
      edges = List.copyOf(edges);
      requireAscending(edges, "edges");
      if (edges.size() < 2 || edges.size() > Pieces.MOST + 1) {
        throw new IllegalArgumentException(
            "edges: got %d of them, expected 2 to %d".formatted(edges.size(), Pieces.MOST + 1));
      }
    }
  }

  /**
   * Both: a number, and a slot under the same name.
   *
   * @param number {@link Auto} or {@link Scaled}
   * @param slot one of the encodings that make a slot
   */
  record Beside(NumberEncoding number, NumberEncoding slot) implements NumberEncoding {
    public Beside {
      requireNumber(number);
      if (isNumber(slot) || slot instanceof Beside) {
        throw new IllegalArgumentException(
            "beside: got %s, expected an encoding that makes a slot".formatted(slot));
      }
    }
  }

  private static boolean isNumber(NumberEncoding encoding) {
    return encoding instanceof Auto || encoding instanceof Scaled;
  }

  private static void requireNumber(NumberEncoding encoding) {
    if (!isNumber(encoding)) {
      throw new IllegalArgumentException(
          "number: got %s, expected an encoding that scales numbers".formatted(encoding));
    }
  }

  private static void requireAscending(List<Float> values, String what) {
    for (int i = 0; i < values.size(); i++) {
      requireFinite(values.get(i), what);
      if (i > 0 && values.get(i) <= values.get(i - 1)) {
        throw new IllegalArgumentException(
            "%s: got %s after %s, expected ascending numbers"
                .formatted(what, values.get(i), values.get(i - 1)));
      }
    }
  }

  /** How the number is scaled that this makes, or that it multiplies a vector with; if it does. */
  default Optional<Scaled> scaled() {
    return switch (this) {
      case Scaled scaled -> Optional.of(scaled);
      case Field(NumberEncoding number) -> number.scaled();
      case Beside(NumberEncoding number, NumberEncoding _) -> number.scaled();
      case Auto _, Quantiles _, Boundaries _, Pieces _, PiecesBetween _ -> Optional.empty();
    };
  }

  /** {@link Auto}; 0, the mean, where missing. */
  static NumberEncoding auto() {
    return new Auto(0);
  }

  /** The number as it is; 0 where missing. */
  static NumberEncoding none() {
    return new Scaled(false, false, 0);
  }

  /** {@code sign(x) log(1 + |x|)}; 0 where missing. */
  static NumberEncoding log1p() {
    return new Scaled(true, false, 0);
  }

  /** Mean 0 and deviation 1 over the training data; 0 where missing. */
  static NumberEncoding standardize() {
    return new Scaled(false, true, 0);
  }

  /** {@link #log1p()}, then {@link #standardize()}. */
  static NumberEncoding log1pStandardize() {
    return new Scaled(true, true, 0);
  }

  /** About {@code count} buckets of equally many rows. */
  static NumberEncoding quantiles(int count) {
    return new Quantiles(count);
  }

  /** Buckets between the ascending {@code values}. */
  static NumberEncoding boundaries(float... values) {
    List<Float> list = new ArrayList<>(values.length);
    for (float value : values) {
      list.add(value);
    }
    return new Boundaries(list);
  }

  /** About {@code count} pieces of equally many rows. */
  static NumberEncoding pieces(int count) {
    return new Pieces(count);
  }

  private static void requireFinite(float value, String what) {
    if (!Float.isFinite(value)) {
      throw new IllegalArgumentException(what + ": got " + value + ", expected a finite number");
    }
  }
}
