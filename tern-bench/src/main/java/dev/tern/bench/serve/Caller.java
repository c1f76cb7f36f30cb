package dev.tern.bench.serve;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** One connection that sends requests one after the other, and reads their answers. */
final class Caller implements AutoCloseable {
  private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);
  private static final int LEAST_WAIT = 60_000;

  private final Socket socket;
  private final InputStream in;
  private byte[] buffer = new byte[1 << 16];
  private int filled;
  private int headEnd;
  private int status;

  Caller(int port) throws IOException {
    socket = new Socket("127.0.0.1", port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
    in = socket.getInputStream();
  }

  /** A whole request. */
  static byte[] post(String path, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n"
            .formatted(path, bytes.length);
    byte[] start = head.getBytes(StandardCharsets.US_ASCII);
    byte[] whole = new byte[start.length + bytes.length];
    System.arraycopy(start, 0, whole, 0, start.length);
    System.arraycopy(bytes, 0, whole, start.length, bytes.length);
    return whole;
  }

  /** A request without a body. */
  static byte[] get(String path) {
    return "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
        .formatted(path)
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Sends a request and reads its answer; gives the status. */
  int call(byte[] request) throws IOException {
    socket.getOutputStream().write(request);
    filled = 0;
    headEnd = -1;
    int whole = Integer.MAX_VALUE;
    while (filled < whole) {
      if (filled == buffer.length) {
        buffer = Arrays.copyOf(buffer, 2 * buffer.length);
      }
      int got = in.read(buffer, filled, buffer.length - filled);
      if (got < 0) {
        throw new EOFException("bench serve: got the end of the connection, expected an answer");
      }
      filled += got;
      if (headEnd < 0 && findHead()) {
        whole = headEnd + length();
      }
    }
    status = (buffer[9] - '0') * 100 + (buffer[10] - '0') * 10 + buffer[11] - '0';
    return status;
  }

  /** Whether the last answer said that none will follow on this connection. */
  boolean isLast() {
    String head = new String(buffer, 0, headEnd, StandardCharsets.US_ASCII);
    return head.toLowerCase(Locale.ROOT).contains("\r\nconnection: close\r\n");
  }

  /** The body of the last answer. */
  String body() {
    return new String(buffer, headEnd, filled - headEnd, StandardCharsets.UTF_8);
  }

  private boolean findHead() {
    for (int at = 3; at < filled; at++) {
      if (buffer[at] == '\n' && buffer[at - 2] == '\n') {
        headEnd = at + 1;
        return true;
      }
    }
    return false;
  }

  private int length() {
    for (int at = 0; at + LENGTH.length < headEnd; at++) {
      int same = 0;
      while (same < LENGTH.length && Character.toLowerCase(buffer[at + same]) == LENGTH[same]) {
        same++;
      }
      if (same == LENGTH.length) {
        int number = 0;
        for (int digit = at + same; buffer[digit] != '\r'; digit++) {
          number = buffer[digit] == ' ' ? number : 10 * number + buffer[digit] - '0';
        }
        return number;
      }
    }
    return 0;
  }

  /**
   * Sends requests until {@code end}, each at its time where {@code interval} is above 0: then a
   * time counts from when the request was due, so that a late one makes the next ones late too.
   *
   * @return requests that were not answered with 200
   */
  long drive(byte[][] requests, long start, long end, long interval, Latencies into)
      throws IOException {
    long failed = 0;
    long due = start;
    for (int at = 0; ; at++) {
      long now = System.nanoTime();
      if (interval > 0) {
        while (now < due) {
          if (due - now > LEAST_WAIT) {
            LockSupport.parkNanos(due - now - LEAST_WAIT);
          } else {
            Thread.onSpinWait();
          }
          now = System.nanoTime();
        }
      } else {
        due = now;
      }
      if (now >= end) {
        return failed;
      }
      if (call(requests[at % requests.length]) == 200) {
        into.add(System.nanoTime() - due);
      } else {
        failed++;
      }
      due += interval;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
