package dev.tern.cli.board;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Follows runs and serves the page about them, until it is closed. One thread reads all files; each
 * page that listens has a virtual thread.
 */
public final class Board implements AutoCloseable {
  /** The port that a board takes unless told otherwise. */
  public static final int PORT = 8600;

  /** The address that a board listens at unless told otherwise: this machine alone reaches it. */
  public static final String HOST = "127.0.0.1";

  private static final int MOST_PORT = 65_535;
  private static final long POLL_MILLIS = 250;

  /** Every so many polls it looks for new runs, checkpoints and reports. */
  private static final int RARELY = 8;

  /** Runs at most; more do not fit a page. */
  static final int MOST_RUNS = 64;

  private final RunNames names;
  private final Map<Path, WatchedRun> runs = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread poller;
  private final WatchedServers servers;
  private final BoardServer server;
  private long version;
  private int leftOut;
  private boolean closed;

  private Board(RunNames names, WatchedServers servers, InetSocketAddress address)
      throws IOException {
    this.names = names;
    this.servers = servers;
    server = new BoardServer(this, servers, address);
    poller = Thread.ofPlatform().daemon().name("tern-board").unstarted(this::follow);
  }

  /**
   * Starts a board.
   *
   * @param arguments folders of runs, folders of such folders, or patterns
   * @param wait whether runs may begin later
   * @param host name or address to listen at
   * @param port to listen at, 0 to 65,535; 0 for any free one
   * @throws ConfigException if there is no such port
   * @throws RunException if an argument names no run, or the port is not free
   */
  public static Board start(List<String> arguments, boolean wait, String host, int port) {
    return start(
        arguments, wait, new InetName(host, port), new WatchedServers(List.of(), Optional.empty()));
  }

  /** Where a board listens. */
  record InetName(String host, int port) {}

  /**
   * The same with servers.
   *
   * @param servers closed with the board
   */
  static Board start(List<String> arguments, boolean wait, InetName at, WatchedServers servers) {
    String host = at.host();
    int port = at.port();
    if (port < 0 || port > MOST_PORT) {
      throw new ConfigException(
          "board: got the port " + port + ", expected 0 to 65535; the usual one is " + PORT);
    }
    RunNames names = RunNames.of(arguments, wait);
    try {
      Board board =
          new Board(names, servers, new InetSocketAddress(InetAddress.getByName(host), port));
      board.discover();
      board.poller.start();
      board.server.start();
      return board;
    } catch (UnknownHostException e) {
      throw new RunException(
          "--host: got " + host + ", expected a name or address of this machine; check it", e);
    } catch (BindException e) {
      throw new RunException(
          "board: got the port "
              + port
              + " of "
              + host
              + ", which cannot be listened at ("
              + RunNames.reason(e)
              + "), expected a free port of this machine; give another one, or 0 for any",
          e);
    } catch (IOException e) {
      throw new RunException(
          "board: got an error of the network (" + RunNames.reason(e) + "), expected a port", e);
    }
  }

  /** Where the page is. */
  public String url() {
    return server.url();
  }

  /** Whether others than this machine can reach it. */
  public boolean isOpenToOthers() {
    return server.isOpenToOthers();
  }

  /** How many runs it has. */
  public int runCount() {
    return runs().size();
  }

  private void discover() {
    List<Path> folders = names.folders();
    lock.lock();
    try {
      leftOut = 0;
      for (Path folder : folders) {
        Path key = folder.toAbsolutePath().normalize();
        if (runs.containsKey(key)) {
          continue;
        }
        if (runs.size() < MOST_RUNS) {
          runs.put(key, new WatchedRun(runs.size(), folder.toString(), folder));
        } else {
          leftOut++;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void follow() {
    for (long round = 0; !Thread.currentThread().isInterrupted(); round++) {
      boolean all = round % RARELY == 0;
      if (all) {
        discover();
      }
      for (WatchedRun run : runs()) {
        if (run.poll(all)) {
          tell();
        }
      }
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException _) {
        return;
      }
    }
  }

  private void tell() {
    lock.lock();
    try {
      version++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The runs so far, in the order of their numbers. */
  List<WatchedRun> runs() {
    lock.lock();
    try {
      return List.copyOf(runs.values());
    } finally {
      lock.unlock();
    }
  }

  /** Runs that found no room. */
  int leftOut() {
    lock.lock();
    try {
      return leftOut;
    } finally {
      lock.unlock();
    }
  }

  /** The run of a number. */
  Optional<WatchedRun> run(int id) {
    return runs().stream().filter(run -> run.id() == id).findFirst();
  }

  /** Grows with each change. */
  long version() {
    lock.lock();
    try {
      return version;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for a change after {@code seen}, or for the time.
   *
   * @return whether the board is still open
   */
  boolean await(long seen, long millis) throws InterruptedException {
    long left = TimeUnit.MILLISECONDS.toNanos(millis);
    lock.lock();
    try {
      while (!closed && version == seen && left > 0) {
        left = changed.awaitNanos(left);
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    poller.interrupt();
    server.close();
    servers.close();
  }
}
