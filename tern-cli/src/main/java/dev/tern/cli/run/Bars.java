package dev.tern.cli.run;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * A picture of bars that lie beside names, each with its value, and an interval or another value.
 * It is made of elements that stretch with the page and can be reached by the keyboard.
 *
 * @param title what is shown
 * @param unit of the axis
 * @param legend what the marks are
 * @param decimals of a value
 * @param bars from the top
 */
public record Bars(String title, String unit, Legend legend, int decimals, List<Bar> bars) {
  private static final int TICKS = 4;

  /** Bars that are drawn; whoever has more gives them in a table. */
  public static final int MOST = 40;

  /**
   * What the marks are; an empty text for none.
   *
   * @param value the bar
   * @param interval the line on it
   * @param other the second bar
   */
  public record Legend(String value, String interval, String other) {}

  /**
   * A bar from 0 to the mean of {@code value}.
   *
   * @param other where a second bar ends
   */
  public record Bar(String name, Spread value, OptionalDouble other) {
    /** A bar with an interval. */
    public static Bar of(String name, Spread value) {
      return new Bar(name, value, OptionalDouble.empty());
    }

    /** A bar without. */
    public static Bar of(String name, double value) {
      return of(name, new Spread(value, value, value));
    }

    /** Two bars. */
    public static Bar of(String name, double value, double other) {
      return new Bar(name, new Spread(value, value, value), OptionalDouble.of(other));
    }

    private double low() {
      return Math.min(value.low(), other.orElse(0));
    }

    private double high() {
      return Math.max(value.high(), other.orElse(0));
    }
  }

  /** The rules that a page with such pictures needs beside those of reports. */
  public static String style() {
    return Html.resource(Bars.class, "bars.css");
  }

  /** The picture as HTML; empty without bars. */
  public String html() {
    if (bars.isEmpty()) {
      return "";
    }
    List<Bar> drawn = bars.subList(0, Math.min(MOST, bars.size()));
    double low = drawn.stream().mapToDouble(Bar::low).min().orElse(0);
    double high = drawn.stream().mapToDouble(Bar::high).max().orElse(1);
    Axis axis = Axis.around(Math.min(0, low), Math.max(0, high), TICKS);
    StringBuilder out = new StringBuilder();
    out.append("<figure class=\"chart\">\n<figcaption><h3>")
        .append(Html.text(title))
        .append("</h3><ul class=\"legend\">");
    item(out, "t1", legend.value());
    item(out, "t2", legend.other());
    item(out, "whisker", legend.interval());
    out.append("</ul></figcaption>\n<div class=\"bars\" role=\"list\">\n");
    drawn.forEach(bar -> bar(out, axis, bar));
    out.append("<div class=\"bar scale\" aria-hidden=\"true\"><span class=\"track\">");
    for (double tick : axis.ticks()) {
      out.append("<b style=\"left:")
          .append(percent(axis.at(tick)))
          .append("\">")
          .append(Html.text(axis.label(tick)))
          .append("</b>");
    }
    return out.append("</span></div>\n</div>\n<div class=\"axis-name end\">")
        .append(Html.text(unit))
        .append("</div>\n")
        .append(left(drawn.size()))
        .append("</figure>\n")
        .toString();
  }

  private static void item(StringBuilder out, String style, String name) {
    if (!name.isEmpty()) {
      out.append("<li class=\"")
          .append(style)
          .append("\">")
          .append(Html.text(name))
          .append("</li>");
    }
  }

  private String left(int drawn) {
    return drawn == bars.size()
        ? ""
        : "<p class=\"remark\">"
            + Format.whole((long) bars.size() - drawn)
            + " more are in the table.</p>\n";
  }

  private void bar(StringBuilder out, Axis axis, Bar bar) {
    double mean = bar.value().mean();
    out.append("<div class=\"bar\" role=\"listitem\" tabindex=\"0\" title=\"")
        .append(Html.text(bar.name() + ": " + words(bar)))
        .append("\"><span class=\"name\">")
        .append(Html.text(bar.name()))
        .append("</span><span class=\"track\">");
    for (double tick : axis.ticks()) {
      out.append(Math.abs(tick) < axis.step() * 1e-6 ? "<s class=\"zero\"" : "<s")
          .append(" style=\"left:")
          .append(percent(axis.at(tick)))
          .append("\"></s>");
    }
    boolean two = bar.other().isPresent();
    span(out, two ? "fill upper" : "fill", axis, 0, mean);
    bar.other().ifPresent(other -> span(out, "fill lower", axis, 0, other));
    if (!legend.interval().isEmpty()) {
      span(out, "whisker", axis, bar.value().low(), bar.value().high());
    }
    out.append("</span><span class=\"value\">")
        .append(Html.text(Format.fixed(bar.other().orElse(mean), decimals)))
        .append("</span></div>\n");
  }

  /** The values of a bar. */
  private String words(Bar bar) {
    String value = Format.fixed(bar.value().mean(), decimals);
    if (bar.other().isPresent()) {
      return legend.value()
          + " "
          + value
          + ", "
          + legend.other()
          + " "
          + Format.fixed(bar.other().getAsDouble(), decimals);
    }
    return legend.interval().isEmpty() ? value : value + ", " + bar.value().interval(decimals);
  }

  private static void span(StringBuilder out, String style, Axis axis, double a, double b) {
    double from = axis.at(Math.min(a, b));
    double to = axis.at(Math.max(a, b));
    out.append("<i class=\"")
        .append(style)
        .append("\" style=\"left:")
        .append(percent(from))
        .append(";width:")
        .append(percent(to - from))
        .append("\"></i>");
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f%%", share * 100);
  }
}
