package dev.tern.internal.remat.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Schedule;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageMemory;
import dev.tern.internal.remat.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TimedSearchTest {
  private static final int LAYERS = 24;
  private static final double SECONDS = 0.3;

  private final List<String> notes = new ArrayList<>();
  private int told;

  @TempDir private Path folder;

  /**
   * Layers forward and backward, as training steps are recorded: gradients are written over each
   * other, values are freed after their last use, and a weight's update ends what reads the weight.
   */
  private static Trace step(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Trace.Event> events = new ArrayList<>();
    long[] bytes = new long[LAYERS];
    for (int i = 0; i < LAYERS; i++) {
      bytes[i] = 64L * random.nextInt(2, 12);
      int[] reads = i == 0 ? new int[0] : new int[] {i - 1, Math.max(0, i - 1 - random.nextInt(3))};
      events.add(run(random.nextInt(1, 20), reads, bytes[i], -1));
    }
    int gradient = LAYERS - 1;
    for (int i = LAYERS - 1; i >= 0; i--) {
      boolean isOver = i < LAYERS - 1 && bytes[i] == bytes[i + 1];
      events.add(
          run(random.nextInt(1, 20), new int[] {gradient, i}, bytes[i], isOver ? gradient : -1));
      events.add(new Trace.Free(gradient));
      if (gradient != i) {
        events.add(new Trace.Free(i));
      }
      gradient = LAYERS + LAYERS - 1 - i;
      events.add(new Trace.Expire(new int[] {i}));
      events.add(new Trace.Run(1, false, new int[] {gradient}, new long[0], new int[0]));
    }
    events.add(new Trace.Pin(gradient));
    return new Trace(events);
  }

  private static Trace.Run run(double cost, int[] reads, long bytes, int over) {
    return new Trace.Run(cost, true, reads, new long[] {bytes}, new int[] {-1}, new int[] {over});
  }

  private Guide find(Trace trace, long budget) {
    TimedSearch search =
        new TimedSearch(
            SECONDS, folder.resolve("schedule.json"), (s, looked, slowdown) -> told++, notes::add);
    return search.find(trace, budget, 10 * trace.cost());
  }

  private static double simulated(Trace trace, Guide guide) {
    StorageMemory memory =
        new StorageMemory.Placed(new BlockArena(guide.budget()), guide.foresight());
    return Simulation.run(
            trace, memory, guide.policy(), guide.foresight(), Double.POSITIVE_INFINITY)
        .time();
  }

  private static long budget(Trace trace) {
    return (long) (0.5 * trace.peakLive()) / 64 * 64;
  }

  @Test
  void aSearchIsNeverWorseThanTheQuickOneAndDoesWhatItPromises() throws IOException {
    double quickly = 0;
    double searched = 0;
    for (int seed = 0; seed < 4; seed++) {
      Trace trace = step(seed);
      long budget = budget(trace);
      Guide quick = ScheduleFinder.QUICK.find(trace, budget, 10 * trace.cost());
      Guide found = find(trace, budget);
      assertThat(found.time()).isLessThanOrEqualTo(quick.time());
      assertThat(simulated(trace, found)).isEqualTo(found.time());
      assertThat(Schedule.of(trace, found).reservedBytes()).isLessThanOrEqualTo(budget);
      Files.delete(folder.resolve("schedule.json"));
      quickly += quick.time();
      searched += found.time();
    }
    assertThat(told).isPositive();
    assertThat(searched).isLessThanOrEqualTo(quickly);
  }

  @Test
  void decisionsThatAreCountedTakeTheTimeThatARunOfThemTakes() {
    Trace trace = step(7);
    TraceUses uses = new TraceUses(trace);
    Retention retention = new Retention(uses);
    assertThat(Retention.suits(trace)).isTrue();
    double loss = retention.loss(retention.keepAll(), Long.MAX_VALUE, 0, Double.POSITIVE_INFINITY);
    assertThat(loss).isZero();
    assertThat(retention.peak()).isEqualTo(trace.peakLive());
    SplittableRandom random = new SplittableRandom(1);
    int compared = 0;
    for (int i = 0; i < 50; i++) {
      boolean[] decisions = retention.keepAll();
      for (int changes = 0; changes < 6; changes++) {
        decisions[random.nextInt(decisions.length)] = false;
      }
      double again = retention.loss(decisions, Long.MAX_VALUE, 0, Double.POSITIVE_INFINITY);
      if (Double.isFinite(again)) {
        PlannedForesight foresight =
            new PlannedForesight(
                uses,
                new double[0],
                new long[0][],
                Long.MAX_VALUE,
                PlannedForesight.Drops.after(retention.drops(decisions)));
        StorageMemory memory = new StorageMemory.Counted(Long.MAX_VALUE);
        double time =
            Simulation.run(trace, memory, Policy.NONE, foresight, Double.POSITIVE_INFINITY).time();
        assertThat(time).isEqualTo(trace.cost() + again);
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(10);
  }

  @Test
  void aKeptScheduleIsUsedWithoutASearch() {
    Trace trace = step(1);
    Guide found = find(trace, budget(trace));
    assertThat(notes).singleElement().asString().contains("schedule found").contains("kept in");
    notes.clear();
    told = 0;
    Guide again = find(trace, budget(trace));
    assertThat(notes).singleElement().asString().startsWith("schedule of ");
    assertThat(told).isZero();
    assertThat(again.time()).isEqualTo(found.time());
    assertThat(Schedule.of(trace, again)).isEqualTo(Schedule.of(trace, found));
  }

  @Test
  void aScheduleForAnotherStepOrBudgetIsNotUsed() {
    Trace trace = step(1);
    find(trace, budget(trace));
    for (Runnable other :
        List.<Runnable>of(
            () -> find(step(2), budget(step(2))),
            () -> find(step(2), 2 * budget(step(2))),
            () -> find(step(2), (long) (1.1 * budget(step(2)))))) {
      notes.clear();
      other.run();
      assertThat(notes).hasSize(2);
      assertThat(notes.getFirst()).contains("is not used: got").endsWith("; searching anew");
      assertThat(notes.getLast()).contains("kept in");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cut", "changed", "empty", "text", "newer"})
  void aDamagedFileIsNotUsed(String damage) throws IOException {
    Trace trace = step(3);
    Guide found = find(trace, budget(trace));
    Path file = folder.resolve("schedule.json");
    String text = Files.readString(file);
    Files.writeString(
        file,
        switch (damage) {
          case "cut" -> text.substring(0, text.length() / 2);
          case "changed" -> text.replaceFirst("\"budget\":\\d+", "\"budget\":" + budget(trace) * 2);
          case "empty" -> "";
          case "newer" -> text.replace("\"format\":1", "\"format\":2");
          default -> "no schedule";
        });
    notes.clear();
    Guide again = find(trace, budget(trace));
    assertThat(notes).hasSize(2);
    assertThat(notes.getFirst()).startsWith(file + " is not used: ").endsWith("; searching anew");
    assertThat(simulated(trace, again)).isEqualTo(again.time());
    assertThat(again.budget()).isEqualTo(found.budget());
    notes.clear();
    find(trace, budget(trace));
    assertThat(notes).singleElement().asString().startsWith("schedule of ");
  }
}
