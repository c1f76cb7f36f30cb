package dev.tern.internal.plan;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The storages of a plan and their lifetimes, counted in steps. Storages that are not in use at the
 * same time share memory. The largest is placed first, each at the lowest offset that is free for
 * its whole life ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288).
 */
final class Storages {
  private static final int ALIGNMENT = 64;

  private final int leaves;
  private final List<Storage> all = new ArrayList<>();
  private long arenaBytes;

  private static final class Storage {
    final long bytes;
    int first = Integer.MAX_VALUE;
    int last = -1;
    int sameAs = -1;
    boolean isApart;
    long offset;

    Storage(long bytes) {
      this.bytes = bytes;
    }
  }

  Storages(int leaves) {
    this.leaves = leaves;
  }

  /** A new storage; its number counts on from the leaves. */
  int add(long bytes) {
    all.add(new Storage(bytes));
    return leaves + all.size() - 1;
  }

  /** The number of storages, leaves not counted. */
  int count() {
    return all.size();
  }

  boolean isLeaf(int storage) {
    return storage < leaves;
  }

  long bytes(int storage) {
    return all.get(find(storage) - leaves).bytes;
  }

  /** The storage whose memory {@code storage} has taken over, or itself. */
  int find(int storage) {
    int found = storage;
    while (found >= leaves && all.get(found - leaves).sameAs >= 0) {
      found = all.get(found - leaves).sameAs;
    }
    return found;
  }

  /** Notes that step {@code step} reads or writes {@code storage}. */
  void use(int storage, int step) {
    if (!isLeaf(storage)) {
      Storage used = all.get(find(storage) - leaves);
      used.first = Math.min(used.first, step);
      used.last = Math.max(used.last, step);
    }
  }

  int lastUse(int storage) {
    return all.get(find(storage) - leaves).last;
  }

  /** Lets {@code storage} take over the memory of {@code dying}. */
  void takeOver(int storage, int dying) {
    Storage from = all.get(find(storage) - leaves);
    Storage to = all.get(find(dying) - leaves);
    to.first = Math.min(to.first, from.first);
    to.last = Math.max(to.last, from.last);
    from.sameAs = find(dying);
  }

  /** Keeps a storage out of the arena. */
  void setApart(int storage) {
    Storage apart = all.get(find(storage) - leaves);
    apart.isApart = true;
    apart.offset = Plan.APART;
  }

  /** Byte offset of every storage in the arena. */
  long[] offsets() {
    List<Storage> bySize = new ArrayList<>();
    all.stream().filter(s -> s.sameAs < 0 && !s.isApart && s.last >= 0).forEach(bySize::add);
    bySize.sort(Comparator.comparingLong((Storage s) -> -s.bytes));
    List<Storage> placed = new ArrayList<>();
    for (Storage storage : bySize) {
      storage.offset = lowestFree(storage, placed);
      placed.add(storage);
      placed.sort(Comparator.comparingLong(s -> s.offset));
      arenaBytes = Math.max(arenaBytes, storage.offset + align(storage.bytes));
    }
    long[] offsets = new long[all.size()];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = all.get(find(leaves + i) - leaves).offset;
    }
    return offsets;
  }

  /** The allocations of the arena, in the order in which they begin; after {@link #offsets}. */
  List<Plan.Allocation> allocations(List<Step> steps) {
    Set<Integer> scratch =
        steps.stream()
            .flatMap(step -> StepPlaces.scratch(step).stream())
            .map(Step.Place::storage)
            .collect(Collectors.toSet());
    List<Plan.Allocation> allocations = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      Storage s = all.get(i);
      if (s.sameAs < 0 && !s.isApart && s.last >= 0) {
        int to = Math.min(s.last + 1, steps.size());
        Plan.Content content =
            scratch.contains(leaves + i) ? Plan.Content.SCRATCH : Plan.Content.VALUE;
        allocations.add(new Plan.Allocation(content, s.offset, align(s.bytes), s.first, to));
      }
    }
    allocations.sort(Comparator.comparingInt(Plan.Allocation::from));
    return allocations;
  }

  long arenaBytes() {
    return arenaBytes;
  }

  private static long lowestFree(Storage storage, List<Storage> placed) {
    long offset = 0;
    for (Storage other : placed) {
      boolean together = other.first <= storage.last && storage.first <= other.last;
      if (together && other.offset < offset + align(storage.bytes)) {
        offset = Math.max(offset, other.offset + align(other.bytes));
      }
    }
    return offset;
  }

  /** The bytes that an allocation of {@code bytes} takes. */
  static long align(long bytes) {
    return Math.max(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  }
}
