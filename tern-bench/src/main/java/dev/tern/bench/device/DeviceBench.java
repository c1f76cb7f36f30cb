package dev.tern.bench.device;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import dev.tern.base.ProductMath;
import dev.tern.base.Shape;
import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepTime;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * {@code bench device}: products of matrices on a CUDA device in each of its maths, by the device's
 * own clock. First a product of 512 rows is compared with the processor's: exact to the bit, others
 * by the relative error of the whole product. The time of bf16 has the rounding of both factors in
 * it.
 */
public final class DeviceBench {
  private static final int CHECKED_ROWS = 512;
  private static final long MEMORY = 8L << 30;

  private DeviceBench() {}

  /** Runs it. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("--shapes", "65536x1024x1024,4096x1024x1024,4096x400x400,4096x429x400");
    defaults.put("--math", "exact,tf32,bf16");
    defaults.put("--repeats", "5");
    Arguments arguments = Arguments.parse("device", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String shape : arguments.list("--shapes")) {
      String[] sizes = shape.split("x");
      if (sizes.length != 3) {
        throw new IllegalArgumentException(
            "--shapes: got " + shape + ", expected rows x terms x columns, as in 4096x400x400");
      }
      for (String math : arguments.list("--math")) {
        measure(
            ProductMath.valueOf(math.toUpperCase(Locale.ROOT)),
            Integer.parseInt(sizes[0]),
            Integer.parseInt(sizes[1]),
            Integer.parseInt(sizes[2]),
            arguments);
      }
    }
  }

  private static void measure(ProductMath math, int m, int k, int n, Arguments arguments) {
    double error = error(math, k, n);
    double most = math == ProductMath.EXACT ? 0 : math == ProductMath.TF32 ? 1e-3 : 1e-2;
    if (!(error <= most)) {
      throw new IllegalStateException(
          "bench device: got a relative error of %.3g with %s, expected at most %.3g"
              .formatted(error, math, most));
    }
    List<Double> runs = new ArrayList<>();
    try (Device device = Device.cuda(0, 2, MEMORY, Long.MAX_VALUE, math)) {
      Tensor a = drawn(device, "a", m, k).tensor();
      Tensor b = drawn(device, "b", k, n).tensor();
      for (int i = 0; i < arguments.positive("--repeats"); i++) {
        try (Computation product = Computation.of(device, List.of(a.matmul(b).sum()), Map.of())) {
          // The second run is timed step by step.
          product.run();
          product.run();
          StepTime time =
              product.times().stream()
                  .filter(step -> step.what().startsWith("matmul"))
                  .findFirst()
                  .orElseThrow();
          runs.add(time.gigaflops() / 1000);
        }
      }
    }
    String name = math.name().toLowerCase(Locale.ROOT) + " %dx%dx%d".formatted(m, k, n);
    double median = Result.median(runs);
    System.out.printf(
        Locale.ROOT,
        arguments.json()
            ? "{\"bench\":\"device\",\"case\":\"%s\",\"value\":%.2f,\"unit\":\"TFLOP/s\",\"error\":%.3g,\"runs\":%s}%n"
            : "device   %-24s %7.1f TFLOP/s, relative error %.3g, runs %s%n",
        name,
        median,
        error,
        runs.stream().map(run -> String.format(Locale.ROOT, "%.1f", run)).toList());
  }

  /** How far a product lies from the processor's, as a share of it. */
  private static double error(ProductMath math, int k, int n) {
    float[] expected;
    try (Device cpu = Device.cpu(2, MEMORY)) {
      expected = product(cpu, k, n);
    }
    float[] got;
    try (Device cuda = Device.cuda(0, 2, MEMORY, Long.MAX_VALUE, math)) {
      got = product(cuda, k, n);
    }
    double difference = 0;
    double size = 0;
    for (int i = 0; i < got.length; i++) {
      difference += Math.pow((double) expected[i] - got[i], 2);
      size += Math.pow(expected[i], 2);
    }
    return Math.sqrt(difference / size);
  }

  private static float[] product(Device device, int k, int n) {
    Tensor a = drawn(device, "a", CHECKED_ROWS, k).tensor();
    Tensor b = drawn(device, "b", k, n).tensor();
    try (Computation product = Computation.of(device, List.of(a.matmul(b)), Map.of())) {
      product.run();
      return product.output(0).toArray(JAVA_FLOAT);
    }
  }

  private static Variable drawn(Device device, String name, int rows, int columns) {
    Variable variable = Variable.zeros(device, name, Shape.of(rows, columns));
    SplittableRandom random = new SplittableRandom(name.hashCode());
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(-1, 1);
    }
    variable.set(values);
    return variable;
  }
}
