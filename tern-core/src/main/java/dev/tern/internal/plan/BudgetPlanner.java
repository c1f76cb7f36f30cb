package dev.tern.internal.plan;

import dev.tern.internal.plan.Step.Place;
import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Schedule;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.Trace.Event;
import dev.tern.internal.remat.Trace.Expire;
import dev.tern.internal.remat.Trace.Free;
import dev.tern.internal.remat.Trace.Pin;
import dev.tern.internal.remat.Trace.Run;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes steps fit into a budget of memory. It writes the steps as a {@link Trace}. A search finds a
 * schedule for it: which steps run again, and where every storage lies. The schedule becomes a
 * plan.
 *
 * <p>A storage that several steps fill in parts is a value of the first step and views by the
 * others. A step that writes a leaf cannot run again, and from then on neither can a step that read
 * the leaf before.
 */
final class BudgetPlanner {
  /** Estimates for two cores: operations, elements and bytes a nanosecond; only ratios matter. */
  private static final double PRODUCT_FLOPS = 60;

  private static final double OTHER_FLOPS = 6;
  private static final double BYTES = 8;
  private static final double CALL_NANOS = 1000;

  /** Recomputation may multiply the time of the program by this much. */
  private static final double MOST_SLOWDOWN = 10;

  private final Draft draft;
  private final Storages storages;
  private final Map<Integer, Over> over;
  private final int[] lastUse;
  private final List<Event> events = new ArrayList<>();

  private final Content[] contents;
  private int valueCount;
  private int storageCount;

  /**
   * Steps in order whose storages have no places yet.
   *
   * @param attributions by step
   * @param leaves as in {@link Plan#leaves}
   * @param outputs storages to be resident at the end
   */
  record Draft(
      List<Step> steps,
      List<List<Plan.Attribution>> attributions,
      Storages storages,
      int[] leaves,
      List<Place> outputs) {}

  /**
   * Step {@code step} may write a storage over the storage {@code dying}, which it is the last to
   * use. Steps before it may have written parts of the new storage, if these parts are empty.
   */
  record Over(int dying, int step) {}

  /** What is known of a storage up to the step at hand. */
  private static final class Content {
    /** The values in it, in the order in which steps make them. */
    final List<Integer> values = new ArrayList<>();

    final Set<Integer> readers = new TreeSet<>();

    /** The number of the storage in the trace. */
    int number;
  }

  private BudgetPlanner(Draft draft, Map<Integer, Over> over) {
    this.draft = draft;
    this.over = over;
    storages = draft.storages();
    lastUse = new int[draft.leaves().length + storages.count()];
    contents = new Content[lastUse.length];
    Arrays.setAll(contents, i -> new Content());
    for (int i = 0; i < draft.steps().size(); i++) {
      for (Place place : touched(draft.steps().get(i))) {
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
   * The plan by the schedule that is found.
   *
   * @param over by storage, the storage over which it may be written
   * @param budget bytes for all storages and scratch memory
   * @throws NoRoomException where they do not fit whatever is done
   */
  static Plan plan(Draft draft, Map<Integer, Over> over, long budget, ScheduleFinder finder) {
    BudgetPlanner planner = new BudgetPlanner(draft, over);
    Trace trace = planner.trace();
    long scratch = planner.scratchBytes();
    Guide guide = finder.find(trace, Math.max(0, budget - scratch), MOST_SLOWDOWN * trace.cost());
    return planner.write(Schedule.of(trace, guide), scratch);
  }

  /** The steps as a trace without leaves and scratch memory; no value takes another's memory. */
  static Trace trace(Draft draft) {
    return new BudgetPlanner(draft, Map.of()).trace();
  }

  private Trace trace() {
    for (Place output : draft.outputs()) {
      lastUse[output.storage()] = draft.steps().size();
    }
    for (int i = 0; i < draft.steps().size(); i++) {
      add(i);
    }
    for (Place output : draft.outputs()) {
      for (int value : contents[output.storage()].values) {
        events.add(new Pin(value));
      }
    }
    return new Trace(events, draft.steps().stream().map(Step::label).toList());
  }

  private long scratchBytes() {
    return Storages.align(
        draft.steps().stream()
            .flatMap(step -> StepPlaces.scratch(step).stream())
            .mapToLong(place -> storages.bytes(place.storage()))
            .max()
            .orElse(0));
  }

  private void add(int index) {
    Step step = draft.steps().get(index);
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
    // What is written over is freed first: nothing needs to be computed for it then.
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
    events.add(
        new Run(nanos(draft.steps().get(index)), isRepeatable, read, bytes, viewOf, overValue));
  }

  /** The value that a storage may be written over when step {@code index} makes it, or -1. */
  private int overwritten(int storage, int index) {
    Over overwritten = over.get(storage);
    return overwritten == null || overwritten.step() != index
        ? -1
        : contents[storages.find(overwritten.dying())].values.getFirst();
  }

  /** Steps that read a storage before its content goes cannot run again. */
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
  private Plan write(Schedule schedule, long scratch) {
    int arena = draft.leaves().length;
    long end = Storages.align(schedule.reservedBytes());
    List<Step> placed = new ArrayList<>();
    for (Schedule.Run run : schedule.runs()) {
      placed.add(
          StepPlaces.move(
              draft.steps().get(run.op()),
              place -> moved(place, run.offsets()),
              place -> new Place(arena, end + place.offset())));
    }
    Map<Integer, Long> last = new HashMap<>();
    schedule.placements().forEach(p -> last.put(p.storage(), p.offset()));
    List<Plan.Allocation> allocations = allocations(schedule);
    if (scratch > 0) {
      int to = schedule.runs().size();
      allocations.add(new Plan.Allocation(Plan.Content.SCRATCH, end, scratch, 0, to));
    }
    return new Plan(
        placed,
        draft.leaves(),
        new long[] {0},
        end + scratch,
        draft.outputs().stream().map(place -> moved(place, last)).toList(),
        schedule.runs().stream().map(Schedule.Run::isAgain).toList(),
        allocations,
        schedule.runs().stream().map(run -> draft.attributions().get(run.op())).toList());
  }

  /** Outputs stay to the end. */
  private List<Plan.Allocation> allocations(Schedule schedule) {
    Map<Integer, Schedule.Placement> last = new HashMap<>();
    schedule.placements().forEach(p -> last.put(p.storage(), p));
    Set<Integer> kept = new HashSet<>();
    draft.outputs().forEach(place -> kept.add(contents[place.storage()].number));
    List<Plan.Allocation> allocations = new ArrayList<>();
    for (Schedule.Placement p : schedule.placements()) {
      boolean isLast = last.get(p.storage()) == p;
      Plan.Content content = isLast ? Plan.Content.VALUE : Plan.Content.RECOMPUTED;
      int to = isLast && kept.contains(p.storage()) ? schedule.runs().size() : p.to();
      allocations.add(new Plan.Allocation(content, p.offset(), p.bytes(), p.from(), to));
    }
    return allocations;
  }

  private Place moved(Place place, Map<Integer, Long> offsets) {
    if (storages.isLeaf(place.storage())) {
      return place;
    }
    long at = Objects.requireNonNull(offsets.get(contents[place.storage()].number));
    return new Place(draft.leaves().length, at + place.offset());
  }
}
