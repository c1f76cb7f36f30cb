package dev.tern.bench.fuzz;

import dev.tern.base.DType;
import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.exchange.ExchangeFuzz;
import dev.tern.bench.serve.RequestFuzz;
import dev.tern.internal.cuda.driver.CudaDriver;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.runtime.Engine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code bench fuzz}: random programs ({@link RandomPrograms}), planned and run, against the plain
 * evaluation within the bounds that {@link Intervals} states. Each runs twice, on different numbers
 * of threads, some the second time in less memory than their values take, and must give the same
 * bits.
 *
 * <p>Kernels run in their vector form from the first call on; {@code -Dtern.vector.bits=N} narrows
 * it, 0 for scalar code. {@code --memory OPERATIONS} is about {@link MemoryFuzz}, {@code
 * --allocator OPERATIONS} about {@link AllocatorFuzz}, {@code --readers FILES} about {@link
 * ReaderFuzz}, {@code --conservation SETS} about {@link ConservationFuzz}, {@code --coverage
 * INPUTS} about {@link CoverageFuzz}, {@code --requests N} about {@link RequestFuzz}, {@code
 * --exchange FRAMES} about {@link ExchangeFuzz}, {@code --device cuda|simulated} about {@link
 * DeviceFuzz} instead. The digest is over the bits of all results, so runs of the same seeds under
 * different widths can be compared. {@code --seed S --programs 1} repeats one program.
 */
public final class FuzzBench implements AutoCloseable {
  private static final int MOST_THREADS = 3;
  private static final int SHOWN = 3;
  private static final int EACH_LIMITED = 8;
  private static final double[] LIMITS = {0.5, 0.6, 0.7, 0.8, 0.9};
  private static final long BUDGET = 1L << 30;

  /** What an option asks for in place of random programs, by the number of trials. */
  private interface Other {
    void run(int trials, Arguments arguments);
  }

  /** One that takes a seed and whether it prints JSON. */
  private interface Seeded {
    void run(int trials, int seed, boolean json);

    static Other of(Seeded fuzz) {
      return (trials, arguments) -> fuzz.run(trials, arguments.integer("--seed"), arguments.json());
    }
  }

  private static final Map<String, Other> OTHERS =
      Map.of(
          "--memory", Seeded.of(MemoryFuzz::run),
          "--allocator", Seeded.of(AllocatorFuzz::run),
          "--readers", Seeded.of(ReaderFuzz::run),
          "--conservation", Seeded.of(ConservationFuzz::run),
          "--coverage",
              (inputs, arguments) ->
                  CoverageFuzz.run(
                      inputs, arguments.integer("--seed"), Path.of(arguments.text("--corpus"))),
          "--requests", Seeded.of(RequestFuzz::run),
          "--exchange", Seeded.of(ExchangeFuzz::run));

  private final List<Engine> engines = new ArrayList<>();
  private final Map<String, Integer> ops = new TreeMap<>();
  private long elements;
  private long exact;
  private long unbounded;
  private long digest;
  private int failed;

  /** Whether the program at hand runs the second time in less memory. */
  private boolean isLimited;

  private long leastMemory;
  private int limited;

  FuzzBench() {
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
      engines.add(new Engine(threads, BUDGET, BUDGET));
    }
  }

  /** Runs the suite. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    OTHERS.keySet().forEach(option -> defaults.put(option, "0"));
    defaults.put("--programs", "20000");
    defaults.put("--corpus", "tern-fuzz-corpus");
    defaults.put("--seed", "1");
    defaults.put("--device", "");
    defaults.put("--architectures", "");
    Arguments arguments = Arguments.parse("fuzz", args, defaults);
    for (Map.Entry<String, Other> other : OTHERS.entrySet()) {
      int trials = arguments.integer(other.getKey());
      if (trials > 0) {
        other.getValue().run(trials, arguments);
        return;
      }
    }
    if (arguments.text("--device").isEmpty()) {
      programs(arguments);
    } else {
      device(arguments);
    }
  }

  private static void device(Arguments arguments) {
    boolean isSimulated = arguments.choice("--device", "cuda", "simulated").equals("simulated");
    CudaDriver driver = isSimulated ? SimulatedCuda.driver() : CudaDriver.open();
    try (DeviceFuzz fuzz = new DeviceFuzz(driver)) {
      if (!arguments.text("--architectures").isEmpty()) {
        fuzz.checkTexts(arguments.list("--architectures").stream().map(Integer::parseInt).toList());
      }
      fuzz.run(arguments.integer("--seed"), arguments.positive("--programs"), arguments.json());
    }
  }

  private static void programs(Arguments arguments) {
    int programs = arguments.positive("--programs");
    long seed = arguments.integer("--seed");
    Machine.vectorsAtOnce();
    long start = System.nanoTime();
    try (FuzzBench fuzz = new FuzzBench()) {
      for (int i = 0; i < programs; i++) {
        String failure = fuzz.check(seed + i);
        if (!failure.isEmpty() && fuzz.failed <= SHOWN) {
          System.err.println(failure);
        }
        if (!arguments.json() && (i + 1) % 2000 == 0 && i + 1 < programs) {
          System.out.printf(Locale.ROOT, "%d programs, %d beyond%n", i + 1, fuzz.failed);
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      System.out.println(
          arguments.json()
              ? fuzz.json(programs, seed, seconds)
              : fuzz.text(programs, seed, seconds));
      if (fuzz.failed > 0) {
        throw new IllegalStateException(
            "fuzz: got " + fuzz.failed + " programs beyond the bounds, expected none");
      }
    }
  }

  /** How often each op occurred in the programs so far, by its name. */
  Map<String, Integer> ops() {
    return ops;
  }

  long digest() {
    return digest;
  }

  /** Runs the program of {@code seed}; what is wrong with it, empty if nothing is. */
  String check(long seed) {
    Program program = RandomPrograms.of(seed);
    for (Node node : program.nodes()) {
      ops.merge(name(node.op()), 1, Integer::sum);
    }
    isLimited = Math.floorMod(seed, EACH_LIMITED) == 0;
    String failure = failure(program, (int) Math.floorMod(seed, MOST_THREADS), true);
    if (failure.isEmpty()) {
      return "";
    }
    failed++;
    return "fuzz: --seed " + seed + " --programs 1: " + failure + "\n" + smallest(program, failure);
  }

  static String name(Op op) {
    return op instanceof Enum<?> constant ? constant.name() : op.getClass().getSimpleName();
  }

  /** The first node that fails as the only output, or else the whole program. */
  private String smallest(Program program, String failure) {
    for (Node node : program.nodes()) {
      if (!(node.op() instanceof Op.Leaf) && node.type().isFloatLike()) {
        Program part = Program.of(List.of(node), List.of());
        String own = failure(part, 1, false);
        if (!own.isEmpty()) {
          return "in smaller form: " + own + "\n" + part;
        }
      }
    }
    return failure + "\n" + program;
  }

  private String failure(Program program, int threads, boolean counts) {
    Intervals intervals = Intervals.of(program);
    List<Node> results = new ArrayList<>(program.outputs());
    program.updates().forEach(update -> results.add(update.value()));
    Map<Node, byte[]> before = new IdentityHashMap<>();
    for (Program.Update update : program.updates()) {
      before.put(update.leaf(), bytes(address(update.leaf()), update.leaf()));
    }
    List<byte[]> first = run(program, engines.get(threads));
    before.forEach(FuzzBench::restore);
    Engine other = engines.get((threads + 1) % MOST_THREADS);
    List<byte[]> second = isLimited ? runLimited(program, other) : run(program, other);
    before.forEach(FuzzBench::restore);
    for (int i = 0; i < results.size(); i++) {
      Node node = results.get(i);
      String wrong = compare(node, intervals.get(node), first.get(i), second.get(i), counts);
      if (!wrong.isEmpty()) {
        String which = i < program.outputs().size() ? "output " + i : "an update";
        return which + ", " + node + ", " + wrong;
      }
    }
    return "";
  }

  private static long address(Node leaf) {
    return ((Op.Leaf) leaf.op()).buffer().address();
  }

  private static void restore(Node leaf, byte[] bytes) {
    MemorySegment.copy(bytes, 0, Memory.ALL, ValueLayout.JAVA_BYTE, address(leaf), bytes.length);
  }

  private static byte[] bytes(long address, Node node) {
    byte[] bytes = new byte[node.shape().elements() * node.type().bytes()];
    MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, bytes.length);
    return bytes;
  }

  private List<byte[]> run(Program program, Engine engine) {
    return run(program, engine, BUDGET);
  }

  /** In the least share of the memory that the first run had in which the program fits. */
  private List<byte[]> runLimited(Program program, Engine engine) {
    long whole = leastMemory;
    for (double share : LIMITS) {
      try {
        List<byte[]> results = run(program, engine, (long) (share * whole));
        limited++;
        return results;
      } catch (OutOfBudgetException _) {
        // One of its steps takes more than that.
      }
    }
    return run(program, engine);
  }

  private List<byte[]> run(Program program, Engine engine, long limit) {
    List<byte[]> results = new ArrayList<>();
    try (Engine.Bound bound = engine.bind(program, limit, ScheduleFinder.QUICK)) {
      leastMemory = bound.sizes().bytes();
      bound.run();
      for (int i = 0; i < program.outputs().size(); i++) {
        results.add(bytes(bound.execution().output(i), program.outputs().get(i)));
      }
      for (Program.Update update : program.updates()) {
        results.add(bytes(address(update.leaf()), update.leaf()));
      }
    }
    return results;
  }

  private String compare(
      Node node, Intervals.Range range, byte[] first, byte[] second, boolean counts) {
    for (int i = 0; i < node.shape().elements(); i++) {
      double got = value(first, i, node.type());
      double again = value(second, i, node.type());
      if (Double.compare(got, again) != 0) {
        return "element %d: got %s and then, on other threads or in less memory, %s"
            .formatted(i, got, again);
      }
      if (!range.holds(i, got)) {
        return "element %d: got %s, expected %s to %s"
            .formatted(i, got, range.low()[i], range.high()[i]);
      }
      if (counts) {
        elements++;
        exact += range.isExact(i) ? 1 : 0;
        unbounded += !range.isExact(i) && range.isUnbounded(i) ? 1 : 0;
        digest = digest * 31 + Float.floatToIntBits((float) got);
      }
    }
    return "";
  }

  private static double value(byte[] bytes, int index, DType type) {
    MemorySegment all = MemorySegment.ofArray(bytes);
    long at = (long) index * type.bytes();
    return switch (type) {
      case F32, BOOL -> all.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at);
      case F16 -> Float.float16ToFloat(all.get(ValueLayout.JAVA_SHORT_UNALIGNED, at));
      case BF16 -> Float.intBitsToFloat(all.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) << 16);
      case I32 -> all.get(ValueLayout.JAVA_INT_UNALIGNED, at);
      case I64 -> all.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    };
  }

  private String text(int programs, long seed, double seconds) {
    String drawn =
        ops.entrySet().stream()
            .map(op -> op.getKey() + " " + op.getValue())
            .reduce((a, b) -> a + ", " + b)
            .orElse("");
    return String.format(
        Locale.ROOT,
        "fuzz     %d programs from seed %d, %d in less memory, %d beyond the bounds, %.1f s,"
            + " vectors of %d floats%n"
            + "         %d elements compared: %.2f%% bit for bit, %.2f%% within a bound, %.2f%%"
            + " unbounded; digest %016x%n         %s",
        programs,
        seed,
        limited,
        failed,
        seconds,
        VectorSupport.lanes(),
        elements,
        100.0 * exact / elements,
        100.0 * (elements - exact - unbounded) / elements,
        100.0 * unbounded / elements,
        digest,
        drawn);
  }

  private String json(int programs, long seed, double seconds) {
    return String.format(
        Locale.ROOT,
        "{\"bench\":\"fuzz\",\"programs\":%d,\"seed\":%d,\"limited\":%d,\"beyond\":%d,"
            + "\"seconds\":%.1f,\"lanes\":%d,\"elements\":%d,\"exact\":%d,\"unbounded\":%d,\"digest\":\"%016x\"}",
        programs,
        seed,
        limited,
        failed,
        seconds,
        VectorSupport.lanes(),
        elements,
        exact,
        unbounded,
        digest);
  }

  @Override
  public void close() {
    engines.forEach(Engine::close);
  }
}
