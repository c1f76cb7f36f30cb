package dev.tern.internal.plan;

import dev.tern.internal.ir.Program;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The plans made so far; those used least recently go. A plan that was made for some budget serves
 * whenever it fits into the memory that is free. A new plan is made only where no known one fits.
 * Thread-safe.
 */
public final class PlanCache {
  private static final int KEPT = 256;
  private static final int KEPT_FOR_A_PROGRAM = 8;

  /**
   * @param limit the most bytes that the program may ever have, whatever is free
   */
  private record Key(ProgramStructure program, long limit, ScheduleFinder finder) {}

  private final int threads;
  private final Map<Key, List<Plan>> plans =
      new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, List<Plan>> eldest) {
          return size() > KEPT;
        }
      };

  /** For plans that {@code threads} threads run. */
  public PlanCache(int threads) {
    this.threads = threads;
  }

  /**
   * A plan of a program whose arena has at most {@code free} bytes.
   *
   * @param limit the most bytes for this program, whatever is free
   * @throws NoRoomException when a step and what must stay do not fit
   */
  public Plan plan(Program program, long limit, long free, ScheduleFinder finder) {
    Key key = new Key(ProgramStructure.of(program), limit, finder);
    Optional<Plan> known = known(key, free);
    if (known.isPresent()) {
      return known.get();
    }
    Plan plan = Planner.plan(program, threads, free, finder);
    synchronized (plans) {
      List<Plan> all = plans.computeIfAbsent(key, k -> new ArrayList<>());
      all.add(plan);
      if (all.size() > KEPT_FOR_A_PROGRAM) {
        all.removeFirst();
      }
    }
    return plan;
  }

  /** The known plan that fits and drops least. */
  private Optional<Plan> known(Key key, long free) {
    synchronized (plans) {
      return plans.getOrDefault(key, List.of()).stream()
          .filter(plan -> plan.arenaBytes() <= free)
          .min((a, b) -> Integer.compare(a.steps().size(), b.steps().size()));
    }
  }
}
