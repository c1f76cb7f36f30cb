package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;

/** Accesses to rows that are wrong on purpose, for the test of the checked mode. */
public final class FaultySlabs {
  private FaultySlabs() {}

  /** Reads the weight behind the last row of the first slab. */
  public static void readPastLastRow(Allocator allocator) {
    RowSlabs slabs = new RowSlabs(64, allocator, "table item rows");
    long first = slabs.address(slabs.add());
    Memory.setFloat(first + slabs.bytes() - 4, 1);
    float ignored = Memory.getFloat(first + slabs.bytes());
  }

  /** Writes a row of a table that gave its memory back. */
  public static void writeAfterFree(Allocator allocator) {
    RowSlabs slabs = new RowSlabs(64, allocator, "table user rows");
    long row = slabs.address(slabs.add()) + 64;
    slabs.free();
    Memory.setFloat(row, 1);
  }
}
