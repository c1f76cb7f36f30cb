package dev.tern.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.memory.BlockArena;
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

  private static Step.Run op(double cost, long bytes, int... reads) {
    return new Step.Run(cost, true, reads, new long[] {bytes}, new int[] {NO_VIEW});
  }

  private static Step.Run constant(long bytes) {
    return new Step.Run(0, false, new int[0], new long[] {bytes}, new int[] {NO_VIEW});
  }

  private static Trial place(Step step, long budget, Policy policy) {
    Space space = new Space.Placed(new BlockArena(budget), Foresight.NONE);
    return Trial.run(
        step, space, policy, Foresight.NONE, Residency.Watcher.NONE, Double.POSITIVE_INFINITY);
  }

  /** N ops in a row, all still referred to, then each read once from the last to the first. */
  private static Step chain(int length, long bytes) {
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(bytes));
    for (int i = 1; i <= length; i++) {
      events.add(op(1, bytes, i - 1));
    }
    int gradient = length;
    for (int i = length; i >= 1; i--) {
      events.add(op(0, bytes, gradient, i));
      if (gradient != length) {
        events.add(new Step.Release(gradient));
      }
      gradient = length + 1 + length - i;
      events.add(new Step.Release(i));
    }
    return new Step(events);
  }

  @ParameterizedTest
  @MethodSource("evicting")
  void recomputedValuesHaveTheirInputsAndTheirPlaces(Policy policy) {
    SplittableRandom random = new SplittableRandom(5);
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(640));
    for (int i = 1; i < 400; i++) {
      int near = Math.max(0, i - 1 - random.nextInt(5));
      events.add(op(random.nextInt(1, 9), random.nextInt(0, 1200), near, random.nextInt(i)));
    }
    Step step = new Step(events);
    Recipes recipes = new Recipes();
    BlockArena arena = new BlockArena(step.peakLive() / 2);
    Residency[] itself = new Residency[1];
    Residency residency =
        new Residency(
            recipes,
            new Space.Placed(arena, Foresight.NONE),
            policy,
            Foresight.NONE,
            (op, _) -> assertInputsAreResident(recipes, op, itself[0]),
            Residency.Watcher.NONE);
    itself[0] = residency;
    step.replay(residency, recipes);
    assertThat(residency.evictions()).isPositive();
    for (int value = 0; value < recipes.values(); value++) {
      residency.ensure(value);
      assertThat(residency.isResident(value)).isTrue();
    }
  }

  private static void assertInputsAreResident(Recipes recipes, int op, Residency residency) {
    IntLists inputs = recipes.inputs();
    for (int cell = inputs.first(op); cell >= 0; cell = inputs.next(cell)) {
      assertThat(residency.isResident(inputs.get(cell))).isTrue();
    }
  }

  @Test
  void chainOfFiftyThousandIsRecomputedWithoutRecursion() {
    Recipes recipes = new Recipes();
    Residency residency =
        new Residency(
            recipes,
            new Space.Placed(new BlockArena(64 * 8), Foresight.NONE),
            Policy.LRU,
            Foresight.NONE,
            (_, _) -> {},
            Residency.Watcher.NONE);
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(64));
    for (int i = 1; i <= 50_000; i++) {
      events.add(op(1, 64, i - 1));
    }
    new Step(events).replay(residency, recipes);
    residency.ensure(49_990);
    residency.ensure(25_000);
    assertThat(residency.isResident(25_000)).isTrue();
    assertThat(residency.time()).isGreaterThan(75_000);
  }

  @Test
  void valueThatCannotBeComputedAgainIsNeverEvicted() {
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(new Step.Run(1, false, new int[] {0}, new long[] {64}, new int[] {NO_VIEW}));
    for (int i = 2; i < 20; i++) {
      events.add(op(1, 64, i - 1));
    }
    events.add(op(1, 64, 1));
    assertThat(place(new Step(events), 64 * 5, Policy.H_DTR_EQ).time()).isEqualTo(20);
  }

  @Test
  void releasedValueKeepsItsRecipeForThoseThatDependOnIt() {
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(op(5, 64, 0));
    events.add(op(3, 64, 1));
    events.add(new Step.Release(1));
    events.add(op(1, 64 * 4, 0));
    events.add(new Step.Release(3));
    events.add(op(1, 64, 2));
    assertThat(place(new Step(events), 64 * 5, Policy.LRU).time())
        .isEqualTo(5 + 3 + 1 + (5 + 3) + 1);
  }

  @Test
  void smallStoragesAreEvictedLikeLargeOnes() {
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(1));
    for (int i = 1; i < 100; i++) {
      events.add(op(1, 1, i - 1));
    }
    assertThat(place(new Step(events), 64 * 10, Policy.H_DTR).status()).isEqualTo(Trial.Status.OK);
  }

  @Test
  void inputsOfWaitingOpsGiveWayWhenNothingElseCan() {
    List<Step.Event> events = new ArrayList<>();
    events.add(constant(64));
    events.add(op(1, 64 * 3, 0));
    events.add(op(1, 64 * 3, 0));
    events.add(op(1, 64 * 2, 2));
    events.add(new Step.Release(2));
    events.add(op(1, 64 * 2, 1, 3));
    assertThat(place(new Step(events), 64 * 9, Policy.H_DTR_EQ).status())
        .isEqualTo(Trial.Status.OK);
  }

  @Test
  void policyNoneEvictsNothingAndSaysWhatDidNotFit() {
    Recipes recipes = new Recipes();
    Residency residency =
        new Residency(
            recipes,
            new Space.Counted(100),
            Policy.NONE,
            Foresight.NONE,
            (_, _) -> {},
            Residency.Watcher.NONE);
    Step step = new Step(List.of(constant(64), op(1, 64, 0)));
    assertThatThrownBy(() -> step.replay(residency, recipes))
        .isInstanceOf(NoRoomException.class)
        .hasMessageContaining("op 1, which needs 64 bytes with 64 of 100 in use");
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1000})
  void chainInTwiceItsRootOfSlotsIsPlannedWithinTwiceItsForwardTime(int length) {
    Step step = chain(length, 64);
    long budget = 64 * (long) (2 * Math.sqrt(length) + 5);
    Rehearsal.Guide guide = Rehearsal.plan(step, budget, Double.POSITIVE_INFINITY);
    assertThat(guide.time()).isLessThanOrEqualTo(2.0 * length);
  }
}
