package dev.tern.bench.tables;

import dev.tern.internal.memory.Memory;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Which rows a file tier has in memory, without the rows: says what it reads from its file and
 * writes there, step by step. A row is the number of times it changed, from which its bytes follow.
 * Rows leave as the tier's rows do: where there is no room, the next partition loses the half of
 * its rows that was seen longest ago.
 */
final class ResidentRows {
  /** Rows in memory of a partition, at least. */
  private static final int PARTITION_ROWS = 256;

  private final int most;

  /** Per id, the step it was seen in last; 0 while it is not in memory. */
  private final int[] seen;

  /** Per id, how often its row changed, now and as its record says; 0 while there is none. */
  private final int[] versions;

  private final int[] recorded;

  /** Per partition, the ids in memory. */
  private final int[][] members;

  private final int[] sizes;
  private int resident;
  private int now;
  private int hand;

  /**
   * None of the ids below a bound.
   *
   * @param most rows in memory
   */
  ResidentRows(int ids, int most) {
    this.most = most;
    seen = new int[ids];
    versions = new int[ids];
    recorded = new int[ids];
    int partitions = Integer.highestOneBit(Math.max(1, most / PARTITION_ROWS));
    members = new int[Math.min(partitions, BareColdRows.mostPartitions())][PARTITION_ROWS];
    sizes = new int[members.length];
  }

  /**
   * What a step reads, and then writes.
   *
   * @param cold ids of the records to read, each once
   * @param versions what the records say
   * @param partitions of what leaves memory, part by part
   * @param ends of each part, in {@code leaving}
   * @param replaced of each part, the ids that have a record already
   * @param leaving ids of the records to write, each once
   * @param leavingVersions what to write
   */
  record Step(
      long[] cold,
      int[] versions,
      int[] partitions,
      int[] ends,
      int[] replaced,
      long[] leaving,
      int[] leavingVersions) {}

  int partitions() {
    return members.length;
  }

  /** How often the row of an id had changed when its record was written; 0 where it has none. */
  int recorded(int id) {
    return recorded[id];
  }

  /** A step that changes the rows of some ids, not all of them different. */
  Step step(LongSupplier ids, int count) {
    now++;
    long[] cold = new long[count];
    int[] coldVersions = new int[count];
    int reads = 0;
    for (int i = 0; i < count; i++) {
      int id = (int) ids.getAsLong();
      if (seen[id] == now) {
        continue;
      }
      if (seen[id] == 0) {
        enter(id);
        if (recorded[id] > 0) {
          cold[reads] = id;
          coldVersions[reads++] = recorded[id];
        }
      }
      seen[id] = now;
      versions[id]++;
    }
    return leave(Arrays.copyOf(cold, reads), Arrays.copyOf(coldVersions, reads));
  }

  private void enter(int id) {
    int p = BareColdRows.partition(id, members.length);
    if (sizes[p] == members[p].length) {
      members[p] = Arrays.copyOf(members[p], 2 * sizes[p]);
    }
    members[p][sizes[p]++] = id;
    resident++;
  }

  private Step leave(long[] cold, int[] coldVersions) {
    int parts = 0;
    int rows = 0;
    int[] partitions = new int[members.length];
    int[] ends = new int[members.length];
    int[] replaced = new int[members.length];
    long[] leaving = new long[Math.max(0, resident - most) + 4 * PARTITION_ROWS];
    while (resident > most) {
      int p = hand++ % members.length;
      long[] order = oldest(p);
      int left = Math.min(order.length, (sizes[p] + 1) / 2);
      if (leaving.length < rows + left) {
        leaving = Arrays.copyOf(leaving, 2 * (rows + left));
      }
      for (int i = 0; i < left; i++) {
        int id = (int) order[i];
        replaced[parts] += recorded[id] > 0 ? 1 : 0;
        recorded[id] = versions[id];
        seen[id] = 0;
        leaving[rows++] = id;
      }
      if (left > 0) {
        drop(p, left);
        partitions[parts] = p;
        ends[parts++] = rows;
      }
    }
    leaving = Arrays.copyOf(leaving, rows);
    int[] written = Arrays.stream(leaving).mapToInt(id -> recorded[(int) id]).toArray();
    return new Step(
        cold,
        coldVersions,
        Arrays.copyOf(partitions, parts),
        Arrays.copyOf(ends, parts),
        Arrays.copyOf(replaced, parts),
        leaving,
        written);
  }

  /** Ids of a partition that this step did not see, below the step that did, in order of that. */
  private long[] oldest(int p) {
    long[] order = new long[sizes[p]];
    int count = 0;
    for (int i = 0; i < sizes[p]; i++) {
      int id = members[p][i];
      if (seen[id] < now) {
        order[count++] = (long) seen[id] << 32 | id;
      }
    }
    Arrays.sort(order, 0, count);
    return Arrays.copyOf(order, count);
  }

  private void drop(int p, int left) {
    int kept = 0;
    for (int i = 0; i < sizes[p]; i++) {
      int id = members[p][i];
      if (seen[id] > 0) {
        members[p][kept++] = id;
      }
    }
    sizes[p] = kept;
    resident -= left;
  }

  /** Writes the records of ids, whose rows changed so often, one after another. */
  static void write(long[] ids, int[] versions, int count, int recordBytes, long target) {
    int words = (recordBytes - Long.BYTES) / Integer.BYTES;
    for (int i = 0; i < count; i++) {
      long record = target + (long) i * recordBytes;
      long bits = ids[i] * 0x9E3779B97F4A7C15L + versions[i];
      for (int w = 0; w < words; w++) {
        bits = (bits ^ bits >>> 29) * 0xBF58476D1CE4E5B9L;
        Memory.setInt(record + 4L * w, (int) (bits >>> 32));
      }
      Memory.setLong(record + recordBytes - Long.BYTES, ids[i]);
    }
  }
}
