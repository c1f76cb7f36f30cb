package dev.tern.internal.remat;

import dev.tern.internal.memory.BinnedIndex;
import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/**
 * Chooses what to evict. All storages that may go are in bins by their cost for each byte, four
 * bins a doubling. Each bin is ordered by staleness. So the best storage of all is the first of
 * some bin, up to the width of a bin, and the time of a choice depends on the number of bins alone.
 * The costs of a storage change as others around it are evicted: it is put into its right bin when
 * it comes up. Up to 512 storages are all compared.
 */
final class Evictor {
  private static final int NONE = BinnedIndex.NONE;
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
  private final EvictionWindow run = new EvictionWindow();
  private int[] knownBin = new int[0];
  private int[] victims = new int[16];
  private int victimCount;

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

  /** The storages last chosen. */
  int victim(int index) {
    return victims[index];
  }

  /** Takes a storage among the candidates if it may go, out of them if not. */
  void update(int storage) {
    if (candidates.contains(storage)) {
      candidates.remove(storage);
    }
    if (states.isEvictable(storage)) {
      insert(storage, knownBin(storage));
    }
  }

  /** The bin a storage was last found to belong to; at first by its own cost alone. */
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
   * Chooses storages to evict so that {@code bytes} more may fit, which has to be tried.
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
      addVictim(candidates.size() <= FEW ? best(now) : bestOfBins(now));
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
    return now - states.lastUse(storage);
  }

  private void insert(int storage, int bin) {
    double next = policy.usesNext() ? foresight.nextUse(storage, recipes.ops() - 1) : -1;
    long major =
        next >= 0
            ? -Double.doubleToLongBits(next)
            : Double.doubleToLongBits(Math.max(0, states.lastUse(storage)));
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

  private int bestOfBins(double now) {
    return findSeeds(now) > 0 ? seeds[0] : NONE;
  }

  /** The best of the firsts of the bins, best first; returns how many. */
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

  private void chooseRun(BlockArena arena, long bytes, double now) {
    long need = BlockArena.rounded(bytes);
    boolean found = false;
    if (candidates.size() > FEW) {
      found = run.around(arena, this, need, now, findSeeds(now));
    }
    if (!found && !run.amongAll(arena, this, need, now)) {
      return;
    }
    for (int block = run.first(); ; block = arena.after(block)) {
      int storage = arena.tag(block);
      if (storage != BlockArena.NONE) {
        addVictim(storage);
      }
      if (block == run.last()) {
        return;
      }
    }
  }

  private void addVictim(int storage) {
    if (victimCount == victims.length) {
      victims = Arrays.copyOf(victims, 2 * victimCount);
    }
    victims[victimCount++] = storage;
  }

  /** The block of a seed. */
  int seedBlock(BlockArena arena, int index) {
    return arena.block(states.handle(seeds[index]));
  }

  /** What is lost with a block: nothing with a free one, more than all with one that must stay. */
  double harmOf(BlockArena arena, int block, double now) {
    int storage = arena.tag(block);
    if (storage == BlockArena.NONE) {
      return 0;
    }
    return candidates.contains(storage) ? harm(storage, now) : Double.POSITIVE_INFINITY;
  }
}
