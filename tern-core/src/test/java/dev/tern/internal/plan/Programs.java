package dev.tern.internal.plan;

import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.runtime.Engine;
import java.util.ArrayList;
import java.util.List;

/** Plans and runs programs for tests. */
final class Programs {
  private Programs() {}

  /** The plan of a program without a budget. */
  static Plan plan(Program program, int threads) {
    return Planner.plan(program, threads, Long.MAX_VALUE, ScheduleFinder.QUICK);
  }

  /** The outputs of a program, planned and run once by so many threads. */
  static List<float[]> run(Program program, int threads) {
    return run(program, threads, Long.MAX_VALUE);
  }

  /** The same, with its values in so many bytes at most. */
  static List<float[]> run(Program program, int threads, long bytes) {
    try (Engine engine = new Engine(threads, 1L << 30, bytes);
        Engine.Bound bound = engine.bind(program, ScheduleFinder.QUICK)) {
      bound.execution().run();
      List<float[]> results = new ArrayList<>();
      for (int i = 0; i < program.outputs().size(); i++) {
        float[] result = new float[program.outputs().get(i).shape().elements()];
        Memory.copyOut(bound.execution().output(i), result, 0, result.length);
        results.add(result);
      }
      return results;
    }
  }
}
