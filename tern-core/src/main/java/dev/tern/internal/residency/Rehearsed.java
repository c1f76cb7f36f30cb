package dev.tern.internal.residency;

/**
 * What a rehearsal tells the run that follows it.
 *
 * @param facts the uses of storages
 * @param weights by storage; those beyond are 1
 * @param places offsets by storage and life; none where not known
 * @param room bytes that may be in use at a time
 * @param drops by run: storages that go after it; none where that is left to the policy
 */
record Rehearsed(StepFacts facts, double[] weights, long[][] places, long room, int[][] drops)
    implements Foresight {
  private static final int[][] LEFT_TO_POLICY = {};

  Rehearsed(StepFacts facts, double[] weights, long[][] places, long room) {
    this(facts, weights, places, room, LEFT_TO_POLICY);
  }

  @Override
  public int[] dropsAfter(int run) {
    return run < drops.length ? drops[run] : NO_STORAGES;
  }

  @Override
  public double weight(int storage) {
    return storage < weights.length ? weights[storage] : 1;
  }

  @Override
  public double nextUse(int storage, int op) {
    return facts.nextUse(storage, op);
  }

  @Override
  public double time(int op) {
    return facts.time(op);
  }

  @Override
  public long offset(int storage, int life) {
    boolean known =
        storage < places.length && places[storage] != null && life < places[storage].length;
    return known ? places[storage][life] : ANYWHERE;
  }
}
