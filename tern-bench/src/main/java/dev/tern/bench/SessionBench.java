package dev.tern.bench;

import dev.tern.base.Shape;
import dev.tern.tensor.Device;
import dev.tern.tensor.Session;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What a session adds to an op, by ops on 16 floats, each asked for by a call; and what a network
 * of twelve layers computes again in a share of the memory of its gradients, which must have the
 * same bits.
 */
final class SessionBench {
  private static final long BUDGET = 64 << 20;
  private static final int CHAIN = 1000;
  private static final int BATCH = 1024;
  private static final int WIDTH = 64;
  private static final int LAYERS = 12;
  private static final double[] SHARES = {1, 0.5, 0.35};

  private SessionBench() {}

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ops", "100000");
    defaults.put("--runs", "5");
    defaults.put("--threads", "1");
    Arguments arguments = Arguments.parse("session", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    int threads = arguments.positive("--threads");
    int runs = arguments.positive("--runs");
    List<Result> results = new ArrayList<>();
    try (Device device = Device.cpu(threads, 1L << 30)) {
      for (Session.Level level : List.of(Session.Level.ASYNCHRONOUS, Session.Level.SYNCHRONOUS)) {
        results.add(tiny(device, level, arguments.positive("--ops"), runs));
      }
      results.addAll(shares(device, runs));
    }
    results.forEach(r -> System.out.println(arguments.json() ? r.toJson() : r.toText()));
  }

  private static Result tiny(Device device, Session.Level level, int ops, int runs) {
    List<Double> micros = new ArrayList<>();
    try (Session session = device.session(BUDGET, level, 10_000)) {
      chains(session, 2 * ops);
      for (int i = 0; i < runs; i++) {
        long start = System.nanoTime();
        chains(session, ops);
        micros.add((System.nanoTime() - start) / 1e3 / ops);
      }
    }
    return new Result(
        "session", "tiny op, " + level, device.threads(), micros, "us/op", "", List.of());
  }

  /** Chains of additions, whose end is read. */
  private static void chains(Session session, int ops) {
    for (int done = 0; done < ops; done += CHAIN) {
      Tensor at = Tensor.of(Shape.of(16), new float[16]);
      for (int i = 0; i < CHAIN; i++) {
        at = at.add(1);
        session.run(at);
      }
      if (session.get(at)[15] != CHAIN) {
        throw new IllegalStateException("session bench: got a wrong sum, expected " + CHAIN);
      }
    }
  }

  private static List<Result> shares(Device device, int runs) {
    List<Result> results = new ArrayList<>();
    try (Variable w = Variable.zeros(device, "w", Shape.of(WIDTH, WIDTH))) {
      w.set(numbers(WIDTH * WIDTH));
      Tensor x = Tensor.of(Shape.of(BATCH, WIDTH), numbers(BATCH * WIDTH));
      float[] expected = {};
      long peak = BUDGET;
      for (double share : SHARES) {
        List<Double> millis = new ArrayList<>();
        long again = 0;
        long all = 0;
        for (int i = -1; i < runs; i++) {
          try (Session session = device.session((long) (share * peak))) {
            long start = System.nanoTime();
            Tensor loss = loss(x, w.tensor());
            session.run(loss);
            float[] gradient = session.get(Tensor.gradients(loss, List.of(w.tensor())).getFirst());
            millis.add((System.nanoTime() - start) / 1e6);
            Session.Statistics done = session.statistics();
            expected = expected.length == 0 ? gradient : expected;
            if (!Arrays.equals(gradient, expected) || done.peakBytes() > done.budget()) {
              throw new IllegalStateException(
                  "session bench: got other bits or "
                      + done
                      + ", expected equal ones in the budget");
            }
            again = done.runsAgain();
            all = done.runs();
            if (i == runs - 1 && share == 1) {
              peak = done.peakBytes();
            }
          }
        }
        String name =
            "gradient in " + share + " of its memory, " + again + " of " + all + " runs again";
        List<Double> measured = millis.subList(1, millis.size());
        results.add(new Result("session", name, device.threads(), measured, "ms", "", List.of()));
      }
    }
    return results;
  }

  private static Tensor loss(Tensor x, Tensor w) {
    Tensor at = x;
    for (int i = 0; i < LAYERS; i++) {
      at = at.matmul(w).mul(0.2f).tanh();
    }
    return at.square().mean();
  }

  private static float[] numbers(int count) {
    SplittableRandom random = new SplittableRandom(count);
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextDouble(-1, 1);
    }
    return numbers;
  }
}
