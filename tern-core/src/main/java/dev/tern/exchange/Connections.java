package dev.tern.exchange;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connects one rank with all others: dials the lower ones, answers the higher ones. Each hello is a
 * virtual thread of its own, so a stranger that says nothing holds nobody up. Strangers are turned
 * away; only the time for connecting ends the wait for the right peers.
 */
final class Connections {
  private static final long RETRY_MILLIS = 25;
  private static final long MOST_RETRY_MILLIS = 400;

  /** Within this a stranger must have said its hello. */
  private static final Duration HELLO = Duration.ofSeconds(10);

  private final MeshOptions options;
  private final Handshake handshake;
  private final boolean[][] isTaken;
  private final @Nullable Link[][] links;

  /** Hellos under way, and when they must be over. */
  private final Map<SocketChannel, Long> greeting = new HashMap<>();

  private final long end;
  private int missing;
  private boolean isOver;
  private String refusal = "";
  private boolean wasRefused;
  private @Nullable MeshException failure;

  Connections(MeshOptions options) {
    this.options = options;
    handshake = new Handshake(options);
    isTaken = new boolean[options.ranks()][Hello.LINKS];
    links = new Link[options.ranks()][Hello.LINKS];
    missing = Hello.LINKS * (options.ranks() - 1);
    end = System.nanoTime() + options.connectWithin().toNanos();
  }

  /** The links of all ranks by rank and link; this rank's own place is empty. */
  @Nullable Link[][] of(ServerSocketChannel server, List<SocketAddress> all) {
    List<Thread> threads = new ArrayList<>();
    threads.add(Thread.ofVirtual().start(() -> answerAll(server)));
    for (int p = 0; p < options.rank(); p++) {
      for (int link = 0; link < Hello.LINKS; link++) {
        int peer = p;
        int which = link;
        threads.add(Thread.ofVirtual().start(() -> dial(all.get(peer), peer, which)));
      }
    }
    try {
      await();
      return links;
    } catch (RuntimeException | Error e) {
      giveUp();
      throw e;
    } finally {
      end(server);
    }
  }

  private synchronized void await() {
    try {
      while (missing > 0 && failure == null) {
        long now = System.nanoTime();
        if (now - end >= 0) {
          throw late();
        }
        dropSlow(now);
        wait(Math.clamp((end - now) / 1_000_000, 1, 50));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MeshException(
          "exchange: rank %d was interrupted while it connected".formatted(options.rank()),
          options.rank(),
          e);
    }
    if (failure != null) {
      throw failure;
    }
  }

  private MeshException late() {
    List<Integer> absent = new ArrayList<>();
    for (int p = 0; p < options.ranks(); p++) {
      if (p != options.rank()
          && (links[p][Hello.DATA] == null || links[p][Hello.CONTROL] == null)) {
        absent.add(p);
      }
    }
    return new MeshException(
        "exchange: rank %d got no connection with ranks %s within %s, expected all of %d ranks;%s"
            .formatted(
                options.rank(),
                absent,
                options.connectWithin(),
                options.ranks(),
                refusal.isEmpty()
                    ? " look whether they run and can be reached"
                    : " the last that was turned away: " + refusal),
        absent.getFirst());
  }

  private void dropSlow(long now) {
    greeting
        .entrySet()
        .removeIf(hello -> {
          boolean isLate = now - hello.getValue() >= 0;
          if (isLate) {
            close(hello.getKey());
          }
          return isLate;
        });
  }

  private synchronized void end(ServerSocketChannel server) {
    isOver = true;
    try {
      server.close();
    } catch (IOException _) {
      // Nobody is awaited on it any more.
    }
    greeting.keySet().forEach(Connections::close);
    greeting.clear();
  }

  /** From here on no link is added, so none stays open. */
  private synchronized void giveUp() {
    isOver = true;
    Link.close(links);
  }

  private void answerAll(ServerSocketChannel server) {
    while (true) {
      try {
        SocketChannel channel = server.accept();
        if (begin(channel, true)) {
          Thread.ofVirtual().start(() -> answer(channel));
        } else {
          close(channel);
        }
      } catch (IOException _) {
        if (!server.isOpen()) {
          return;
        }
        pause(RETRY_MILLIS);
      }
    }
  }

  /**
   * Remembers a hello under way; false if all is over, or if it comes from outside and there are
   * too many. Those that this rank asks for are few, and strangers must not keep it from asking.
   */
  private synchronized boolean begin(SocketChannel channel, boolean comes) {
    if (isOver || comes && greeting.size() >= 8 * options.ranks() + 64) {
      return false;
    }
    long limit = Math.min(HELLO.toNanos(), options.connectWithin().toNanos());
    greeting.put(channel, System.nanoTime() + limit);
    return true;
  }

  private synchronized void over(SocketChannel channel) {
    greeting.remove(channel);
  }

  private void answer(SocketChannel channel) {
    boolean isDone = false;
    boolean[] hasPlace = {false};
    int[] place = new int[2];
    try {
      set(channel);
      Handshake.Greeting hello =
          handshake.answer(
              channel,
              (peer, link) -> {
                place[0] = peer;
                place[1] = link;
                hasPlace[0] = take(peer, link);
                return hasPlace[0];
              });
      isDone = add(place[0], place[1], channel, hello, false);
    } catch (IOException e) {
      note(who(channel) + ": " + e.getMessage(), false);
    } catch (Handshake.RefusedException e) {
      note(who(channel) + ": " + e.getMessage(), true);
    } finally {
      over(channel);
      if (!isDone) {
        if (hasPlace[0]) {
          giveBack(place[0], place[1]);
        }
        close(channel);
      }
    }
  }

  private static String who(SocketChannel channel) {
    try {
      return String.valueOf(channel.getRemoteAddress());
    } catch (IOException _) {
      return "one that hung up";
    }
  }

  /** Remembers why a hello failed; that somebody may not join says more than a lost connection. */
  private synchronized void note(String why, boolean isRefused) {
    if (isRefused || !wasRefused) {
      refusal = why;
      wasRefused = isRefused;
    }
  }

  private synchronized boolean take(int peer, int link) {
    if (isTaken[peer][link]) {
      return false;
    }
    isTaken[peer][link] = true;
    return true;
  }

  /** The rank may come again: it did not hear that it was accepted. */
  private synchronized void giveBack(int peer, int link) {
    isTaken[peer][link] = false;
  }

  private synchronized boolean add(
      int peer, int link, SocketChannel channel, Handshake.Greeting hello, boolean hasDialed) {
    if (isOver) {
      return false;
    }
    greeting.remove(channel);
    links[peer][link] = handshake.link(Wire.of(channel), hello, hasDialed);
    missing--;
    notifyAll();
    return true;
  }

  private synchronized boolean isOver() {
    return isOver || failure != null;
  }

  private void dial(SocketAddress address, int peer, int link) {
    for (long pause = RETRY_MILLIS; !isOver(); pause = Math.min(2 * pause, MOST_RETRY_MILLIS)) {
      if (dialOnce(address, peer, link)) {
        return;
      }
      pause(pause);
    }
  }

  /** Whether it is of no use to try again. */
  private boolean dialOnce(SocketAddress given, int peer, int link) {
    SocketAddress address = resolved(given);
    if (address instanceof InetSocketAddress inet && inet.isUnresolved()) {
      note("rank " + peer + " at " + address + ": no such host", false);
      return false;
    }
    SocketChannel channel = null;
    boolean isDone = false;
    try {
      channel =
          address instanceof UnixDomainSocketAddress
              ? SocketChannel.open(StandardProtocolFamily.UNIX)
              : SocketChannel.open();
      if (!begin(channel, false)) {
        return isOver();
      }
      channel.connect(address);
      set(channel);
      isDone = add(peer, link, channel, handshake.dial(channel, peer, link), true);
      return true;
    } catch (Handshake.RefusedException e) {
      fail(
          new MeshException(
              "exchange: rank %d asked rank %d at %s and %s"
                  .formatted(options.rank(), peer, address, e.getMessage()),
              peer,
              e));
      return true;
    } catch (IOException e) {
      note("rank " + peer + " at " + address + ": " + e.getMessage(), false);
      return false;
    } finally {
      if (channel != null) {
        over(channel);
        if (!isDone) {
          close(channel);
        }
      }
    }
  }

  /** Names of hosts may come to be known while ranks start, so each try asks again. */
  private static SocketAddress resolved(SocketAddress address) {
    return address instanceof InetSocketAddress inet && inet.isUnresolved()
        ? new InetSocketAddress(inet.getHostString(), inet.getPort())
        : address;
  }

  private synchronized void fail(MeshException why) {
    if (failure == null && !isOver) {
      failure = why;
      notifyAll();
    }
  }

  private static void set(SocketChannel channel) throws IOException {
    if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException _) {
      // It is given up.
    }
  }
}
