package dev.tern.exchange;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.util.List;

/**
 * Where one rank listens for the others. Ranks open their ports first, then tell each other their
 * addresses by whatever started them, then connect:
 *
 * <pre>{@code
 * MeshPort port = MeshPort.open(options, List.of(new InetSocketAddress(host, 0)));
 * List<SocketAddress> all = tellAndAskTheOthers(port.address());
 * Mesh mesh = port.connect(all);
 * }</pre>
 */
public final class MeshPort implements AutoCloseable {
  private static final int BACKLOG = 1024;

  private final MeshOptions options;
  private final ServerSocketChannel server;
  private final SocketAddress address;

  private MeshPort(MeshOptions options, ServerSocketChannel server, SocketAddress address) {
    this.options = options;
    this.server = server;
    this.address = address;
  }

  /**
   * Listens at the first of {@code candidates} that is free. An address is an {@link
   * InetSocketAddress}, with port 0 for any that is free, or a {@link UnixDomainSocketAddress} for
   * ranks on one machine.
   *
   * @throws MeshException if none is free
   */
  public static MeshPort open(MeshOptions options, List<? extends SocketAddress> candidates) {
    StringBuilder inUse = new StringBuilder();
    for (SocketAddress candidate : candidates) {
      try {
        boolean isUnix = candidate instanceof UnixDomainSocketAddress;
        ServerSocketChannel server =
            isUnix
                ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                : ServerSocketChannel.open();
        try {
          if (candidate instanceof InetSocketAddress inet && inet.isUnresolved()) {
            throw new IOException("no such host");
          }
          server.bind(candidate, BACKLOG);
          return new MeshPort(options, server, server.getLocalAddress());
        } catch (IOException e) {
          server.close();
          throw e;
        }
      } catch (IOException e) {
        inUse.append(inUse.isEmpty() ? "" : ", ").append(candidate).append(": ");
        inUse.append(e.getMessage());
      }
    }
    throw new MeshException(
        "exchange: got no address that rank %d can listen at (%s), expected one; use port 0, or"
                .formatted(options.rank(), inUse)
            + " remove the files of sockets that ended processes left",
        options.rank());
  }

  /**
   * Where it listens; of a port 0, the one that the system chose. Of a wildcard such as 0.0.0.0,
   * others must be told the name or address of this host instead.
   */
  public SocketAddress address() {
    return address;
  }

  /**
   * Connects with all others, in whatever order they start, and stops to listen.
   *
   * @param all the address of each rank, in order of rank; this rank's own is not used. Names that
   *     are not resolved are asked for again with each try
   * @throws MeshException if one cannot be reached in time, has another secret or other options, or
   *     is there twice
   */
  public Mesh connect(List<? extends SocketAddress> all) {
    if (all.size() != options.ranks()) {
      throw new IllegalArgumentException(
          "exchange: got %d addresses, expected one of each of %d ranks"
              .formatted(all.size(), options.ranks()));
    }
    if (!server.isOpen()) {
      throw new IllegalStateException(
          "exchange: got a port that was closed or used, expected an open one; open another");
    }
    try {
      return new Mesh(options, new Connections(options).of(server, List.copyOf(all)));
    } finally {
      close();
    }
  }

  /** Stops to listen. */
  @Override
  public void close() {
    try {
      server.close();
      if (address instanceof UnixDomainSocketAddress unix) {
        Files.deleteIfExists(unix.getPath());
      }
    } catch (IOException _) {
      // A port that is given up.
    }
  }
}
