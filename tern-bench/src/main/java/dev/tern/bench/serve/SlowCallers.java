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

  private static final int PARTS = 10;

  /** Seconds before which no server closes them, so that nobody need look. */
  private static final double LOOK_FROM = 5;

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
   * Sends a byte a second on each connection that is open, on a part of them every tenth of a
   * second: as callers do that know nothing of each other.
   *
   * @param most seconds to go on for
   * @return seconds until the server had closed all; infinite where it had not
   */
  double run(double most) throws IOException, InterruptedException {
    for (int tick = 0; seconds() < most; tick++) {
      int second = tick / PARTS;
      byte next = second < HEAD.length ? HEAD[second] : (byte) 'x';
      int at = 0;
      for (Iterator<SocketChannel> each = open.iterator(); each.hasNext(); at++) {
        SocketChannel channel = each.next();
        if (isClosed(channel) || at % PARTS == tick % PARTS && !send(channel, next)) {
          channel.close();
          each.remove();
        }
      }
      if (open.isEmpty()) {
        return seconds();
      }
      Thread.sleep(Math.max(0, (tick + 1) * 1000L / PARTS - millis()));
    }
    return Double.POSITIVE_INFINITY;
  }

  /** Whether the server has answered or closed. */
  private boolean isClosed(SocketChannel channel) {
    try {
      heard.clear();
      return seconds() > LOOK_FROM && channel.read(heard) != 0;
    } catch (IOException e) {
      return true;
    }
  }

  private static boolean send(SocketChannel channel, byte next) {
    try {
      channel.write(ByteBuffer.wrap(new byte[] {next}));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private double seconds() {
    return millis() / 1e3;
  }

  private long millis() {
    return (System.nanoTime() - start) / 1_000_000;
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : open) {
      channel.close();
    }
  }
}
