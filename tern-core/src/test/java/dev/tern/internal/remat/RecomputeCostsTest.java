package dev.tern.internal.remat;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Costs of the storages of a diamond: 0 is read by 1 and 2, which are read by 3. */
final class RecomputeCostsTest {
  private final Recipes recipes = new Recipes();
  private final StorageStates ledger = new StorageStates(recipes);

  @BeforeEach
  void diamond() {
    add(1);
    add(10, 0);
    add(100, 0);
    add(1000, 1, 2);
    ledger.extend();
    for (int storage = 0; storage < 4; storage++) {
      ledger.settle(storage, storage);
    }
  }

  private void add(double cost, int... reads) {
    recipes.addOp(cost, true, reads);
    recipes.addOutput(64);
  }

  private RecomputeCosts costs(Policy policy, int... evicted) {
    RecomputeCosts costs = new RecomputeCosts(recipes, ledger, policy);
    for (int storage : evicted) {
      ledger.vacate(storage);
      costs.evicted(storage);
    }
    return costs;
  }

  @Test
  void ownCostCountsWhereNothingAroundIsEvicted() {
    for (Policy policy : Policy.PUBLISHED) {
      assertThat(costs(policy).of(2)).as(policy.name()).isEqualTo(100);
    }
  }

  @Test
  void evictedInputsAndEvictedResultsCount() {
    assertThat(costs(Policy.H_DTR, 0, 3).of(1)).isEqualTo(10 + 1 + 1000);
    assertThat(costs(Policy.H_DTR_EQ, 0, 3).of(1)).isEqualTo(10 + 1 + 1000);
    assertThat(costs(Policy.MSPS, 0, 3).of(1)).isEqualTo(10 + 1);
  }

  @Test
  void setThatSeveralNeighboursAreInCountsOnce() {
    assertThat(costs(Policy.H_DTR_EQ, 0, 1, 2).of(3)).isEqualTo(1000 + 111);
    assertThat(costs(Policy.H_DTR, 0, 1, 2).of(3)).isEqualTo(1000 + 111);
  }

  @Test
  void storageEvictedAfterItsResultsJoinsTheirSet() {
    assertThat(costs(Policy.H_DTR_EQ, 3, 1).of(2)).isEqualTo(100 + 1010);
    assertThat(costs(Policy.H_DTR_EQ, 3, 1).of(0)).isEqualTo(1 + 1010);
  }

  @Test
  void recomputedStorageTakesItsOwnCostOutOfTheSetAndNoMore() {
    RecomputeCosts costs = costs(Policy.H_DTR_EQ, 0, 1, 3);
    ledger.settle(1, 1);
    costs.recomputed(1);
    assertThat(costs.of(2)).isEqualTo(100 + 1 + 1000);
    ledger.vacate(1);
    costs.evicted(1);
    assertThat(costs.of(2)).isEqualTo(100 + 1 + 1000 + 10);
  }

  @Test
  void longChainOfSetsIsJoinedWithoutRecursion() {
    EvictedSets sets = new EvictedSets();
    for (int storage = 0; storage < 200_000; storage++) {
      sets.add(storage, 1);
      if (storage > 0) {
        sets.join(storage, storage - 1);
      }
    }
    assertThat(sets.cost(sets.find(0))).isEqualTo(200_000);
    assertThat(sets.find(199_999)).isEqualTo(sets.find(0));
  }
}
