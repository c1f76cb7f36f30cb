package dev.tern.cli.board;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * HTTP of the board: a page, its style and script, the events, and each run's configuration and
 * report. Paths are fixed and runs go by number, so no request names a file. Nothing can be changed
 * through it.
 */
final class BoardServer implements AutoCloseable {
  private static final Pattern RUN = Pattern.compile("run=([0-9]{1,9})");
  private static final String OWN =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** A report has its style within it, and no script. */
  private static final String FOREIGN =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action"
          + " 'none'; frame-ancestors 'none'; sandbox";

  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";

  private final Board board;
  private final WatchedServers servers;
  private final InetAddress address;
  private final HttpServer server;
  private final ExecutorService threads;
  private final EventStreams streams;

  BoardServer(Board board, WatchedServers servers, InetSocketAddress at) throws IOException {
    // Read once by the JDK: without them answers wait 40 ms, and slow requests for ever.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
    this.board = board;
    this.servers = servers;
    address = at.getAddress();
    server = HttpServer.create(at, 0);
    threads = Executors.newVirtualThreadPerTaskExecutor();
    streams = new EventStreams(board);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
  }

  void start() {
    server.start();
  }

  String url() {
    String host = address.getHostAddress();
    return "http://"
        + (host.contains(":") ? "[" + host + "]" : host)
        + ":"
        + server.getAddress().getPort()
        + "/";
  }

  boolean isOpenToOthers() {
    return !address.isLoopbackAddress();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Headers headers = exchange.getResponseHeaders();
      headers.set("Cache-Control", "no-store");
      headers.set("X-Content-Type-Options", "nosniff");
      headers.set("Referrer-Policy", "no-referrer");
      headers.set("Cross-Origin-Resource-Policy", "same-origin");
      headers.set("Content-Security-Policy", OWN);
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        headers.set("Allow", "GET, HEAD");
        answer(exchange, 405, TEXT, "expected GET or HEAD\n");
      } else if (!isForUs(exchange)) {
        answer(exchange, 403, TEXT, "expected this machine's name in the address\n");
      } else {
        route(exchange);
      }
    }
  }

  /**
   * Refuses requests under another name than this machine's own: a page of the web whose name leads
   * here could read the runs otherwise.
   */
  private boolean isForUs(HttpExchange exchange) {
    if (isOpenToOthers()) {
      return true;
    }
    String host = Optional.ofNullable(exchange.getRequestHeaders().getFirst("Host")).orElse("");
    String name = host.replaceFirst(":[0-9]*$", "");
    return name.equals("localhost")
        || name.equals("[::1]")
        || name.matches("127(\\.[0-9]{1,3}){3}");
  }

  private void route(HttpExchange exchange) throws IOException {
    switch (exchange.getRequestURI().getRawPath()) {
      case "/" -> resource(exchange, "board.html", HTML);
      case "/board.css" -> resource(exchange, "board.css", "text/css; charset=utf-8");
      case "/board.js" -> resource(exchange, "board.js", "text/javascript; charset=utf-8");
      case "/chart.js" -> resource(exchange, "chart.js", "text/javascript; charset=utf-8");
      case "/runs" -> answer(exchange, 200, "application/json", runs());
      case "/servers" -> answer(exchange, 200, "application/json", servers.json());
      case "/events" -> streams.serve(exchange);
      case "/config" -> file(exchange, FolderFacts::config, TEXT);
      case "/report" -> {
        exchange.getResponseHeaders().set("Content-Security-Policy", FOREIGN);
        file(exchange, FolderFacts::report, HTML);
      }
      default -> answer(exchange, 404, TEXT, "no such page; the board is at /\n");
    }
  }

  private String runs() {
    return new Json.Arr(board.runs().stream().map(WatchedRun::summary).toList()) + "\n";
  }

  private static void resource(HttpExchange exchange, String name, String type) throws IOException {
    try (InputStream in = BoardServer.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + ": got no such resource, expected Tern's own");
      }
      answer(exchange, 200, type, in.readAllBytes());
    }
  }

  private void file(HttpExchange exchange, Function<Path, Path> place, String type)
      throws IOException {
    String query = Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse("");
    Matcher number = RUN.matcher(query);
    Optional<Path> file =
        number.matches()
            ? board.run(Integer.parseInt(number.group(1))).map(WatchedRun::folder).map(place)
            : Optional.empty();
    if (file.filter(Files::isRegularFile).isEmpty()) {
      exchange.getResponseHeaders().set("Content-Security-Policy", OWN);
      answer(exchange, 404, TEXT, "the run has none\n");
      return;
    }
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file.get());
    } catch (IOException _) {
      answer(exchange, 404, TEXT, "it cannot be read\n");
      return;
    }
    answer(exchange, 200, type, bytes);
  }

  private static void answer(HttpExchange exchange, int code, String type, String text)
      throws IOException {
    answer(exchange, code, type, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void answer(HttpExchange exchange, int code, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(body.length));
      exchange.sendResponseHeaders(code, -1);
      return;
    }
    exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
