package dev.tern.internal.table.policy;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.rows.RowSlabs;
import java.util.function.IntPredicate;

/**
 * Rows in the order in which they may be evicted: a heap with four children a node, ordered by
 * (key, mixed hash of the id), smallest first. The key of a row only rises, and the heap may hold
 * an old one. So a row that is seen stays where it is; whoever takes the first row computes its
 * key, and puts it back if the key has risen. Rows with equal keys are ordered by their ids, so the
 * first row does not depend on the history of the heap.
 */
final class EvictionQueue {
  /** Bytes of a node: the key, then at {@link #REST} the row and the upper half of the hash. */
  private static final int NODE = 16;

  private static final int REST = 8;
  private static final int CHILDREN = 4;

  private final RowSlabs nodes;
  private final RowSlabs rows;
  private final int idOffset;
  private int size;

  /** An empty queue for rows that hold their ids at {@code idOffset}. */
  EvictionQueue(RowSlabs rows, int idOffset, Allocator allocator, String holder) {
    this.rows = rows;
    this.idOffset = idOffset;
    nodes = new RowSlabs(NODE, allocator, holder);
  }

  long bytes() {
    return nodes.bytes();
  }

  int size() {
    return size;
  }

  /** Makes the next {@code count} calls of {@link #push} need no memory. */
  void reserve(int count) {
    while (nodes.size() < size + count) {
      nodes.add();
    }
  }

  void push(long key, long hash, int row) {
    reserve(1);
    long rest = hash & 0xFFFFFFFF_00000000L | row;
    int at = size++;
    while (at > 0) {
      long parent = nodes.address((at - 1) / CHILDREN);
      if (!precedes(key, rest, parent)) {
        break;
      }
      set(at, Memory.getLong(parent), Memory.getLong(parent + REST));
      at = (at - 1) / CHILDREN;
    }
    set(at, key, rest);
  }

  /** The smallest key; the queue must not be empty. */
  long firstKey() {
    return Memory.getLong(nodes.address(0));
  }

  int firstRow() {
    return (int) Memory.getLong(nodes.address(0) + REST);
  }

  void removeFirst() {
    long last = nodes.address(--size);
    sink(Memory.getLong(last), Memory.getLong(last + REST));
  }

  /** Removes the rows for which {@code goes} is true. All rows must still hold their ids. */
  void removeIf(IntPredicate goes) {
    int end = size;
    size = 0;
    // A row that stays takes a place that was read already.
    for (int at = 0; at < end; at++) {
      long node = nodes.address(at);
      long rest = Memory.getLong(node + REST);
      if (!goes.test((int) rest)) {
        push(Memory.getLong(node), rest, (int) rest);
      }
    }
  }

  /** Gives the first row {@code key}, which must not be below its old one. */
  void raiseFirst(long key) {
    sink(key, Memory.getLong(nodes.address(0) + REST));
  }

  /** Puts a row in the place of the first, or further down. */
  private void sink(long key, long rest) {
    int at = 0;
    for (int child = 1; child < size; child = CHILDREN * at + 1) {
      int least = child;
      long address = nodes.address(least);
      int end = Math.min(size, child + CHILDREN);
      for (int other = child + 1; other < end; other++) {
        long node = nodes.address(other);
        if (precedes(Memory.getLong(node), Memory.getLong(node + REST), address)) {
          least = other;
          address = node;
        }
      }
      if (precedes(key, rest, address)) {
        break;
      }
      set(at, Memory.getLong(address), Memory.getLong(address + REST));
      at = least;
    }
    set(at, key, rest);
  }

  private boolean precedes(long key, long rest, long node) {
    long otherKey = Memory.getLong(node);
    if (key != otherKey) {
      return key < otherKey;
    }
    long otherRest = Memory.getLong(node + REST);
    int order = Integer.compare((int) (rest >>> 32), (int) (otherRest >>> 32));
    return order < 0 || (order == 0 && hash((int) rest) < hash((int) otherRest));
  }

  private long hash(int row) {
    return Hashing.mix(Memory.getLong(rows.address(row) + idOffset));
  }

  private void set(int at, long key, long rest) {
    long node = nodes.address(at);
    Memory.setLong(node, key);
    Memory.setLong(node + REST, rest);
  }

  void free() {
    nodes.free();
    size = 0;
  }
}
