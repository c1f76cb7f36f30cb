package dev.tern.data.encode;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Learns the encoding of a dense column. */
sealed interface NumberFit {
  /** Adds a number that is not missing. */
  void add(float x);

  NumberFeature finish();

  /**
   * What learns {@code encoding}.
   *
   * @param earlier what an earlier fit learned of the column: what it knows is not learned again
   */
  static NumberFit of(
      NumberEncoding encoding, Function<NumberEncoding, Optional<NumberFeature>> earlier) {
    return switch (encoding) {
      case NumberEncoding.Field(NumberEncoding number) -> new Weight(of(number, earlier));
      case NumberEncoding.Beside(NumberEncoding number, NumberEncoding slot) ->
          new Both(of(number, earlier), of(slot, earlier));
      default -> earlier.apply(encoding).<NumberFit>map(Known::new).orElseGet(() -> of(encoding));
    };
  }

  private static NumberFit of(NumberEncoding encoding) {
    return switch (encoding) {
      case NumberEncoding.Auto(float fill) -> new Skewed(fill);
      case NumberEncoding.Scaled scaled ->
          scaled.standardize() ? new Moments(scaled) : new Known(scaled(scaled, 0, 1));
      case NumberEncoding.Quantiles(int count) -> new Histogram(count);
      case NumberEncoding.Boundaries(List<Float> values) ->
          new Known(NumberFeature.Buckets.of(values));
      case NumberEncoding.Pieces(int count) -> new Ends(count);
      case NumberEncoding.PiecesBetween(List<Float> edges) ->
          new Known(NumberFeature.Pieces.of(edges));
      case NumberEncoding.Field _, NumberEncoding.Beside _ -> throw new AssertionError(encoding);
    };
  }

  /** Whether the data have something to teach. */
  default boolean learns() {
    return true;
  }

  /** Nothing to learn. */
  record Known(NumberFeature finish) implements NumberFit {
    @Override
    public void add(float x) {}

    @Override
    public boolean learns() {
      return false;
    }
  }

  /** Learns how the weight of a {@link NumberFeature.Field} is scaled. */
  record Weight(NumberFit number) implements NumberFit {
    @Override
    public void add(float x) {
      number.add(x);
    }

    @Override
    public boolean learns() {
      return number.learns();
    }

    @Override
    public NumberFeature finish() {
      return new NumberFeature.Field((NumberFeature.Scale) number.finish());
    }
  }

  /** Learns a number and a slot. */
  record Both(NumberFit number, NumberFit slot) implements NumberFit {
    @Override
    public void add(float x) {
      number.add(x);
      slot.add(x);
    }

    @Override
    public boolean learns() {
      return number.learns() || slot.learns();
    }

    @Override
    public NumberFeature finish() {
      return new NumberFeature.Beside((NumberFeature.Scale) number.finish(), slot.finish());
    }
  }

  /** Learns pieces of about equally many rows, from the least number to the greatest. */
  final class Ends implements NumberFit {
    private final Histogram histogram;
    private float least = Float.POSITIVE_INFINITY;
    private float most = Float.NEGATIVE_INFINITY;

    Ends(int pieces) {
      histogram = new Histogram(pieces);
    }

    @Override
    public void add(float x) {
      histogram.add(x);
      least = Math.min(least, x);
      most = Math.max(most, x);
    }

    @Override
    public NumberFeature finish() {
      List<Float> edges = new ArrayList<>();
      if (least <= most) {
        edges.add(least);
        histogram.boundaries().stream().filter(x -> x > least && x < most).forEach(edges::add);
      }
      if (least < most) {
        edges.add(most);
      }
      return NumberFeature.Pieces.of(List.copyOf(edges));
    }
  }

  private static NumberFeature scaled(NumberEncoding.Scaled scaled, double mean, double deviation) {
    return new NumberFeature.Scale(scaled.log1p(), mean, deviation, scaled.fill());
  }

  /** Mean and population deviation by Welford's recurrence (1962), in double. */
  final class Moments implements NumberFit {
    private final NumberEncoding.Scaled scaled;
    private long count;
    private double mean;
    private double squares;

    Moments(NumberEncoding.Scaled scaled) {
      this.scaled = scaled;
    }

    @Override
    public void add(float x) {
      double value = scaled.log1p() ? NumberFeature.Scale.log1p(x) : x;
      count++;
      double delta = value - mean;
      mean += delta / count;
      squares += delta * (value - mean);
    }

    @Override
    public NumberFeature finish() {
      double deviation = count == 0 ? 0 : Math.sqrt(squares / count);
      return scaled(scaled, mean, deviation > 0 ? deviation : 1);
    }
  }

  /**
   * Chooses between the moments of numbers and of their logarithms. The third moment is updated as
   * by P&eacute;bay (2008, SAND2008-6212), in double.
   */
  final class Skewed implements NumberFit {
    private static final double SKEWNESS = 2;

    private final Moments plain;
    private final Moments logarithms;
    private double least = Double.POSITIVE_INFINITY;
    private double cubes;

    Skewed(float fill) {
      plain = new Moments(new NumberEncoding.Scaled(false, true, fill));
      logarithms = new Moments(new NumberEncoding.Scaled(true, true, fill));
    }

    @Override
    public void add(float x) {
      double share = (x - plain.mean) / (plain.count + 1);
      double term = (x - plain.mean) * share * plain.count;
      cubes += share * (term * (plain.count - 1) - 3 * plain.squares);
      plain.add(x);
      logarithms.add(x);
      least = Math.min(least, x);
    }

    @Override
    public NumberFeature finish() {
      boolean skewed = cubes * Math.sqrt(plain.count) > SKEWNESS * Math.pow(plain.squares, 1.5);
      return skewed && least >= 0 ? logarithms.finish() : plain.finish();
    }
  }

  /** Counts numbers by the leading 20 bits of the float: 2048 bins for each power of two. */
  final class Histogram implements NumberFit {
    private static final int DROPPED_BITS = 12;

    private final int buckets;
    private final long[] bins = new long[1 << 32 - DROPPED_BITS];
    private long count;

    Histogram(int buckets) {
      this.buckets = buckets;
    }

    @Override
    public void add(float x) {
      int bits = Float.floatToRawIntBits(x + 0.0f);
      int ordered = bits ^ (bits >> 31 | Integer.MIN_VALUE);
      bins[ordered >>> DROPPED_BITS]++;
      count++;
    }

    private static float lowerEdge(int bin) {
      int ordered = bin << DROPPED_BITS;
      return Float.intBitsToFloat(ordered < 0 ? ordered ^ Integer.MIN_VALUE : ~ordered);
    }

    /** A boundary before each bin where the share of rows below reaches the next 1 / buckets. */
    List<Float> boundaries() {
      List<Float> boundaries = new ArrayList<>();
      long below = 0;
      long reached = 0;
      for (int bin = 0; bin < bins.length; bin++) {
        if (bins[bin] == 0) {
          continue;
        }
        long share = (long) ((double) below * buckets / count);
        if (share > reached) {
          boundaries.add(lowerEdge(bin));
          reached = share;
        }
        below += bins[bin];
      }
      return List.copyOf(boundaries);
    }

    @Override
    public NumberFeature finish() {
      return NumberFeature.Buckets.of(boundaries());
    }
  }
}
