package dev.tern.internal.plan;

import dev.tern.internal.ir.Program;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Engine;
import java.util.ArrayList;
import java.util.List;

/** Runs programs for tests. */
final class Programs {
  private Programs() {}

  /** The outputs of a program, planned and run once by so many threads. */
  static List<float[]> run(Program program, int threads) {
    return run(program, threads, Long.MAX_VALUE);
  }

  /** The same, with its values in so many bytes at most. */
  static List<float[]> run(Program program, int threads, long bytes) {
    try (Engine interpreter = new Engine(threads, 1L << 30, bytes);
        Engine.Bound bound = interpreter.bind(program)) {
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
