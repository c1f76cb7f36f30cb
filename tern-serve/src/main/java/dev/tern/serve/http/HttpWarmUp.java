package dev.tern.serve.http;

import dev.tern.base.Workers;
import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.grpc.GrpcMethod;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.BufferUtil;
import org.jspecify.annotations.Nullable;

/**
 * Requests of the server to itself before it is ready, so that the JIT has compiled what lies
 * between a socket and a model. They come over a port of loopback that is open meanwhile, and need
 * a secret of this process: what others send there is not found.
 */
final class HttpWarmUp implements AutoCloseable {
  /** A made-up request for scores. */
  record Asked(String path, byte[] body) {}

  /** The field of requests that has the secret. */
  static final String SECRET = "X-Tern-Warm-Up";

  private static final int MILLIS = 10_000;
  private static final long WINDOW_NANOS = 500_000_000L;
  private static final int STEADY_WINDOWS = 3;
  private static final double FASTER = 1.1;
  private static final int LENGTHS = 20_000;

  /** Rounds of all requests by one caller at the end. */
  private static final int LAST_ROUNDS = 20;

  /** Rounds of all requests on one connection. */
  private static final int ROUNDS = 16;

  /** Share of a window that the JIT's threads may work while it counts as steady. */
  private static final double MOST_COMPILED = 0.1;

  private final Server server;
  private final ServerConnector connector;
  private final String secret;
  private final LongAdder answered = new LongAdder();
  private volatile boolean isDone;

  HttpWarmUp(Server server, HttpConfiguration http) throws Exception {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    secret = HexFormat.of().formatHex(random);
    this.server = server;
    connector =
        new ServerConnector(
            server, 1, 1, new HttpConnectionFactory(http), new HTTP2CServerConnectionFactory(http));
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    server.addConnector(connector);
    connector.start();
  }

  /** Where its requests come in, and by what they are known. */
  Guest.Door door() {
    return new Guest.Door(Optional.of(connector), secret);
  }

  /**
   * Sends requests and a call by gRPC in turn, each kind on one connection, then so on some more of
   * them, until they are no longer answered faster and faster and the JIT has little left to do, or
   * until {@code end}. Requests that are refused are not sent again.
   *
   * @param call a message of gRPC with its prefix
   * @param callers that send at once
   * @return whether any was answered: false where a model takes none of the values made up
   */
  boolean run(List<Asked> requests, byte[] call, int callers, long end) throws IOException {
    List<byte[]> whole = taken(requests.stream().map(this::bytes).toList());
    if (whole.isEmpty()) {
      return false;
    }
    try (Caller first = new Caller(whole, call)) {
      first.askEach();
      List<Thread> others = new ArrayList<>();
      try {
        for (int i = 1; i < callers; i++) {
          others.add(
              Thread.ofPlatform().daemon().name("tern-warm-", i).start(() -> follow(whole, call)));
        }
        awaitSteady(first, end);
      } finally {
        isDone = true;
        others.forEach(Workers::awaitEnd);
      }
      settle(first);
    }
    return true;
  }

  /**
   * Asks one request after the other for a moment: while several callers competed for processors
   * with the JIT, requests took longer than they will, by which they are told apart ({@link
   * Quick}).
   */
  private static void settle(Caller first) throws IOException {
    for (int i = 0; i < LAST_ROUNDS; i++) {
      first.askEach();
    }
  }

  /** Has the JIT see lengths of answers of any number of digits. */
  static void rehearse() {
    ByteBuffer digits = ByteBuffer.allocate(32);
    for (int i = 0; i < LENGTHS; i++) {
      BufferUtil.putDecLong(digits.clear(), (long) i * i);
    }
  }

  /** The requests that are answered with what they ask for. */
  private List<byte[]> taken(List<byte[]> requests) throws IOException {
    List<byte[]> taken = new ArrayList<>();
    try (Caller caller = new Caller(List.of(), new byte[0])) {
      for (byte[] request : requests) {
        if (caller.ask(request)) {
          taken.add(request);
        }
      }
    }
    return taken;
  }

  /** Asks until the speed and the JIT are steady. */
  private void awaitSteady(Caller first, long end) throws IOException {
    long best = 0;
    int sinceBest = 0;
    while (sinceBest < STEADY_WINDOWS && System.nanoTime() < end) {
      long windowEnd = Math.min(end, System.nanoTime() + WINDOW_NANOS);
      long before = answered.sum();
      long compiled = compileMillis();
      while (System.nanoTime() < windowEnd) {
        first.askEach();
      }
      long count = answered.sum() - before;
      boolean isFaster = count > best * FASTER;
      boolean isCompiling = compileMillis() - compiled > MOST_COMPILED * WINDOW_NANOS / 1e6;
      sinceBest = isFaster || isCompiling ? 0 : sinceBest + 1;
      best = Math.max(best, count);
    }
  }

  private void follow(List<byte[]> whole, byte[] call) {
    try (Caller caller = new Caller(whole, call)) {
      while (!isDone) {
        caller.askEach();
      }
    } catch (IOException | RuntimeException _) {
      return; // The first caller meets it too, or goes on alone.
    }
  }

  /** Milliseconds that the JIT's threads have worked; 0 where the JVM does not tell. */
  private static long compileMillis() {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null || !compiler.isCompilationTimeMonitoringSupported()
        ? 0
        : compiler.getTotalCompilationTime();
  }

  /**
   * A connection for requests and one for calls. They are closed and opened anew from time to time,
   * as those of callers are.
   */
  private final class Caller implements AutoCloseable {
    private final List<byte[]> requests;
    private final byte[] call;
    private Socket socket;
    private InputStream in;
    private @Nullable Calls calls;
    private boolean takesCalls = true;
    private int rounds;

    Caller(List<byte[]> requests, byte[] call) throws IOException {
      this.requests = requests;
      this.call = call;
      socket = connect();
      in = new BufferedInputStream(socket.getInputStream());
    }

    /** Sends a request; whether it is answered with what it asks for. */
    boolean ask(byte[] request) throws IOException {
      socket.getOutputStream().write(request);
      return status(in) == 200;
    }

    /** Sends each request once. */
    void askEach() throws IOException {
      if (++rounds % ROUNDS == 0) {
        close();
        calls = null;
        socket = connect();
        in = new BufferedInputStream(socket.getInputStream());
      }
      for (byte[] request : requests) {
        ask(request);
        answered.increment();
      }
      if (takesCalls) {
        if (calls == null) {
          calls = new Calls(connect(), secret);
        }
        takesCalls = calls.ask(call);
        answered.increment();
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
      if (calls != null) {
        calls.close();
      }
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), connector.getLocalPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(MILLIS);
    return socket;
  }

  private byte[] bytes(Asked asked) {
    String head =
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s: %s\r\nContent-Length: %s\r\n\r\n"
            .formatted(asked.path(), SECRET, secret, asked.body().length);
    byte[] start = head.getBytes(StandardCharsets.US_ASCII);
    byte[] all = new byte[start.length + asked.body().length];
    System.arraycopy(start, 0, all, 0, start.length);
    System.arraycopy(asked.body(), 0, all, start.length, asked.body().length);
    return all;
  }

  /** Reads an answer whole; gives its status. */
  private static int status(InputStream in) throws IOException {
    int status = Integer.parseInt(line(in).split(" ", 3)[1]);
    int length = 0;
    for (String field = line(in); !field.isEmpty(); field = line(in)) {
      if (field.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(field.substring(field.indexOf(':') + 1).strip());
      }
    }
    in.skipNBytes(length);
    return status;
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("warm-up: got the end of the connection, expected an answer");
      }
      line.append((char) next);
    }
    return line.toString().strip();
  }

  /** A connection of HTTP/2 that reads of an answer whether there is one. */
  private static final class Calls implements AutoCloseable {
    private static final byte[] PREFACE =
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int WINDOW = 8;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int MOST_FRAME = 16_384;
    private static final int MOST_BYTES = 1 << 30;

    private final Socket socket;
    private final DataInputStream in;
    private final byte[] head;
    private int stream = -1;

    Calls(Socket socket, String secret) throws IOException {
      this.socket = socket;
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      head = head(secret);
      ByteBuffer first = ByteBuffer.allocate(64).put(PREFACE);
      frame(first, SETTINGS, 0, 0, new byte[0]);
      frame(first, WINDOW, 0, 0, ByteBuffer.allocate(4).putInt(MOST_BYTES).array());
      socket.getOutputStream().write(first.array(), 0, first.position());
    }

    private static byte[] head(String secret) {
      ByteArrayOutputStream block = new ByteArrayOutputStream();
      String[] fields = {
        ":method",
        "POST",
        ":scheme",
        "http",
        ":path",
        GrpcMethod.MODEL_INFER.path(),
        ":authority",
        "localhost",
        "content-type",
        GrpcProtocol.TYPE,
        SECRET.toLowerCase(Locale.ROOT),
        secret
      };
      for (int i = 0; i < fields.length; i++) {
        if (i % 2 == 0) {
          block.write(0); // A field follows as it is: its name, then its value.
        }
        block.write(fields[i].length());
        block.writeBytes(fields[i].getBytes(StandardCharsets.US_ASCII));
      }
      return block.toByteArray();
    }

    private static void frame(ByteBuffer to, int type, int flags, int stream, byte[] payload) {
      to.put((byte) 0).putShort((short) payload.length);
      to.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    }

    /** Sends a message with its prefix; whether scores came back. */
    boolean ask(byte[] message) throws IOException {
      if (message.length > MOST_FRAME) {
        return false; // So many columns that it were several frames.
      }
      stream += 2;
      ByteBuffer request = ByteBuffer.allocate(head.length + message.length + 32);
      frame(request, HEADERS, END_HEADERS, stream, head);
      frame(request, DATA, END_STREAM, stream, message);
      socket.getOutputStream().write(request.array(), 0, request.position());
      boolean hasScores = false;
      while (true) {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int of = in.readInt();
        in.skipNBytes(length);
        if (type == SETTINGS && flags == 0) {
          ByteBuffer taken = ByteBuffer.allocate(16);
          frame(taken, SETTINGS, 1, 0, new byte[0]);
          socket.getOutputStream().write(taken.array(), 0, taken.position());
        }
        hasScores |= of == stream && type == DATA;
        boolean ends = type <= HEADERS && (flags & END_STREAM) != 0 || type == RESET;
        if (of == stream && ends) {
          return hasScores;
        }
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Override
  public void close() throws Exception {
    connector.stop();
    server.removeConnector(connector);
  }
}
