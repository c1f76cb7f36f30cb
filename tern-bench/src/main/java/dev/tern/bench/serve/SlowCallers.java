package dev.tern.bench.serve;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Connections whose requests come byte by byte, until the server closes them. */
final class SlowCallers implements AutoCloseable {
  private static final byte[] HEAD =
      "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
          .getBytes(StandardCharsets.US_ASCII);

  private final List<SocketChannel> open = new ArrayList<>();
  private final ByteBuffer heard = ByteBuffer.allocate(4096);
  private final long start;

  SlowCallers(int port, int count) throws IOException {
    for (int at = 0; at < count; at++) {
      SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      channel.configureBlocking(false);
      open.add(channel);
    }
    start = System.nanoTime();
  }

  /**
   * Sends a byte a second on each connection that is open.
   *
   * @param most seconds to go on for
   * @return seconds until the server had closed all; infinite where it had not
   */
  double run(double most) throws IOException, InterruptedException {
    for (int second = 0; seconds() < most; second++) {
      byte next = second < HEAD.length ? HEAD[second] : (byte) 'x';
      for (Iterator<SocketChannel> each = open.iterator(); each.hasNext(); ) {
        SocketChannel channel = each.next();
        if (!goesOn(channel, next)) {
          channel.close();
          each.remove();
        }
      }
      if (open.isEmpty()) {
        return seconds();
      }
      Thread.sleep(1000);
    }
    return Double.POSITIVE_INFINITY;
  }

  /** Sends a byte, unless the server has answered or closed. */
  private boolean goesOn(SocketChannel channel, byte next) {
    try {
      heard.clear();
      if (channel.read(heard) != 0) {
        return false;
      }
      channel.write(ByteBuffer.wrap(new byte[] {next}));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private double seconds() {
    return (System.nanoTime() - start) / 1e9;
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : open) {
      channel.close();
    }
  }
}
