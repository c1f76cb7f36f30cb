package dev.tern.cli.inspect;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a column of other rows differs from the same column of first ones.
 *
 * @param name of the column
 * @param kind label, dense or sparse
 * @param bins its distribution in both
 * @param unseen of the values now, the share that is new: an id that the first rows do not have, or
 *     a number outside of their range; NaN where that is not known
 */
record ColumnDrift(String name, String kind, List<Bin> bins, double unseen) {
  ColumnDrift {
    bins = List.copyOf(bins);
  }

  /** What a bin counts: a value by its text, numbers of a range, or what has no bin of its own. */
  enum Kind {
    VALUE(""),
    RANGE(""),
    OTHERS("all others"),
    MISSING("missing");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How often something occurs in the first rows and now.
   *
   * @param name the value as data have it, or words
   */
  record Bin(Kind kind, String name, long before, long now) {
    /** A bin of all values without one of their own, or of rows without a value. */
    static Bin of(Kind kind, long before, long now) {
      return new Bin(kind, kind.words, before, now);
    }

    /** Its name beside others: a value in quotes where it reads as the name of another kind. */
    String shown() {
      boolean isWords = Stream.of(Kind.values()).anyMatch(each -> each.words.equals(name));
      return kind == Kind.VALUE && isWords ? '"' + name + '"' : name;
    }
  }

  /**
   * The population stability index, of {@code p} now and {@code q} before. Half an occurrence is
   * added to each bin, so that empty ones have a logarithm:
   *
   * <pre>
   * PSI = sum over bins of (p - q) ln(p / q)
   * p = (n + 0.5) / (N + 0.5 bins) of n among N
   * </pre>
   *
   * <p>For example, halves before and 60 and 40 percent of many now: {@code 0.1 ln 1.2 - 0.1 ln 0.8
   * = 0.041}. NaN without occurrences in either.
   */
  double psi() {
    double psi = 0;
    double all = now() + 0.5 * bins.size();
    double allBefore = before() + 0.5 * bins.size();
    for (Bin bin : bins) {
      double p = (bin.now() + 0.5) / all;
      double q = (bin.before() + 0.5) / allBefore;
      psi += (p - q) * Math.log(p / q);
    }
    return now() == 0 || before() == 0 ? Double.NaN : psi;
  }

  /**
   * The Jensen-Shannon divergence in bits: 0 for equal distributions, 1 for those that share no
   * bin. With {@code m = (p + q) / 2} it is half of {@code sum p log2(p / m) + sum q log2(q / m)}.
   *
   * <p>For example, all in one bin before, and half in it now: 0.311.
   */
  double jensenShannon() {
    double sum = 0;
    for (Bin bin : bins) {
      double p = (double) bin.now() / now();
      double q = (double) bin.before() / before();
      double m = (p + q) / 2;
      sum += (p > 0 ? p * Math.log(p / m) : 0) + (q > 0 ? q * Math.log(q / m) : 0);
    }
    return now() == 0 || before() == 0 ? Double.NaN : Math.max(0, sum / 2 / Math.log(2));
  }

  /**
   * The {@code most} bins with the largest share at first or now, in their order, and all others as
   * one more.
   */
  List<Bin> largest(int most) {
    Set<Bin> large =
        bins.stream()
            .filter(bin -> bin.kind() != Kind.OTHERS)
            .sorted(Comparator.comparingDouble(bin -> -share(bin)))
            .limit(most)
            .collect(Collectors.toSet());
    List<Bin> shown = new ArrayList<>();
    long before = 0;
    long now = 0;
    for (Bin bin : bins) {
      if (large.contains(bin)) {
        shown.add(bin);
      } else {
        before += bin.before();
        now += bin.now();
      }
    }
    if (before + now > 0) {
      shown.add(Bin.of(Kind.OTHERS, before, now));
    }
    return shown;
  }

  private double share(Bin bin) {
    return Math.max(
        (double) bin.before() / Math.max(1, before()), (double) bin.now() / Math.max(1, now()));
  }

  /** Occurrences in the first rows. */
  long before() {
    return bins.stream().mapToLong(Bin::before).sum();
  }

  /** Occurrences now. */
  long now() {
    return bins.stream().mapToLong(Bin::now).sum();
  }
}
