package dev.tern.internal.remat.search;

import java.util.Arrays;

/** Least cut between two nodes of a graph, by Dinic's algorithm with stacks of its own. */
final class MinCut {
  private static final int NONE = -1;
  private static final double DUST = 1e-6;

  private final int source;
  private final int sink;
  private final int[] head;
  private final int[] level;
  private final int[] cursor;
  private final int[] queue;
  private final int[] path;
  private int[] to = new int[256];
  private int[] next = new int[256];
  private double[] capacity = new double[256];
  private int edges;

  MinCut(int nodes, int source, int sink) {
    this.source = source;
    this.sink = sink;
    head = new int[nodes];
    level = new int[nodes];
    cursor = new int[nodes];
    queue = new int[nodes];
    path = new int[nodes];
    Arrays.fill(head, NONE);
  }

  /** Adds an edge that costs {@code cost} to cut. */
  void edge(int from, int dest, double cost) {
    if (edges + 2 > to.length) {
      to = Arrays.copyOf(to, 2 * to.length);
      next = Arrays.copyOf(next, 2 * next.length);
      capacity = Arrays.copyOf(capacity, 2 * capacity.length);
    }
    half(from, dest, cost);
    half(dest, from, 0);
  }

  private void half(int from, int dest, double cost) {
    to[edges] = dest;
    capacity[edges] = cost;
    next[edges] = head[from];
    head[from] = edges++;
  }

  /** Finds the least cut and returns its cost; {@link #isOnSourceSide} then tells the sides. */
  double solve() {
    double flow = 0;
    while (rank()) {
      System.arraycopy(head, 0, cursor, 0, head.length);
      flow += augment();
    }
    return flow;
  }

  boolean isOnSourceSide(int node) {
    return level[node] != NONE;
  }

  /** Distances from the source over edges with capacity; false when the sink is out of reach. */
  private boolean rank() {
    Arrays.fill(level, NONE);
    level[source] = 0;
    int ahead = 0;
    int end = 0;
    queue[end++] = source;
    while (ahead < end) {
      int node = queue[ahead++];
      for (int edge = head[node]; edge != NONE; edge = next[edge]) {
        if (capacity[edge] > DUST && level[to[edge]] == NONE) {
          level[to[edge]] = level[node] + 1;
          queue[end++] = to[edge];
        }
      }
    }
    return level[sink] != NONE;
  }

  /** Sends flow along shortest paths until none is left. */
  private double augment() {
    double flow = 0;
    int length = 0;
    int node = source;
    while (true) {
      if (node == sink) {
        double least = Double.POSITIVE_INFINITY;
        for (int i = 0; i < length; i++) {
          least = Math.min(least, capacity[path[i]]);
        }
        flow += least;
        length = push(least, length);
        node = to[path[length] ^ 1];
        continue;
      }
      int edge = usable(node);
      if (edge != NONE) {
        path[length++] = edge;
        node = to[edge];
      } else if (length == 0) {
        return flow;
      } else {
        level[node] = NONE;
        node = to[path[--length] ^ 1];
      }
    }
  }

  private int usable(int node) {
    int edge = cursor[node];
    while (edge != NONE && !(capacity[edge] > DUST && level[to[edge]] == level[node] + 1)) {
      edge = next[edge];
    }
    cursor[node] = edge;
    return edge;
  }

  /** Takes flow off the edges of the path; returns the position of the first that is full. */
  private int push(double amount, int length) {
    int full = 0;
    for (int i = length - 1; i >= 0; i--) {
      capacity[path[i]] -= amount;
      capacity[path[i] ^ 1] += amount;
      if (capacity[path[i]] <= DUST) {
        full = i;
      }
    }
    return full;
  }
}
