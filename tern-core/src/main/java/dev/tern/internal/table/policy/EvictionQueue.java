package dev.tern.internal.table.policy;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.rows.RowSlabs;
import java.util.function.IntPredicate;

/**
 * Rows by the order in which they may go: a heap of (key, mixed hash of the id), smallest first,
 * whose nodes of 16 bytes have four children. Keys of rows only rise, and a row's key here may be
 * an old one: who takes the first row looks at what its key is now, and puts it back with that. So
 * seeing a row costs nothing here. The order of equal keys depends on ids alone, so which row comes
 * first does not depend on what happened to the heap before.
 */
final class EvictionQueue {
  /** Bytes of a node: key, upper half of the hash, row. */
  private static final int NODE = 16;

  private static final int REST = 8;
  private static final int CHILDREN = 4;

  private final RowSlabs nodes;
  private final RowSlabs rows;
  private final int idOffset;
  private int size;

  /** Of rows that hold their id at {@code idOffset}. */
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

  /** Makes sure that the next {@code count} calls of {@link #push} will not need memory. */
  void reserve(int count) {
    while (nodes.size() < size + count) {
      nodes.add();
    }
  }

  /** Adds a row. */
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

  /** The smallest key; there must be one. */
  long firstKey() {
    return Memory.getLong(nodes.address(0));
  }

  /** The row with it. */
  int firstRow() {
    return (int) Memory.getLong(nodes.address(0) + REST);
  }

  /** Takes the first row out. */
  void removeFirst() {
    long last = nodes.address(--size);
    sink(Memory.getLong(last), Memory.getLong(last + REST));
  }

  /** Takes out all rows that {@code goes} says, which still hold their ids. */
  void removeIf(IntPredicate goes) {
    int end = size;
    size = 0;
    // A row goes to a place of those that were looked at already.
    for (int at = 0; at < end; at++) {
      long node = nodes.address(at);
      long rest = Memory.getLong(node + REST);
      if (!goes.test((int) rest)) {
        push(Memory.getLong(node), rest, (int) rest);
      }
    }
  }

  /** Puts the first row where {@code key}, not below its old one, belongs. */
  void raiseFirst(long key) {
    sink(key, Memory.getLong(nodes.address(0) + REST));
  }

  /** Puts a row in the place of the first, or further down where it belongs. */
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
