package dev.tern.bench.memory;

import dev.tern.bench.Result;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.search.ScheduleSearch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How often each layer of a chain runs forward when there are slots for twice the root of its
 * length, besides the constant and the op that runs: at most twice (Kirisame et al. 2021, theorem
 * 1; Chen et al. 2016).
 */
final class ChainBench {
  private static final int[] LAYERS = {100, 1_000, 10_000};
  private static final long SLOT = 64;
  private static final int BESIDES = 4;

  private ChainBench() {}

  static List<Result> run() {
    List<Result> results = new ArrayList<>();
    for (int layers : LAYERS) {
      Trace step = chain(layers);
      long slots = 2 * (long) Math.sqrt(layers) + BESIDES;
      StorageMemory space = new StorageMemory.Placed(new BlockArena(SLOT * slots), Foresight.NONE);
      Simulation online =
          Simulation.run(step, space, Policy.H_DTR_EQ, Foresight.NONE, Double.POSITIVE_INFINITY);
      results.add(result(Policy.H_DTR_EQ.name(), layers, slots, online.time()));
      double planned = ScheduleSearch.sketch(step, SLOT * slots, Double.POSITIVE_INFINITY).time();
      results.add(result("segments", layers, slots, planned));
    }
    return results;
  }

  /** Ops take one unit of time each; as many as there are layers run backward, once. */
  private static Result result(String policy, int layers, long slots, double time) {
    String name =
        String.format(Locale.ROOT, "chain of %d layers, %d slots, %s", layers, slots, policy);
    List<Double> forward = List.of((time - layers) / layers);
    return new Result("residency", name, 1, forward, "forward/layer", "", List.of());
  }

  /** Layers in a row, each read once more from the last to the first. */
  private static Trace chain(int layers) {
    List<Trace.Event> events = new ArrayList<>();
    events.add(new Trace.Run(0, false, new int[0], new long[] {SLOT}, new int[] {-1}));
    for (int i = 1; i <= layers; i++) {
      events.add(op(i - 1));
    }
    int gradient = layers;
    for (int i = layers; i >= 1; i--) {
      events.add(op(gradient, i));
      if (gradient != layers) {
        events.add(new Trace.Release(gradient));
      }
      gradient = layers + 1 + layers - i;
      events.add(new Trace.Release(i));
    }
    return new Trace(events);
  }

  private static Trace.Run op(int... reads) {
    return new Trace.Run(1, true, reads, new long[] {SLOT}, new int[] {-1});
  }
}
