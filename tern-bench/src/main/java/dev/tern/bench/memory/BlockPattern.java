package dev.tern.bench.memory;

import java.util.List;
import java.util.SplittableRandom;

/**
 * An order of allocating and freeing: round and round through a list of slots, where each visit
 * frees the block that is there and allocates another.
 *
 * @param slots how many blocks are live at most
 * @param order slots to visit; a negative number ~s visits slot s to free only
 * @param sizes bytes of the block that each visit allocates
 */
record BlockPattern(String name, int slots, int[] order, int[] sizes) {
  private static final int MANY = 1000;
  private static final int BATCH = 4096;

  /** Widths of what a step keeps of a row of a batch: floats, and two for an id. */
  private static final int[] WIDTHS = {1, 2, 13, 16, 26, 64, 128, 256, 400, 416, 429, 512};

  /** All patterns. */
  static List<BlockPattern> all() {
    return List.of(
        pairs("pair of 4 KiB", 4096),
        pairs("pair of 1 MiB", 1 << 20),
        mix("CTR sizes, 1 live", 1),
        mix("CTR sizes, 48 live", 48),
        queue("FIFO, 1000 live of 4 KiB"),
        stack("LIFO, 1000 live of 4 KiB"));
  }

  /** One that many threads can check on: small blocks of many sizes in random order. */
  static BlockPattern check() {
    SplittableRandom random = new SplittableRandom(7);
    int[] order = random.ints(20_000, 0, MANY).toArray();
    int[] sizes = random.ints(20_000, 1, 30_000).toArray();
    return new BlockPattern("check", MANY, order, sizes);
  }

  /** How many blocks one round allocates. */
  int pairs() {
    int count = 0;
    for (int slot : order) {
      count += slot >= 0 ? 1 : 0;
    }
    return count;
  }

  private static BlockPattern pairs(String name, int bytes) {
    return new BlockPattern(name, 1, new int[] {0, ~0}, new int[] {bytes, 0});
  }

  private static BlockPattern mix(String name, int live) {
    SplittableRandom random = new SplittableRandom(5);
    int[] order = random.ints(4096, 0, live).toArray();
    int[] sizes =
        random.ints(4096, 0, WIDTHS.length).map(width -> 4 * BATCH * WIDTHS[width]).toArray();
    return new BlockPattern(name, live, order, sizes);
  }

  private static BlockPattern queue(String name) {
    int[] order = new int[MANY];
    int[] sizes = new int[MANY];
    for (int i = 0; i < MANY; i++) {
      order[i] = i;
      sizes[i] = 4096;
    }
    return new BlockPattern(name, MANY, order, sizes);
  }

  private static BlockPattern stack(String name) {
    int[] order = new int[2 * MANY];
    int[] sizes = new int[2 * MANY];
    for (int i = 0; i < MANY; i++) {
      order[i] = i;
      sizes[i] = 4096;
      order[2 * MANY - 1 - i] = ~i;
    }
    return new BlockPattern(name, MANY, order, sizes);
  }
}
