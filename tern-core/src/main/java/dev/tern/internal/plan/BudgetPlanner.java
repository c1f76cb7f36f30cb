package dev.tern.internal.plan;

import dev.tern.internal.plan.Step.Place;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Schedule;
import dev.tern.internal.remat.Trace.Event;
import dev.tern.internal.remat.Trace.Expire;
import dev.tern.internal.remat.Trace.Free;
import dev.tern.internal.remat.Trace.Pin;
import dev.tern.internal.remat.Trace.Run;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes steps fit into a budget: states them as a step of a residency, whose schedule says which of
 * them run again and where every storage lies, and writes the schedule down as a plan.
 *
 * <p>A storage that several steps fill in parts is a value of the first and views by the others. A
 * step that writes a leaf cannot run again, nor, from then on, one that read the leaf before.
 */
final class BudgetPlanner {
  /** Estimates for two cores: operations, elements and bytes a nanosecond; only ratios matter. */
  private static final double PRODUCT_FLOPS = 60;

  private static final double OTHER_FLOPS = 6;
  private static final double BYTES = 8;
  private static final double CALL_NANOS = 1000;

  /** Recomputation may multiply the time of a step by this much. */
  private static final double MOST_SLOWDOWN = 10;

  private final List<Step> steps;
  private final Storages storages;
  private final Map<Integer, Over> over;
  private final int leaves;
  private final int[] lastUse;
  private final List<Event> events = new ArrayList<>();

  private final Content[] contents;
  private int valueCount;
  private int storageCount;

  /**
   * A storage may be written over another by a step, the last to use that one. Other steps, that
   * write parts of it which are empty, may come before.
   */
  record Over(int dying, int step) {}

  /** What is known of a storage up to the step at hand. */
  private static final class Content {
    /** In the order in which steps make them. */
    final List<Integer> values = new ArrayList<>();

    final Set<Integer> readers = new TreeSet<>();

    /** By which the residency knows it. */
    int number;
  }

  private BudgetPlanner(List<Step> steps, Storages storages, Map<Integer, Over> over, int leaves) {
    this.steps = steps;
    this.storages = storages;
    this.over = over;
    this.leaves = leaves;
    lastUse = new int[leaves + storages.count()];
    contents = new Content[lastUse.length];
    Arrays.setAll(contents, i -> new Content());
    for (int i = 0; i < steps.size(); i++) {
      for (Place place : touched(steps.get(i))) {
        lastUse[place.storage()] = i;
      }
    }
  }

  private static List<Place> touched(Step step) {
    List<Place> all = new ArrayList<>(StepPlaces.reads(step));
    all.addAll(StepPlaces.writes(step));
    return all;
  }

  /**
   * The plan that takes the least time of those tried.
   *
   * @param sources by step
   * @param over storages, and for each another that may be written over where it is made
   * @param outputs storages to be resident at the end
   * @param budget bytes for all storages and scratch memory
   * @throws NoRoomException where they do not fit whatever is done
   */
  static Plan plan(
      List<Step> steps,
      List<List<Plan.Source>> sources,
      Storages storages,
      Map<Integer, Over> over,
      int[] leaves,
      List<Place> outputs,
      long budget) {
    BudgetPlanner fitting = new BudgetPlanner(steps, storages, over, leaves.length);
    dev.tern.internal.remat.Trace step = fitting.state(outputs);
    long scratch = fitting.scratchBytes();
    Schedule schedule =
        Schedule.of(step, Math.max(0, budget - scratch), MOST_SLOWDOWN * step.cost());
    return fitting.write(schedule, sources, leaves, outputs, scratch);
  }

  /**
   * The steps as a step of a residency in which no value is written over; leaves and scratch memory
   * are no part of it.
   */
  static dev.tern.internal.remat.Trace stated(
      List<Step> steps, Storages storages, int[] leaves, List<Place> outputs) {
    return new BudgetPlanner(steps, storages, Map.of(), leaves.length).state(outputs);
  }

  private dev.tern.internal.remat.Trace state(List<Place> outputs) {
    for (Place output : outputs) {
      lastUse[output.storage()] = steps.size();
    }
    for (int i = 0; i < steps.size(); i++) {
      add(i);
    }
    for (Place output : outputs) {
      for (int value : contents[output.storage()].values) {
        events.add(new Pin(value));
      }
    }
    return new dev.tern.internal.remat.Trace(events, steps.stream().map(Step::label).toList());
  }

  private long scratchBytes() {
    long most = 0;
    for (Step step : steps) {
      most =
          Math.max(
              most,
              StepPlaces.scratch(step).map(place -> storages.bytes(place.storage())).orElse(0L));
    }
    return Storages.align(most);
  }

  private void add(int index) {
    Step step = steps.get(index);
    Set<Integer> reads = new LinkedHashSet<>();
    for (Place place : StepPlaces.reads(step)) {
      Content content = contents[place.storage()];
      content.readers.add(index);
      reads.addAll(content.values);
    }
    Set<Integer> written = new LinkedHashSet<>();
    boolean isRepeatable = true;
    for (Place place : StepPlaces.writes(step)) {
      if (storages.isLeaf(place.storage())) {
        isRepeatable = false;
        expireReaders(place.storage(), index);
      } else {
        written.add(place.storage());
      }
    }
    addRun(index, isRepeatable, reads, written);
    // What was written over comes first: nothing is to be computed for it any more.
    Set<Integer> dying = new LinkedHashSet<>();
    for (int storage : written) {
      Over overwritten = over.get(storage);
      if (overwritten != null && overwritten.step() == index) {
        dying.add(storages.find(overwritten.dying()));
      }
    }
    for (Place place : touched(step)) {
      if (!storages.isLeaf(place.storage()) && lastUse[place.storage()] == index) {
        dying.add(place.storage());
      }
    }
    for (int storage : dying) {
      contents[storage].values.forEach(value -> events.add(new Free(value)));
    }
  }

  private void addRun(int index, boolean isRepeatable, Set<Integer> reads, Set<Integer> written) {
    long[] bytes = new long[written.size()];
    int[] viewOf = new int[written.size()];
    int[] overValue = new int[written.size()];
    int at = 0;
    for (int storage : written) {
      Content content = contents[storage];
      viewOf[at] = content.values.isEmpty() ? -1 : content.values.getFirst();
      if (content.values.isEmpty()) {
        bytes[at] = Storages.align(storages.bytes(storage));
        content.number = storageCount++;
        overValue[at] = overwritten(storage, index);
      } else {
        overValue[at] = -1;
        reads.add(content.values.getFirst());
      }
      content.values.add(valueCount++);
      at++;
    }
    int[] read = reads.stream().mapToInt(value -> value).toArray();
    events.add(new Run(nanos(steps.get(index)), isRepeatable, read, bytes, viewOf, overValue));
  }

  /** The value that a storage may be written over when step {@code index} makes it, or -1. */
  private int overwritten(int storage, int index) {
    Over overwritten = over.get(storage);
    return overwritten == null || overwritten.step() != index
        ? -1
        : contents[storages.find(overwritten.dying())].values.getFirst();
  }

  /** Ops that read a storage before its content goes are not run again. */
  private void expireReaders(int storage, int before) {
    int[] ops =
        contents[storage].readers.stream().filter(op -> op < before).mapToInt(op -> op).toArray();
    if (ops.length > 0) {
      events.add(new Expire(ops));
    }
  }

  private static double nanos(Step step) {
    if (step instanceof Step.MatMulThen both) {
      return nanos(both.product()) + nanos(both.then());
    }
    double rate = step instanceof Step.MatMul ? PRODUCT_FLOPS : OTHER_FLOPS;
    return CALL_NANOS + Math.max(step.flops() / rate, step.traffic() / BYTES);
  }

  /** All storages in one, at the offsets of the schedule, with scratch memory behind them. */
  private Plan write(
      Schedule schedule,
      List<List<Plan.Source>> sources,
      int[] leafOrder,
      List<Place> outputs,
      long scratch) {
    long end = Storages.align(schedule.reservedBytes());
    List<Step> placed = new ArrayList<>();
    for (Schedule.Run run : schedule.runs()) {
      placed.add(
          StepPlaces.move(
              steps.get(run.op()),
              place -> moved(place, run.offsets()),
              place -> new Place(leaves, end + place.offset())));
    }
    Map<Integer, Long> last = new HashMap<>();
    schedule.lives().forEach(life -> last.put(life.storage(), life.offset()));
    List<Place> places = outputs.stream().map(place -> moved(place, last)).toList();
    List<Boolean> again = schedule.runs().stream().map(Schedule.Run::isAgain).toList();
    return new Plan(
        placed,
        leafOrder,
        new long[] {0},
        end + scratch,
        places,
        again,
        lives(schedule, outputs, scratch),
        schedule.runs().stream().map(run -> sources.get(run.op())).toList());
  }

  /** Outputs stay to the end. */
  private List<Plan.Life> lives(Schedule schedule, List<Place> outputs, long scratch) {
    Map<Integer, Schedule.Life> last = new HashMap<>();
    schedule.lives().forEach(life -> last.put(life.storage(), life));
    Set<Schedule.Life> kept = Collections.newSetFromMap(new IdentityHashMap<>());
    outputs.forEach(place -> kept.add(last.get(contents[place.storage()].number)));
    List<Plan.Life> lives = new ArrayList<>();
    for (Schedule.Life life : schedule.lives()) {
      boolean isDropped = last.get(life.storage()) != life;
      int to = kept.contains(life) ? schedule.runs().size() : life.to();
      lives.add(
          new Plan.Life(
              life.from(), false, life.offset(), life.bytes(), life.from(), to, isDropped));
    }
    if (scratch > 0) {
      long end = Storages.align(schedule.reservedBytes());
      lives.add(new Plan.Life(0, true, end, scratch, 0, schedule.runs().size(), false));
    }
    return lives;
  }

  private Place moved(Place place, Map<Integer, Long> offsets) {
    return storages.isLeaf(place.storage())
        ? place
        : new Place(
            leaves,
            Objects.requireNonNull(offsets.get(contents[place.storage()].number)) + place.offset());
  }
}
