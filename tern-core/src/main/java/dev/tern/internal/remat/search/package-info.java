/**
 * Finds out how a recorded step runs fastest within a budget of memory. The planner asks a {@link
 * dev.tern.internal.remat.search.ScheduleFinder}; {@code tern replay} asks {@link
 * dev.tern.internal.remat.search.ScheduleSearch}.
 *
 * <pre>
 * ScheduleSearch    tries policies with sets to keep (SearchCandidate):
 *   KeepSets          by a least cut (MinCut) at the moment of most memory; also a lower bound
 *   ChainSegments     by segments, for chains
 * RetentionSearch   decides for each use what stays: Annealing on the counts of Retention
 * LifetimeRecorder  what a run does; Lifetimes finds places for it ahead
 * TimedSearch       both, for some seconds; GuideFile keeps the result
 * </pre>
 *
 * <p>Effort is counted in storages looked at, never in time, so that a search finds the same on
 * every machine; only a {@link dev.tern.internal.remat.search.SearchTimer} with seconds differs.
 */
@NullMarked
package dev.tern.internal.remat.search;

import org.jspecify.annotations.NullMarked;
