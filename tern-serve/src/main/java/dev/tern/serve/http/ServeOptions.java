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
 * @param memory the most bytes outside the heap for each model that does not say: tables, changes
 *     on their way into them, weights, working memory. By default what this machine or container
 *     has beside the heap
 */
public record ServeOptions(
    Listening listening,
    ServeLimits limits,
    Optional<Path> tokens,
    boolean admin,
    Optional<Path> accessLog,
    Duration grace,
    long memory) {
  /** Loopback at port 8000, no tokens, 5 seconds of grace. */
  public static final ServeOptions DEFAULT =
      new ServeOptions(
          Listening.DEFAULT,
          ServeLimits.DEFAULT,
          Optional.empty(),
          false,
          Optional.empty(),
          Duration.ofSeconds(5),
          ModelMemory.limit());

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
    requireMemory(memory);
  }

  static void requireMemory(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException(
          "memory: got " + bytes + ", expected a number of bytes, as in 4g");
    }
  }

  /** The same at another place. */
  public ServeOptions withListening(Listening other) {
    return new ServeOptions(other, limits, tokens, admin, accessLog, grace, memory);
  }

  /** The same with other limits. */
  public ServeOptions withLimits(ServeLimits other) {
    return new ServeOptions(listening, other, tokens, admin, accessLog, grace, memory);
  }

  /** The same for callers with a token of {@code file} alone. */
  public ServeOptions withTokens(Path file, boolean mayAdmin) {
    return new ServeOptions(
        listening, limits, Optional.of(file), mayAdmin, accessLog, grace, memory);
  }

  /** The same with a line a request in {@code file}. */
  public ServeOptions withAccessLog(Path file) {
    return new ServeOptions(listening, limits, tokens, admin, Optional.of(file), grace, memory);
  }

  /** The same with another time of grace. */
  public ServeOptions withGrace(Duration time) {
    return new ServeOptions(listening, limits, tokens, admin, accessLog, time, memory);
  }

  /** The same with another limit of each model's memory. */
  public ServeOptions withMemory(long bytes) {
    return new ServeOptions(listening, limits, tokens, admin, accessLog, grace, bytes);
  }
}
