package dev.tern.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * Times work beside a peer's: rounds of equal length in turn, so that both see the same pace of a
 * shared machine. Where the rounds of either swing, there are up to {@value #MOST_TIMES} times as
 * many: the neighbours on such a machine slow it down for spells as long as several rounds.
 */
public final class Rounds {
  private static final int LEAST = 5;
  private static final int SETTLE_MILLIS = 20;

  /** Rounds at most, as a multiple of those asked for. */
  private static final int MOST_TIMES = 3;

  /** The middle half of the rounds, as a share of the median, from which they swing. */
  private static final double STEADY = 0.1;

  private final double nanos;
  private final int count;

  /**
   * @param count rounds that count
   * @param millis length of a round
   */
  public Rounds(int count, double millis) {
    if (count < LEAST) {
      throw new IllegalArgumentException("--rounds: got " + count + ", expected at least " + LEAST);
    }
    this.count = count;
    nanos = millis * 1e6;
  }

  /** Nanoseconds a call, a round each. */
  public record Times(List<Double> own, List<Double> peer) {}

  /** One round of the peer: nanoseconds a call. */
  @FunctionalInterface
  public interface PeerRound {
    double nanos();
  }

  /** Rounds of {@code work} alone. */
  public Times time(Runnable work) {
    int calls = calls(work);
    List<Double> own = new ArrayList<>();
    for (int round = 0; round < count; round++) {
      own.add(round(work, calls));
    }
    return new Times(own, List.of());
  }

  /** Rounds of {@code work} and of the peer in turn. */
  public Times time(Runnable work, PeerRound peer) {
    peer.nanos();
    int calls = calls(work);
    List<Double> own = new ArrayList<>();
    List<Double> other = new ArrayList<>();
    while (own.size() < count
        || own.size() < MOST_TIMES * count && (swings(own) || swings(other))) {
      settle();
      other.add(peer.nanos());
      settle();
      work.run();
      own.add(round(work, calls));
    }
    return new Times(own, other);
  }

  /** Whether the middle half of {@code rounds} spreads over more than {@link #STEADY}. */
  private static boolean swings(List<Double> rounds) {
    List<Double> sorted = rounds.stream().sorted().toList();
    int quarter = sorted.size() / 4;
    double spread = sorted.get(sorted.size() - 1 - quarter) - sorted.get(quarter);
    return spread > STEADY * Result.median(rounds);
  }

  /** Idle threads of either side spin for a while, on cores that the other side needs. */
  static void settle() {
    try {
      Thread.sleep(SETTLE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("bench: interrupted between rounds", e);
    }
  }

  /** How many calls fill a round; they warm up too. */
  private int calls(Runnable work) {
    for (int calls = 1; ; calls *= 2) {
      double each = round(work, calls);
      if (each * calls >= nanos) {
        return Math.max(1, (int) Math.round(nanos / each));
      }
    }
  }

  private static double round(Runnable work, int calls) {
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      work.run();
    }
    return (System.nanoTime() - start) / (double) calls;
  }
}
