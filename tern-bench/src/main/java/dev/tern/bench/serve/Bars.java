package dev.tern.bench.serve;

import java.util.Locale;

/** Prints what was measured beside what it must reach, a line each, and counts what does not. */
final class Bars {
  private final boolean json;
  private int missed;

  Bars(boolean json) {
    this.json = json;
  }

  /** A figure that must not be above {@code bound}; NaN is none that could be taken. */
  void most(String name, double value, double bound, String unit) {
    print(name, value, "<=", bound, unit, value <= bound);
  }

  /** A figure that must not be below {@code bound}. */
  void least(String name, double value, double bound, String unit) {
    print(name, value, ">=", bound, unit, value >= bound);
  }

  /** A figure without a bar. */
  void note(String name, double value, String unit) {
    System.out.println(
        json
            ? "{\"bench\":\"service\",\"case\":\"%s\",\"value\":%s,\"unit\":\"%s\"}"
                .formatted(name, number(value), unit)
            : "%-58s %10s %s".formatted(name, number(value), unit));
  }

  int missed() {
    return missed;
  }

  private void print(
      String name, double value, String operator, double bound, String unit, boolean met) {
    missed += met ? 0 : 1;
    System.out.println(
        json
            ? "{\"bench\":\"service\",\"case\":\"%s\",\"value\":%s,\"unit\":\"%s\",\"bound\":\"%s %s\",\"met\":%s}"
                .formatted(name, number(value), unit, operator, number(bound), met)
            : "%-58s %10s %s %s %s  %s"
                .formatted(
                    name, number(value), operator, number(bound), unit, met ? "met" : "MISSED"));
  }

  private static String number(double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return "null";
    }
    return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.3f", value);
  }
}
