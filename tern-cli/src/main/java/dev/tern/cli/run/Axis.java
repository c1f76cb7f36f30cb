package dev.tern.cli.run;

import java.util.ArrayList;
import java.util.List;

/**
 * A linear axis with ticks at round numbers.
 *
 * @param min value at the start
 * @param max value at the end, above {@code min}
 * @param step between two ticks: 1, 2, 2.5 or 5 times a power of ten
 */
public record Axis(double min, double max, double step) {
  private static final double[] ROUND = {1, 2, 2.5, 5, 10};

  /**
   * An axis that holds {@code [low, high]} and begins and ends at ticks; about {@code ticks} of
   * them.
   */
  public static Axis around(double low, double high, int ticks) {
    double from = low;
    double to = high;
    if (!(to > from)) {
      double margin = Math.max(Math.abs(from) * 0.05, 1e-3);
      from -= margin;
      to += margin;
    }
    double step = round((to - from) / ticks);
    return new Axis(
        Math.floor(from / step + 1e-9) * step, Math.ceil(to / step - 1e-9) * step, step);
  }

  /** An axis of whole numbers from {@code low} to {@code high} exactly; ticks lie inside. */
  public static Axis whole(long low, long high, int ticks) {
    long to = Math.max(high, low + 1);
    return new Axis(low, to, Math.max(1, Math.ceil(round((to - low) / (double) ticks))));
  }

  private static double round(double step) {
    double power = Math.pow(10, Math.floor(Math.log10(step)));
    for (double factor : ROUND) {
      if (factor * power >= step * (1 - 1e-9)) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  /** Where {@code value} stands, 0 at the start to 1 at the end. */
  public double at(double value) {
    return (value - min) / (max - min);
  }

  /** Values of the ticks. */
  public List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    for (long i = Math.round(Math.ceil(min / step - 1e-6)); i * step <= max + step * 1e-6; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  /** The label of a tick: as many decimals as the step needs, thousands as k, millions as M. */
  public String label(double tick) {
    double largest = Math.max(Math.abs(min), Math.abs(max));
    double unit = largest >= 1e9 ? 1e9 : largest >= 1e6 ? 1e6 : largest >= 1e4 ? 1e3 : 1;
    String suffix = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    int decimals = 0;
    double digits = step / unit;
    while (decimals < 12 && Math.abs(digits - Math.rint(digits)) > 1e-6 * digits) {
      digits *= 10;
      decimals++;
    }
    return Math.abs(tick) < step * 1e-6 ? "0" : Format.fixed(tick / unit, decimals) + suffix;
  }
}
