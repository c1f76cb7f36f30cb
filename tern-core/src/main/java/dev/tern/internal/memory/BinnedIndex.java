package dev.tern.internal.memory;

import java.util.Arrays;

/**
 * Ids in numbered bins, each bin sorted by the keys (major, minor) of its ids. A bitmap finds the
 * next bin that is not empty. A bin is a treap; its priorities are hashes of the ids, so its shape
 * depends on its content alone. Insertion, removal and search take O(log n) for n ids in the bin.
 * They take no heap memory, unless an id is larger than all before and the arrays grow.
 *
 * <p>Not thread-safe.
 */
public final class BinnedIndex {
  /** No id, no bin. */
  public static final int NONE = -1;

  private final int[] root;
  private final long[] filled;
  private int[] left = new int[0];
  private int[] right = new int[0];
  private int[] parent = new int[0];
  private int[] bin = new int[0];
  private long[] major = new long[0];
  private long[] minor = new long[0];
  private int count;

  /** An empty index of bins 0 to {@code bins} - 1. */
  public BinnedIndex(int bins) {
    root = new int[bins];
    Arrays.fill(root, NONE);
    filled = new long[(bins + 63) / 64];
  }

  /** The number of ids in all bins. */
  public int size() {
    return count;
  }

  /** True when {@code id} is in a bin. */
  public boolean contains(int id) {
    return id < bin.length && bin[id] != NONE;
  }

  /** Puts an id into a bin; it must be in none. */
  public void insert(int id, int toBin, long majorKey, long minorKey) {
    if (id >= bin.length) {
      grow(Math.max(64, Math.max(id + 1, 2 * bin.length)));
    }
    major[id] = majorKey;
    minor[id] = minorKey;
    bin[id] = toBin;
    left[id] = NONE;
    right[id] = NONE;
    int above = NONE;
    for (int at = root[toBin]; at != NONE; at = isBefore(id, at) ? left[at] : right[at]) {
      above = at;
    }
    parent[id] = above;
    if (above == NONE) {
      root[toBin] = id;
      filled[toBin >>> 6] |= 1L << toBin;
    } else if (isBefore(id, above)) {
      left[above] = id;
    } else {
      right[above] = id;
    }
    while (parent[id] != NONE && priority(id) > priority(parent[id])) {
      rotateUp(id);
    }
    count++;
  }

  /** Takes an id out of its bin; it must be in one. */
  public void remove(int id) {
    while (left[id] != NONE && right[id] != NONE) {
      rotateUp(priority(left[id]) > priority(right[id]) ? left[id] : right[id]);
    }
    int child = left[id] != NONE ? left[id] : right[id];
    int above = parent[id];
    if (child != NONE) {
      parent[child] = above;
    }
    if (above != NONE) {
      replaceChild(above, id, child);
    } else {
      int of = bin[id];
      root[of] = child;
      if (child == NONE) {
        filled[of >>> 6] &= ~(1L << of);
      }
    }
    bin[id] = NONE;
    count--;
  }

  /** The lowest bin from {@code from} on that holds an id, or NONE. */
  public int binFrom(int from) {
    int word = from >>> 6;
    if (word >= filled.length) {
      return NONE;
    }
    long bits = filled[word] & -1L << from;
    while (bits == 0) {
      if (++word == filled.length) {
        return NONE;
      }
      bits = filled[word];
    }
    return (word << 6) + Long.numberOfTrailingZeros(bits);
  }

  /** The first id of a bin, or NONE. */
  public int first(int ofBin) {
    int at = root[ofBin];
    while (at != NONE && left[at] != NONE) {
      at = left[at];
    }
    return at;
  }

  /** The first id of a bin whose keys are at least (major, minor), or NONE. */
  public int ceiling(int ofBin, long majorKey, long minorKey) {
    int found = NONE;
    int at = root[ofBin];
    while (at != NONE) {
      if (major[at] < majorKey || (major[at] == majorKey && minor[at] < minorKey)) {
        at = right[at];
      } else {
        found = at;
        at = left[at];
      }
    }
    return found;
  }

  /** The last id of a bin whose keys are at most (major, minor), or NONE. */
  public int floor(int ofBin, long majorKey, long minorKey) {
    int found = NONE;
    int at = root[ofBin];
    while (at != NONE) {
      if (major[at] > majorKey || (major[at] == majorKey && minor[at] > minorKey)) {
        at = left[at];
      } else {
        found = at;
        at = right[at];
      }
    }
    return found;
  }

  /** The id that follows {@code id} in its bin, or NONE. */
  public int next(int id) {
    if (right[id] != NONE) {
      int at = right[id];
      while (left[at] != NONE) {
        at = left[at];
      }
      return at;
    }
    int from = id;
    int above = parent[id];
    while (above != NONE && right[above] == from) {
      from = above;
      above = parent[above];
    }
    return above;
  }

  private boolean isBefore(int a, int b) {
    return major[a] < major[b] || (major[a] == major[b] && minor[a] < minor[b]);
  }

  private static int priority(int id) {
    int mixed = id * 0x9E3779B9;
    mixed ^= mixed >>> 15;
    return mixed * 0x85EBCA6B;
  }

  private void rotateUp(int id) {
    int above = parent[id];
    int top = parent[above];
    int moved;
    if (left[above] == id) {
      moved = right[id];
      left[above] = moved;
      right[id] = above;
    } else {
      moved = left[id];
      right[above] = moved;
      left[id] = above;
    }
    if (moved != NONE) {
      parent[moved] = above;
    }
    parent[above] = id;
    parent[id] = top;
    if (top == NONE) {
      root[bin[id]] = id;
    } else {
      replaceChild(top, above, id);
    }
  }

  private void replaceChild(int above, int old, int with) {
    if (left[above] == old) {
      left[above] = with;
    } else {
      right[above] = with;
    }
  }

  private void grow(int length) {
    int from = bin.length;
    left = Arrays.copyOf(left, length);
    right = Arrays.copyOf(right, length);
    parent = Arrays.copyOf(parent, length);
    bin = Arrays.copyOf(bin, length);
    Arrays.fill(bin, from, length, NONE);
    major = Arrays.copyOf(major, length);
    minor = Arrays.copyOf(minor, length);
  }
}
