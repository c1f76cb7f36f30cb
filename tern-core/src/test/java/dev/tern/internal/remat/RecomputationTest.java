package dev.tern.internal.remat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Graphs that rematerialization is known to get wrong. */
final class RecomputationTest {
  private final Recipes recipes = new Recipes();
  private final List<Integer> ran = new ArrayList<>();

  static List<Policy> evicting() {
    return ResidencyTest.evicting();
  }

  private Residency counted(long bytes, Policy policy) {
    return new Residency(
        recipes, new StorageMemory.Counted(bytes), policy, Foresight.NONE, (op, _) -> ran.add(op));
  }

  private int add(Residency residency, double cost, long bytes, int... reads) {
    int op = recipes.addOp(cost, true, reads);
    recipes.addOutput(bytes);
    residency.run(op);
    return recipes.firstOutput(op);
  }

  @Test
  void resultsThatAreThereStayWhileOthersOfTheirOpAreComputedAgain() {
    Residency[] itself = new Residency[1];
    BlockArena arena = new BlockArena(64 * 3);
    itself[0] =
        new Residency(
            recipes,
            new StorageMemory.Placed(arena, Foresight.NONE),
            Policy.LRU,
            Foresight.NONE,
            (op, _) -> {
              for (int out = recipes.firstOutput(op); out < recipes.endOutput(op); out++) {
                arena.offset(itself[0].handle(recipes.storage(out)));
              }
            });
    int pair = recipes.addOp(1, true);
    recipes.addOutput(64);
    recipes.addOutput(64);
    itself[0].run(pair);
    int other = add(itself[0], 1, 128);
    assertThat(itself[0].isResident(0) && itself[0].isResident(1)).isFalse();
    itself[0].ensure(0);
    itself[0].ensure(1);
    assertThat(itself[0].isResident(0)).isTrue();
    assertThat(itself[0].isResident(1)).isTrue();
    assertThat(itself[0].isResident(other)).isFalse();
  }

  /** Each of a and b fits with what it is made from, but not beside the other. */
  @Test
  void inputsThatExcludeEachOtherAreRefusedAndNotComputedInTurnsForEver() {
    Residency residency = counted(4, Policy.H_DTR);
    int x = add(residency, 1, 3);
    int a = add(residency, 1, 1, x);
    residency.release(x);
    int y = add(residency, 1, 3);
    int b = add(residency, 1, 1, y);
    residency.release(y);
    assertThat(residency.isResident(a)).isFalse();
    assertThatThrownBy(() -> add(residency, 1, 1, a, b)).isInstanceOf(NoRoomException.class);
    assertThat(ran).hasSizeLessThan(50);
  }

  /** To make b takes all the room there is beside a; to make a takes less. */
  @Test
  void inputThatLeftNoRoomForTheOthersIsKeptWhileTheyAreComputedOnceMore() {
    Residency residency = counted(6, Policy.H_DTR);
    int x = add(residency, 1, 2);
    int a = add(residency, 1, 1, x);
    residency.release(x);
    int y = add(residency, 1, 5);
    int b = add(residency, 1, 1, y);
    residency.release(y);
    int full = add(residency, 1, 6);
    residency.release(full);
    int sum = add(residency, 1, 1, a, b);
    assertThat(residency.isResident(sum)).isTrue();
  }

  @Test
  void opWhoseManyInputsAreAllGoneGetsThemAllBack() {
    Residency residency = counted(300, Policy.LRU);
    int[] parts = IntStream.range(0, 100).map(_ -> add(residency, 1, 1)).toArray();
    int large = add(residency, 1, 300);
    residency.release(large);
    assertThat(IntStream.of(parts).noneMatch(residency::isResident)).isTrue();
    int joined = add(residency, 1, 100, parts);
    assertThat(residency.isResident(joined)).isTrue();
    assertThat(ran).hasSize(100 + 1 + 100 + 1);
  }

  @Test
  void viewOfAnEvictedStorageIsThereAgainAfterItsBaseAndItself() {
    Residency residency = counted(2, Policy.LRU);
    int base = add(residency, 1, 1);
    int view = recipes.addOp(1, true, base);
    recipes.addView(base);
    residency.run(view);
    add(residency, 1, 2);
    ran.clear();
    residency.ensure(recipes.firstOutput(view));
    assertThat(ran).containsExactly(0, view);
  }

  @ParameterizedTest
  @MethodSource("evicting")
  void neverMoreThanTheBudgetIsInUse(Policy policy) {
    Trace step = ResidencyTest.chain(200, 100);
    for (long budget : new long[] {4_000, 8_000, 16_001}) {
      BlockArena arena = new BlockArena(budget);
      StorageMemory placed = new StorageMemory.Placed(arena, Foresight.NONE);
      Simulation.run(step, placed, policy, Foresight.NONE, 1e4);
      assertThat(placed.peakReserved()).isLessThanOrEqualTo(budget);
      StorageMemory counted = new StorageMemory.Counted(budget);
      Simulation.run(step, counted, policy, Foresight.NONE, 1e4);
      assertThat(counted.peakUsed()).isBetween(budget - 200, budget);
    }
  }

  @Test
  void ofManyThatMayGoOneOfTheLeastHarmIsFound() {
    Residency residency = counted(3_000, Policy.LOCAL);
    for (int i = 0; i < 3_000; i++) {
      add(residency, i == 1_700 ? 1 : 1_000, 1);
    }
    add(residency, 1_000, 1);
    assertThat(residency.isResident(1_700)).isFalse();
    assertThat(residency.evictions()).isEqualTo(1);
  }

  @Test
  void whateverMayGoIsFoundBeforeRoomIsRefused() {
    Residency residency = counted(1_000, Policy.H_DTR_EQ);
    for (int i = 0; i < 1_000; i++) {
      int value = add(residency, 1, 1);
      if (i != 613) {
        residency.pin(value);
      }
    }
    add(residency, 1, 1);
    assertThat(residency.isResident(613)).isFalse();
    assertThatThrownBy(() -> add(residency, 1, 2)).isInstanceOf(NoRoomException.class);
  }

  /** 100,000 ops; the last needs all of the first half again, one by one. */
  @Test
  void chainOfFiftyThousandIsComputedAgainWithoutRecursion() {
    int half = 50_000;
    Residency residency = counted(4, Policy.LRU);
    int value = add(residency, 1, 1);
    for (int i = 1; i < half; i++) {
      int next = add(residency, 1, 1, value);
      residency.release(value);
      value = next;
    }
    int other = add(residency, 1, 1);
    for (int i = 1; i < half - 2; i++) {
      int next = add(residency, 1, 1, other);
      residency.release(other);
      other = next;
    }
    int large = add(residency, 1, 4);
    residency.release(large);
    ran.clear();
    add(residency, 1, 1, value);
    assertThat(ran).hasSize(half + 1);
    assertThat(recipes.ops()).isEqualTo(100_000);
  }
}
