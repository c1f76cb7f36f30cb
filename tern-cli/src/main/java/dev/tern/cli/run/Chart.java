package dev.tern.cli.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;

/**
 * A line chart over steps. The curves are SVG that stretches with the page; labels are text beside
 * it, so they keep their size on a phone and in print.
 *
 * @param title what is shown
 * @param unit of the vertical axis
 * @param decimals of a value in a note on a point
 * @param fromZero whether the vertical axis begins at 0
 * @param series curves, drawn in order
 * @param references horizontal lines
 * @param marks steps of vertical lines, the ends of epochs
 */
public record Chart(
    String title,
    String unit,
    int decimals,
    boolean fromZero,
    List<Series> series,
    List<Reference> references,
    List<Long> marks) {
  private static final int WIDTH = 1000;
  private static final int HEIGHT = 400;

  /** Share of the width up to the last step; the rest leaves room for its dot. */
  static final double USED = 0.985;

  private static final int MAX_POINTS = 500;
  private static final int MAX_DOTS = 60;

  /**
   * A curve.
   *
   * @param name in the legend; empty to leave it out
   * @param style class of the style sheet: {@code train}, {@code eval}, {@code faint}, or {@code
   *     t1} to {@code t8}, which are told apart
   * @param dots whether points are marked, where they are few
   * @param points by ascending step, finite
   */
  public record Series(String name, String style, boolean dots, List<Point> points) {}

  /** A point of a curve. */
  public record Point(long step, double value) {}

  /** A horizontal line with a name. */
  public record Reference(String name, double value) {}

  /** The chart as HTML; empty where no curve has a point. */
  public String html() {
    return html("step");
  }

  /** The same over something else than steps. */
  public String html(String across) {
    List<Series> drawn = series.stream().filter(s -> !s.points().isEmpty()).toList();
    if (drawn.isEmpty()) {
      return "";
    }
    Axis x = horizontal(drawn);
    Axis y = vertical(drawn);
    StringBuilder out = new StringBuilder();
    out.append("<figure class=\"chart\">\n<figcaption><h3>")
        .append(Html.text(title))
        .append("</h3>");
    legend(out, drawn);
    out.append("</figcaption>\n<div class=\"axis-name\">")
        .append(Html.text(unit))
        .append("</div>\n<div class=\"frame\">\n<div class=\"y\">");
    y.ticks().forEach(t -> label(out, "top", 1 - y.at(t), y.label(t)));
    out.append("</div>\n<div class=\"plot\">\n");
    svg(out, x, y, drawn, across);
    out.append("</div>\n<div class=\"x\">");
    x.ticks().forEach(t -> label(out, "left", x.at(t) * USED, x.label(t)));
    return out.append("</div>\n</div>\n<div class=\"axis-name end\">")
        .append(Html.text(across))
        .append("</div>\n</figure>\n")
        .toString();
  }

  private static Axis horizontal(List<Series> drawn) {
    long first = drawn.stream().mapToLong(s -> s.points().getFirst().step()).min().orElse(0);
    long last = drawn.stream().mapToLong(s -> s.points().getLast().step()).max().orElse(1);
    return Axis.whole(first <= last / 10 ? 0 : first, last, 5);
  }

  /** The range of the curves, without faint ones and without the steep beginning of long ones. */
  private Axis vertical(List<Series> drawn) {
    double[] values =
        DoubleStream.concat(
                drawn.stream()
                    .filter(s -> !s.style().equals("faint"))
                    .flatMapToDouble(Chart::settled),
                references.stream().mapToDouble(Reference::value))
            .toArray();
    double low = fromZero ? 0 : DoubleStream.of(values).min().orElse(0);
    double high = DoubleStream.of(values).max().orElse(1);
    return Axis.around(low, Math.max(high, fromZero ? Double.MIN_NORMAL : high), 5);
  }

  private static DoubleStream settled(Series s) {
    int skipped = s.points().size() < 30 ? 0 : s.points().size() / 20;
    return s.points().stream().skip(skipped).mapToDouble(Point::value);
  }

  private void legend(StringBuilder out, List<Series> drawn) {
    out.append("<ul class=\"legend\">");
    for (Series s : drawn) {
      if (!s.name().isEmpty()) {
        out.append("<li class=\"")
            .append(s.style())
            .append("\">")
            .append(Html.text(s.name()))
            .append("</li>");
      }
    }
    for (Reference reference : references) {
      String value = Format.fixed(reference.value(), decimals);
      out.append("<li class=\"ref\">")
          .append(Html.text(reference.name() + " " + value))
          .append("</li>");
    }
    if (!marks.isEmpty()) {
      out.append("<li class=\"mark\">end of epoch</li>");
    }
    out.append("</ul>");
  }

  private void svg(StringBuilder out, Axis x, Axis y, List<Series> drawn, String across) {
    out.append("<svg viewBox=\"0 0 ")
        .append(WIDTH)
        .append(' ')
        .append(HEIGHT)
        .append("\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"")
        .append(Html.text(title + " over " + across + "s, " + unit))
        .append("\">\n");
    for (double tick : y.ticks()) {
      line(out, "grid", 0, across(1 - y.at(tick), HEIGHT), WIDTH, across(1 - y.at(tick), HEIGHT));
    }
    for (double tick : x.ticks()) {
      line(out, "tick", along(x, tick), HEIGHT - 8, along(x, tick), HEIGHT);
    }
    for (long mark : marks) {
      if (mark > x.min() && mark < x.max()) {
        line(out, "mark", along(x, mark), 0, along(x, mark), HEIGHT);
      }
    }
    for (Reference reference : references) {
      line(
          out,
          "ref",
          0,
          across(1 - y.at(reference.value()), HEIGHT),
          WIDTH,
          across(1 - y.at(reference.value()), HEIGHT));
    }
    drawn.forEach(s -> curve(out, x, y, s, across));
    out.append("</svg>\n");
  }

  private void curve(StringBuilder out, Axis x, Axis y, Series s, String across) {
    List<Point> points = thin(s.points());
    StringBuilder path = new StringBuilder();
    for (Point point : points) {
      path.append(path.isEmpty() ? 'M' : 'L')
          .append(along(x, point.step()))
          .append(' ')
          .append(across(1 - y.at(point.value()), HEIGHT));
    }
    out.append("<path class=\"curve ")
        .append(s.style())
        .append("\" d=\"")
        .append(path)
        .append("\"/>\n");
    if (points.size() > 1 && !(s.dots() && points.size() <= MAX_DOTS)) {
      return;
    }
    for (Point point : points) { // a line of no length with round ends is a disc at any stretch
      out.append("<path class=\"dot ")
          .append(s.style())
          .append("\" d=\"M")
          .append(along(x, point.step()))
          .append(' ')
          .append(across(1 - y.at(point.value()), HEIGHT))
          .append("h0.01\"><title>")
          .append(Html.text(s.name()))
          .append(", " + Html.text(across) + " ")
          .append(Format.whole(point.step()))
          .append(": ")
          .append(Format.fixed(point.value(), decimals))
          .append("</title></path>\n");
    }
  }

  /** At most {@link #MAX_POINTS} points: means of neighbours. */
  private static List<Point> thin(List<Point> points) {
    if (points.size() <= MAX_POINTS) {
      return points;
    }
    List<Point> thinned = new ArrayList<>();
    for (int i = 0; i < MAX_POINTS; i++) {
      int from = (int) ((long) i * points.size() / MAX_POINTS);
      int to = (int) ((long) (i + 1) * points.size() / MAX_POINTS);
      OptionalDouble mean = points.subList(from, to).stream().mapToDouble(Point::value).average();
      thinned.add(new Point(points.get((from + to) / 2).step(), mean.orElseThrow()));
    }
    return thinned;
  }

  /** Adds a line from one point to another. */
  static void line(StringBuilder out, String style, double x1, double y1, double x2, double y2) {
    out.append("<path class=\"")
        .append(style)
        .append("\" d=\"M")
        .append(x1)
        .append(' ')
        .append(y1)
        .append('L')
        .append(x2)
        .append(' ')
        .append(y2)
        .append("\"/>\n");
  }

  /** Adds a label that stands at {@code share} of the length from {@code side}. */
  static void label(StringBuilder out, String side, double share, String text) {
    out.append("<span style=\"")
        .append(side)
        .append(':')
        .append(percent(share))
        .append("\">")
        .append(Html.text(text))
        .append("</span>");
  }

  private static double along(Axis x, double step) {
    return across(x.at(step) * USED, WIDTH);
  }

  /** {@code share} of a length, to a tenth. */
  static double across(double share, int length) {
    return Math.round(share * length * 10) / 10.0;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f%%", share * 100);
  }
}
