package dev.tern.internal.cuda.run;

import dev.tern.internal.plan.Plan;
import dev.tern.internal.plan.Step;

/** Where the storages of a plan lie on the device. */
final class StepAddresses {
  private final long[] storages;

  /**
   * @param leaves the address of each leaf
   * @param arena the address of the plan's arena
   */
  StepAddresses(Plan plan, long[] leaves, long arena) {
    int own = leaves.length;
    storages = new long[own + plan.offsets().length];
    System.arraycopy(leaves, 0, storages, 0, own);
    for (int i = 0; i < plan.offsets().length; i++) {
      storages[own + i] = arena + plan.offsets()[i];
    }
  }

  long of(Step.Place place) {
    return storages[place.storage()] + place.offset();
  }

  long of(Step.Strided elements) {
    return of(elements.place());
  }
}
