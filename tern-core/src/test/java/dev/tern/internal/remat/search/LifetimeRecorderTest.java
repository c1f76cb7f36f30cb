package dev.tern.internal.remat.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageListener;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class LifetimeRecorderTest {
  private static final int OPS = 120;
  private static final int STEPS = 30;

  /**
   * Ops that read a value made shortly before and any other, most given up some time later; now and
   * then some of them cannot run again from then on.
   */
  private static Trace step(SplittableRandom random) {
    List<Trace.Event> events = new ArrayList<>();
    int[] none = {-1};
    events.add(new Trace.Run(0, false, new int[0], new long[] {64}, none));
    boolean[] isReleased = new boolean[OPS];
    for (int i = 1; i < OPS; i++) {
      int[] reads = {Math.max(0, i - 1 - random.nextInt(4)), random.nextInt(i)};
      while (isReleased[reads[0]] || isReleased[reads[1]]) {
        reads = new int[] {i - 1, random.nextInt(i)};
      }
      long bytes = 64L * random.nextInt(1, 20);
      events.add(new Trace.Run(random.nextInt(1, 9), true, reads, new long[] {bytes}, none));
      int old = random.nextInt(i);
      if (old > 0 && old < i - 5 && !isReleased[old]) {
        isReleased[old] = true;
        events.add(new Trace.Release(old));
      }
      if (random.nextInt(25) == 0 && i > 10) {
        events.add(new Trace.Expire(new int[] {random.nextInt(1, i - 5)}));
      }
    }
    return new Trace(events);
  }

  @Test
  void aRunByScriptFindsThePlacesThatWereFoundAhead() {
    int compared = 0;
    int recomputed = 0;
    for (int seed = 0; seed < STEPS; seed++) {
      Trace step = step(new SplittableRandom(seed));
      for (double share : new double[] {0.5, 0.6, 0.7, 0.8, 0.9}) {
        long budget = (long) (step.peakLive() * share) / 64 * 64;
        for (Policy policy : List.of(Policy.H_DTR_EQ, Policy.LRU)) {
          TraceUses facts = new TraceUses(step);
          LifetimeRecorder script = new LifetimeRecorder(facts.recipes());
          PlannedForesight counted =
              new PlannedForesight(facts, new double[0], new long[0][], budget);
          StorageMemory space = new StorageMemory.Counted(budget);
          Simulation rehearsed = run(step, space, policy, counted, script);
          if (rehearsed.status() != Simulation.Status.OK) {
            continue;
          }
          long[][] places = script.place(budget);
          if (script.reach() > budget) {
            continue;
          }
          PlannedForesight known =
              new PlannedForesight(facts, new double[0], places, budget, script.drops());
          StorageMemory placed = new StorageMemory.Placed(new BlockArena(budget), known);
          Simulation played = run(step, placed, policy, known, StorageListener.NONE);
          assertThat(played.time())
              .as("step %d in %d bytes by %s: %s", seed, budget, policy.name(), played.reason())
              .isEqualTo(rehearsed.time());
          compared++;
          recomputed += rehearsed.time() > step.cost() ? 1 : 0;
        }
      }
    }
    assertThat(compared).isGreaterThan(STEPS);
    assertThat(recomputed).isGreaterThan(STEPS / 2);
  }

  private static Simulation run(
      Trace step,
      StorageMemory space,
      Policy policy,
      Foresight foresight,
      StorageListener watcher) {
    Guide guide = new Guide(policy, foresight, space.capacity(), 0);
    return Simulation.run(step, space, guide, watcher, Simulation.Limits.NONE);
  }
}
