package dev.tern.serve.http;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a {@link ModelServer} listens.
 *
 * @param host a name or address of this machine; {@code 0.0.0.0} is all of them
 * @param port 0 to 65535; 0 takes one that is free
 * @param tls its certificates; without them it speaks plain HTTP
 * @param cors the origin whose pages may call, as in {@code https://shop.example}; none by default
 */
public record Listening(String host, int port, Optional<Tls> tls, Optional<String> cors) {
  /** Plain HTTP on this machine alone, at port 8000. */
  public static final Listening DEFAULT =
      new Listening("127.0.0.1", 8000, Optional.empty(), Optional.empty());

  /** Checks the port and the origin. */
  public Listening {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: got " + port + ", expected 0 to 65535");
    }
    cors.ifPresent(Listening::requireOrigin);
  }

  private static void requireOrigin(String origin) {
    if (!origin.matches("https?://[A-Za-z0-9.:\\[\\]-]+")) {
      throw new IllegalArgumentException(
          "cors: got " + origin + ", expected one origin such as https://shop.example");
    }
  }

  /** The same on another port. */
  public Listening withPort(int other) {
    return new Listening(host, other, tls, cors);
  }

  /** The same at another host. */
  public Listening withHost(String other) {
    return new Listening(other, port, tls, cors);
  }

  /** The same with certificates. */
  public Listening withTls(Tls certificates) {
    return new Listening(host, port, Optional.of(certificates), cors);
  }

  /** The same for the pages of an origin too. */
  public Listening withCors(String origin) {
    return new Listening(host, port, tls, Optional.of(origin));
  }

  /**
   * Files of TLS 1.3, read again when they change.
   *
   * @param certificate PEM: the server's certificate, then those that signed it
   * @param key PEM: its private key in PKCS #8, not encrypted
   * @param clients PEM: who signs the certificates that callers must show; without it they show
   *     none
   */
  public record Tls(Path certificate, Path key, Optional<Path> clients) {}
}
