package dev.tern.exchange;

import dev.tern.internal.memory.Memory;

/**
 * Which messages each operation is made of, seen from one rank. Everything depends on sizes and
 * ranks alone, so all ranks come to the same plan without asking each other.
 *
 * <p>Sums of more than a few KB are direct: each rank owns a slice, gets it from all, combines it
 * and gives it to all. That moves the bytes of a ring in two steps instead of 2 (n - 1), and the
 * order of the sum does not depend on the way.
 */
final class Collectives {
  /** Up to this size all ranks get everything and sum on their own: one step instead of two. */
  private static final long SMALL = 8 << 10;

  private static final int ALIGNMENT = 64;

  private final MeshDriver driver;
  private final int rank;
  private final int ranks;
  private final int frameBytes;

  Collectives(MeshDriver driver, MeshOptions options) {
    this.driver = driver;
    rank = options.rank();
    ranks = options.ranks();
    frameBytes = options.frameBytes();
  }

  void barrier(Collective c) {
    for (int p = 0; p < ranks; p++) {
      if (p != rank) {
        c.send(0, p, 0, 0);
        c.receive(0, p, 0, 0);
      }
    }
  }

  /**
   * Large ones are cut into a slice a rank, which each gives to all others, so that the root does
   * not have to send everything to everybody.
   */
  void broadcast(Collective c, long address, long bytes, int root) {
    if (bytes <= frameBytes || ranks == 2) {
      for (int p = 0; p < ranks && rank == root; p++) {
        if (p != root) {
          c.send(0, p, address, bytes);
        }
      }
      if (rank != root) {
        c.receive(0, root, address, bytes);
      }
      return;
    }
    for (int p = 0; p < ranks; p++) {
      if (p == rank) {
        continue;
      }
      long from = slice(bytes, 1, p);
      long length = slice(bytes, 1, p + 1) - from;
      long own = slice(bytes, 1, rank);
      long ownLength = slice(bytes, 1, rank + 1) - own;
      if (rank == root) {
        c.send(0, p, address + from, length);
        c.send(1, p, address + own, ownLength);
      } else {
        c.receive(1, p, address + from, length);
        if (p == root) {
          c.receive(0, root, address + own, ownLength);
          c.forward(root);
        } else {
          c.sendLater(1, p, address + own, ownLength);
        }
      }
    }
  }

  void gather(Collective c, long own, long all, long bytes, int root) {
    if (rank != root) {
      c.send(0, root, own, bytes);
      return;
    }
    for (int p = 0; p < ranks; p++) {
      if (p == root) {
        copy(own, all + p * bytes, bytes);
      } else {
        c.receive(0, p, all + p * bytes, bytes);
      }
    }
  }

  void scatter(Collective c, long all, long own, long bytes, int root) {
    if (rank != root) {
      c.receive(0, root, own, bytes);
      return;
    }
    for (int p = 0; p < ranks; p++) {
      if (p == root) {
        copy(all + p * bytes, own, bytes);
      } else {
        c.send(0, p, all + p * bytes, bytes);
      }
    }
  }

  void allGather(Collective c, long own, long all, long bytes) {
    copy(own, all + rank * bytes, bytes);
    for (int p = 0; p < ranks; p++) {
      if (p != rank) {
        c.send(0, p, all + rank * bytes, bytes);
        c.receive(0, p, all + p * bytes, bytes);
      }
    }
  }

  void reduceScatter(Collective c, long values, long slice, long bytes, Reduction reduction) {
    if (ranks == 1) {
      copy(values, slice, bytes);
      return;
    }
    long windows = windows(c, bytes, 0);
    for (int p = 0; p < ranks; p++) {
      if (p != rank) {
        c.send(0, p, values + p * bytes, bytes);
        c.receiveToReduce(p, windows + p * window(bytes), bytes);
      }
    }
    c.reduce(reduction, values + rank * bytes, slice, bytes);
  }

  void allReduce(Collective c, long values, long bytes, Reduction reduction) {
    if (ranks == 1) {
      return;
    }
    if (bytes <= SMALL) {
      long windows = windows(c, bytes, bytes);
      long own = windows + ranks * window(bytes);
      copy(values, own, bytes);
      for (int p = 0; p < ranks; p++) {
        if (p != rank) {
          c.send(0, p, own, bytes);
          c.receiveToReduce(p, windows + p * window(bytes), bytes);
        }
      }
      c.reduce(reduction, own, values, bytes);
      return;
    }
    long own = sumOwnSlice(c, values, bytes, reduction);
    long ownLength = slice(bytes, reduction.elementBytes(), rank + 1) - own;
    for (int p = 0; p < ranks; p++) {
      if (p != rank) {
        c.sendLater(1, p, values + own, ownLength);
        receiveSlice(c, values, bytes, reduction, p);
      }
    }
  }

  void reduce(Collective c, long values, long bytes, Reduction reduction, int root) {
    if (ranks == 1) {
      return;
    }
    if (bytes <= SMALL) {
      if (rank != root) {
        c.send(0, root, values, bytes);
        return;
      }
      long windows = windows(c, bytes, 0);
      for (int p = 0; p < ranks; p++) {
        if (p != rank) {
          c.receiveToReduce(p, windows + p * window(bytes), bytes);
        }
      }
      c.reduce(reduction, values, values, bytes);
      return;
    }
    long own = sumOwnSlice(c, values, bytes, reduction);
    long ownLength = slice(bytes, reduction.elementBytes(), rank + 1) - own;
    if (rank != root) {
      c.sendLater(1, root, values + own, ownLength);
      return;
    }
    for (int p = 0; p < ranks; p++) {
      if (p != root) {
        receiveSlice(c, values, bytes, reduction, p);
      }
    }
  }

  private void receiveSlice(Collective c, long values, long bytes, Reduction reduction, int p) {
    long from = slice(bytes, reduction.elementBytes(), p);
    c.receive(1, p, values + from, slice(bytes, reduction.elementBytes(), p + 1) - from);
  }

  /** The first step of a sum in slices; where this rank's slice begins. */
  private long sumOwnSlice(Collective c, long values, long bytes, Reduction reduction) {
    int unit = reduction.elementBytes();
    long own = slice(bytes, unit, rank);
    long length = slice(bytes, unit, rank + 1) - own;
    long windows = windows(c, length, 0);
    for (int p = 0; p < ranks; p++) {
      if (p != rank) {
        long from = slice(bytes, unit, p);
        c.send(0, p, values + from, slice(bytes, unit, p + 1) - from);
        c.receiveToReduce(p, windows + p * window(length), length);
      }
    }
    c.reduce(reduction, values + own, values + own, length);
    return own;
  }

  /**
   * @param starts where the part for each rank begins in {@code send}, then where the last ends
   * @param rooms the same of {@code receive}
   */
  void allToAll(Collective c, long send, long[] starts, long receive, long[] rooms) {
    for (int p = 0; p < ranks; p++) {
      long length = starts[p + 1] - starts[p];
      if (p == rank) {
        copy(send + starts[p], receive + rooms[p], length);
      } else {
        c.send(0, p, send + starts[p], length);
        c.receiveSome(p, receive + rooms[p], rooms[p + 1] - rooms[p]);
      }
    }
  }

  /** Equal parts for all. */
  void allToAll(Collective c, long send, long receive, long bytes) {
    for (int p = 0; p < ranks; p++) {
      if (p == rank) {
        copy(send + p * bytes, receive + p * bytes, bytes);
      } else {
        c.send(0, p, send + p * bytes, bytes);
        c.receive(0, p, receive + p * bytes, bytes);
      }
    }
  }

  private static void copy(long source, long target, long bytes) {
    if (bytes > 0 && source != target) {
      Memory.copy(source, target, bytes);
    }
  }

  /** Where the slice of rank {@code p} begins, of {@code bytes} bytes in units of a few. */
  private long slice(long bytes, int unit, int p) {
    return bytes / unit * p / ranks * unit;
  }

  /** Memory for what comes of each rank, and for {@code more} bytes. */
  private long windows(Collective c, long bytes, long more) {
    return driver.scratch(c, ranks * window(bytes) + more);
  }

  /** Two frames of memory, or one that is as short as the message. */
  private long window(long bytes) {
    return bytes <= frameBytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 2L * frameBytes;
  }
}
