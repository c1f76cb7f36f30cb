package dev.tern.internal.remat;

/**
 * What is known ahead about a step, from a plan. Storages and ops are numbered in the order in
 * which they are made, so the plan and the step give them the same numbers.
 */
public interface Foresight {
  Foresight NONE = new Foresight() {};

  long ANYWHERE = -1;

  int[] NO_STORAGES = {};

  /** The factor of the score of a storage: above 1 to keep it, below 1 to give it up. */
  default double weight(int storage) {
    return 1;
  }

  /**
   * When the program itself next uses a storage after an op, in time of the program without
   * recomputation; negative where that is not known.
   */
  default double nextUse(int storage, int op) {
    return -1;
  }

  /** The time of the program without recomputation at an op. */
  default double time(int op) {
    return 0;
  }

  /**
   * The most bytes that should be in use at a time, not rounded up. If it is less than the capacity
   * of the arena, there is room for gaps, and storages find the places that were planned for them.
   */
  default long room() {
    return Long.MAX_VALUE;
  }

  /** Storages to evict, if they may go, before the results of a run get memory. */
  default int[] dropsBefore(int run) {
    return NO_STORAGES;
  }

  /** Storages to evict, if they may go, after a run; runs count from 0. */
  default int[] dropsAfter(int run) {
    return NO_STORAGES;
  }

  /**
   * The offset at which a storage should lie, or {@link #ANYWHERE}.
   *
   * @param life how often it got memory before
   */
  default long offset(int storage, int life) {
    return ANYWHERE;
  }
}
