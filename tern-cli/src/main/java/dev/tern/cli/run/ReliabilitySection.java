package dev.tern.cli.run;

import dev.tern.metrics.Reliability;
import dev.tern.metrics.Reliability.Bin;
import java.util.List;
import java.util.stream.DoubleStream;

/**
 * A report's section on how predictions compare with rates: for each task a picture and a table of
 * its bins.
 */
final class ReliabilitySection {
  private static final int WIDTH = 1000;
  private static final int HEIGHT = 400;

  private ReliabilitySection() {}

  /** The section of an evaluation as HTML; empty where no task has a row. */
  static String of(MetricsLine line) {
    List<EvaluatedTask> tasks =
        line.evaluated().stream()
            .filter(task -> task.reliability().filter(own -> !own.bins().isEmpty()).isPresent())
            .toList();
    if (tasks.isEmpty()) {
      return "";
    }
    StringBuilder out = new StringBuilder();
    out.append("<section><h2>Reliability at step ")
        .append(Format.whole(line.step()))
        .append("</h2><div class=\"charts\">\n");
    for (EvaluatedTask task : tasks) {
      Reliability reliability = task.reliability().orElseThrow();
      figure(out, tasks.size() > 1 ? " of " + task.name() : "", reliability);
      table(out, reliability);
    }
    return out.append("</div></section>\n").toString();
  }

  private static void figure(StringBuilder out, String of, Reliability reliability) {
    List<Bin> bins = reliability.bins();
    double[] predictions = bins.stream().mapToDouble(Bin::prediction).toArray();
    boolean powers = Scale.isFar(predictions);
    Scale x = Scale.of(predictions, powers);
    Scale y = Scale.of(heights(bins), powers);
    out.append("<figure class=\"chart\">\n<figcaption><h3>Predicted and observed")
        .append(Html.text(of))
        .append("</h3><ul class=\"legend\"><li class=\"eval\">observed, with its interval of 95%")
        .append("</li><li class=\"ref\">ideal</li></ul></figcaption>\n")
        .append("<div class=\"axis-name\">rate of label 1</div>\n")
        .append("<div class=\"frame\">\n<div class=\"y\">");
    y.ticks().forEach(t -> Chart.label(out, "top", 1 - y.at(t), y.label(t)));
    out.append("</div>\n<div class=\"plot\">\n");
    svg(out, x, y, bins);
    out.append("</div>\n<div class=\"x\">");
    x.ticks().forEach(t -> Chart.label(out, "left", x.at(t) * Chart.USED, x.label(t)));
    out.append("</div>\n</div>\n<div class=\"axis-name end\">mean prediction</div>\n</figure>\n");
  }

  /** What the vertical axis must hold: rates, and what they may be. */
  private static double[] heights(List<Bin> bins) {
    return bins.stream()
        .flatMapToDouble(bin -> DoubleStream.of(bin.prediction(), bin.rate(), bin.high()))
        .toArray();
  }

  private static void svg(StringBuilder out, Scale x, Scale y, List<Bin> bins) {
    out.append("<svg viewBox=\"0 0 ")
        .append(WIDTH)
        .append(' ')
        .append(HEIGHT)
        .append("\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"rate of label 1 over")
        .append(" mean prediction, in bins\">\n");
    for (double tick : y.ticks()) {
      Chart.line(out, "grid", 0, down(y, tick), WIDTH, down(y, tick));
    }
    for (double tick : x.ticks()) {
      Chart.line(out, "tick", along(x, tick), HEIGHT - 8, along(x, tick), HEIGHT);
    }
    double from = Math.max(x.min(), y.min());
    double to = Math.min(x.max(), y.max());
    Chart.line(out, "ref", along(x, from), down(y, from), along(x, to), down(y, to));
    for (Bin bin : bins) {
      double at = along(x, bin.prediction());
      Chart.line(out, "interval", at, down(y, bin.low()), at, down(y, bin.high()));
    }
    StringBuilder path = new StringBuilder();
    for (Bin bin : bins) {
      path.append(path.isEmpty() ? 'M' : 'L').append(place(x, y, bin));
    }
    out.append("<path class=\"curve eval\" d=\"").append(path).append("\"/>\n");
    int decimals = decimals(bins);
    for (Bin bin : bins) { // a line of no length with round ends is a disc at any stretch
      out.append("<path class=\"dot eval\" d=\"M")
          .append(place(x, y, bin))
          .append("h0.01\"><title>")
          .append(Html.text(words(bin, decimals)))
          .append("</title></path>\n");
    }
    out.append("</svg>\n");
  }

  private static String place(Scale x, Scale y, Bin bin) {
    return along(x, bin.prediction()) + " " + down(y, bin.rate());
  }

  private static String words(Bin bin, int decimals) {
    return Format.whole(Math.round(bin.rows()))
        + " rows, predicted "
        + Format.fixed(bin.prediction(), decimals)
        + ", observed "
        + Format.fixed(bin.rate(), decimals)
        + " ("
        + interval(bin, decimals)
        + ")";
  }

  private static String interval(Bin bin, int decimals) {
    return Format.fixed(bin.low(), decimals) + " to " + Format.fixed(bin.high(), decimals);
  }

  /** Decimals that show two digits of the least prediction, 4 to 8. */
  private static int decimals(List<Bin> bins) {
    double least = Math.max(1e-12, bins.getFirst().prediction());
    return (int) Math.clamp(1 - (long) Math.floor(Math.log10(least)), 4, 8);
  }

  private static double along(Scale x, double share) {
    return Chart.across(x.at(share) * Chart.USED, WIDTH);
  }

  private static double down(Scale y, double share) {
    return Chart.across(1 - y.at(share), HEIGHT);
  }

  /** The prediction as a multiple of the rate. */
  private static String off(Bin bin) {
    return Format.fixed(bin.prediction() / bin.rate(), 3);
  }

  private static void table(StringBuilder out, Reliability reliability) {
    out.append("<div class=\"chart scroll\"><table class=\"numbers small\"><thead><tr>")
        .append("<th>rows</th><th>predicted</th><th>observed</th><th>interval of 95%</th>")
        .append("<th>predicted / observed</th></tr></thead><tbody>\n");
    int decimals = decimals(reliability.bins());
    for (Bin bin : reliability.bins()) {
      boolean isOff = bin.prediction() < bin.low() || bin.prediction() > bin.high();
      out.append(isOff ? "<tr class=\"best\">" : "<tr>");
      Html.cell(out, Format.whole(Math.round(bin.rows())));
      Html.cell(out, Format.fixed(bin.prediction(), decimals));
      Html.cell(out, Format.fixed(bin.rate(), decimals));
      Html.cell(out, interval(bin, decimals));
      Html.cell(out, off(bin));
      out.append("</tr>\n");
    }
    out.append("</tbody></table>\n<p class=\"remark\">")
        .append(Format.whole(Math.round(reliability.rows())))
        .append(" rows in bins of equally many by prediction; expected calibration error (ECE) ")
        .append(Format.fixed(reliability.error(), 4))
        .append(". Bold: the prediction lies outside the interval.</p></div>\n");
  }
}
