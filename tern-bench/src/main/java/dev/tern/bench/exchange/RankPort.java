package dev.tern.bench.exchange;

import dev.tern.exchange.Mesh;
import dev.tern.exchange.MeshOptions;
import dev.tern.exchange.MeshPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** How ranks in processes of their own on one machine find each other: by files in a folder. */
public final class RankPort {
  private RankPort() {}

  /** Connects a rank with all others. */
  public static Mesh connect(MeshOptions options, boolean isUnix, Path folder)
      throws IOException, InterruptedException {
    int rank = options.rank();
    SocketAddress own =
        isUnix
            ? UnixDomainSocketAddress.of(folder.resolve("rank" + rank))
            : new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    MeshPort port = MeshPort.open(options, List.of(own));
    return port.connect(addresses(port, rank, options.ranks(), folder));
  }

  /** Tells the others where this rank is, by files, and waits for them. */
  private static List<SocketAddress> addresses(MeshPort port, int rank, int ranks, Path folder)
      throws IOException, InterruptedException {
    if (port.address() instanceof InetSocketAddress tcp) {
      Path written = folder.resolve("writing" + rank);
      Files.writeString(written, String.valueOf(tcp.getPort()));
      Files.move(written, folder.resolve("port" + rank), StandardCopyOption.ATOMIC_MOVE);
    }
    List<SocketAddress> all = new ArrayList<>();
    for (int p = 0; p < ranks; p++) {
      if (port.address() instanceof UnixDomainSocketAddress) {
        all.add(UnixDomainSocketAddress.of(folder.resolve("rank" + p)));
        continue;
      }
      Path file = folder.resolve("port" + p);
      while (!Files.exists(file)) {
        Thread.sleep(10);
      }
      int number = Integer.parseInt(Files.readString(file));
      all.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), number));
    }
    return all;
  }
}
