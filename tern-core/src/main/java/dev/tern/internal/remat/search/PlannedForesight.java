package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Foresight;

/**
 * What a search tells the run that follows it.
 *
 * @param weights by storage; 1 beyond the end
 * @param places offsets by storage and life; none where not known
 * @param room bytes that may be in use at a time
 * @param drops storages that go, where that is not left to the policy
 */
record PlannedForesight(TraceUses uses, double[] weights, long[][] places, long room, Drops drops)
    implements Foresight {
  private static final int[][] NONE = {};
  private static final Drops LEFT_TO_POLICY = new Drops(NONE, NONE);

  /** By run, the storages to evict before its results get memory, and those to evict after it. */
  record Drops(int[][] before, int[][] after) {
    /** Storages that go after runs, none before. */
    static Drops after(int[][] runs) {
      return new Drops(NONE, runs);
    }

    private static int[] at(int run, int[][] drops) {
      return run < drops.length ? drops[run] : NO_STORAGES;
    }
  }

  PlannedForesight(TraceUses uses, double[] weights, long[][] places, long room) {
    this(uses, weights, places, room, LEFT_TO_POLICY);
  }

  @Override
  public int[] dropsBefore(int run) {
    return Drops.at(run, drops.before());
  }

  @Override
  public int[] dropsAfter(int run) {
    return Drops.at(run, drops.after());
  }

  @Override
  public double weight(int storage) {
    return storage < weights.length ? weights[storage] : 1;
  }

  @Override
  public double nextUse(int storage, int op) {
    return uses.nextUse(storage, op);
  }

  @Override
  public double time(int op) {
    return uses.time(op);
  }

  @Override
  public long offset(int storage, int life) {
    boolean known =
        storage < places.length && places[storage] != null && life < places[storage].length;
    return known ? places[storage][life] : ANYWHERE;
  }
}
