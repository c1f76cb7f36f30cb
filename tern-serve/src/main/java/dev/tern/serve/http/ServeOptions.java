package dev.tern.serve.http;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What a {@link ModelServer} is told.
 *
 * @param listening where it listens
 * @param limits what it refuses
 * @param tokens a file with the SHA-256 of each token that may call, in hexadecimal, one a line
 *     with a name behind it if wanted; read again when it changes. Without it anyone may call
 * @param admin whether callers may load another step of a model; needs {@code tokens}
 * @param accessLog the file for one line of JSON a request; {@code -} is the standard output
 * @param grace how long the server still takes requests after it was told to stop, so that who
 *     sends them learns that it is not ready
 */
public record ServeOptions(
    Listening listening,
    ServeLimits limits,
    Optional<Path> tokens,
    boolean admin,
    Optional<Path> accessLog,
    Duration grace) {
  /** Loopback at port 8000, no tokens, 5 seconds of grace. */
  public static final ServeOptions DEFAULT =
      new ServeOptions(
          Listening.DEFAULT,
          ServeLimits.DEFAULT,
          Optional.empty(),
          false,
          Optional.empty(),
          Duration.ofSeconds(5));

  /** Checks that only callers with a token may change what is served. */
  public ServeOptions {
    if (admin && tokens.isEmpty()) {
      throw new IllegalArgumentException(
          "serve: got --admin without --token-file, expected both; anyone could change what is"
              + " served");
    }
    if (grace.isNegative() || grace.compareTo(Duration.ofMinutes(10)) > 0) {
      throw new IllegalArgumentException(
          "serve: got a grace of " + grace + ", expected 0 to 10 minutes");
    }
  }

  /** The same at another place. */
  public ServeOptions withListening(Listening other) {
    return new ServeOptions(other, limits, tokens, admin, accessLog, grace);
  }

  /** The same with other limits. */
  public ServeOptions withLimits(ServeLimits other) {
    return new ServeOptions(listening, other, tokens, admin, accessLog, grace);
  }

  /** The same for callers with a token of {@code file} alone. */
  public ServeOptions withTokens(Path file, boolean mayAdmin) {
    return new ServeOptions(listening, limits, Optional.of(file), mayAdmin, accessLog, grace);
  }

  /** The same with a line a request in {@code file}. */
  public ServeOptions withAccessLog(Path file) {
    return new ServeOptions(listening, limits, tokens, admin, Optional.of(file), grace);
  }

  /** The same with another time of grace. */
  public ServeOptions withGrace(Duration time) {
    return new ServeOptions(listening, limits, tokens, admin, accessLog, time);
  }
}
