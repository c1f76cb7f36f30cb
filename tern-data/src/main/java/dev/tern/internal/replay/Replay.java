package dev.tern.internal.replay;

import dev.tern.internal.json.Json;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Foresight;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.search.ScheduleSearch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Replays a recorded step under a budget. The slowdown is the time of all runs of ops,
 * recomputation included, divided by the time of one run of each op. More than twice is thrashing.
 *
 * <p>A budget of ratio r is floor(r x peak) bytes. The peak is the most live bytes, constants
 * included, when nothing is evicted and a storage goes with its last reference. Constants stay for
 * the whole step. Values that are referred to at the end are resident together at the end.
 */
public final class Replay {
  /** A policy that learned from this step, recorded. See {@link ScheduleSearch#learn}. */
  public static final String DTR = "dtr";

  /**
   * A search with full knowledge of the step, never worse than DTR: {@link ScheduleSearch#plan}.
   */
  public static final String PLANNED = "planned";

  private static final double LIMIT = 2;

  private final String name;
  private final Trace step;
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
   * @param peakReserved how far the arena was reached into, in bytes
   * @param peakLive the most bytes in storages at a time
   * @param reason what did not fit, where the status is OOM, else empty
   */
  public record Result(
      String name,
      String policy,
      double budgetRatio,
      Simulation.Status status,
      double slowdown,
      long peakReserved,
      long peakLive,
      String reason) {

    /** As one JSON object; a slowdown that is not finite is null. */
    public Json.Obj toJson() {
      Json.Obj object =
          Json.object()
              .put("case", name)
              .put("policy", policy)
              .put("budget_ratio", budgetRatio)
              .put("status", status.name().toLowerCase(Locale.ROOT))
              .put("slowdown", finite(slowdown))
              .put("peak_reserved", peakReserved)
              .put("peak_live", peakLive);
      return reason.isEmpty() ? object : object.put("reason", reason);
    }
  }

  /**
   * Replays of {@code step}, called {@code name} in results.
   *
   * @throws IllegalArgumentException when the step takes no time or no memory
   */
  public Replay(String name, Trace step) {
    this.name = name;
    this.step = step;
    peak = step.peakLive();
    cost = step.cost();
    if (!(cost > 0) || peak == 0) {
      throw new IllegalArgumentException(
          "replay: got %s, whose ops take %.0f ns and %d bytes, expected both above 0; record a step"
              .formatted(name, cost, peak));
    }
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
    long bytes = bytes(budget);
    double limit = LIMIT * cost;
    Guide guide = guide(policy, bytes, limit);
    StorageMemory used =
        memory == Memory.ARENA
            ? new StorageMemory.Placed(new BlockArena(bytes), guide.foresight())
            : new StorageMemory.Counted(bytes);
    Simulation trial = Simulation.run(step, used, guide.policy(), guide.foresight(), limit);
    return new Result(
        name,
        policy,
        budget <= 1 ? budget : budget / peak,
        trial.status(),
        trial.time() / cost,
        used.peakReserved(),
        used.peakUsed(),
        trial.reason());
  }

  /**
   * A slowdown below which no schedule can come; infinite where none fits.
   *
   * @param budget up to 1: a share of the peak; above: bytes
   */
  public double lowerBound(double budget) {
    return ScheduleSearch.bound(step, bytes(budget)) / cost;
  }

  /** A number, or null where it is not finite. */
  public static Json finite(double number) {
    return Double.isFinite(number) ? new Json.Real(number) : Json.Null.NULL;
  }

  private long bytes(double budget) {
    if (!(budget > 0)) {
      throw new IllegalArgumentException(
          "replay: got a budget of "
              + budget
              + ", expected a share of the peak above 0 and up to 1, or bytes");
    }
    return (long) (budget <= 1 ? peak * budget : budget);
  }

  private Guide guide(String policy, long bytes, double limit) {
    return switch (policy) {
      case DTR -> ScheduleSearch.learn(step, bytes, limit);
      case PLANNED -> ScheduleSearch.plan(step, bytes, limit);
      default -> new Guide(published(policy), Foresight.NONE, bytes, 0);
    };
  }

  private static Policy published(String name) {
    return Policy.named(name)
        .orElseThrow(() ->
            new IllegalArgumentException(
                "replay: got policy " + name + ", expected one of " + policies()));
  }
}
