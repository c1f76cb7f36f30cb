package dev.tern.serve.http;

import dev.tern.serve.Reply;
import dev.tern.serve.http.metrics.Exposition;
import dev.tern.serve.wire.RefusedException;
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
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.WindowRateControl;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
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
import org.jspecify.annotations.Nullable;

/**
 * HTTP for {@link Answers}: connections, limits, tokens, TLS. It and the types whose names begin
 * with {@code Http} are the only ones that know Jetty.
 */
final class HttpFront implements AutoCloseable {
  /** Threads that read connections, and compute what is quick. */
  private static final int SELECTORS = Runtime.getRuntime().availableProcessors();

  private static final int OTHER_THREADS = 32;
  private static final long SWEEP_MILLIS = 1_000;
  private static final long LEAST_SWEEP_MILLIS = 50;
  private static final long STOP_MILLIS = 3_000;
  private static final long LAST_NANOS = 500_000_000L;
  private static final long LOOK_MILLIS = 5;
  private static final int MOST_WATCHES = 1_000;
  private static final int WARM_CALLERS = 4;

  /**
   * Frames a second of a connection that are no requests. Callers by gRPC send a ping to measure
   * the line for each answer, some thousands a second.
   */
  private static final int MOST_FRAMES = 20_000;

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
  private volatile Guest.Door door = Guest.Door.CLOSED;
  private final Set<HttpBody> reading = ConcurrentHashMap.newKeySet();
  private final GrpcAnswers grpc;
  private final Set<HttpHealthWatch> watches = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService timer;
  private final AtomicLong noted = new AtomicLong(System.nanoTime() - NOTE_NANOS);

  HttpFront(
      ServeOptions options,
      Answers answers,
      ServeMetrics metrics,
      BodyBudget bodies,
      Optional<AccessLog> accessLog,
      Consumer<String> notes) {
    HttpLogging.quiet();
    this.bodies = bodies;
    this.options = options;
    this.answers = answers;
    grpc = answers.grpc();
    answers.onState(() -> watches.forEach(HttpHealthWatch::tell));
    this.metrics = metrics;
    this.accessLog = accessLog;
    this.notes = notes;
    QueuedThreadPool threads =
        new QueuedThreadPool(
            options.limits().inFlight() + SELECTORS + OTHER_THREADS, OTHER_THREADS / 4);
    threads.setName("tern-serve");
    threads.setDaemon(true);
    server = new Server(threads);
    tls = options.listening().tls().map(files -> new HttpTls(files, notes));
    tokens =
        options.tokens().map(file -> new Watched<>(List.of(file), () -> Tokens.read(file), notes));
    connector = connector();
    sweep = new HttpSweep(options.limits().headerTime(), System::nanoTime);
    admission = new Admission(options.limits(), threads, System::nanoTime);
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
    if (tls.isPresent()) {
      ALPNServerConnectionFactory choice = new ALPNServerConnectionFactory();
      choice.setDefaultProtocol(plain.getProtocol());
      protocols.add(new SslConnectionFactory(tls.get().factory(), choice.getProtocol()));
      protocols.add(choice);
      protocols.add(limited(new HTTP2ServerConnectionFactory(http)));
      protocols.add(plain);
    } else {
      protocols.add(plain);
      protocols.add(limited(new Http2WithoutUpgrade(http)));
    }
    ServerConnector made =
        new ServerConnector(server, 1, SELECTORS, protocols.toArray(ConnectionFactory[]::new));
    made.setHost(options.listening().host());
    made.setPort(options.listening().port());
    made.setIdleTimeout(options.limits().idle().toMillis());
    server.addConnector(made);
    made.addBean(new NetworkConnectionLimit(options.limits().connections(), made));
    return made;
  }

  private static ConnectionFactory limited(HTTP2ServerConnectionFactory factory) {
    factory.setRateControlFactory(new WindowRateControl.Factory(MOST_FRAMES));
    return factory;
  }

  /**
   * HTTP/2 for callers who begin with it. A request of HTTP/1 that asks to go on in HTTP/2 is
   * answered in HTTP/1: servers before this one may have let it pass as something else.
   */
  private static final class Http2WithoutUpgrade extends HTTP2CServerConnectionFactory {
    Http2WithoutUpgrade(HttpConfiguration configuration) {
      super(configuration);
    }

    @Override
    public @Nullable Connection upgradeConnection(
        Connector from, EndPoint point, MetaData.Request request, HttpFields.Mutable fields) {
      return HttpMethod.PRI.is(request.getMethod())
          ? super.upgradeConnection(from, point, request, fields)
          : null;
    }
  }

  /**
   * Every request comes here, on a thread that reads connections and must not be held: whoever
   * computes more than a little, or may have to wait, does so by {@link #execute}.
   */
  private final class Entry extends Handler.Abstract.NonBlocking {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
      if (HttpGrpcCall.isCall(request)) {
        new HttpGrpcCall(HttpFront.this, request, response, callback).begin();
        return true;
      }
      HttpExchange exchange = new HttpExchange(HttpFront.this, request, response, callback);
      if (HttpMethod.POST.is(request.getMethod())) {
        exchange.begin();
      } else { // Pages, which take a while to write.
        execute(exchange::begin);
      }
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
    long sweep =
        Math.clamp(options.limits().headerTime().toMillis() / 4, LEAST_SWEEP_MILLIS, SWEEP_MILLIS);
    timer.scheduleWithFixedDelay(this::sweep, sweep, sweep, TimeUnit.MILLISECONDS);
    long tick = Math.max(1, options.limits().queueTime().toMillis() / 4);
    timer.scheduleWithFixedDelay(admission::expire, tick, tick, TimeUnit.MILLISECONDS);
    return connector.getLocalPort();
  }

  /**
   * Sends made-up requests through all of the server, for {@code time} at most. Called before it is
   * ready; nothing of them is counted.
   *
   * @param call a message of gRPC with its prefix
   */
  void warm(List<HttpWarmUp.Asked> requests, byte[] call, Duration time) {
    try (HttpWarmUp own = new HttpWarmUp(server, http)) {
      Guest.rehearse(metrics.warmUp, metrics.none);
      HttpWarmUp.rehearse();
      door = own.door();
      // Half of the places: one is free a moment after its caller has the answer.
      int callers = Math.clamp(options.limits().inFlight() / 2, 1, WARM_CALLERS);
      if (!own.run(requests, call, callers, System.nanoTime() + time.toNanos())) {
        notes.accept("warm-up: the model takes no made-up rows; the first requests are slower");
      }
    } catch (Exception e) {
      notes.accept("warm-up: got " + e + "; the first requests are slower");
    } finally {
      door = Guest.Door.CLOSED;
    }
  }

  /**
   * Whether a request is one of the server to itself.
   *
   * @throws RefusedException 404 for others that come by that port
   */
  boolean isWarmUp(Request request) {
    return Guest.isOwn(
        door,
        request.getConnectionMetaData().getConnector(),
        Optional.ofNullable(request.getHeaders().get(HttpWarmUp.SECRET)));
  }

  /** Closes connections that go too slowly, and reads files again that changed. */
  private void sweep() {
    try {
      long now = System.nanoTime();
      for (HttpBody each : reading) {
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
    } catch (RuntimeException e) {
      broken(e); // Or the timer would not come again.
    }
  }

  void requireAllowed(Route route, HttpFields fields, boolean isOwn) {
    if (route.kind().isAdmin() && !options.admin()) {
      throw new RefusedException(404, "Not Found");
    }
    requireToken(route.kind().isOpen(), fields, isOwn);
  }

  /**
   * Refuses who shows no token.
   *
   * @param isOpen whether none is needed
   * @param isOwn whether the server asks itself
   */
  void requireToken(boolean isOpen, HttpFields fields, boolean isOwn) {
    if (tokens.isEmpty() || isOpen || isOwn) {
      return;
    }
    if (!tokens.get().value().admit(Optional.ofNullable(fields.get(HttpHeader.AUTHORIZATION)))) {
      metrics.rejected.add(ServeMetrics.TOKEN);
      throw new RefusedException(
          401, "Authorization: got no token that is known, expected Bearer and one");
    }
  }

  void requireReady(boolean isOwn) {
    if (Guest.isEarly(answers.state(), isOwn)) {
      metrics.rejected.add(ServeMetrics.NOT_READY);
      throw new RefusedException(503, "not ready: models are loaded and warmed up; ask again");
    }
  }

  /** The error of a request for which there is no room. */
  RefusedException full() {
    metrics.rejected.add(ServeMetrics.QUEUE_FULL);
    return new RefusedException(429, "queue: got more requests than can wait; ask again later");
  }

  /** What is told when an answer is sent: a caller that reads slowly holds it for a while. */
  Callback sent(Reply answer, Callback callback) {
    int bytes = answer.body().length;
    return BodyBudget.isCounted(bytes)
        ? Callback.from(callback, () -> bodies.giveAnswer(bytes))
        : callback;
  }

  /** The error of an answer that there is no memory for. */
  static RefusedException noRoom() {
    return new RefusedException(
        503,
        "answer: got a large one while others wait to be read, expected memory for it; ask again,"
            + " or for less at once");
  }

  /**
   * Has a request computed when there is room.
   *
   * @param here whether this thread may do it
   */
  void admit(Admission.Request request, boolean here) {
    admission.submit(request, here);
  }

  /** Runs what takes a while on a thread that reads no connections. */
  void execute(Runnable work) {
    server.getThreadPool().execute(work);
  }

  void watch(HttpBody body, boolean isReading) {
    if (isReading) {
      reading.add(body);
    } else {
      reading.remove(body);
    }
  }

  /** Tells a watch of changes of the state from here on; false where there are too many. */
  boolean addWatch(HttpHealthWatch watch) {
    return watches.size() < MOST_WATCHES && watches.add(watch);
  }

  void removeWatch(HttpHealthWatch watch) {
    watches.remove(watch);
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
            bodies);
    return new Reply(200, Exposition.TYPE, OptionalInt.empty(), metrics.page(state));
  }

  Answers answers() {
    return answers;
  }

  GrpcAnswers grpc() {
    return grpc;
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
    metrics.none.other().add(status, 0);
    accessLog.ifPresent(log ->
        log.add(
            new AccessLog.Entry(
                new AccessLog.Caller(
                    Request.getRemoteAddr(request),
                    String.valueOf(request.getMethod()),
                    request.getHttpURI() == null ? "" : request.getHttpURI().getPathQuery(),
                    ""),
                status,
                "",
                "",
                "",
                0,
                reply.body().length,
                0)));
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
    watches.forEach(HttpHealthWatch::end);
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
