package dev.tern.exchange;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Tells peers that this rank lives, and holds them to their deadlines. */
final class PeerWatch {
  /** How long a connection for control may take to say why that for data ended. */
  private static final long GRACE_NANOS = 500_000_000;

  private static final int HEARTBEATS = 6;

  private final int rank;
  private final Duration deadline;
  private final Duration silence;
  private final Peer[] peers;
  private final long tick;
  private long lastTick = System.nanoTime();
  private long lastHeartbeat = lastTick;

  PeerWatch(MeshOptions options, Peer[] peers) {
    this.peers = peers;
    rank = options.rank();
    deadline = options.deadline();
    silence = options.silence();
    long shortest = Math.min(deadline.toNanos(), silence.toNanos());
    tick = Math.clamp(shortest / 8, 2_000_000L, 10_000_000_000L);
  }

  /** Nanoseconds between two looks at all peers. */
  long tick() {
    return tick;
  }

  /** Tells all peers that this rank lives, if it is time; whoever holds the lock may call it. */
  void heartbeat(long now) {
    if (now - lastHeartbeat < silence.toNanos() / HEARTBEATS) {
      return;
    }
    lastHeartbeat = now;
    for (Peer peer : peers) {
      if (!peer.saidGoodbye()) {
        try {
          peer.control().heartbeat(rank);
        } catch (IOException _) {
          // The next read of this connection says what became of it.
        }
      }
    }
  }

  /**
   * Why the mesh must end, or null.
   *
   * @param isAtWork whether somebody moves bytes, so that peers could
   * @param since when that began
   */
  @Nullable MeshException check(long now, boolean isAtWork, long since) {
    boolean wasStopped = now - lastTick > 4 * tick + GRACE_NANOS;
    lastTick = now;
    if (wasStopped) {
      // This process stood still: what peers did meanwhile is not read yet.
      for (Peer peer : peers) {
        peer.live(now);
      }
      return null;
    }
    for (Peer peer : peers) {
      MeshException why = checkEnd(peer, now);
      if (why == null && isAtWork && peer.isAwaited() && !peer.hasEnded()) {
        why = checkTimes(peer, now, since);
      }
      if (why != null) {
        return why;
      }
    }
    return null;
  }

  private @Nullable MeshException checkEnd(Peer peer, long now) {
    boolean isOver = peer.saidGoodbye() && !peer.isIdle();
    if (!peer.hasEnded() || !isOver && now - peer.ended() <= GRACE_NANOS) {
      return null;
    }
    String how = isOver ? "rank %d closed its mesh" : "the connection with rank %d ended";
    return new MeshException(
        "exchange: %s (%s) while rank %d waited for %s; look at that process"
            .formatted(how.formatted(peer.rank()), peer.end(), rank, peer.state()),
        peer.rank());
  }

  private @Nullable MeshException checkTimes(Peer peer, long now, long since) {
    long still = now - Math.max(peer.moved(), since);
    long silent = now - Math.max(peer.heard(), since);
    if (silent > silence.toNanos()) {
      return late(peer, silent, "a sign of life within " + text(silence.toNanos()));
    }
    if (still > deadline.toNanos()) {
      return late(peer, still, "bytes within the deadline of " + text(deadline.toNanos()));
    }
    return null;
  }

  private MeshException late(Peer peer, long nanos, String expected) {
    return new MeshException(
        "exchange: rank %d got nothing from rank %d for %s in %s, expected %s; that process is"
                .formatted(rank, peer.rank(), text(nanos), peer.state(), expected)
            + " stopped, busy, cut off, or in another operation",
        peer.rank());
  }

  private static String text(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }
}
