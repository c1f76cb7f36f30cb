package dev.tern.tensor;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.base.Shape;
import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Variables that the host and computations write by turns, in any order: on a device, which is
 * simulated, they hold what they hold on the processor.
 */
final class CudaCoherenceTest {
  private static final long MEMORY = 1L << 26;
  private static final int VARIABLES = 3;
  private static final int MOVES = 300;

  @BeforeEach
  void useTheSimulatedDevice() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
  }

  @AfterEach
  void useNone() {
    System.clearProperty(CudaLibraries.PATH_PROPERTY);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void theHostAndComputationsSeeWhatTheOtherWroteLast(long seed) {
    String before = SimulatedCuda.live();
    List<String> here;
    try (Device cpu = Device.cpu(1, MEMORY)) {
      here = new Play(cpu, seed).moves();
    }
    List<String> there;
    try (Device cuda = Device.cuda(0, 1, MEMORY, MEMORY)) {
      there = new Play(cuda, seed).moves();
    }
    assertThat(there).isEqualTo(here);
    assertThat(SimulatedCuda.live()).isEqualTo(before);
  }

  /** Random moves on a device; the same for equal seeds. */
  private static final class Play {
    private final Device device;
    private final Random random;
    private final List<Variable> variables = new ArrayList<>();
    private final List<Computation> bound = new ArrayList<>();

    Play(Device device, long seed) {
      this.device = device;
      random = new Random(seed);
      for (int i = 0; i < VARIABLES; i++) {
        variables.add(Variable.zeros(device, "v" + i, Shape.of(5)));
      }
    }

    List<String> moves() {
      List<String> seen = new ArrayList<>();
      for (int i = 0; i < MOVES; i++) {
        seen.add(i + ": " + move());
      }
      variables.forEach(v -> seen.add(List.of(v.toArray()[0], v.toArray()[4]).toString()));
      return seen;
    }

    private Variable any() {
      return variables.get(random.nextInt(VARIABLES));
    }

    private String move() {
      int drawn = random.nextInt(12);
      return switch (drawn) {
        case 0, 1 -> bind();
        case 2 -> close();
        case 3 -> {
          any().set(number(), number(), number(), number(), number());
          yield "set";
        }
        case 4 -> {
          any().memory().setAtIndex(JAVA_FLOAT, random.nextInt(5), number());
          yield "written in place";
        }
        case 5 -> "holds " + any().toArray()[random.nextInt(5)];
        case 6 -> "is " + any().tensor().mul(2).toArray()[random.nextInt(5)];
        case 7 -> "lies there " + any().memory().getAtIndex(JAVA_FLOAT, random.nextInt(5));
        case 8 -> renewed();
        default -> run();
      };
    }

    private float number() {
      return random.nextInt(16);
    }

    private String bind() {
      Variable a = any();
      Variable b = any();
      Tensor sum = a.tensor().add(b.tensor()).mul(0.5f);
      Map<Variable, Tensor> updates =
          switch (random.nextInt(3)) {
            case 0 -> Map.of();
            case 1 -> Map.of(a, sum);
            default -> a == b ? Map.of(a, sum.add(1)) : Map.of(a, b.tensor(), b, a.tensor());
          };
      bound.add(Computation.of(device, List.of(sum), updates));
      return "bound";
    }

    private String close() {
      if (!bound.isEmpty()) {
        bound.remove(random.nextInt(bound.size())).close();
      }
      return "closed";
    }

    private String run() {
      if (bound.isEmpty()) {
        return "nothing to run";
      }
      Computation computation = bound.get(random.nextInt(bound.size()));
      computation.run();
      return "gives " + computation.output(0).getAtIndex(JAVA_FLOAT, random.nextInt(5));
    }

    /** A variable is closed after its last computation, and another takes its place. */
    private String renewed() {
      bound.forEach(Computation::close);
      bound.clear();
      int which = random.nextInt(VARIABLES);
      variables.get(which).close();
      variables.set(which, Variable.zeros(device, "v" + which, Shape.of(5)));
      return "renewed";
    }
  }
}
