package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Trace;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Searches some seconds for a schedule and keeps it in a file. If the file already has a schedule
 * of the same step, it takes that one. The schedule is never slower than the schedule of {@link
 * ScheduleFinder#QUICK}.
 *
 * @param seconds about how long a search may take
 * @param notes is told what was found, and why a file was not used
 */
public record TimedSearch(
    double seconds, Path file, SearchTimer.Progress progress, Consumer<String> notes)
    implements ScheduleFinder {
  @Override
  public Guide find(Trace trace, long budget, double limit) {
    GuideFile.Kept kept = GuideFile.read(file, trace, budget);
    if (kept.guide().isPresent()) {
      Guide guide = kept.guide().get();
      notes.accept("schedule of " + file + ": " + slowdown(guide, trace));
      return guide;
    }
    Guide quick = ScheduleSearch.prepare(trace, budget, limit);
    if (!Double.isFinite(quick.time())) {
      return quick;
    }
    kept.reason().ifPresent(reason -> notes.accept(reason + "; searching anew"));
    SearchTimer timer = new SearchTimer(seconds, trace.cost(), progress);
    Guide found = ScheduleSearch.improve(trace, quick, limit, timer);
    Optional<String> failure = GuideFile.write(file, trace, found);
    notes.accept(
        "schedule found: %s, without the search %s; %s"
            .formatted(
                slowdown(found, trace),
                slowdown(quick, trace),
                failure.map(reason -> "not kept: " + reason).orElse("kept in " + file)));
    return found;
  }

  private static String slowdown(Guide guide, Trace trace) {
    return String.format(
        Locale.ROOT,
        "a step takes %.3f times its time without a limit",
        guide.time() / trace.cost());
  }
}
