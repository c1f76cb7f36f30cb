package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.serve.http.Listening;
import dev.tern.serve.http.ServeLimits;
import dev.tern.serve.http.ServeOptions;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of where a server listens, whom it answers and what it refuses. */
final class ServerChoice {
  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port; 0 takes a free one (default ${DEFAULT-VALUE}).",
      defaultValue = "8000")
  private int port = Listening.DEFAULT.port();

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description =
          "An address of this machine; 0.0.0.0 is all of them (default ${DEFAULT-VALUE}, which"
              + " this machine alone can reach).",
      defaultValue = "127.0.0.1")
  private String host = Listening.DEFAULT.host();

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "Answer only who sends Authorization: Bearer TOKEN; the file has the SHA-256 of each"
              + " token in hexadecimal, one a line.")
  private @Nullable Path tokens;

  @Option(
      names = "--admin",
      description =
          "Let callers with a token list versions and load another step; needs --token-file.")
  private boolean admin;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Speak TLS 1.3 with the certificates of this file, in PEM.")
  private @Nullable Path certificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The private key of the certificate, in PEM (PKCS #8, not encrypted).")
  private @Nullable Path key;

  @Option(
      names = "--tls-client-ca",
      paramLabel = "FILE",
      description = "Answer only who shows a certificate that one of these signed, in PEM.")
  private @Nullable Path clients;

  @Option(
      names = "--cors",
      paramLabel = "ORIGIN",
      description = "Let pages of this origin call, as in https://shop.example.")
  private @Nullable String cors;

  @Option(
      names = "--access-log",
      paramLabel = "FILE",
      description = "Write a line of JSON for each request; - is the standard output.")
  private @Nullable Path accessLog;

  @Option(
      names = "--max-body",
      paramLabel = "BYTES",
      converter = Amounts.Bytes.class,
      description = "The largest body, as sent and inflated (default ${DEFAULT-VALUE}).",
      defaultValue = "8m")
  private Long body = ServeLimits.DEFAULT.body();

  @Option(
      names = "--max-inflight",
      paramLabel = "N",
      description = "Requests computed at once (default 4 a core).")
  private int inFlight = ServeLimits.DEFAULT.inFlight();

  @Option(
      names = "--queue",
      paramLabel = "N",
      description = "Requests that wait for their turn (default ${DEFAULT-VALUE}).",
      defaultValue = "1024")
  private int queue = ServeLimits.DEFAULT.queue();

  @Option(
      names = "--queue-time",
      paramLabel = "TIME",
      converter = Amounts.Time.class,
      description = "How long one waits at most (default ${DEFAULT-VALUE}).",
      defaultValue = "100ms")
  private Duration queueTime = ServeLimits.DEFAULT.queueTime();

  @Option(
      names = "--connections",
      paramLabel = "N",
      description = "Open connections (default ${DEFAULT-VALUE}).",
      defaultValue = "1000")
  private int connections = ServeLimits.DEFAULT.connections();

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      converter = Amounts.Time.class,
      description =
          "How long it still answers after it was told to stop, while it says that it is not"
              + " ready (default ${DEFAULT-VALUE}).",
      defaultValue = "5s")
  private Duration grace = ServeOptions.DEFAULT.grace();

  @Option(
      names = "--memory",
      paramLabel = "[NAME=]BYTES",
      converter = Amounts.Limits.class,
      description =
          "The most memory outside the heap for each model (default: what the machine or container"
              + " has beside the heap); with a name in front for that model alone.")
  private List<Amounts.Limit> memory = List.of();

  /** What the options say together. */
  ServeOptions options() {
    try {
      Listening listening = new Listening(host, port, tls(), Optional.ofNullable(cors));
      ServeLimits limits =
          ServeLimits.DEFAULT
              .withBody(body)
              .withInFlight(inFlight, queue, queueTime)
              .withConnections(connections);
      return new ServeOptions(
          listening,
          limits,
          Optional.ofNullable(tokens),
          admin,
          Optional.ofNullable(accessLog),
          grace,
          memory.stream()
              .filter(limit -> limit.model().isEmpty())
              .reduce((_, last) -> last)
              .map(Amounts.Limit::bytes)
              .orElse(ServeOptions.DEFAULT.memory()));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Models with the limits of memory that name them. */
  List<ServedName> limited(List<ServedName> names) {
    return ServedModels.limited(names, memory);
  }

  private Optional<Listening.Tls> tls() {
    Path chain = certificate;
    Path secret = key;
    if (chain == null && secret == null && clients == null) {
      return Optional.empty();
    }
    if (chain == null || secret == null) {
      throw new ConfigException(
          "serve: got one of --tls-cert, --tls-key and --tls-client-ca, expected --tls-cert and"
              + " --tls-key together");
    }
    return Optional.of(new Listening.Tls(chain, secret, Optional.ofNullable(clients)));
  }

  /** Where to ask whether a server is ready. */
  Readiness readiness() {
    return new Readiness(host, port, Optional.ofNullable(certificate));
  }

  /** What a user should know who lets others reach the server. */
  Optional<String> warning() {
    if (isLoopback() || tokens != null || clients != null) {
      return Optional.empty();
    }
    return Optional.of(
        "warning: "
            + host
            + ": others can reach this server, and anyone of them may call; see --token-file and"
            + " --tls-cert");
  }

  private boolean isLoopback() {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false; // The server says so.
    }
  }
}
