package dev.tern.bench.serve;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A connection of HTTP/1.1. */
final class Caller extends Connection {
  private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] LAST = "connection: close\r".getBytes(StandardCharsets.US_ASCII);

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
    return post(path, body.getBytes(StandardCharsets.UTF_8), "");
  }

  /** A whole request; {@code fields} are further lines of its head. */
  static byte[] post(String path, byte[] bytes, String fields) {
    String head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %s\r\n\r\n"
            .formatted(path, fields, bytes.length);
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

  @Override
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

  @Override
  boolean isLast() {
    return behind(LAST) > 0;
  }

  @Override
  byte[] bytes() {
    return Arrays.copyOfRange(buffer, headEnd, filled);
  }

  @Override
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
    int number = 0;
    int digit = behind(LENGTH);
    for (; digit > 0 && buffer[digit] != '\r'; digit++) {
      number = buffer[digit] == ' ' ? number : 10 * number + buffer[digit] - '0';
    }
    return number;
  }

  /** The place behind a text of lower case in the head, whose letters may be of either; else 0. */
  private int behind(byte[] text) {
    for (int at = 0; at + text.length < headEnd; at++) {
      int same = 0;
      while (same < text.length && Character.toLowerCase(buffer[at + same]) == text[same]) {
        same++;
      }
      if (same == text.length) {
        return at + same;
      }
    }
    return 0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
