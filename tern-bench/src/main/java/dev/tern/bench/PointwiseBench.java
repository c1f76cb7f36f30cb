package dev.tern.bench;

import dev.tern.internal.kernel.warmup.Warmup;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * {@code bench pointwise}: elementwise expressions, each one fused kernel, beside PyTorch's eager
 * evaluation or its compiler, whichever is faster. A value is the bandwidth at which inputs are
 * read and outputs written once. Results are compared with the expression in double precision, on a
 * sample of elements, before anything is timed.
 */
final class PointwiseBench {
  private static final int COLUMNS = 256;
  private static final int CHECKED = 1000;

  private final Arguments arguments;
  private final List<Double> ratios = new ArrayList<>();

  private PointwiseBench(Arguments arguments) {
    this.arguments = arguments;
  }

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--sizes", "16384,1048576,16777216");
    defaults.put("--threads", "1,2");
    defaults.put("--rounds", "5");
    defaults.put("--round-ms", "30");
    defaults.put("--only", "");
    defaults.put("--peer-python", "");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("pointwise", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String threads : arguments.list("--threads")) {
      new PointwiseBench(arguments).measure(Integer.parseInt(threads));
    }
  }

  private void measure(int threads) {
    double millis = arguments.positive("--round-ms");
    Rounds rounds = new Rounds(arguments.positive("--rounds"), millis);
    try (Device device = Device.cpu(threads, 4L << 30);
        Peers peers =
            new Peers(
                arguments.text("--peer-python"), arguments.text("--peers"), threads, millis)) {
      for (String size : arguments.list("--sizes")) {
        int rows = Integer.parseInt(size) / COLUMNS;
        double triad = Limits.triad(threads, rows * COLUMNS);
        print(
            new Result(
                "pointwise",
                "STREAM triad n=" + size,
                threads,
                List.of(triad),
                "GB/s",
                "",
                List.of()));
        for (Expression each : Expression.ALL) {
          if (each.name().contains(arguments.text("--only"))) {
            print(time(device, each, rows, rounds, peers));
          }
        }
      }
    }
    Ratios.print("pointwise", threads, ratios, arguments.json());
  }

  private Result time(Device device, Expression expression, int rows, Rounds rounds, Peers peers) {
    List<Variable> inputs = new ArrayList<>();
    for (Expression.Input input : expression.inputs()) {
      Variable variable = Variable.zeros(device, "input", input.shape(rows, COLUMNS));
      variable.set(random(variable.shape().elements(), inputs.size(), input));
      inputs.add(variable);
    }
    List<float[]> before = inputs.stream().map(Variable::toArray).toList();
    List<Tensor> results = expression.build().apply(inputs.stream().map(Variable::tensor).toList());
    Map<Variable, Tensor> updates = new TreeMap<>((a, b) -> inputs.indexOf(a) - inputs.indexOf(b));
    for (int i = 0; i < expression.updated(); i++) {
      updates.put(inputs.get(i), results.get(i));
    }
    List<Tensor> outputs = results.subList(expression.updated(), results.size());
    try (Computation computation = Computation.of(device, outputs, updates)) {
      computation.run();
      check(expression, computation, rows, inputs, before, outputs.size());
      warm(computation);
      String request =
          String.format(
              Locale.ROOT,
              "{\"op\": \"pointwise\", \"name\": \"%s\", \"rows\": %d, \"columns\": %d}",
              expression.name(),
              rows,
              COLUMNS);
      Rounds.Times times = peers.time(rounds, computation::run, request);
      double bytes = expression.bytes(rows, COLUMNS, results.size());
      return new Result(
          "pointwise",
          expression.name() + " n=" + rows * COLUMNS,
          device.threads(),
          times.own().stream().map(nanos -> bytes / nanos).toList(),
          "GB/s",
          "pytorch",
          times.peer().stream().map(nanos -> bytes / nanos).toList());
    } finally {
      inputs.forEach(Variable::close);
    }
  }

  /** Until the kernel's vector form is adopted, and a little longer. */
  private static void warm(Computation computation) {
    long end = System.nanoTime() + 100_000_000L;
    while (System.nanoTime() < end || !Warmup.isIdle()) {
      computation.run();
    }
  }

  private static float[] random(int count, int seed, Expression.Input input) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextDouble(input.low(), 2);
    }
    return values;
  }

  private static void check(
      Expression expression,
      Computation computation,
      int rows,
      List<Variable> inputs,
      List<float[]> before,
      int outputs) {
    List<float[]> got = new ArrayList<>();
    for (int i = 0; i < expression.updated(); i++) {
      got.add(inputs.get(i).toArray());
    }
    for (int i = 0; i < outputs; i++) {
      float[] output = new float[rows * COLUMNS];
      computation.copyOutput(i, output, 0);
      got.add(output);
    }
    SplittableRandom random = new SplittableRandom(7);
    double[] at = new double[before.size()];
    for (int sample = 0; sample < CHECKED; sample++) {
      int index = random.nextInt(rows * COLUMNS);
      for (int i = 0; i < at.length; i++) {
        at[i] = before.get(i)[expression.inputs().get(i).index(index, COLUMNS)];
      }
      double[] expected = expression.check().apply(at);
      for (int i = 0; i < expected.length; i++) {
        double value = got.get(i)[index];
        if (!(Math.abs(value - expected[i]) <= 1e-5 * (1 + Math.abs(expected[i])))) {
          throw new IllegalStateException(
              "pointwise "
                  + expression.name()
                  + ": got "
                  + value
                  + " at element "
                  + index
                  + ", expected "
                  + expected[i]);
        }
      }
    }
  }

  private void print(Result result) {
    if (!result.peerRuns().isEmpty()) {
      ratios.add(result.ratio());
    }
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }
}
