package dev.tern.cli.tune;

import dev.tern.cli.run.Axis;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Html;
import java.util.List;
import java.util.Locale;

/**
 * Trials as lines over parallel axes: one axis for each key that is searched, the last for what
 * they reached (Inselberg, 1985). Lines stretch with the page and can be reached by the keyboard;
 * the text beside the axes keeps its size.
 *
 * @param figure what they reached; the axis is that of the better three quarters, and worse trials
 *     go to its end
 * @param sorted trials that reached something, the best first
 */
record Coordinates(List<Search> searches, Goal figure, List<Trial> sorted) {
  private static final int WIDTH = 1000;
  private static final int HEIGHT = 400;

  /** Pixels of an axis with its text, below which the picture scrolls. */
  private static final int LEAST = 110;

  /** Axes and lines keep this share of the height free above and below. */
  private static final double MARGIN = 0.03;

  /** Of so many trials one is drawn as a good one. */
  private static final int GOOD = 4;

  String html() {
    Axis axis = axis();
    StringBuilder out = new StringBuilder();
    out.append("<figure class=\"chart\">\n<figcaption><h3>Trials</h3><ul class=\"legend\">")
        .append("<li class=\"eval\">the best</li><li class=\"train\">best quarter</li>")
        .append("<li class=\"t8\">others</li></ul></figcaption>\n<div class=\"scroll\">")
        .append("<div class=\"coordinates\" style=\"min-width:")
        .append(LEAST * (searches.size() + 1))
        .append("px\">\n");
    names(out);
    out.append("<div class=\"lines\">\n<svg viewBox=\"0 0 ")
        .append(WIDTH)
        .append(' ')
        .append(HEIGHT)
        .append("\" preserveAspectRatio=\"none\" role=\"group\" aria-label=\"")
        .append(Html.text("Each trial as a line over its values and its " + figure.name()))
        .append("\">\n");
    for (int i = 0; i <= searches.size(); i++) {
      out.append("<path class=\"axis\" d=\"M%s 0V%d\"/>\n".formatted(x(i), HEIGHT));
    }
    for (int i = sorted.size() - 1; i >= 0; i--) { // The best on top.
      line(out, axis, i);
    }
    out.append("</svg>\n");
    for (int i = 0; i < searches.size(); i++) {
      marks(out, i);
    }
    for (double tick : axis.ticks()) {
      mark(out, searches.size(), axis.at(tick), label(axis, tick));
    }
    return out.append("</div>\n</div></div>\n</figure>\n").toString();
  }

  private Axis axis() {
    List<Trial> better = better(sorted);
    return Axis.around(
        better.stream().mapToDouble(Trial::value).min().orElse(0),
        better.stream().mapToDouble(Trial::value).max().orElse(1),
        4);
  }

  /** The better three quarters of trials, so that one that went astray does not hide the others. */
  static List<Trial> better(List<Trial> sorted) {
    return sorted.subList(0, (3 * sorted.size() + 3) / 4);
  }

  /** A tick, with a sign where worse trials go to it. */
  private String label(Axis axis, double tick) {
    double worst = sorted.getLast().value();
    boolean isBelow = figure.more() && worst < axis.min() && tick == axis.ticks().getFirst();
    boolean isAbove = !figure.more() && worst > axis.max() && tick == axis.ticks().getLast();
    return (isBelow ? "\u2264 " : isAbove ? "\u2265 " : "") + axis.label(tick);
  }

  private void names(StringBuilder out) {
    out.append("<div class=\"names\">");
    for (int i = 0; i <= searches.size(); i++) {
      String name = i < searches.size() ? searches.get(i).key() : figure.name();
      // The sections of a key may go to a line of their own.
      out.append("<span style=\"left:%s\">".formatted(percent(share(i))))
          .append(Html.text(name).replace(".", ".<wbr>"))
          .append("</span>");
    }
    out.append("</div>\n");
  }

  private void line(StringBuilder out, Axis axis, int place) {
    Trial trial = sorted.get(place);
    String style = place == 0 ? "eval" : place * GOOD < sorted.size() ? "train" : "t8";
    StringBuilder path = new StringBuilder();
    for (int i = 0; i <= searches.size(); i++) {
      double at =
          i < searches.size()
              ? searches.get(i).at(trial.values().getOrDefault(searches.get(i).key(), ""))
              : Math.clamp(axis.at(trial.value()), 0.0, 1.0);
      path.append(i == 0 ? 'M' : 'L').append(x(i)).append(' ').append(y(at));
    }
    String text =
        "trial %d, %s %s: %s"
            .formatted(
                trial.number(), figure.name(), Format.fixed(trial.value(), 5), trial.shown());
    out.append("<g class=\"trial ")
        .append(style)
        .append("\" tabindex=\"0\" role=\"img\" aria-label=\"")
        .append(Html.text(text))
        .append("\"><title>")
        .append(Html.text(text))
        .append("</title><path class=\"wide\" d=\"")
        .append(path)
        .append("\"/><path class=\"thin\" d=\"")
        .append(path)
        .append("\"/></g>\n");
  }

  private void marks(StringBuilder out, int axis) {
    Search search = searches.get(axis);
    List<String> marks = search.marks();
    for (int i = 0; i < marks.size(); i++) {
      mark(out, axis, (double) i / (marks.size() - 1), marks.get(i));
    }
  }

  private void mark(StringBuilder out, int axis, double at, String text) {
    out.append(
            "<span style=\"left:%s;top:%s\">"
                .formatted(percent(share(axis)), percent(1 - MARGIN - at * (1 - 2 * MARGIN))))
        .append(Html.text(text))
        .append("</span>\n");
  }

  private double share(int axis) {
    return (double) axis / searches.size();
  }

  private double x(int axis) {
    return Math.round(share(axis) * WIDTH * 10) / 10.0;
  }

  private static double y(double at) {
    return Math.round((1 - MARGIN - at * (1 - 2 * MARGIN)) * HEIGHT * 10) / 10.0;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f%%", share * 100);
  }
}
