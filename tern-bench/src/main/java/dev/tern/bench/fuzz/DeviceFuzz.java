package dev.tern.bench.fuzz;

import dev.tern.base.DType;
import dev.tern.bench.Machine;
import dev.tern.internal.cuda.driver.CudaCompilers;
import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaDriver;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.internal.cuda.run.CudaProgram;
import dev.tern.internal.cuda.run.KernelLibrary;
import dev.tern.internal.cuda.text.FixedText;
import dev.tern.internal.cuda.text.PlanText;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Planner;
import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.runtime.Engine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * {@code bench fuzz --device cuda|simulated}: random programs on a CUDA device and on the CPU, to
 * the same bits. A NaN is a NaN, whatever its bits. Programs are compiled many at a time, the next
 * ones while those before run. The simulated device runs each under all its schedules of threads.
 */
final class DeviceFuzz implements AutoCloseable {
  /** Programs whose kernels are compiled together. */
  private static final int AT_ONCE = 100;

  private static final int SHOWN = 5;
  private static final long BUDGET = 1L << 30;

  private final Engine cpu = new Engine(2, BUDGET, BUDGET);
  private final CudaDevice device;
  private final KernelLibrary library;
  private final int schedules;
  private long elements;
  private long launches;
  private long steps;
  private int differing;
  private final Optional<TextCheck> check = TextCheck.find();
  private List<Integer> architectures = List.of();

  /** Looks at texts, one after the other. */
  private final ExecutorService checker = Executors.newSingleThreadExecutor();

  private final List<Future<List<String>>> checks = new ArrayList<>();
  private int faultsOfText;

  DeviceFuzz(CudaDriver driver) {
    device = CudaDevice.open(driver, 0);
    boolean isSimulated = driver.isSimulated();
    schedules = isSimulated ? SimulatedCuda.SCHEDULES : 1;
    library =
        new KernelLibrary(
            device, isSimulated ? SimulatedCuda.compiler() : CudaCompilers.of(driver));
  }

  /** A program with its plan for the device. */
  private record Case(long seed, Program program, Plan plan, PlanText text) {}

  /** Programs whose kernels are one text, which is compiled. */
  private record Cases(List<Case> all, String text) {}

  /** Compares the programs of {@code count} seeds from {@code seed} on, and says what came out. */
  void run(long seed, int count, boolean json) {
    Machine.vectorsAtOnce();
    long start = System.nanoTime();
    try (ExecutorService compiling = Executors.newSingleThreadExecutor()) {
      Future<Cases> next = compiling.submit(() -> compiled(seed, Math.min(AT_ONCE, count)));
      for (int i = 0; i < count; i += AT_ONCE) {
        Cases cases = get(next);
        int after = i + AT_ONCE;
        if (after < count) {
          next = compiling.submit(() -> compiled(seed + after, Math.min(AT_ONCE, count - after)));
        }
        compare(cases);
        if (!json && after < count) {
          System.out.printf(Locale.ROOT, "%d programs, %d differ%n", after, differing);
        }
      }
    }
    awaitChecks();
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.printf(
        Locale.ROOT,
        json
            ? "{\"bench\":\"fuzz\",\"device\":\"%s\",\"programs\":%d,\"seed\":%d,\"steps\":%d,"
                  + "\"launches\":%d,\"schedules\":%d,\"elements\":%d,\"differing\":%d,\"seconds\":%.1f}%n"
            : "fuzz     on %s: %d programs from seed %d, %d steps, %d launches under %d schedules,"
                + " %d numbers compared, %d programs differ, %.1f s%n",
        device.name(),
        count,
        seed,
        steps,
        launches,
        schedules,
        elements,
        differing,
        seconds);
    if (!architectures.isEmpty()) {
      System.out.printf(
          Locale.ROOT,
          "texts    by nvcc for %s: %d faults (errors, spills, arithmetic that is not exact)%n",
          architectures,
          faultsOfText);
    }
    if (faultsOfText > 0) {
      throw new IllegalStateException(
          "fuzz: got " + faultsOfText + " faults of texts, expected none");
    }
    if (differing > 0) {
      throw new IllegalStateException(
          "fuzz: got other bits on the device in " + differing + " programs, expected none");
    }
  }

  /** Faults of texts so far. */
  int faultsOfText() {
    return faultsOfText;
  }

  /** Programs so far whose bits differ. */
  int differing() {
    return differing;
  }

  /** Compares the programs of {@code count} seeds from {@code first} on. */
  void compare(long first, int count) {
    compare(compiled(first, count));
    awaitChecks();
  }

  private Cases compiled(long first, int count) {
    List<Case> cases = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      Program program = RandomPrograms.of(first + i);
      Plan plan = Planner.planForDevice(program, BUDGET, ScheduleFinder.QUICK);
      PlanText written = PlanText.of(plan, "p" + i + "_");
      text.append(written.text());
      cases.add(new Case(first + i, program, plan, written));
    }
    library.compile(text.toString());
    return new Cases(cases, text.toString());
  }

  private void compare(Cases cases) {
    if (!architectures.isEmpty()) {
      checks.add(checker.submit(() -> faults(cases.text)));
    }
    KernelLibrary.Kernels kernels = library.kernels(cases.text);
    for (Case each : cases.all) {
      String wrong = compare(each, kernels);
      if (!wrong.isEmpty() && ++differing <= SHOWN) {
        System.err.printf(Locale.ROOT, "fuzz: --seed %d --programs 1: %s%n", each.seed, wrong);
      }
    }
  }

  /** What NVIDIA's compiler says of the kernels of a text that it has not seen. */
  private List<String> faults(String text) {
    TextCheck nvcc = check.orElseThrow();
    String unseen = nvcc.unseen(text);
    return unseen.isEmpty() ? List.of() : nvcc.faults(FixedText.scalar() + unseen, architectures);
  }

  private void awaitChecks() {
    for (Future<List<String>> each : checks) {
      List<String> faults = get(each);
      faults.stream().limit(SHOWN).forEach(System.err::println);
      faultsOfText += faults.size();
    }
    checks.clear();
  }

  private static <T> T get(Future<T> result) {
    try {
      return result.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("fuzz: got an interrupt", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("fuzz: " + e.getCause(), e.getCause());
    }
  }

  /**
   * Has NVIDIA's compiler look at each text from here on, the fixed kernels first.
   *
   * @param targets architectures such as 90, the least first
   */
  void checkTexts(List<Integer> targets) {
    if (check.isEmpty()) {
      throw new IllegalStateException(
          "fuzz: got --architectures without nvcc, expected it on the path or in /usr/local/cuda");
    }
    architectures = targets;
    checks.add(checker.submit(() -> check.get().faults(FixedText.library(), targets)));
  }

  private String compare(Case each, KernelLibrary.Kernels kernels) {
    Program program = each.program;
    List<Node> results = new ArrayList<>(program.outputs());
    program.updates().forEach(update -> results.add(update.leaf()));
    try (CudaProgram onDevice = new CudaProgram(device, program, each.plan, each.text, kernels);
        Arena arena = Arena.ofConfined()) {
      steps += each.plan.steps().size();
      launches += onDevice.execution().launches();
      List<byte[]> before =
          program.updates().stream().map(u -> bytes(address(u.leaf()), u.leaf())).toList();
      List<byte[]> expected = onCpu(program);
      for (int schedule = 0; schedule < schedules; schedule++) {
        for (int i = 0; i < before.size(); i++) {
          restore(program.updates().get(i).leaf(), before.get(i));
        }
        if (schedules > 1) {
          SimulatedCuda.schedule(schedule);
        }
        onDevice.upload();
        onDevice.run();
        List<byte[]> got = read(onDevice, program, arena);
        for (int i = 0; i < results.size(); i++) {
          String wrong = compare(results.get(i).type(), expected.get(i), got.get(i));
          if (!wrong.isEmpty()) {
            return "result %d, %s, under schedule %d: %s%n%s"
                .formatted(i, results.get(i), schedule, wrong, each.plan.steps());
          }
        }
      }
      return "";
    } finally {
      if (schedules > 1) {
        SimulatedCuda.schedule(0);
      }
    }
  }

  private static void restore(Node leaf, byte[] content) {
    MemorySegment.copy(
        content, 0, Memory.ALL, ValueLayout.JAVA_BYTE, address(leaf), content.length);
  }

  private static List<byte[]> read(CudaProgram onDevice, Program program, Arena arena) {
    List<byte[]> got = new ArrayList<>();
    for (int i = 0; i < program.outputs().size(); i++) {
      Node output = program.outputs().get(i);
      MemorySegment copy = Memory.allocate(arena, Math.max(4, size(output)), 64, "output");
      onDevice.output(i, copy.address());
      got.add(bytes(copy.address(), output));
    }
    onDevice.download();
    program.updates().forEach(u -> got.add(bytes(address(u.leaf()), u.leaf())));
    return got;
  }

  private List<byte[]> onCpu(Program program) {
    List<byte[]> results = new ArrayList<>();
    try (Engine.Bound bound = cpu.bind(program, BUDGET, ScheduleFinder.QUICK)) {
      bound.run();
      for (int i = 0; i < program.outputs().size(); i++) {
        results.add(bytes(bound.execution().output(i), program.outputs().get(i)));
      }
    }
    program.updates().forEach(u -> results.add(bytes(address(u.leaf()), u.leaf())));
    return results;
  }

  private String compare(DType type, byte[] expected, byte[] got) {
    MemorySegment a = MemorySegment.ofArray(expected);
    MemorySegment b = MemorySegment.ofArray(got);
    int each = type.bytes();
    elements += expected.length / each;
    if (a.mismatch(b) < 0) {
      return "";
    }
    for (int i = 0; i < expected.length; i += each) {
      if (!isSame(type, a, b, i)) {
        return "element %d: got other bits on the device: %s, expected %s"
            .formatted(i / each, text(type, b, i), text(type, a, i));
      }
    }
    return "";
  }

  private static boolean isSame(DType type, MemorySegment a, MemorySegment b, long at) {
    return switch (type) {
      case F32, BOOL ->
          Float.floatToIntBits(a.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at))
              == Float.floatToIntBits(b.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
      case F16, BF16 -> {
        short x = a.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
        short y = b.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
        int infinity = type == DType.F16 ? 0x7C00 : 0x7F80;
        yield x == y || (x & 0x7FFF) > infinity && (y & 0x7FFF) > infinity;
      }
      case I32 ->
          a.get(ValueLayout.JAVA_INT_UNALIGNED, at) == b.get(ValueLayout.JAVA_INT_UNALIGNED, at);
      case I64 ->
          a.get(ValueLayout.JAVA_LONG_UNALIGNED, at) == b.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    };
  }

  private static String text(DType type, MemorySegment values, long at) {
    return switch (type) {
      case F32, BOOL -> Float.toString(values.get(ValueLayout.JAVA_FLOAT_UNALIGNED, at));
      case F16, BF16 ->
          Integer.toHexString(values.get(ValueLayout.JAVA_SHORT_UNALIGNED, at) & 0xFFFF);
      case I32 -> Integer.toString(values.get(ValueLayout.JAVA_INT_UNALIGNED, at));
      case I64 -> Long.toString(values.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
    };
  }

  private static int size(Node node) {
    return node.shape().elements() * node.type().bytes();
  }

  private static long address(Node leaf) {
    return ((Op.Leaf) leaf.op()).buffer().address();
  }

  private static byte[] bytes(long address, Node node) {
    byte[] bytes = new byte[size(node)];
    MemorySegment.copy(Memory.ALL, ValueLayout.JAVA_BYTE, address, bytes, 0, bytes.length);
    return bytes;
  }

  @Override
  public void close() {
    checker.shutdownNow();
    library.close();
    device.close();
    cpu.close();
  }
}
