package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link RowLookup} found ahead of its turn. Addresses of rows are valid while no row comes
 * or goes. The copy of a record in the file is valid until its partition is written again. The
 * lookup finds again what is no longer valid.
 */
public final class PrefetchedRows {
  private static final int LINE = 64;

  /** In {@link #writes}: the record was not read. */
  private static final long NEVER = -1;

  private @Nullable Object table;
  private long size;
  private long gone;
  private int missing;

  // Missing ids searched in the file so far, and at most.
  private int read;
  private int most;

  /** Distinct ids for which the arrays below are in use. */
  private int known;

  // For each distinct id: the address of its record, or 0; how often its partition was written.
  private long[] records = new long[0];
  private long[] writes = new long[0];
  private MemorySegment copies = MemorySegment.NULL;

  void clear() {
    table = null;
    known = 0;
  }

  /** Notes located rows: missing ids, rows in memory, and rows that left memory so far. */
  public void found(Object owner, int missing, long size, long gone) {
    table = owner;
    this.missing = missing;
    this.size = size;
    this.gone = gone;
    read = 0;
  }

  public boolean isOf(Object owner) {
    return table == owner;
  }

  /** The missing ids if the located rows are still valid, otherwise -1. Call it once. */
  public int take(long sizeNow, long goneNow) {
    // Rows that came = rows here + rows gone: if neither number changed, none came or went.
    boolean holds = table != null && size == sizeNow && gone == goneNow;
    table = null;
    return holds ? missing : -1;
  }

  /** Ids that were missing in memory. */
  public int missing() {
    return missing;
  }

  /** How many of these were searched in the file. */
  public int read() {
    return read;
  }

  public void setRead(int count) {
    read = count;
  }

  /** Makes room of {@code bytes} for the records of the first {@code most} missing ids. */
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

  public int most() {
    return most;
  }

  public long copies() {
    return copies.address();
  }

  /** Notes the record of distinct id {@code u}, whose partition was written {@code write} times. */
  public void put(int u, long write, long record) {
    records[u] = record;
    writes[u] = write;
  }

  /** Whether the record of distinct id {@code u} is known and still valid. */
  public boolean knows(int u, long write) {
    return u < known && writes[u] == write;
  }

  /** The address of that record; 0 if the file has none. */
  public long record(int u) {
    return records[u];
  }
}
