package dev.tern.data.encode;

import dev.tern.data.Slot;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A fitted {@link NumberEncoding}. Immutable. */
sealed interface NumberFeature {
  /** {@code (y - mean) / deviation}, where {@code y} is {@code log1p(x)} or {@code x}. */
  record Scale(boolean log1p, double mean, double deviation, float fill) implements NumberFeature {
    /** Logarithms of small whole numbers, since most columns are counts. */
    private static final double[] LOG1P = new double[4096];

    static {
      for (int i = 0; i < LOG1P.length; i++) {
        LOG1P[i] = StrictMath.log1p(i);
      }
    }

    /** Whether numbers are scaled as by {@code other}. */
    boolean isAs(Scale other) {
      return log1p == other.log1p && mean == other.mean && deviation == other.deviation;
    }

    /** The feature of a finite number. */
    float apply(float x) {
      return (float) (((log1p ? log1p(x) : x) - mean) / deviation);
    }

    /** {@code sign(x) log(1 + |x|)}. */
    static double log1p(float x) {
      int whole = (int) x;
      if (whole == x && whole >= 0 && whole < LOG1P.length) {
        return LOG1P[whole];
      }
      return x < 0 ? -StrictMath.log1p(-(double) x) : StrictMath.log1p(x);
    }
  }

  /** The number of a bucket between ascending boundaries. */
  record Buckets(List<Float> values, float[] boundaries) implements NumberFeature {
    static Buckets of(List<Float> values) {
      float[] boundaries = new float[values.size()];
      for (int i = 0; i < boundaries.length; i++) {
        boundaries[i] = values.get(i);
      }
      return new Buckets(values, boundaries);
    }

    /** 1 + the number of boundaries up to {@code x}, a finite number. */
    int bucket(float x) {
      int low = 0;
      int high = boundaries.length;
      while (low < high) {
        int middle = low + high >>> 1;
        if (boundaries[middle] <= x) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low + 1;
    }
  }

  /** The number as the weight of an id: see {@link NumberEncoding.Field}. */
  record Field(Scale scale) implements NumberFeature {}

  /**
   * Linear in each piece between ascending edges: see {@link NumberEncoding.Pieces}. With fewer
   * than two edges there is no piece.
   */
  record Pieces(List<Float> values, float[] edges) implements NumberFeature {
    static Pieces of(List<Float> values) {
      return new Pieces(values, Buckets.of(values).boundaries());
    }

    int count() {
      return Math.max(0, edges.length - 1);
    }

    /** Pieces that lie below {@code x} as a whole. */
    int below(float x) {
      int low = 0;
      int high = count();
      while (low < high) {
        int middle = low + high >>> 1;
        if (edges[middle + 1] <= x) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }

    /** The share of the piece that {@code x} is in that lies below it; 0 beyond the last. */
    float share(float x, int piece) {
      if (piece == count() || x <= edges[piece]) {
        return 0;
      }
      double low = edges[piece];
      return (float) ((x - low) / (edges[piece + 1] - low));
    }
  }

  /** A number, and a slot of the same name. */
  record Beside(Scale scale, NumberFeature vector) implements NumberFeature {}

  /** The number that this makes, if it makes one. */
  default Optional<Scale> number() {
    return switch (this) {
      case Scale scale -> Optional.of(scale);
      case Beside(Scale scale, NumberFeature _) -> Optional.of(scale);
      case Buckets _, Field _, Pieces _ -> Optional.empty();
    };
  }

  /** The slot that this makes, if it makes one. */
  default Optional<NumberFeature> slot() {
    return switch (this) {
      case Scale _ -> Optional.empty();
      case Beside(Scale _, NumberFeature slot) -> Optional.of(slot);
      case Buckets _, Field _, Pieces _ -> Optional.of(this);
    };
  }

  /** The scaling in this, if there is any. */
  default Optional<Scale> scaling() {
    return this instanceof Field(Scale scale) ? Optional.of(scale) : number();
  }

  /** This with another scaling where it has one. */
  default NumberFeature withScaling(UnaryOperator<Scale> other) {
    return switch (this) {
      case Scale scale -> other.apply(scale);
      case Field(Scale scale) -> new Field(other.apply(scale));
      case Beside(Scale scale, NumberFeature slot) ->
          new Beside(other.apply(scale), slot.withScaling(other));
      case Buckets _, Pieces _ -> this;
    };
  }

  /** Whether ids of this slot mean the same as those of {@code other}. */
  default boolean hasIdsOf(NumberFeature other) {
    return switch (this) {
      case Buckets(List<Float> _, float[] own) ->
          other instanceof Buckets(List<Float> _, float[] then) && Arrays.equals(own, then);
      case Pieces(List<Float> _, float[] own) ->
          other instanceof Pieces(List<Float> _, float[] then) && Arrays.equals(own, then);
      case Field(Scale own) -> other instanceof Field(Scale then) && own.isAs(then);
      case Scale _, Beside _ -> throw new AssertionError("no slot");
    };
  }

  /** Ids of this slot: from 0 to below this. */
  default long idBound() {
    return switch (this) {
      case Buckets buckets -> buckets.boundaries().length + 2L;
      case Field _ -> 2;
      case Pieces pieces -> pieces.count() + 2L;
      case Scale _, Beside _ -> throw new AssertionError("no slot");
    };
  }

  /** This slot under the name of its column. */
  default Slot named(String column) {
    return switch (this) {
      case Buckets _ -> Slot.oneHot(column);
      case Field _ -> Slot.ofNumber(column, 1);
      case Pieces _ -> Slot.ofNumber(column, 0);
      case Scale _, Beside _ -> throw new AssertionError("no slot");
    };
  }
}
