package dev.tern.bench.serve;

import dev.tern.serve.http.HttpLogging;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/** A connection of HTTP/2 for calls by gRPC, one after the other, with little in the way. */
final class GrpcCaller extends Connection {
  private static final String INFER = "/inference.GRPCInferenceService/ModelInfer";
  private static final int HEAD = 9;
  private static final int MOST_FRAME = 16_384;
  private static final int FIRST_WINDOW = 65_535;
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int RESET = 3;
  private static final int SETTINGS = 4;
  private static final int PING = 6;
  private static final int GO_AWAY = 7;
  private static final int WINDOW = 8;
  private static final int INITIAL_WINDOW = 4;
  private static final int ENDS = 1;

  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final Socket socket;
  private final InputStream in;
  private final HpackDecoder decoder = new HpackDecoder(1 << 16, System::nanoTime);
  private final byte[] head = head();
  private byte[] input = new byte[1 << 16];
  private int read;
  private int filled;
  private ByteBuffer output = ByteBuffer.allocate(1 << 16);
  private byte[] answer = new byte[1 << 16];
  private int answered;
  private int stream = -1;
  private long window = FIRST_WINDOW;
  private long streamWindow;
  private long firstStreamWindow = FIRST_WINDOW;
  private long toReturn;
  private int status;
  private String message = "";
  private boolean isOver;
  private boolean isSet;

  GrpcCaller(int port) throws IOException {
    HttpLogging.quiet();
    socket = new Socket("127.0.0.1", port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
    in = socket.getInputStream();
    output.put(PREFACE);
    frame(6, SETTINGS, 0, 0);
    output.putShort((short) INITIAL_WINDOW).putInt(1 << 30);
    frame(4, WINDOW, 0, 0);
    output.putInt(1 << 30);
    flush();
    while (!isSet) {
      frame();
    }
  }

  /** A request: a message with the five bytes before it. */
  static byte[] message(byte[] message) {
    return ByteBuffer.allocate(5 + message.length)
        .put((byte) 0)
        .putInt(message.length)
        .put(message)
        .array();
  }

  /** All that a connection with one call sends, from its first byte on. */
  static byte[] connection(byte[] message) {
    byte[] head = head();
    byte[] framed = message(message);
    ByteBuffer all = ByteBuffer.allocate(128 + head.length + framed.length + 4 * HEAD);
    all.put(PREFACE);
    put(all, 0, SETTINGS, 0, 0);
    put(all, head.length, HEADERS, 4, 1);
    all.put(head);
    put(all, framed.length, DATA, ENDS, 1);
    all.put(framed);
    return Arrays.copyOf(all.array(), all.position());
  }

  private static byte[] head() {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    String[] fields = {
      ":method",
      "POST",
      ":scheme",
      "http",
      ":path",
      INFER,
      ":authority",
      "localhost",
      "content-type",
      "application/grpc",
      "te",
      "trailers"
    };
    for (int i = 0; i < fields.length; i++) {
      if (i % 2 == 0) {
        block.write(0); // A field follows as it is: its name, then its value.
      }
      byte[] bytes = fields[i].getBytes(StandardCharsets.US_ASCII);
      block.write(bytes.length);
      block.writeBytes(bytes);
    }
    return block.toByteArray();
  }

  private void frame(int length, int type, int flags, int of) {
    put(output, length, type, flags, of);
  }

  private static void put(ByteBuffer to, int length, int type, int flags, int of) {
    to.put((byte) (length >> 16)).putShort((short) length);
    to.put((byte) type).put((byte) flags).putInt(of);
  }

  private void flush() throws IOException {
    socket.getOutputStream().write(output.array(), 0, output.position());
    output.clear();
  }

  @Override
  int call(byte[] request) throws IOException {
    stream += 2;
    streamWindow = firstStreamWindow;
    status = 0;
    message = "";
    answered = 0;
    isOver = false;
    room(request.length);
    frame(head.length, HEADERS, 4, stream);
    output.put(head);
    int at = 0;
    do {
      int count = (int) Math.min(Math.min(request.length - at, MOST_FRAME), room());
      frame(count, DATA, at + count == request.length ? ENDS : 0, stream);
      output.put(request, at, count);
      at += count;
      window -= count;
      streamWindow -= count;
    } while (at < request.length && !isOver);
    flush();
    while (!isOver) {
      frame();
    }
    if (toReturn > 1 << 29) {
      frame(4, WINDOW, 0, 0);
      output.putInt((int) toReturn);
      toReturn = 0;
    }
    return status;
  }

  private void room(int length) {
    int least = length + (length / MOST_FRAME + 4) * (HEAD + 8) + head.length + output.position();
    if (output.capacity() < least) {
      output = ByteBuffer.allocate(2 * least).put(output.flip());
    }
  }

  /** Bytes that may be sent, at least one; waits for the server to allow more. */
  private long room() throws IOException {
    while (Math.min(window, streamWindow) <= 0 && !isOver) {
      flush();
      frame();
    }
    return Math.max(0, Math.min(window, streamWindow));
  }

  /** Reads a frame, and does what it says. */
  private void frame() throws IOException {
    need(HEAD);
    ByteBuffer frame = ByteBuffer.wrap(input);
    int length = frame.get(read) << 16 & 0xFF0000 | frame.getShort(read + 1) & 0xFFFF;
    int type = frame.get(read + 3);
    int flags = frame.get(read + 4);
    int of = frame.getInt(read + 5) & Integer.MAX_VALUE;
    read += HEAD;
    need(length);
    frame = ByteBuffer.wrap(input, read, length);
    read += length;
    switch (type) {
      case DATA -> data(frame, of);
      case HEADERS -> head(frame, of);
      case RESET -> isOver |= of == stream;
      case SETTINGS -> settings(frame, flags);
      case PING -> {
        if (flags == 0) {
          frame(length, PING, 1, 0);
          output.put(frame);
          flush();
        }
      }
      case WINDOW -> {
        int more = frame.getInt();
        window += of == 0 ? more : 0;
        streamWindow += of == stream ? more : 0;
      }
      case GO_AWAY -> throw new EOFException("bench serve: got a farewell of the server");
      default -> {}
    }
    isOver |= of == stream && type <= HEADERS && (flags & ENDS) != 0;
  }

  private void data(ByteBuffer frame, int of) {
    toReturn += frame.remaining();
    if (of != stream) {
      return;
    }
    int count = frame.remaining();
    if (answered + count > answer.length) {
      answer = Arrays.copyOf(answer, 2 * (answered + count));
    }
    frame.get(answer, answered, count);
    answered += count;
  }

  private void head(ByteBuffer block, int of) throws IOException {
    MetaData fields;
    try {
      fields = decoder.decode(block);
    } catch (HpackException e) {
      throw new IOException(e);
    }
    for (HttpField field : fields.getHttpFields()) {
      if (of == stream && field.getName().equals("grpc-status")) {
        status = http(Integer.parseInt(String.valueOf(field.getValue())));
      } else if (of == stream && field.getName().equals("grpc-message")) {
        message = String.valueOf(field.getValue());
      }
    }
  }

  /** A status of HTTP that says what one of gRPC does. */
  private static int http(int grpc) {
    return switch (grpc) {
      case 0 -> 200;
      case 3 -> 400;
      case 5 -> 404;
      case 8 -> 429;
      case 14 -> 503;
      default -> 500;
    };
  }

  private void settings(ByteBuffer frame, int flags) throws IOException {
    if ((flags & ENDS) != 0) {
      return; // Of our own.
    }
    while (frame.remaining() >= 6) {
      int name = frame.getShort();
      long value = frame.getInt();
      if (name == INITIAL_WINDOW) {
        firstStreamWindow = value;
      }
    }
    isSet = true;
    frame(0, SETTINGS, 1, 0);
    flush();
  }

  /** Has so many bytes of input behind {@link #read}. */
  private void need(int count) throws IOException {
    if (filled - read >= count) {
      return;
    }
    System.arraycopy(input, read, input, 0, filled - read);
    filled -= read;
    read = 0;
    if (input.length < count) {
      input = Arrays.copyOf(input, 2 * count);
    }
    while (filled < count) {
      int got = in.read(input, filled, input.length - filled);
      if (got < 0) {
        throw new EOFException("bench serve: got the end of the connection, expected an answer");
      }
      filled += got;
    }
  }

  @Override
  byte[] bytes() {
    return answered == 0
        ? message.getBytes(StandardCharsets.UTF_8)
        : Arrays.copyOf(answer, answered);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
