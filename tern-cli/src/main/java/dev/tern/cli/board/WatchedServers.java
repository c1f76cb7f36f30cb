package dev.tern.cli.board;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Servers of Tern whose metrics the page shows. They are asked when a page asks, each once in two
 * seconds at most.
 */
final class WatchedServers implements AutoCloseable {
  /** Servers at most. */
  static final int MOST = 16;

  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  private static final long FRESH_MILLIS = 2_000;
  private static final int MOST_BYTES = 8 << 20;

  private final List<Server> servers = new ArrayList<>();
  private final Optional<Path> token;
  private final HttpClient client =
      HttpClient.newBuilder()
          .connectTimeout(TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();

  /** One of them, with what it said last. Guarded by itself. */
  private static final class Server {
    final URI address;
    Optional<ExposedMetrics> last = Optional.empty();
    Json.Obj report = Json.object();
    long asked;

    Server(URI address) {
      this.address = address;
    }
  }

  /**
   * @param addresses as in {@code http://127.0.0.1:8000}
   * @param token a file with a token that these servers know, if they want one
   */
  WatchedServers(List<String> addresses, Optional<Path> token) {
    this.token = token;
    if (addresses.size() > MOST) {
      throw new ConfigException(
          "--server: got %d servers, expected %d at most; start another board"
              .formatted(addresses.size(), MOST));
    }
    addresses.forEach(each -> servers.add(new Server(address(each))));
  }

  private static URI address(String text) {
    try {
      URI address = URI.create(text);
      boolean isHttp = "http".equals(address.getScheme()) || "https".equals(address.getScheme());
      if (isHttp && address.getHost() != null && address.getUserInfo() == null) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      throw wrong(text);
    }
    throw wrong(text);
  }

  private static ConfigException wrong(String text) {
    return new ConfigException(
        "--server: got "
            + text
            + ", expected the address of a server, as in http://127.0.0.1:8000");
  }

  int count() {
    return servers.size();
  }

  /** What all servers say now, as a JSON array. */
  String json() {
    List<Json> reports = servers.parallelStream().<Json>map(this::report).toList();
    return new Json.Arr(reports) + "\n";
  }

  private Json report(Server server) {
    synchronized (server) {
      long now = System.currentTimeMillis();
      if (now - server.asked >= FRESH_MILLIS) {
        server.asked = now;
        server.report = asked(server, now);
      }
      return server.report;
    }
  }

  private Json.Obj asked(Server server, long now) {
    Json.Obj json;
    try {
      ExposedMetrics page = ExposedMetrics.parse(page(server.address), now);
      json = new ServerReport(page, server.last).json();
      server.last = Optional.of(page);
    } catch (IOException e) {
      server.last = Optional.empty();
      boolean silent = e instanceof ConnectException || e instanceof HttpTimeoutException;
      json = Json.object().put("error", silent ? "it does not answer" : DataException.reason(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      json = Json.object().put("error", "the board ends");
    }
    return json.put("address", server.address.toString());
  }

  private String page(URI server) throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve("/metrics")).timeout(TIMEOUT).GET();
    if (token.isPresent()) {
      String first = Files.readString(token.get()).lines().findFirst().orElse("").strip();
      request.header("Authorization", "Bearer " + first);
    }
    HttpResponse<InputStream> answer =
        client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      byte[] bytes = body.readNBytes(MOST_BYTES + 1);
      if (answer.statusCode() != 200 || bytes.length > MOST_BYTES) {
        throw new IOException(
            answer.statusCode() == 401
                ? "the server wants a token, see --server-token-file"
                : "got status " + answer.statusCode() + " and " + bytes.length + " bytes");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
