package dev.tern.bench;

import java.util.Optional;

/** The peer that may be there. */
public final class Peers implements AutoCloseable {
  private final Optional<Peer> peer;

  /**
   * @param python the peer's Python, or nothing for no peer
   * @param scripts folder of the peer's scripts
   */
  public Peers(String python, String scripts, int threads, double roundMillis) {
    peer =
        python.isEmpty()
            ? Optional.empty()
            : Optional.of(new Peer(python, scripts, threads, roundMillis));
  }

  /** Times {@code work}, beside the peer's {@code request} where there is a peer. */
  public Rounds.Times time(Rounds rounds, Runnable work, String request) {
    return peer.map(p -> rounds.time(work, () -> p.round(request)))
        .orElseGet(() -> rounds.time(work));
  }

  @Override
  public void close() {
    peer.ifPresent(Peer::close);
  }
}
