package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What of a {@link RowLookup} was found before its turn, and for how long it holds: where rows lie,
 * while no row of the table comes or goes; records of rows in a file, each until its partition is
 * written anew. What does not hold any more is found again.
 */
public final class PrefetchedRows {
  private static final int LINE = 64;

  /** For a record that was not looked for. */
  private static final long NEVER = -1;

  private @Nullable Object table;
  private boolean located;
  private long size;
  private long gone;
  private int missing;

  /** How many of the ids that were missing were looked for in the file, and are to be at most. */
  private int read;

  private int most;

  /** Distinct ids for which the arrays below are in use. */
  private int known;

  /** Per distinct id: the address of its record, or 0, and how its partition was written. */
  private long[] records = new long[0];

  private long[] writes = new long[0];
  private MemorySegment copies = MemorySegment.NULL;

  /** Nothing was found. */
  void clear() {
    table = null;
    located = false;
    known = 0;
  }

  /**
   * Rows were located.
   *
   * @param missing distinct ids without one in memory
   * @param size rows in memory
   * @param gone rows that went so far
   */
  public void found(Object owner, int missing, long size, long gone) {
    table = owner;
    located = true;
    this.missing = missing;
    this.size = size;
    this.gone = gone;
    read = 0;
  }

  public boolean isOf(Object owner) {
    return table == owner;
  }

  /** Ids missing when rows were located, if that still holds; otherwise -1. Of use once. */
  public int take(long sizeNow, long goneNow) {
    // Rows that came are those here and those gone: if neither number changed, none came or went.
    boolean holds = located && size == sizeNow && gone == goneNow;
    located = false;
    table = null;
    return holds ? missing : -1;
  }

  /** Ids that were missing. */
  public int missing() {
    return missing;
  }

  /** How many of these were looked for in the file. */
  public int read() {
    return read;
  }

  public void setRead(int count) {
    read = count;
  }

  /** Begins to take records of the first {@code most} missing ids, with room for {@code bytes}. */
  public void begin(int unique, int most, long bytes) {
    this.most = most;
    if (records.length < unique) {
      records = new long[unique + unique / 4];
      writes = new long[records.length];
    }
    Arrays.fill(writes, 0, unique, NEVER);
    known = unique;
    if (copies.byteSize() < bytes) {
      copies = Memory.allocate(Arena.ofAuto(), bytes + bytes / 4, LINE, "rows ahead");
    }
  }

  /** How many of the missing ids are looked for at most. */
  public int most() {
    return most;
  }

  /** Where the room begins. */
  public long copies() {
    return copies.address();
  }

  /** The record of distinct id {@code u}, while its partition is as after {@code write}. */
  public void put(int u, long write, long record) {
    records[u] = record;
    writes[u] = write;
  }

  /** Whether the record of distinct id {@code u} is known. */
  public boolean knows(int u, long write) {
    return u < known && writes[u] == write;
  }

  /** The address of that record; 0 where the file has none. */
  public long record(int u) {
    return records[u];
  }
}
