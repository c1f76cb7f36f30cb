package dev.tern.serve.http;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/** A connection of HTTP/2 whose frames are written one by one, as no library would. */
final class Http2Caller implements AutoCloseable {
  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int PRIORITY = 2;
  static final int RESET = 3;
  static final int SETTINGS = 4;
  static final int PING = 6;
  static final int GO_AWAY = 7;
  static final int WINDOW = 8;
  static final int END_STREAM = 1;
  static final int END_HEADERS = 4;
  static final int PADDED = 8;

  private final Socket socket;
  private final DataInputStream in;
  private final HpackDecoder decoder = new HpackDecoder(1 << 16, System::nanoTime);
  private int last = -1;

  /** A frame that came. */
  record Frame(int type, int flags, int stream, byte[] payload) {}

  /** What a request was answered with. */
  record Answer(int status, Map<String, String> fields, byte[] body) {
    int grpc() {
      return Integer.parseInt(fields.getOrDefault("grpc-status", "-1"));
    }

    String message() {
      return fields.getOrDefault("grpc-message", "");
    }
  }

  Http2Caller(int port) throws IOException {
    socket = new Socket("127.0.0.1", port);
    socket.setSoTimeout(60_000);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(socket.getInputStream());
    write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    frame(SETTINGS, 0, 0, new byte[0]);
  }

  void write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  void frame(int type, int flags, int stream, byte[] payload) throws IOException {
    write(
        ByteBuffer.allocate(9 + payload.length)
            .put((byte) (payload.length >> 16))
            .putShort((short) payload.length)
            .put((byte) type)
            .put((byte) flags)
            .putInt(stream)
            .put(payload)
            .array());
  }

  /** The head of a request: each field a literal, without compression. */
  static byte[] head(String method, String path, String... fields) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    literal(block, ":method", method);
    literal(block, ":scheme", "http");
    literal(block, ":path", path);
    literal(block, ":authority", "localhost");
    for (String field : fields) {
      literal(
          block, field.substring(0, field.indexOf(':')), field.substring(field.indexOf(':') + 1));
    }
    return block.toByteArray();
  }

  private static void literal(ByteArrayOutputStream block, String name, String value) {
    block.write(0);
    for (String each : new String[] {name, value}) {
      byte[] bytes = each.getBytes(StandardCharsets.ISO_8859_1);
      if (bytes.length >= 127) {
        block.write(127);
        int rest = bytes.length - 127;
        for (; rest >= 128; rest >>= 7) {
          block.write(rest & 127 | 128);
        }
        block.write(rest);
      } else {
        block.write(bytes.length);
      }
      block.writeBytes(bytes);
    }
  }

  /** Begins a request; gives its stream. */
  int begin(boolean ends, String method, String path, String... fields) throws IOException {
    last += 2;
    byte[] block = head(method, path, fields);
    frame(HEADERS, END_HEADERS | (ends ? END_STREAM : 0), last, block);
    return last;
  }

  /** Begins a call by gRPC. */
  int call(String path, String... fields) throws IOException {
    String[] all = java.util.Arrays.copyOf(fields, fields.length + 2);
    all[fields.length] = "content-type:application/grpc";
    all[fields.length + 1] = "te:trailers";
    return begin(false, "POST", path, all);
  }

  void data(int stream, byte[] bytes, boolean ends) throws IOException {
    frame(DATA, ends ? END_STREAM : 0, stream, bytes);
  }

  Frame read() throws IOException {
    int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
    int type = in.readUnsignedByte();
    int flags = in.readUnsignedByte();
    int stream = in.readInt() & Integer.MAX_VALUE;
    byte[] payload = new byte[length];
    in.readFully(payload);
    return new Frame(type, flags, stream, payload);
  }

  /** Reads to the head of the answer to the request of a stream, which no window holds up. */
  void awaitHead(int stream) throws IOException {
    while (true) {
      Frame frame = read();
      if (frame.type == SETTINGS && frame.flags == 0) {
        frame(SETTINGS, 1, 0, new byte[0]);
      }
      if (frame.type == HEADERS) {
        decode(frame.payload);
        if (frame.stream == stream) {
          return;
        }
      }
    }
  }

  /** The answer to the request of a stream. */
  Answer answer(int stream) throws IOException {
    Map<String, String> fields = new HashMap<>();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    int status = 0;
    while (true) {
      Frame frame = read();
      if (frame.type == GO_AWAY) {
        throw new EOFException(
            "go away: " + new String(frame.payload, 8, frame.payload.length - 8));
      }
      if (frame.type == SETTINGS && frame.flags == 0) {
        frame(SETTINGS, 1, 0, new byte[0]);
      }
      if (frame.type == HEADERS) {
        MetaData head = decode(frame.payload);
        if (frame.stream == stream) {
          status = head instanceof MetaData.Response response ? response.getStatus() : status;
          for (HttpField field : head.getHttpFields()) {
            fields.put(field.getLowerCaseName(), field.getValue());
          }
        }
      }
      if (frame.stream != stream) {
        continue;
      }
      if (frame.type == DATA) {
        body.writeBytes(frame.payload);
      }
      if (frame.type == RESET) {
        throw new EOFException("reset " + ByteBuffer.wrap(frame.payload).getInt());
      }
      if (frame.type <= HEADERS && (frame.flags & END_STREAM) != 0) {
        return new Answer(status, fields, body.toByteArray());
      }
    }
  }

  private MetaData decode(byte[] block) throws IOException {
    try {
      return decoder.decode(ByteBuffer.wrap(block));
    } catch (HpackException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
