package dev.tern.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code bench coldstart}: fresh processes, each of which trains from the start as a user's would,
 * with kernels that serve in scalar code until their vector form is compiled. Of each it takes the
 * milliseconds from the start of the JVM to the end of the first step, the drawing of rows left
 * out, those until it runs at 90% of its steady speed, and that speed. Steady is the median step of
 * the last half of the time; 90% is reached with the first of {@value #IN_A_ROW} steps whose median
 * is as fast as that, so that one lucky step does not count.
 *
 * <p>Steady speeds of all processes show whether some stay slow for life: the worst over the median
 * is the figure to watch. What the machine itself could do is measured by this process before and
 * after each of them ({@link Limits#gigaflops}): neighbours and clocks that change between runs
 * show there as well, and no longer in steady speed over it.
 */
final class ColdStartBench {
  private static final double NEAR = 0.9;
  private static final int IN_A_ROW = 5;
  private static final int MACHINE_ROUNDS = 9;
  private static final Pattern STEPS = Pattern.compile("\\d+");

  private ColdStartBench() {}

  static void run(List<String> args) {
    Map<String, String> defaults = TrainBench.dataDefaults();
    defaults.put("--models", "deepfm");
    defaults.put("--rows-total", "1000000");
    defaults.put("--runs", "30");
    defaults.put("--seconds", "30");
    Arguments arguments = Arguments.parse("coldstart", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String model : arguments.list("--models")) {
      for (String threads : arguments.list("--threads")) {
        new Series(arguments, model, Integer.parseInt(threads)).measure();
      }
    }
  }

  /**
   * One process.
   *
   * @param first milliseconds from its start to the end of its first step
   * @param near milliseconds from its start until it ran at 90% of its steady speed
   * @param speed steady samples a second
   * @param peak billions of operations a second that the machine did before and after it
   */
  record Start(double first, double near, double speed, double peak) {
    /** Of the microseconds since the start of the process at which steps of {@code batch} ended. */
    static Start of(long[] ends, int batch, double peak) {
      if (ends.length < 4 * IN_A_ROW) {
        throw new IllegalStateException(
            "coldstart: got %d steps, expected at least %d; raise --seconds"
                .formatted(ends.length, 4 * IN_A_ROW));
      }
      List<Double> micros = new ArrayList<>();
      int late = 0;
      for (int i = 1; i < ends.length; i++) {
        micros.add((double) ends[i] - ends[i - 1]);
        late = ends[i] < ends[ends.length - 1] / 2 ? i : late;
      }
      double steady = Result.median(micros.subList(late, micros.size()));
      int reached = 0;
      while (reached + IN_A_ROW < micros.size()
          && Result.median(micros.subList(reached, reached + IN_A_ROW)) * NEAR > steady) {
        reached++;
      }
      return new Start(ends[0] / 1e3, ends[reached + 1] / 1e3, batch * 1e6 / steady, peak);
    }
  }

  /** The processes of one model on one number of threads. */
  private record Series(Arguments arguments, String model, int threads) {
    void measure() {
      int runs = arguments.positive("--runs");
      List<Start> starts = new ArrayList<>();
      double before = machine();
      for (int run = 0; run < runs; run++) {
        long[] ends = ends();
        double after = machine();
        Start start = Start.of(ends, arguments.positive("--batch"), (before + after) / 2);
        before = after;
        starts.add(start);
        if (!arguments.json()) {
          System.out.printf(
              Locale.ROOT,
              "run %2d  first step %.0f ms, 90%% of steady speed %.0f ms, steady %.0f samples/s"
                  + " where the machine does %.0f GFLOP/s%n",
              run + 1,
              start.first(),
              start.near(),
              start.speed(),
              start.peak());
        }
      }
      print("first step", "ms", starts.stream().map(Start::first).toList(), false);
      print("90% of steady speed", "ms", starts.stream().map(Start::near).toList(), false);
      print("steady speed", "samples/s", starts.stream().map(Start::speed).toList(), true);
      List<Double> shares = starts.stream().map(start -> start.speed() / start.peak()).toList();
      print("steady speed over the machine's", "samples/GFLOP", shares, true);
    }

    /** About a second of it. */
    private double machine() {
      List<Double> peaks = new ArrayList<>();
      for (int i = 0; i < MACHINE_ROUNDS; i++) {
        peaks.add(Limits.gigaflops(threads));
      }
      return Result.median(peaks);
    }

    private long[] ends() {
      List<String> options = new ArrayList<>(Children.keptClasses());
      options.add("-Xmx2g");
      try {
        String output =
            Children.output(
                options,
                ColdStartRun.class.getName(),
                model,
                Integer.toString(threads),
                arguments.text("--batch"),
                arguments.text("--optimizer"),
                arguments.text("--rows-total"),
                arguments.text("--seed"),
                arguments.text("--peers"),
                arguments.text("--seconds"));
        Matcher ends = STEPS.matcher(output);
        return ends.results().mapToLong(end -> Long.parseLong(end.group())).toArray();
      } catch (IOException e) {
        throw new UncheckedIOException("coldstart: cannot run java", e);
      }
    }

    private void print(String what, String unit, List<Double> values, boolean least) {
      Result result =
          new Result("coldstart", model + " " + what, threads, values, unit, "", List.of());
      double worst =
          least
              ? values.stream().mapToDouble(Double::doubleValue).min().orElseThrow()
              : values.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
      String tail =
          String.format(
              Locale.ROOT,
              arguments.json()
                  ? ",\"worst\":%.1f,\"worst_over_median\":%.3f}"
                  : "  worst %.1f, over the median %.3f",
              worst,
              worst / result.value());
      String head = arguments.json() ? result.toJson() : result.toText();
      System.out.println((arguments.json() ? head.substring(0, head.length() - 1) : head) + tail);
    }
  }
}
