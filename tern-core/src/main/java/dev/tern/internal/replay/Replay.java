package dev.tern.internal.replay;

import dev.tern.internal.json.Json;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.runtime.Foresight;
import dev.tern.internal.runtime.Policy;
import dev.tern.internal.runtime.Rehearsal;
import dev.tern.internal.runtime.Residency;
import dev.tern.internal.runtime.Space;
import dev.tern.internal.runtime.Step;
import dev.tern.internal.runtime.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Replays a recorded step under a budget. Slowdown is the time of all runs of ops, recomputation
 * included, by the time of one run of each. More than twice is thrashing.
 *
 * <p>A budget of ratio r is floor(r x peak) bytes, where the peak is that of live bytes, constants
 * included, when nothing is evicted and a storage dies with its last reference. Constants stay for
 * the whole step; values that are referred to at the end are resident together at the end.
 */
public final class Replay {
  /** Names of policies that know the step: the second of two equal ones, or one known ahead. */
  public static final String DTR = "dtr";

  public static final String PLANNED = "planned";

  private static final double LIMIT = 2;

  private final String name;
  private final Step step;
  private final long peak;
  private final double cost;

  /** Where storages lie. */
  public enum Memory {
    /** At addresses of one arena of the budget's size: each needs a place of its own. */
    ARENA,
    /** Nowhere; bytes are counted as if every gap could be used, as published simulators do. */
    COUNTED
  }

  /**
   * How a replay ended.
   *
   * @param budgetRatio budget by peak of live bytes
   * @param slowdown infinite unless the status is OK
   * @param peakReserved how far the arena was reached into
   * @param peakLive the most bytes in storages at a time
   */
  public record Result(
      String name,
      String policy,
      double budgetRatio,
      Trial.Status status,
      double slowdown,
      long peakReserved,
      long peakLive) {

    /** As one JSON object. */
    public Json.Obj toJson() {
      Json.Obj object =
          Json.object()
              .put("case", name)
              .put("policy", policy)
              .put("budget_ratio", budgetRatio)
              .put("status", status.name().toLowerCase(Locale.ROOT));
      if (status == Trial.Status.OK) {
        object.put("slowdown", slowdown);
      } else {
        object.put("slowdown", Json.Null.NULL);
      }
      return object.put("peak_reserved", peakReserved).put("peak_live", peakLive);
    }
  }

  /** Replays of {@code step}, called {@code name} in results. */
  public Replay(String name, Step step) {
    this.name = name;
    this.step = step;
    peak = step.peakLive();
    cost = step.cost();
  }

  /** Names of all policies. */
  public static List<String> policies() {
    List<String> names = new ArrayList<>(List.of(DTR, PLANNED));
    Policy.PUBLISHED.forEach(policy -> names.add(policy.name()));
    return names;
  }

  /**
   * Replays with a policy of {@link #policies}.
   *
   * @param budget up to 1: a share of the peak; above: bytes
   */
  public Result run(String policy, double budget, Memory memory) {
    if (!(budget > 0)) {
      throw new IllegalArgumentException(
          "replay: got a budget of "
              + budget
              + ", expected a share of the peak above 0 and up to 1, or bytes");
    }
    return budget <= 1
        ? run(policy, (long) (peak * budget), budget, memory)
        : run(policy, (long) budget, budget / peak, memory);
  }

  private Result run(String policy, long budget, double ratio, Memory memory) {
    double limit = LIMIT * cost;
    Rehearsal.Guide guide =
        switch (policy) {
          case DTR -> Rehearsal.learn(step, budget, limit);
          case PLANNED -> Rehearsal.plan(step, budget, limit);
          default -> new Rehearsal.Guide(published(policy), Foresight.NONE, 0);
        };
    Space space =
        memory == Memory.ARENA
            ? new Space.Placed(new BlockArena(budget), guide.foresight())
            : new Space.Counted(budget);
    Trial trial =
        Trial.run(step, space, guide.policy(), guide.foresight(), Residency.Watcher.NONE, limit);
    return new Result(
        name,
        policy,
        ratio,
        trial.status(),
        trial.time() / cost,
        space.peakReserved(),
        space.peakUsed());
  }

  private static Policy published(String name) {
    return Policy.named(name)
        .orElseThrow(() ->
            new IllegalArgumentException(
                "replay: got policy " + name + ", expected one of " + policies()));
  }
}
