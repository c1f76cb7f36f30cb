package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Guide;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Simulation;
import dev.tern.internal.remat.StorageListener;
import dev.tern.internal.remat.StorageMemory;

/**
 * Watches a run by any policy and notes what stayed from use to use, as decisions of a {@link
 * Retention}.
 */
final class RetentionObserver implements StorageListener {
  private final Retention retention;
  private final Recipes recipes;
  private final boolean[] decisions;
  private final boolean[] isResident;
  private final int[] settledAt;
  private int op;

  RetentionObserver(Retention retention) {
    this.retention = retention;
    recipes = retention.uses().recipes();
    decisions = retention.keepAll();
    isResident = new boolean[recipes.storages()];
    settledAt = new int[recipes.storages()];
  }

  /** The decisions that lead to what a run by a guide does. */
  static boolean[] of(Retention retention, StorageMemory memory, Guide guide) {
    RetentionObserver observed = new RetentionObserver(retention);
    Simulation.run(retention.uses().trace(), memory, guide, observed, Simulation.Limits.NONE);
    return observed.decisions;
  }

  @Override
  public void settled(int storage, long bytes) {
    isResident[storage] = true;
    settledAt[storage] = op;
  }

  @Override
  public void vacated(int storage) {
    isResident[storage] = false;
  }

  @Override
  public void begins(int programOp) {
    op = programOp;
    for (int input : recipes.inputs(op)) {
      note(recipes.storage(input));
    }
  }

  @Override
  public void pins(int storage) {
    op = recipes.ops();
    note(storage);
  }

  private void note(int storage) {
    int stretch = retention.stretchTo(storage, op);
    if (stretch >= 0) {
      decisions[stretch] = isResident[storage] && settledAt[storage] <= retention.fromOp[stretch];
      decisions[retention.stretches() + stretch] = isResident[storage];
    }
  }
}
