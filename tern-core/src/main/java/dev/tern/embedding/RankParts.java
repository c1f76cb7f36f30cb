package dev.tern.embedding;

/**
 * Where the parts of several tables lie in the messages between all ranks: rank after rank, and in
 * the message of a rank table after table. Each part begins at a multiple of 8 bytes. Example: with
 * ids of 8 bytes, of which rank 0 has 2 of table 0 and 1 of table 1, and rank 1 has 3 of table 0,
 * the parts begin at 0, 16, 24 and 48.
 */
final class RankParts {
  private static final int ALIGNMENT = 8;

  private final int tables;

  /** Where the message of each rank begins, then where the last ends. */
  final long[] starts;

  private final long[] at;

  RankParts(int ranks, int tables) {
    this.tables = tables;
    starts = new long[ranks + 1];
    at = new long[ranks * tables];
  }

  /**
   * Lays out messages.
   *
   * @param counts elements of each rank's tables
   * @param bytes bytes of an element of each table
   * @param flagged whether a bit for each element follows the elements of a part
   */
  void lay(int[] counts, int[] bytes, boolean flagged) {
    long end = 0;
    for (int i = 0; i < at.length; i++) {
      if (i % tables == 0) {
        starts[i / tables] = end;
      }
      at[i] = end;
      long part = (long) counts[i] * bytes[i % tables] + (flagged ? flagBytes(counts[i]) : 0);
      end += (part + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    starts[starts.length - 1] = end;
  }

  private static int flagBytes(int count) {
    return (count + Byte.SIZE - 1) / Byte.SIZE;
  }

  /** Where the part of a table lies in the message of a rank. */
  long at(int rank, int table) {
    return at[rank * tables + table];
  }

  /** Bytes of all messages. */
  long bytes() {
    return starts[starts.length - 1];
  }
}
