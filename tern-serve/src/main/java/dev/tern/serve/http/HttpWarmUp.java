package dev.tern.serve.http;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Requests of the server to itself before it is ready, so that the JIT has compiled what lies
 * between a socket and a model. They come over a port of loopback that is open meanwhile, and need
 * a secret of this process: what others send there is not found.
 */
final class HttpWarmUp implements AutoCloseable {
  /** A made-up request for scores. */
  record Asked(String path, byte[] body) {}

  private static final String SECRET = "X-Tern-Warm-Up";
  private static final int MILLIS = 10_000;
  private static final long WINDOW_NANOS = 500_000_000L;
  private static final int STEADY_WINDOWS = 3;
  private static final double FASTER = 1.1;

  private final Server server;
  private final ServerConnector connector;
  private final String secret;

  HttpWarmUp(Server server, HttpConfiguration http) throws Exception {
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    secret = HexFormat.of().formatHex(random);
    this.server = server;
    connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    server.addConnector(connector);
    connector.start();
  }

  /** Whether a request came by this port. */
  boolean isHere(Request request) {
    return request.getConnectionMetaData().getConnector() == connector;
  }

  /** Whether a request that came by this port is of this process. */
  boolean isOwn(Request request) {
    return secret.equals(request.getHeaders().get(SECRET));
  }

  /**
   * Sends requests in turn on one connection until they are no longer answered faster and faster,
   * until {@code end}, or until one is refused.
   */
  void run(List<Asked> requests, long end) throws IOException {
    try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), connector.getLocalPort())) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(MILLIS);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      List<byte[]> whole = requests.stream().map(this::bytes).toList();
      int best = 0;
      int sinceBest = 0;
      while (sinceBest < STEADY_WINDOWS && System.nanoTime() < end) {
        long windowEnd = Math.min(end, System.nanoTime() + WINDOW_NANOS);
        int answered = 0;
        while (System.nanoTime() < windowEnd) {
          out.write(whole.get(answered % whole.size()));
          if (status(in) != 200) {
            return; // The model takes no made-up values; its first requests are slower.
          }
          answered++;
        }
        boolean isFaster = answered > best * FASTER;
        sinceBest = isFaster ? 0 : sinceBest + 1;
        best = Math.max(best, answered);
      }
    }
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

  @Override
  public void close() throws Exception {
    connector.stop();
    server.removeConnector(connector);
  }
}
