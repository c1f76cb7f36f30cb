package dev.tern.tensor;

import dev.tern.internal.remat.search.ScheduleFinder;
import dev.tern.internal.remat.search.TimedSearch;
import java.nio.file.Path;

/**
 * A search for the values that a computation drops and computes again where its memory has no room
 * for all. Only the time of a run depends on what is found, never its bits.
 *
 * <pre>{@code
 * PlanSearch search = PlanSearch.of(30, folder.resolve("schedule.json"), listener);
 * Computation step = Computation.of(device, outputs, updates, search);
 * }</pre>
 */
public final class PlanSearch {
  /** A search of a second or so, the same on every machine. */
  public static final PlanSearch QUICK = new PlanSearch(ScheduleFinder.QUICK);

  private final ScheduleFinder finder;

  private PlanSearch(ScheduleFinder finder) {
    this.finder = finder;
  }

  /** Hears of a search, from the thread that makes the computation. */
  public interface Listener {
    /** Ignores everything. */
    Listener NONE = new Listener() {};

    /**
     * Called a few times a second.
     *
     * @param seconds since the search began
     * @param looked storages that it looked at
     * @param slowdown estimated time of a run by the best schedule so far, divided by the time of a
     *     run that keeps all values
     */
    default void searching(double seconds, long looked, double slowdown) {}

    /** A line about what was found, or why a file is not used. */
    default void note(String line) {}
  }

  /**
   * A longer search, whose result is never slower than {@link #QUICK}'s and may depend on the speed
   * of the machine.
   *
   * @param seconds about how long it may take, above 0
   * @param file keeps the schedule. If it holds one for the same computation in about the same
   *     memory, that schedule is used and there is no search
   */
  public static PlanSearch of(double seconds, Path file, Listener listener) {
    if (!(seconds > 0 && seconds < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "plan search: got " + seconds + " seconds, expected more than 0; use QUICK without");
    }
    return new PlanSearch(new TimedSearch(seconds, file, listener::searching, listener::note));
  }

  ScheduleFinder finder() {
    return finder;
  }
}
