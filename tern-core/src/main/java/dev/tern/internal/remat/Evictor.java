package dev.tern.internal.remat;

import dev.tern.internal.memory.BinnedIndex;
import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/**
 * Chooses what to evict. All storages that may go are in bins by their cost for each byte, four
 * bins a doubling. Each bin is ordered by staleness. So the best storage of all is the first of
 * some bin, up to the width of a bin, and the time of a choice depends only on the number of bins.
 * When others around a storage are evicted, its cost changes: it moves to its right bin once it is
 * the first of its bin. Up to 512 storages are all compared.
 */
final class Evictor {
  private static final int NONE = BinnedIndex.NONE;
  private static final int NO_BLOCK = BlockArena.NONE;
  private static final int BINS = 1024;
  private static final int LOWEST_BIN = (1023 - 128) << 2;
  private static final int FEW = 512;
  private static final int SEEDS = 8;
  private static final int MOVES = 16;

  private final Recipes recipes;
  private final StorageStates states;
  private final Policy policy;
  private final Foresight foresight;
  private final RecomputeCosts costs;
  private final BinnedIndex candidates = new BinnedIndex(BINS);
  private final int[] seeds = new int[SEEDS];
  private final double[] seedScores = new double[SEEDS];
  private int[] knownBin = new int[0];
  private int[] victims = new int[16];
  private int victimCount;

  // All blocks of an arena, in order of address, and what is lost with each.
  private int[] blocks = new int[64];
  private double[] harms = new double[64];

  // The best run of neighbouring blocks so far.
  private int firstOfRun;
  private int lastOfRun;
  private double leastHarm;

  Evictor(
      Recipes recipes,
      StorageStates states,
      Policy policy,
      Foresight foresight,
      RecomputeCosts costs) {
    this.recipes = recipes;
    this.states = states;
    this.policy = policy;
    this.foresight = foresight;
    this.costs = costs;
  }

  /** A storage that was chosen last. */
  int victim(int index) {
    return victims[index];
  }

  /** Adds a storage to the candidates if it may go, or else removes it. */
  void update(int storage) {
    if (candidates.contains(storage)) {
      candidates.remove(storage);
    }
    if (states.isEvictable(storage)) {
      insert(storage, knownBin(storage));
    }
  }

  /** The bin to which a storage was last found to belong; at first by its own cost alone. */
  private int knownBin(int storage) {
    if (storage >= knownBin.length) {
      int from = knownBin.length;
      knownBin = Arrays.copyOf(knownBin, Math.max(64, 2 * storage));
      Arrays.fill(knownBin, from, knownBin.length, NONE);
    }
    if (knownBin[storage] == NONE) {
      knownBin[storage] = binOf(storage, recipes.storageCost(storage));
    }
    return knownBin[storage];
  }

  /**
   * Chooses storages to evict so that {@code bytes} more may fit; they need not suffice.
   *
   * @return how many; 0 where none may go
   */
  int choose(StorageMemory memory, long bytes, double now) {
    victimCount = 0;
    if (policy == Policy.NONE || candidates.size() == 0) {
      return 0;
    }
    if (memory instanceof StorageMemory.Placed placed && !placed.isFull(bytes)) {
      chooseRun(placed.arena(), bytes, now);
    } else {
      chooseOne(now);
    }
    return victimCount;
  }

  /** Chooses the best to evict wherever it lies; returns how many, at most 1. */
  int chooseOne(double now) {
    victimCount = 0;
    if (policy != Policy.NONE && candidates.size() > 0) {
      if (candidates.size() > FEW) {
        findSeeds(now);
        addVictim(seeds[0]);
      } else {
        addVictim(best(now));
      }
    }
    return victimCount;
  }

  private double harm(int storage, double now) {
    double harm = policy.harm(costs.of(storage), foresight.weight(storage));
    return policy.faded(harm, staleness(storage, now));
  }

  private double score(int storage, double now) {
    return policy.perByte(harm(storage, now), recipes.bytes(storage));
  }

  private double staleness(int storage, double now) {
    if (policy.usesNext()) {
      int op = recipes.ops() - 1;
      double next = foresight.nextUse(storage, op);
      if (next >= 0) {
        return Math.max(1, next - foresight.time(op));
      }
    }
    return now - states.lastUse[storage];
  }

  private void insert(int storage, int bin) {
    double next = policy.usesNext() ? foresight.nextUse(storage, recipes.ops() - 1) : -1;
    long major =
        next >= 0
            ? -Double.doubleToLongBits(next)
            : Double.doubleToLongBits(Math.max(0, states.lastUse[storage]));
    candidates.insert(storage, bin, major, storage);
  }

  private int binOf(int storage, double cost) {
    double harm = policy.harm(cost, foresight.weight(storage));
    double key = policy.perByte(harm, recipes.bytes(storage));
    int bin = (int) (Double.doubleToLongBits(key) >>> 50) - LOWEST_BIN;
    return Math.clamp(bin, 0, BINS - 1);
  }

  private int best(double now) {
    int found = NONE;
    double least = Double.POSITIVE_INFINITY;
    for (int bin = candidates.binFrom(0); bin != NONE; bin = candidates.binFrom(bin + 1)) {
      for (int at = candidates.first(bin); at != NONE; at = candidates.next(at)) {
        double score = score(at, now);
        if (score < least || (score == least && at > found)) {
          least = score;
          found = at;
        }
      }
    }
    return found;
  }

  /** Finds the best among the first storages of all bins, best first; returns how many. */
  private int findSeeds(double now) {
    int count = 0;
    int moves = 0;
    int bin = candidates.binFrom(0);
    while (bin != NONE) {
      int first = candidates.first(bin);
      int right = binOf(first, costs.of(first));
      if (right != bin && moves < MOVES) {
        moves++;
        knownBin[first] = right;
        candidates.remove(first);
        insert(first, right);
        bin = candidates.binFrom(Math.min(bin, right));
        continue;
      }
      count = addSeed(first, score(first, now), count);
      bin = candidates.binFrom(bin + 1);
    }
    return count;
  }

  private int addSeed(int storage, double score, int count) {
    for (int i = 0; i < count; i++) {
      if (seeds[i] == storage) {
        return count;
      }
    }
    int at = Math.min(count, SEEDS - 1);
    if (count == SEEDS && score >= seedScores[at]) {
      return count;
    }
    while (at > 0 && seedScores[at - 1] > score) {
      seeds[at] = seeds[at - 1];
      seedScores[at] = seedScores[at - 1];
      at--;
    }
    seeds[at] = storage;
    seedScores[at] = score;
    return Math.min(count + 1, SEEDS);
  }

  /** Chooses the run of neighbouring blocks whose eviction makes a place at the least harm. */
  private void chooseRun(BlockArena arena, long bytes, double now) {
    long need = BlockArena.rounded(bytes);
    leastHarm = Double.POSITIVE_INFINITY;
    firstOfRun = NO_BLOCK;
    int count = candidates.size() > FEW ? findSeeds(now) : 0;
    for (int i = 0; i < count; i++) {
      grow(arena, need, now, arena.block(states.handle[seeds[i]]));
    }
    if (firstOfRun == NO_BLOCK) {
      findRun(arena, need, now);
    }
    for (int block = firstOfRun; block != NO_BLOCK; block = arena.after(block)) {
      int storage = arena.tag(block);
      if (storage != NO_BLOCK) {
        addVictim(storage);
      }
      if (block == lastOfRun) {
        return;
      }
    }
  }

  /** Finds the best run that grows from a block, always by the neighbour of less harm. */
  private void grow(BlockArena arena, long need, double now, int seed) {
    int low = seed;
    int high = seed;
    long bytes = arena.size(seed);
    double sum = harmOfBlock(arena, seed, now);
    while (bytes < need) {
      double below = harmOfBlock(arena, arena.before(low), now);
      double above = harmOfBlock(arena, arena.after(high), now);
      if (Math.min(below, above) == Double.POSITIVE_INFINITY) {
        return;
      }
      boolean down = below <= above;
      int added = down ? arena.before(low) : arena.after(high);
      low = down ? added : low;
      high = down ? high : added;
      bytes += arena.size(added);
      sum += Math.min(below, above);
    }
    accept(sum, low, high);
  }

  /** Finds the best of all runs that are just long enough. */
  private void findRun(BlockArena arena, long need, double now) {
    int count = listBlocks(arena, now);
    int from = 0;
    long bytes = 0;
    for (int to = 0; to < count; to++) {
      if (harms[to] == Double.POSITIVE_INFINITY) {
        from = to + 1;
        bytes = 0;
        continue;
      }
      bytes += arena.size(blocks[to]);
      while (bytes - arena.size(blocks[from]) >= need) {
        bytes -= arena.size(blocks[from]);
        from++;
      }
      if (bytes >= need) {
        double sum = 0;
        for (int i = from; i <= to; i++) {
          sum += harms[i];
        }
        accept(sum, blocks[from], blocks[to]);
      }
    }
  }

  private int listBlocks(BlockArena arena, double now) {
    int count = 0;
    for (int block = arena.firstBlock(); block != NO_BLOCK; block = arena.after(block)) {
      if (count == blocks.length) {
        blocks = Arrays.copyOf(blocks, 2 * count);
        harms = Arrays.copyOf(harms, 2 * count);
      }
      blocks[count] = block;
      harms[count++] = harmOfBlock(arena, block, now);
    }
    return count;
  }

  private void accept(double harm, int from, int to) {
    if (harm < leastHarm) {
      leastHarm = harm;
      firstOfRun = from;
      lastOfRun = to;
    }
  }

  /** What is lost with a block: nothing with a free one, infinite with one that must stay. */
  private double harmOfBlock(BlockArena arena, int block, double now) {
    if (block == NO_BLOCK) {
      return Double.POSITIVE_INFINITY;
    }
    int storage = arena.tag(block);
    if (storage == NO_BLOCK) {
      return 0;
    }
    return candidates.contains(storage) ? harm(storage, now) : Double.POSITIVE_INFINITY;
  }

  private void addVictim(int storage) {
    if (victimCount == victims.length) {
      victims = Arrays.copyOf(victims, 2 * victimCount);
    }
    victims[victimCount++] = storage;
  }
}
