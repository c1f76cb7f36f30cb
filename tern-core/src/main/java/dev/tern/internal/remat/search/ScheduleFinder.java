package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Trace;

/** Decides how a step runs that does not fit into memory as a whole. */
@FunctionalInterface
public interface ScheduleFinder {
  /** Searches for a second or so, the same for each call with the same arguments. */
  ScheduleFinder QUICK = ScheduleSearch::prepare;

  /**
   * The guide to follow; one of infinite time where nothing that was tried fits.
   *
   * @param budget bytes of the arena
   * @param limit the most time that the step may take, recomputation included
   */
  Guide find(Trace trace, long budget, double limit);
}
