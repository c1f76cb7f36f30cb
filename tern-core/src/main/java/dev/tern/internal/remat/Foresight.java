package dev.tern.internal.remat;

/**
 * What is known ahead about a step, from an equal step before or from a plan. Storages and ops are
 * numbered in the order in which they are made, so that they have the same numbers in both.
 */
public interface Foresight {
  /** Nothing is known. */
  Foresight NONE = new Foresight() {};

  /** No place. */
  long ANYWHERE = -1;

  int[] NO_STORAGES = {};

  /** What to multiply the score of a storage by: above 1 to keep it, below to give it up. */
  default double weight(int storage) {
    return 1;
  }

  /**
   * When a storage is next used for the first time by the program itself, in time of the program
   * without recomputation; negative where that is not known.
   *
   * @param op the number of the op that runs
   */
  default double nextUse(int storage, int op) {
    return -1;
  }

  /** The time of the program without recomputation at an op. */
  default double time(int op) {
    return 0;
  }

  /**
   * The most bytes that should be in use at a time, as they were asked for. Less than the capacity
   * of an arena leaves room for gaps, so that storages find the places that were found for them.
   */
  default long room() {
    return Long.MAX_VALUE;
  }

  /**
   * Storages to evict before the results of a run get memory, where they may go.
   *
   * @param run how many ops ran before
   */
  default int[] dropsBefore(int run) {
    return NO_STORAGES;
  }

  /**
   * Storages to evict after a run, where they may go.
   *
   * @param run how many ops ran before
   */
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
