package dev.tern.exchange;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * What ranks must agree on before they exchange, and how long they wait for each other. Immutable:
 * each method with an argument returns a changed copy.
 *
 * <pre>{@code
 * MeshOptions.of(2, 8, secret).run(runId, attempt).encrypted(true).deadline(Duration.ofSeconds(60))
 * }</pre>
 */
public final class MeshOptions implements Cloneable {
  /** Bytes that a secret has at least. */
  public static final int LEAST_SECRET_BYTES = 16;

  private static final int MOST_RANKS = 4096;

  // Written by `with` alone, before anybody else sees the copy.
  private int rank;
  private final int ranks;
  private final byte[] secret;
  private long run;
  private int attempt;
  private boolean isEncrypted;
  private Duration deadline = Duration.ofMinutes(5);
  private Duration silence = Duration.ofSeconds(60);
  private Duration connectWithin = Duration.ofSeconds(60);
  private int frameBytes = 128 << 10;
  private int inFlight = 64;

  private MeshOptions(int rank, int ranks, byte[] secret) {
    this.rank = rank;
    this.ranks = ranks;
    this.secret = secret.clone();
  }

  /**
   * Options of rank {@code rank} of {@code ranks}, from 0 on.
   *
   * @param secret what all ranks of a run know and nobody else: at least 16 bytes that cannot be
   *     guessed, from a generator of random numbers. Ranks prove to each other that they know it
   */
  public static MeshOptions of(int rank, int ranks, byte[] secret) {
    if (ranks < 1 || ranks > MOST_RANKS) {
      throw new IllegalArgumentException(
          "exchange: got %d ranks, expected 1 to %d".formatted(ranks, MOST_RANKS));
    }
    if (secret.length < LEAST_SECRET_BYTES) {
      throw new IllegalArgumentException(
          "exchange: got a secret of %d bytes, expected at least %d random ones"
              .formatted(secret.length, LEAST_SECRET_BYTES));
    }
    return new MeshOptions(0, ranks, secret).rank(rank);
  }

  private MeshOptions with(Consumer<MeshOptions> change) {
    try {
      MeshOptions copy = (MeshOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** The same for another rank. */
  public MeshOptions rank(int rank) {
    if (rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException(
          "exchange: got rank %d, expected 0 to %d".formatted(rank, ranks - 1));
    }
    return with(copy -> copy.rank = rank);
  }

  /**
   * Which run it is, and how often it was begun: ranks of another run or attempt are refused, and
   * so are their frames. 0 and 0 where nothing else is said.
   */
  public MeshOptions run(long run, int attempt) {
    return with(copy -> {
      copy.run = run;
      copy.attempt = attempt;
    });
  }

  /**
   * Whether bytes are encrypted on their way (AES-128-GCM, a key for each way of each connection).
   * All ranks must say the same. Without it frames have a CRC-32C, which finds damage but not
   * attackers. False where nothing else is said.
   */
  public MeshOptions encrypted(boolean isEncrypted) {
    return with(copy -> copy.isEncrypted = isEncrypted);
  }

  /**
   * How long an operation may wait for a peer that is alive without a byte from or to it: 5 minutes
   * where nothing else is said. Choose more than ranks compute between two operations.
   */
  public MeshOptions deadline(Duration deadline) {
    requirePositive("deadline", deadline);
    return with(copy -> copy.deadline = deadline);
  }

  /**
   * How long an operation may wait for a peer of which nothing is heard, not even the heartbeats
   * that it sends while it computes: 60 seconds where nothing else is said.
   */
  public MeshOptions silence(Duration silence) {
    requirePositive("silence", silence);
    return with(copy -> copy.silence = silence);
  }

  /** How long ranks may take until all are connected: 60 seconds where nothing else is said. */
  public MeshOptions connectWithin(Duration connectWithin) {
    requirePositive("time to connect", connectWithin);
    return with(copy -> copy.connectWithin = connectWithin);
  }

  /**
   * Bytes of a frame, a multiple of 8 from 64 to 16 MiB: 128 KiB where nothing else is said.
   * Messages are cut into frames; a rank holds two of each peer for each operation that sums. All
   * ranks must say the same.
   */
  public MeshOptions frameBytes(int frameBytes) {
    if (frameBytes < 64 || frameBytes > 16 << 20 || frameBytes % 8 != 0) {
      throw new IllegalArgumentException(
          "exchange: got frames of %d bytes, expected a multiple of 8 from 64 to 16777216"
              .formatted(frameBytes));
    }
    return with(copy -> copy.frameBytes = frameBytes);
  }

  /** Operations that may be in flight at once, 1 to 1024: 64 where nothing else is said. */
  public MeshOptions inFlight(int inFlight) {
    if (inFlight < 1 || inFlight > 1024) {
      throw new IllegalArgumentException(
          "exchange: got %d operations in flight, expected 1 to 1024".formatted(inFlight));
    }
    return with(copy -> copy.inFlight = inFlight);
  }

  private static void requirePositive(String what, Duration duration) {
    if (duration.isNegative() || duration.isZero() || duration.compareTo(Duration.ofDays(30)) > 0) {
      throw new IllegalArgumentException(
          "exchange: got a %s of %s, expected more than 0 and at most 30 days"
              .formatted(what, duration));
    }
  }

  /** This rank. */
  public int rank() {
    return rank;
  }

  /** How many ranks there are. */
  public int ranks() {
    return ranks;
  }

  byte[] secret() {
    return secret;
  }

  long run() {
    return run;
  }

  int attempt() {
    return attempt;
  }

  boolean isEncrypted() {
    return isEncrypted;
  }

  Duration deadline() {
    return deadline;
  }

  Duration silence() {
    return silence;
  }

  Duration connectWithin() {
    return connectWithin;
  }

  int frameBytes() {
    return frameBytes;
  }

  int inFlight() {
    return inFlight;
  }
}
