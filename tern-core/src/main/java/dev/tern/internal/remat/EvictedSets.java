package dev.tern.internal.remat;

import java.util.Arrays;

/**
 * Sets of neighbouring evicted storages and the cost of each set: union-find by size, with path
 * halving. A storage that is recomputed leaves its set, whose cost falls by the storage's; the
 * others stay together (Kirisame et al. 2021, appendix on h_DTR_eq). A storage that is evicted
 * again is a new element.
 */
final class EvictedSets {
  private static final int NONE = -1;

  private int[] element = new int[0];
  private int[] parent = new int[64];
  private int[] weight = new int[64];
  private double[] cost = new double[64];
  private int elements;

  /** Puts an evicted storage into a set of its own. */
  void add(int storage, double itsCost) {
    if (storage >= element.length) {
      int from = element.length;
      element = Arrays.copyOf(element, Math.max(64, 2 * storage));
      Arrays.fill(element, from, element.length, NONE);
    }
    if (elements == parent.length) {
      parent = Arrays.copyOf(parent, 2 * elements);
      weight = Arrays.copyOf(weight, 2 * elements);
      cost = Arrays.copyOf(cost, 2 * elements);
    }
    parent[elements] = elements;
    weight[elements] = 1;
    cost[elements] = itsCost;
    element[storage] = elements++;
  }

  /** The set that a storage is in, or a negative number. */
  int find(int storage) {
    if (storage >= element.length || element[storage] == NONE) {
      return NONE;
    }
    int at = element[storage];
    while (parent[at] != at) {
      parent[at] = parent[parent[at]];
      at = parent[at];
    }
    element[storage] = at;
    return at;
  }

  double cost(int set) {
    return cost[set];
  }

  void join(int storage, int other) {
    int a = find(storage);
    int b = find(other);
    if (a == b) {
      return;
    }
    int top = weight[a] >= weight[b] ? a : b;
    int under = a + b - top;
    parent[under] = top;
    weight[top] += weight[under];
    cost[top] += cost[under];
  }

  void leave(int storage, double itsCost) {
    int set = find(storage);
    if (set != NONE) {
      cost[set] -= itsCost;
      element[storage] = NONE;
    }
  }
}
