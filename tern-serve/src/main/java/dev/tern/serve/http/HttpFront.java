package dev.tern.serve.http;

import dev.tern.serve.RefusedException;
import dev.tern.serve.Reply;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * HTTP for {@link Answers}: connections, limits, tokens, TLS. It and the types whose names begin
 * with {@code Http} are the only ones that know Jetty.
 */
final class HttpFront implements AutoCloseable {
  private static final int OTHER_THREADS = 32;
  private static final long SWEEP_MILLIS = 1_000;
  private static final long STOP_MILLIS = 3_000;
  private static final long LAST_NANOS = 500_000_000L;
  private static final long LOOK_MILLIS = 5;
  private static final long NOTE_NANOS = 60_000_000_000L;

  private final ServeOptions options;
  private final Answers answers;
  private final ServeMetrics metrics;
  private final Optional<AccessLog> accessLog;
  private final Consumer<String> notes;
  private final HttpConfiguration http = new HttpConfiguration();
  private final Server server;
  private final ServerConnector connector;
  private final Admission admission;
  private final BodyBudget bodies;
  private final HttpSweep sweep;
  private final Optional<HttpTls> tls;
  private final Optional<Watched<Tokens>> tokens;
  private volatile Optional<HttpWarmUp> warming = Optional.empty();
  private final Set<HttpExchange> reading = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer;
  private final AtomicLong noted = new AtomicLong(System.nanoTime() - NOTE_NANOS);

  HttpFront(
      ServeOptions options,
      Answers answers,
      ServeMetrics metrics,
      Optional<AccessLog> accessLog,
      Consumer<String> notes) {
    HttpLogging.quiet();
    this.options = options;
    this.answers = answers;
    this.metrics = metrics;
    this.accessLog = accessLog;
    this.notes = notes;
    QueuedThreadPool threads =
        new QueuedThreadPool(options.limits().inFlight() + OTHER_THREADS, OTHER_THREADS / 4);
    threads.setName("tern-serve");
    threads.setDaemon(true);
    server = new Server(threads);
    tls = options.listening().tls().map(files -> new HttpTls(files, notes));
    tokens =
        options.tokens().map(file -> new Watched<>(List.of(file), () -> Tokens.read(file), notes));
    connector = connector();
    sweep = new HttpSweep(options.limits().headerTime(), System::nanoTime);
    admission = new Admission(options.limits(), threads, System::nanoTime);
    bodies = BodyBudget.of(options.limits());
    server.setHandler(new GracefulHandler(new Entry()));
    server.setErrorHandler(this::writeError);
    server.setStopTimeout(STOP_MILLIS);
    timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("tern-serve-sweep").unstarted(task));
  }

  private ServerConnector connector() {
    http.setSendServerVersion(false);
    http.setSendXPoweredBy(false);
    http.setRequestHeaderSize(ServeLimits.HEAD_BYTES);
    http.setUseInputDirectByteBuffers(false); // Bodies are copied to arrays.
    List<ConnectionFactory> protocols = new ArrayList<>();
    HttpConnectionFactory plain = new HttpConnectionFactory(http);
    tls.ifPresent(t -> protocols.add(new SslConnectionFactory(t.factory(), plain.getProtocol())));
    protocols.add(plain);
    int selectors = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);
    ServerConnector made =
        new ServerConnector(server, 1, selectors, protocols.toArray(ConnectionFactory[]::new));
    made.setHost(options.listening().host());
    made.setPort(options.listening().port());
    made.setIdleTimeout(options.limits().idle().toMillis());
    server.addConnector(made);
    made.addBean(new NetworkConnectionLimit(options.limits().connections(), made));
    return made;
  }

  /** Every request comes here. */
  private final class Entry extends Handler.Abstract {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      new HttpExchange(HttpFront.this, request, response, callback).begin();
      return true;
    }
  }

  /**
   * Begins to listen.
   *
   * @return the port
   */
  int start() {
    try {
      server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "serve: got %s at %s:%s, expected a free port of this machine; choose another by --port or --host"
              .formatted(
                  e.getCause() == null ? e.getMessage() : e.getCause().getMessage(),
                  options.listening().host(),
                  options.listening().port()),
          e);
    } catch (Exception e) {
      throw new IllegalStateException("serve: got " + e + " from the HTTP library", e);
    }
    timer.scheduleWithFixedDelay(this::sweep, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    long tick = Math.max(1, options.limits().queueTime().toMillis() / 4);
    timer.scheduleWithFixedDelay(admission::expire, tick, tick, TimeUnit.MILLISECONDS);
    return connector.getLocalPort();
  }

  /**
   * Sends made-up requests through all of the server, for {@code time} at most. Called before it is
   * ready; nothing of them is counted.
   */
  void warm(List<HttpWarmUp.Asked> requests, Duration time) {
    try (HttpWarmUp own = new HttpWarmUp(server, http)) {
      warming = Optional.of(own);
      own.run(requests, System.nanoTime() + time.toNanos());
    } catch (Exception e) {
      notes.accept("warm-up: got " + e + "; the first requests are slower");
    } finally {
      warming = Optional.empty();
    }
  }

  /**
   * Whether a request is one of the server to itself.
   *
   * @throws RefusedException 404 for others that come by that port
   */
  boolean isWarmUp(Request request) {
    Optional<HttpWarmUp> now = warming;
    if (now.isEmpty() || !now.get().isHere(request)) {
      return false;
    }
    if (!now.get().isOwn(request)) {
      throw new RefusedException(404, "Not Found");
    }
    return true;
  }

  /** Closes connections that go too slowly, and reads files again that changed. */
  private void sweep() {
    try {
      long now = System.nanoTime();
      for (HttpExchange each : reading) {
        if (each.isSlow(now)) {
          each.slow();
        }
      }
      Set<Object> busy = ConcurrentHashMap.newKeySet();
      reading.forEach(each -> busy.add(each.endPoint()));
      int closed = sweep.run(connector.getConnectedEndPoints(), busy);
      for (int i = 0; i < closed; i++) {
        metrics.rejected.add(ServeMetrics.SLOW_HEADER);
      }
      tls.ifPresent(HttpTls::refresh);
      tokens.ifPresent(Watched::refresh);
      accessLog.ifPresent(AccessLog::flush);
    } catch (RuntimeException e) {
      broken(e); // Or the timer would not come again.
    }
  }

  void requireToken(Route route, HttpFields fields) {
    if (route.kind().isAdmin() && !options.admin()) {
      throw new RefusedException(404, "Not Found");
    }
    if (tokens.isEmpty() || route.kind().isOpen()) {
      return;
    }
    if (!tokens.get().value().admit(Optional.ofNullable(fields.get(HttpHeader.AUTHORIZATION)))) {
      metrics.rejected.add(ServeMetrics.TOKEN);
      throw new RefusedException(
          401, "Authorization: got no token that is known, expected Bearer and one");
    }
  }

  void requireReady() {
    if (answers.state() == Answers.State.LOADING) {
      metrics.rejected.add(ServeMetrics.NOT_READY);
      throw new RefusedException(503, "not ready: models are loaded and warmed up; ask again");
    }
  }

  void admit(HttpExchange exchange) {
    admission.submit(exchange);
  }

  void watch(HttpExchange exchange, boolean isReading) {
    if (isReading) {
      reading.add(exchange);
    } else {
      reading.remove(exchange);
    }
  }

  /** Fields that every answer has. */
  void addCommon(HttpFields asked, HttpFields.Mutable fields, int status) {
    if (status == 401) {
      fields.put(HttpHeader.WWW_AUTHENTICATE, "Bearer");
    }
    if (answers.state() == Answers.State.DRAINING) {
      fields.put(HttpHeader.CONNECTION, "close");
    }
    Optional<String> cors = options.listening().cors();
    if (cors.isEmpty()) {
      return;
    }
    fields.put(HttpHeader.VARY, "Origin");
    if (cors.get().equals(asked.get("Origin"))) {
      fields.put("Access-Control-Allow-Origin", cors.get());
      fields.put("Access-Control-Allow-Methods", "GET, POST");
      fields.put(
          "Access-Control-Allow-Headers",
          "Authorization, Content-Type, Inference-Header-Content-Length");
      fields.put("Access-Control-Expose-Headers", "Inference-Header-Content-Length");
    }
  }

  Reply page() {
    ServeMetrics.State state =
        new ServeMetrics.State(
            answers.models(),
            admission.waiting(),
            admission.running(),
            connector.getConnectedEndPoints().size(),
            bodies.held());
    return new Reply(200, Exposition.TYPE, OptionalInt.empty(), metrics.page(state));
  }

  Answers answers() {
    return answers;
  }

  ServeMetrics metrics() {
    return metrics;
  }

  ServeLimits limits() {
    return options.limits();
  }

  Admission admission() {
    return admission;
  }

  BodyBudget bodies() {
    return bodies;
  }

  Optional<AccessLog> accessLog() {
    return accessLog;
  }

  /** Notes an error of Tern itself, once a minute: many requests may meet it. */
  void broken(Throwable e) {
    long now = System.nanoTime();
    long before = noted.get();
    if (now - before >= NOTE_NANOS && noted.compareAndSet(before, now)) {
      StringBuilder text = new StringBuilder("an error in Tern itself: " + e);
      for (StackTraceElement each : e.getStackTrace()) {
        text.append("\n  at ").append(each);
      }
      notes.accept(text.toString());
    }
  }

  /** Answers what the HTTP library refuses by itself, such as a head that is not HTTP. */
  private boolean writeError(Request request, Response response, Callback callback) {
    int status = response.getStatus();
    Reply reply = JsonText.error(status, HttpStatus.getMessage(status));
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, Reply.JSON);
    metrics.none.other.add(status, 0);
    accessLog.ifPresent(log ->
        log.add(
            new AccessLog.Entry(
                Request.getRemoteAddr(request),
                String.valueOf(request.getMethod()),
                request.getHttpURI() == null ? "" : request.getHttpURI().getPathQuery(),
                status,
                "",
                "",
                0,
                reply.body().length,
                0,
                "")));
    response.write(true, ByteBuffer.wrap(reply.body()), callback);
    return true;
  }

  /**
   * Takes no further connections. Those there are may still send what they were about to: a request
   * that comes on one of them is answered, and the answer ends the connection.
   */
  private void closeEntrance() throws InterruptedException {
    connector.close();
    long end = System.nanoTime() + LAST_NANOS;
    while (!connector.getConnectedEndPoints().isEmpty() && System.nanoTime() < end) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /** Takes no further requests, and returns when those under way are answered. */
  @Override
  public void close() {
    try {
      closeEntrance();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Whoever interrupts wants to wait for less.
    }
    try {
      server.stop();
    } catch (Exception e) {
      notes.accept("serve: got " + e + " while stopping");
    } finally {
      timer.shutdownNow();
      accessLog.ifPresent(AccessLog::close);
    }
  }
}
