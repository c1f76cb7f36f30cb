package dev.tern.internal.remat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.search.ScheduleSearch;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ResidencyTest {
  private static final int NO_VIEW = -1;

  static List<Policy> evicting() {
    return Policy.PUBLISHED.stream().filter(policy -> policy != Policy.NONE).toList();
  }

  private static Trace.Run op(double cost, long bytes, int... reads) {
    return new Trace.Run(cost, true, reads, new long[] {bytes}, new int[] {NO_VIEW});
  }

  private static Trace.Run constant(long bytes) {
    return new Trace.Run(0, false, new int[0], new long[] {bytes}, new int[] {NO_VIEW});
  }

  private static Simulation place(Trace step, long budget, Policy policy) {
    StorageMemory space = new StorageMemory.Placed(new BlockArena(budget), Foresight.NONE);
    return Simulation.run(step, space, policy, Foresight.NONE, Double.POSITIVE_INFINITY);
  }

  /**
   * N ops in a row, all still referred to, then each read once from the last to the first: forward
   * and backward of equal layers, each op of one unit of time.
   */
  static Trace chain(int length, long bytes) {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(bytes));
    for (int i = 1; i <= length; i++) {
      events.add(op(1, bytes, i - 1));
    }
    int gradient = length;
    for (int i = length; i >= 1; i--) {
      events.add(op(1, bytes, gradient, i));
      if (gradient != length) {
        events.add(new Trace.Release(gradient));
      }
      gradient = length + 1 + length - i;
      events.add(new Trace.Release(i));
    }
    return new Trace(events);
  }

  /** Ops that read a value made shortly before and any other; nothing is released. */
  private static Trace randomStep(SplittableRandom random, int ops) {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(640));
    for (int i = 1; i < ops; i++) {
      int near = Math.max(0, i - 1 - random.nextInt(5));
      events.add(op(random.nextInt(1, 9), random.nextInt(0, 1200), near, random.nextInt(i)));
    }
    return new Trace(events);
  }

  @ParameterizedTest
  @MethodSource("evicting")
  void recomputedValuesHaveTheirInputsAndTheirPlaces(Policy policy) {
    Trace step = randomStep(new SplittableRandom(5), 400);
    Recipes recipes = new Recipes();
    BlockArena arena = new BlockArena(step.peakLive() / 2);
    Residency[] itself = new Residency[1];
    Residency residency =
        new Residency(
            recipes,
            new StorageMemory.Placed(arena, Foresight.NONE),
            policy,
            Foresight.NONE,
            (op, _) -> assertInputsAreResident(recipes, op, itself[0]));
    itself[0] = residency;
    step.replay(residency, recipes);
    assertThat(residency.evictions()).isPositive();
    for (int value = 0; value < recipes.values(); value++) {
      residency.ensure(value);
      assertThat(residency.isResident(value)).isTrue();
    }
  }

  private static void assertInputsAreResident(Recipes recipes, int op, Residency residency) {
    for (int input : recipes.inputs(op)) {
      assertThat(residency.isResident(input)).isTrue();
    }
  }

  @Test
  void chainOfFiftyThousandIsRecomputedWithoutRecursion() {
    Recipes recipes = new Recipes();
    int[] runs = new int[1];
    Residency residency =
        new Residency(
            recipes,
            new StorageMemory.Placed(new BlockArena(64 * 8), Foresight.NONE),
            Policy.LRU,
            Foresight.NONE,
            (_, _) -> runs[0]++);
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(64));
    for (int i = 1; i <= 50_000; i++) {
      events.add(op(1, 64, i - 1));
    }
    new Trace(events).replay(residency, recipes);
    residency.ensure(49_990);
    residency.ensure(25_000);
    assertThat(residency.isResident(25_000)).isTrue();
    assertThat(runs[0]).isGreaterThan(75_000);
  }

  @Test
  void valueThatCannotBeComputedAgainIsNeverEvicted() {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(new Trace.Run(1, false, new int[] {0}, new long[] {64}, new int[] {NO_VIEW}));
    for (int i = 2; i < 20; i++) {
      events.add(op(1, 64, i - 1));
    }
    events.add(op(1, 64, 1));
    assertThat(place(new Trace(events), 64 * 5, Policy.H_DTR_EQ).time()).isEqualTo(20);
  }

  @Test
  void releasedValueKeepsItsRecipeForThoseThatDependOnIt() {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(op(5, 64, 0));
    events.add(op(3, 64, 1));
    events.add(new Trace.Release(1));
    events.add(op(1, 64 * 4, 0));
    events.add(new Trace.Release(3));
    events.add(op(1, 64, 2));
    assertThat(place(new Trace(events), 64 * 5, Policy.LRU).time())
        .isEqualTo(5 + 3 + 1 + (5 + 3) + 1);
  }

  @Test
  void smallStoragesAreEvictedLikeLargeOnes() {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(1));
    for (int i = 1; i < 100; i++) {
      events.add(op(1, 1, i - 1));
    }
    assertThat(place(new Trace(events), 64 * 10, Policy.H_DTR).status())
        .isEqualTo(Simulation.Status.OK);
  }

  @Test
  void inputsOfWaitingOpsGiveWayWhenNothingElseCan() {
    List<Trace.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(op(1, 64 * 3, 0));
    events.add(op(1, 64 * 3, 0));
    events.add(op(1, 64 * 2, 2));
    events.add(new Trace.Release(2));
    events.add(op(1, 64 * 2, 1, 3));
    assertThat(place(new Trace(events), 64 * 9, Policy.H_DTR_EQ).status())
        .isEqualTo(Simulation.Status.OK);
  }

  @Test
  void policyNoneEvictsNothingAndSaysWhatDidNotFit() {
    Recipes recipes = new Recipes();
    Residency residency =
        new Residency(
            recipes, new StorageMemory.Counted(100), Policy.NONE, Foresight.NONE, (_, _) -> {});
    Trace step = new Trace(List.of(constant(64), op(1, 64, 0)));
    assertThatThrownBy(() -> step.replay(residency, recipes))
        .isInstanceOf(NoRoomException.class)
        .hasMessage(
            "residency: got op 1, which reads 64 bytes, makes 64 and lacks a place for 64 of them,"
                + " while 64 of the budget of 100 bytes are held by what must stay, expected room;"
                + " the largest that stay: 64 bytes made by op 0 (cannot be computed again); raise"
                + " the memory budget by at least 28 bytes, or use a smaller batch or model");
  }

  @Test
  void refusalNamesTheOpAndTheFiveLargestThatStay() {
    List<Trace.Event> events = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      events.add(constant(10 * (i + 1)));
    }
    events.add(op(1, 90, 0));
    events.add(new Trace.Pin(6));
    events.add(op(1, 200, 1, 6));
    List<String> names = List.of("w0", "w1", "w2", "w3", "w4", "w5", "embed", "matmul");
    Simulation trial =
        Simulation.run(
            new Trace(events, names),
            new StorageMemory.Counted(400),
            Policy.H_DTR,
            Foresight.NONE,
            Double.POSITIVE_INFINITY);
    assertThat(trial.reason())
        .contains("got op 7 (matmul), which reads 110 bytes, makes 200 and lacks a place for 200")
        .contains("300 of the budget of 400 bytes")
        .contains(
            "stay: 90 bytes made by op 6 (embed) (pinned), 60 bytes made by op 5 (w5) (cannot be"
                + " computed again), 50 bytes made by op 4 (w4) (cannot be computed again), 40"
                + " bytes made by op 3 (w3) (cannot be computed again), 30 bytes made by op 2 (w2)"
                + " (cannot be computed again); raise the memory budget by at least 100");
  }

  @Test
  void pinnedValueStaysUntilItIsUnpinned() {
    Recipes recipes = new Recipes();
    Residency residency =
        new Residency(
            recipes, new StorageMemory.Counted(3), Policy.LRU, Foresight.NONE, (_, _) -> {});
    for (int value = 0; value < 6; value++) {
      Trace.add(value == 0 ? constant(1) : op(1, 1, 0), recipes);
      residency.run(value);
      if (value == 1) {
        residency.pin(1);
      } else if (value == 4) {
        assertThat(residency.isResident(1)).isTrue();
        residency.unpin(1);
      }
    }
    assertThat(residency.isResident(1)).isFalse();
  }

  /**
   * At the peak, op 3, room for one byte is left beside the constant and what the op reads and
   * makes. Ops 4 and 5 read value 1, of 10 ns, and value 2, of 11 with value 1 and of 1 without: to
   * keep 1 costs 1, to keep 2 costs 10.
   */
  @Test
  void boundIsTheCheapestChoiceAtThePeak() {
    Trace step =
        new Trace(
            List.of(
                constant(1),
                op(10, 1, 0),
                op(1, 1, 1),
                op(5, 1, 0),
                new Trace.Release(3),
                op(5, 1, 1),
                new Trace.Release(4),
                op(5, 1, 2)));
    assertThat(step.peakLive()).isEqualTo(4);
    assertThat(ScheduleSearch.bound(step, 4)).isCloseTo(26, within(1e-6));
    assertThat(ScheduleSearch.bound(step, 3)).isCloseTo(27, within(1e-6));
    assertThat(ScheduleSearch.bound(step, 1)).isInfinite();
    Simulation trial =
        Simulation.run(
            step,
            new StorageMemory.Counted(3),
            Policy.H_DTR,
            Foresight.NONE,
            Double.POSITIVE_INFINITY);
    assertThat(trial.time()).isGreaterThanOrEqualTo(27);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 12, 16, 24})
  void noPlanIsBelowTheBound(int slots) {
    Trace step = chain(30, 64);
    double bound = ScheduleSearch.bound(step, 64 * slots);
    assertThat(bound).isGreaterThan(step.cost());
    Guide guide = ScheduleSearch.learn(step, 64 * slots, Double.POSITIVE_INFINITY);
    assertThat(guide.time()).isFinite().isGreaterThanOrEqualTo(bound - 1e-6);
  }

  /** Two slots a root of N, and those of the constant and of the op that runs. */
  private static long slots(int length) {
    return 64 * (2 * (long) Math.sqrt(length) + 4);
  }

  /** Kirisame et al. 2021, theorem 1, with 2 for the constant: each layer twice at most. */
  @ParameterizedTest
  @ValueSource(ints = {100, 1_000})
  void chainInTwiceItsRootOfSlotsRunsEachLayerTwiceAtMostByThePublishedPolicy(int length) {
    Simulation trial = place(chain(length, 64), slots(length), Policy.H_DTR_EQ);
    assertThat(trial.time() - length).isLessThanOrEqualTo(2.0 * length);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1_000, 10_000})
  void chainInTwiceItsRootOfSlotsIsPlannedToRunEachLayerTwiceAtMost(int length) {
    Guide guide = ScheduleSearch.sketch(chain(length, 64), slots(length), Double.POSITIVE_INFINITY);
    assertThat(guide.time() - length).isLessThanOrEqualTo(2.0 * length);
  }

  @Test
  void longChainIsPlannedByTheSegmentsItIsCutInto() {
    Trace step = chain(100, 64);
    double segments = ScheduleSearch.sketch(step, slots(100), Double.POSITIVE_INFINITY).time();
    double learned = ScheduleSearch.learn(step, slots(100), Double.POSITIVE_INFINITY).time();
    assertThat(learned).isLessThanOrEqualTo(segments);
  }

  private static Trace.Run over(int input, double cost, long bytes, int... reads) {
    int[] none = {NO_VIEW};
    return new Trace.Run(cost, true, reads, new long[] {bytes}, none, new int[] {input});
  }

  @Test
  void aResultTakesTheMemoryOfAnInputThatIsGivenUpNext() {
    List<Trace.Event> events = new ArrayList<>(List.of(constant(64), op(1, 640, 0)));
    for (int i = 2; i <= 5; i++) {
      events.add(over(i - 1, 1, 640, i - 1));
      events.add(new Trace.Release(i - 1));
    }
    Trace step = new Trace(events);
    assertThat(step.peakLive()).isEqualTo(64 + 640);
    Simulation trial = place(step, 64 + 640, Policy.H_DTR_EQ);
    assertThat(trial.status()).isEqualTo(Simulation.Status.OK);
    assertThat(trial.time()).isEqualTo(5);
  }

  /** v1 is written over by v2, which is evicted for v3 and read again: both run once more. */
  @Test
  void whatWasWrittenOverIsComputedAgainWithItsResult() {
    Trace step =
        new Trace(
            List.of(
                constant(64),
                op(1, 640, 0),
                over(1, 1, 640, 1),
                new Trace.Release(1),
                op(1, 640, 0),
                new Trace.Release(3),
                op(1, 64, 2)));
    Simulation trial = place(step, 2 * 64 + 640, Policy.LRU);
    assertThat(trial.status()).isEqualTo(Simulation.Status.OK);
    assertThat(trial.time()).isEqualTo(4 + 2);
  }

  /** v2 is all there is of the constant v0, which v1 needs to be computed again. */
  @Test
  void whatReadsAConstantThatIsWrittenOverStays() {
    List<Trace.Event> events =
        List.of(
            constant(64),
            op(1, 64, 0),
            over(0, 1, 64, 0),
            new Trace.Free(0),
            op(1, 64, 2),
            new Trace.Release(3),
            op(1, 64, 1, 2));
    assertThat(place(new Trace(events), 3 * 64, Policy.H_DTR_EQ).time()).isEqualTo(4);
    assertThat(place(new Trace(events), 2 * 64, Policy.H_DTR_EQ).status())
        .isEqualTo(Simulation.Status.OOM);
  }

  /** v1 has no bytes: it never goes, and what reads it finds it while others are evicted. */
  @Test
  void valuesWithoutBytesAreThereWhileOthersAreEvicted() {
    List<Trace.Event> events =
        List.of(constant(64), op(1, 0, 0), op(1, 640, 1), op(1, 640, 1), op(1, 64, 1, 2));
    Simulation trial = place(new Trace(events), 64 + 640 + 64, Policy.H_DTR);
    assertThat(trial.status()).isEqualTo(Simulation.Status.OK);
    assertThat(trial.time()).isEqualTo(4 + 1);
  }
}
