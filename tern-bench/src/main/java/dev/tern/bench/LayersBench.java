package dev.tern.bench;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.kernel.warmup.Warmup;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * {@code bench layers}: layers of CTR models, forward alone and forward with the gradients of all
 * their learned inputs, beside PyTorch's, eager or compiled, whichever is faster. A value is calls
 * a second. Results are compared with the layer's equation in double precision, gradients with its
 * differences along a random direction, before anything is timed.
 */
final class LayersBench {
  private final Arguments arguments;
  private final List<Double> ratios = new ArrayList<>();

  private LayersBench(Arguments arguments) {
    this.arguments = arguments;
  }

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--batch", "4096");
    defaults.put("--rows", "1000000");
    defaults.put("--threads", "1,2");
    defaults.put("--rounds", "7");
    defaults.put("--round-ms", "40");
    defaults.put("--only", "");
    defaults.put("--peer-python", "");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("layers", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    for (String threads : arguments.list("--threads")) {
      new LayersBench(arguments).measure(Integer.parseInt(threads));
    }
  }

  private void measure(int threads) {
    double millis = arguments.positive("--round-ms");
    int batch = arguments.positive("--batch");
    Rounds rounds = new Rounds(arguments.positive("--rounds"), millis);
    try (Device device = Device.cpu(threads, 4L << 30);
        Peers peers =
            new Peers(
                arguments.text("--peer-python"), arguments.text("--peers"), threads, millis)) {
      Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
      seed.setLong(Layers.SEED);
      for (Layer layer : Layers.all(batch, seed)) {
        for (boolean backward : new boolean[] {false, true}) {
          print(layer.title(), backward, () -> time(device, layer, backward, rounds, peers));
        }
      }
      for (boolean mean : new boolean[] {false, true}) {
        Pooling pooling = new Pooling(batch, arguments.positive("--rows"), mean);
        for (boolean backward : new boolean[] {false, true}) {
          print(pooling.title(), backward, () -> pooling.time(device, backward, rounds, peers));
        }
      }
    }
    Ratios.print("layers", threads, ratios, arguments.json());
  }

  /** The name of a case. */
  static String name(String title, boolean backward) {
    return title + (backward ? " forward and backward" : " forward");
  }

  private Result time(Device device, Layer layer, boolean backward, Rounds rounds, Peers peers) {
    List<Variable> inputs = new ArrayList<>();
    for (Layer.Input input : layer.inputs()) {
      Variable variable = Variable.zeros(device, "input", input.shape());
      variable.set(random(variable.shape(), inputs.size(), input.low(), input.high()));
      inputs.add(variable);
    }
    Tensor result = layer.build().apply(inputs.stream().map(Variable::tensor).toList());
    Variable upstream = Variable.zeros(device, "upstream", result.shape());
    upstream.set(random(result.shape(), inputs.size(), -1, 1));
    List<Tensor> outputs = new ArrayList<>(List.of(result));
    if (backward) {
      List<Tensor> learned = new ArrayList<>();
      for (int i = 0; i < inputs.size(); i++) {
        if (layer.inputs().get(i).isLearned()) {
          learned.add(inputs.get(i).tensor());
        }
      }
      outputs.addAll(Tensor.gradients(result.mul(upstream.tensor()).sum(), learned));
    }
    try (Computation computation = Computation.of(device, outputs, Map.of())) {
      computation.run();
      LayerCheck.run(layer, inputs, upstream, computation, outputs);
      warm(computation);
      Rounds.Times times = peers.time(rounds, computation::run, layer.request(backward));
      return result(name(layer.title(), backward), device, times);
    } finally {
      inputs.forEach(Variable::close);
      upstream.close();
    }
  }

  /** Calls a second. */
  static Result result(String name, Device device, Rounds.Times times) {
    return new Result(
        "layers",
        name,
        device.threads(),
        times.own().stream().map(nanos -> 1e9 / nanos).toList(),
        "calls/s",
        "pytorch",
        times.peer().stream().map(nanos -> 1e9 / nanos).toList());
  }

  /** Until the kernels' vector forms are compiled and adopted, and a little longer. */
  private static void warm(Computation computation) {
    long end = System.nanoTime() + 200_000_000L;
    while (System.nanoTime() < end || !Warmup.isIdle()) {
      computation.run();
    }
  }

  private static float[] random(Shape shape, int seed, double low, double high) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextDouble(low, high);
    }
    return values;
  }

  private void print(String title, boolean backward, Supplier<Result> measured) {
    if (!name(title, backward).contains(arguments.text("--only"))) {
      return;
    }
    Result result = measured.get();
    if (!result.peerRuns().isEmpty()) {
      ratios.add(result.ratio());
    }
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }
}
