package dev.tern.cli.inspect;

import java.util.HashSet;
import java.util.Set;

/**
 * Counts different ids: exactly up to {@link #EXACT}, then by HyperLogLog (Flajolet et al. 2007)
 * with a standard error of 0.8%.
 */
final class DistinctCount {
  /** The largest exact count. */
  static final int EXACT = 1 << 16;

  private static final int BITS = 14;
  private static final int REGISTERS = 1 << BITS;

  private final Set<Long> ids = new HashSet<>();
  private final byte[] registers = new byte[REGISTERS];
  private boolean exact = true;

  void add(long id) {
    long hash = mix(id);
    int register = (int) (hash >>> -BITS);
    int rank = Math.min(Long.numberOfLeadingZeros(hash << BITS), Long.SIZE - BITS) + 1;
    registers[register] = (byte) Math.max(registers[register], rank);
    if (exact) {
      ids.add(id);
      exact = ids.size() <= EXACT;
      if (!exact) {
        ids.clear();
      }
    }
  }

  private static long mix(long id) {
    long z = (id ^ (id >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  boolean isExact() {
    return exact;
  }

  long count() {
    if (exact) {
      return ids.size();
    }
    double sum = 0;
    int empty = 0;
    for (byte rank : registers) {
      sum += Math.scalb(1.0, -rank);
      empty += rank == 0 ? 1 : 0;
    }
    double raw = 0.7213 / (1 + 1.079 / REGISTERS) * REGISTERS * REGISTERS / sum;
    boolean small = raw <= 2.5 * REGISTERS && empty > 0;
    return Math.round(small ? REGISTERS * Math.log((double) REGISTERS / empty) : raw);
  }
}
