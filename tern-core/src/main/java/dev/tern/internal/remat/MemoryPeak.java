package dev.tern.internal.remat;

/**
 * The moment at which a step needs most memory when nothing is evicted and a storage goes with its
 * last reference.
 *
 * @param op the op that runs then, the first of several
 * @param bytes of all live storages, the op's results included
 */
public record MemoryPeak(int op, long bytes, boolean[] isLive) {
  public static MemoryPeak of(Trace step, Recipes recipes) {
    Live all = new Live(recipes);
    int op = 0;
    long bytes = 0;
    for (Trace.Event event : step.events()) {
      all.apply(event);
      if (all.bytes > bytes) {
        op = all.ops - 1;
        bytes = all.bytes;
      }
    }
    Live then = new Live(recipes);
    for (int i = 0; then.ops <= op && i < step.events().size(); i++) {
      then.apply(step.events().get(i));
    }
    boolean[] isLive = new boolean[recipes.storages()];
    for (int storage = 0; storage < isLive.length; storage++) {
      isLive[storage] = then.references[storage] > 0 && !then.isTaken[storage];
    }
    return new MemoryPeak(op, bytes, isLive);
  }

  /** References and live bytes up to some event of a step. */
  private static final class Live {
    private final Recipes recipes;
    private final int[] references;
    private final boolean[] isTaken;
    private long bytes;
    private int ops;

    Live(Recipes recipes) {
      this.recipes = recipes;
      references = new int[recipes.storages()];
      isTaken = new boolean[recipes.storages()];
    }

    void apply(Trace.Event event) {
      switch (event) {
        case Trace.Run _ -> {
          for (int out = recipes.firstOutput(ops); out < recipes.endOutput(ops); out++) {
            int storage = recipes.storage(out);
            bytes += references[storage]++ == 0 ? recipes.bytes(storage) : 0;
            if (!recipes.isView(out) && recipes.takes(storage) >= 0) {
              bytes -= recipes.bytes(storage);
              isTaken[recipes.takes(storage)] = true;
            }
          }
          ops++;
        }
        case Trace.Retain(int value) -> references[recipes.storage(value)]++;
        case Trace.Release(int value) -> release(value);
        case Trace.Free(int value) -> release(value);
        case Trace.Pin _, Trace.Expire _ -> {}
      }
    }

    private void release(int value) {
      int storage = recipes.storage(value);
      boolean isLast = --references[storage] == 0;
      bytes -= isLast && !isTaken[storage] ? recipes.bytes(storage) : 0;
    }
  }
}
