package dev.tern.embedding;

import dev.tern.internal.table.tier.TierMemory;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Memory that several tables share, and a folder for the rows that have no room in it. A table
 * takes memory as it grows and keeps it until it is closed. Once nothing is left, each table makes
 * room: a thread of the tier moves rows to the table's file. No result depends on which rows are in
 * memory. The files have no names and are gone with their tables: they are no checkpoints. Needs
 * Linux. Several threads may use tables of one tier at once.
 */
public final class FileTier {
  final TierMemory shared;

  FileTier(TierMemory shared) {
    this.shared = shared;
  }

  /**
   * A tier without tables.
   *
   * @param folder for the files, which take about twice the bytes of the rows in them
   * @param memory bytes that the tables may hold in memory, with their indexes and all else. Only
   *     rows that a {@link Lookup} copies from the file come on top: all that a find without insert
   *     finds there, and looking ahead at most 1/32 of the table's memory
   */
  public static FileTier of(Path folder, long memory) {
    Objects.requireNonNull(folder, "folder");
    if (memory < 1) {
      throw new IllegalArgumentException(
          "file tier: got " + memory + " bytes of memory, expected 1 or more");
    }
    return new FileTier(TierMemory.of(folder, memory));
  }

  /** The folder of the files. */
  public Path folder() {
    return shared.folder();
  }

  /** Bytes that tables may hold in memory. */
  public long memory() {
    return shared.memory();
  }

  /** Bytes of {@link #memory} that no table has taken. */
  public long left() {
    return shared.left();
  }
}
