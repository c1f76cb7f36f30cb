package dev.tern.cli.run;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * Where shares from 0 to 1 stand on an axis: in proportion, or in proportion to their logarithms
 * where they are far apart.
 *
 * @param axis of shares, or of their logarithms to the base 10
 */
record Scale(Axis axis, boolean powers) {
  /** Shares that are farther apart than this have a scale of powers. */
  private static final double FAR = 50;

  private static final double LEAST = 1e-9;

  /** Whether a scale of powers shows {@code shares} better. */
  static boolean isFar(double[] shares) {
    double low = DoubleStream.of(shares).min().orElse(0);
    double high = DoubleStream.of(shares).max().orElse(0);
    return low > LEAST && high / low > FAR;
  }

  /** A scale that holds {@code shares}; one of powers holds those above 0. */
  static Scale of(double[] shares, boolean powers) {
    double high = DoubleStream.of(shares).max().orElse(1);
    if (!powers) {
      return new Scale(Axis.around(0, Math.max(high, LEAST), 5), false);
    }
    double low = DoubleStream.of(shares).filter(share -> share > LEAST).min().orElse(LEAST);
    double from = Math.floor(Math.log10(low) * 4) / 4;
    double to = Math.max(Math.ceil(Math.log10(high) * 4) / 4, from + 0.25);
    return new Scale(new Axis(from, to, 1), true);
  }

  /** Where {@code share} stands, 0 at the start to 1 at the end; what is below at the start. */
  double at(double share) {
    return powers ? Math.max(0, axis.at(Math.log10(Math.max(share, LEAST)))) : axis.at(share);
  }

  double min() {
    return powers ? Math.pow(10, axis.min()) : axis.min();
  }

  double max() {
    return powers ? Math.pow(10, axis.max()) : axis.max();
  }

  /** Shares with a mark: round ones; of powers 1, 2 and 5 times each power of ten. */
  List<Double> ticks() {
    if (!powers) {
      return axis.ticks();
    }
    List<Double> ticks = new ArrayList<>();
    boolean isLong = axis.max() - axis.min() > 2.5;
    for (int power = (int) Math.floor(axis.min()); power <= axis.max(); power++) {
      for (int times : isLong ? new int[] {1} : new int[] {1, 2, 5}) {
        double tick = times * Math.pow(10, power);
        if (tick >= min() * (1 - 1e-9) && tick <= max() * (1 + 1e-9)) {
          ticks.add(tick);
        }
      }
    }
    return ticks;
  }

  String label(double tick) {
    return powers
        ? Format.fixed(tick, (int) Math.max(0, -Math.floor(Math.log10(tick * (1 + 1e-9)))))
        : axis.label(tick);
  }
}
