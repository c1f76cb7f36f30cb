package dev.tern.serve.http;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.LongRequestException;
import dev.tern.serve.Reply;
import dev.tern.serve.grpc.GrpcFrame;
import dev.tern.serve.grpc.GrpcHead;
import dev.tern.serve.grpc.GrpcMethod;
import dev.tern.serve.grpc.GrpcStatus;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.RefusedException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.HTTP2Session;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * One call by gRPC and its answer, as {@link HttpExchange} is for other requests: the message is
 * read as it comes, then it waits for its turn, then one thread computes and answers. The status of
 * the call follows the answer in its trailers; without an answer it stands in the head.
 */
final class HttpGrpcCall implements Admission.Request, HttpBody.Reader {
  private static final HttpField TYPE =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, GrpcProtocol.TYPE);
  private static final HttpField ENCODINGS =
      new PreEncodedHttpField("grpc-accept-encoding", "identity,gzip");
  private static final HttpField LATER = new PreEncodedHttpField("grpc-retry-pushback-ms", "1000");
  private static final HttpFields DONE = HttpFields.build().add("grpc-status", "0").asImmutable();
  private static final String GZIP = "gzip";

  private final HttpFront front;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final HttpBody body;
  private final long start = System.nanoTime();
  private final RequestEvent event = new RequestEvent();
  private final AtomicBoolean answered = new AtomicBoolean();
  private @Nullable GrpcMethod method;
  private @Nullable Hosted model;
  private ModelMetrics metrics;
  private OptionalLong timeout = OptionalLong.empty();
  private boolean isWarmUp;

  private String version = "";
  private volatile @Nullable HttpHealthWatch watch;

  HttpGrpcCall(HttpFront front, Request request, Response response, Callback callback) {
    this.front = front;
    this.request = request;
    this.response = response;
    this.callback = callback;
    long most = front.limits().body() + GrpcFrame.PREFIX;
    body = new HttpBody(front, request, most, this);
    metrics = front.metrics().none;
    event.begin();
  }

  /** Whether a request is a call, even one that is to be refused as such. */
  static boolean isCall(Request request) {
    String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
    return type != null && GrpcHead.isGrpc(type)
        || GrpcMethod.of(Request.getPathInContext(request)).isPresent();
  }

  /** Answers, or begins to read the message. */
  void begin() {
    try {
      Optional<Reply> wrong = notGrpc();
      if (wrong.isPresent()) {
        write(wrong.get());
        return;
      }
      head();
      request.addFailureListener(this::aborted);
      body.read();
    } catch (RefusedException e) {
      refused(e);
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  /** What is no call of gRPC has an answer of HTTP. */
  private Optional<Reply> notGrpc() {
    String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
    if (!request.getMethod().equals("POST")) {
      return Optional.of(JsonText.error(405, "Method Not Allowed"));
    }
    if (type == null || !GrpcHead.reads(type)) {
      return Optional.of(
          JsonText.error(415, "Content-Type: got another one, expected application/grpc"));
    }
    boolean isTwo = request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2;
    return isTwo
        ? Optional.empty()
        : Optional.of(JsonText.error(505, "gRPC: got HTTP/1, expected HTTP/2"));
  }

  /** Refuses what the head of the request is enough for. */
  private void head() {
    HttpFields fields = request.getHeaders();
    if (fields.size() > ServeLimits.HEAD_FIELDS) {
      throw new RefusedException(
          431, "head: got more than 100 fields, expected at most as many; send fewer");
    }
    GrpcMethod called =
        GrpcMethod.of(Request.getPathInContext(request))
            .orElseThrow(() ->
                new RefusedException(
                    501,
                    "method: got one that is not here, expected one of "
                        + GrpcMethod.INFERENCE
                        + ", such as ModelInfer"));
    method = called;
    isWarmUp = front.isWarmUp(request);
    metrics = Guest.metrics(isWarmUp, front.metrics().warmUp, metrics);
    front.requireToken(called.isOpen(), fields, isWarmUp);
    if (!GrpcHead.inflates(field("grpc-encoding"))) {
      throw new RefusedException(
          501, "grpc-encoding: got another one, expected gzip, identity or none");
    }
    timeout = GrpcHead.timeout(field("grpc-timeout"));
    if (called.scores()) {
      front.requireReady(isWarmUp);
    }
    if (request.getLength() > front.limits().body() + GrpcFrame.PREFIX) {
      throw Inflate.tooLarge(front.limits().body());
    }
    if (called.scores() && front.admission().isFull()) {
      throw front.full();
    }
  }

  private String field(String name) {
    String value = request.getHeaders().get(name);
    return value == null ? "" : value;
  }

  @Override
  public void look(byte[] bytes, int length) {
    GrpcFrame.requireRoom(bytes, length, front.limits().body());
  }

  @Override
  public void whole() {
    if (called().scores()) {
      front.admit(this, isQuick());
    } else {
      front.execute(this::get);
    }
  }

  /** Whether the call is computed at once. What is compressed is not read to find that out. */
  private boolean isQuick() {
    GrpcFrame frame = GrpcFrame.of(body.bytes(), body.length());
    if (frame.isCompressed() || !isAlone()) {
      return false;
    }
    return served(body.bytes(), GrpcFrame.PREFIX, body.length()).quick().is(body.length());
  }

  /** Whether it is the only call of its connection: several are computed side by side. */
  private boolean isAlone() {
    return request.getConnectionMetaData().getConnection() instanceof HTTP2Connection connection
        && connection.getSession() instanceof HTTP2Session session
        && session.getStreams().size() == 1;
  }

  private Hosted served(byte[] bytes, int from, int to) {
    return front.answers().model(GrpcAnswers.route(Route.Kind.INFER, bytes, from, to));
  }

  /** Answers a call that asks for no scores. */
  private void get() {
    try {
      GrpcMethod called = called();
      Message message = message();
      if (called == GrpcMethod.HEALTH_WATCH) {
        watch(GrpcProtocol.service(message.bytes, message.from, message.to));
      } else {
        answer(front.grpc().get(called, message.bytes, message.from, message.to));
      }
    } catch (RefusedException e) {
      refused(e);
    } catch (RuntimeException | Error e) {
      broken(e);
    } finally {
      // Also what inflating took after the caller gave up.
      body.release();
    }
  }

  private GrpcMethod called() {
    GrpcMethod called = method;
    if (called == null) {
      throw new IllegalStateException("call: got no method");
    }
    return called;
  }

  /** The message {@code bytes[from, to)}. */
  private record Message(byte[] bytes, int from, int to) {}

  private Message message() {
    GrpcFrame frame = GrpcFrame.of(body.bytes(), body.length());
    if (!frame.isCompressed()) {
      return new Message(body.bytes(), GrpcFrame.PREFIX, body.length());
    }
    if (!field("grpc-encoding").strip().equalsIgnoreCase(GZIP)) {
      throw new RefusedException(
          400, "body: got a compressed message, expected grpc-encoding to say how");
    }
    byte[] inflated = body.inflated(GrpcFrame.PREFIX, GZIP);
    return new Message(inflated, 0, inflated.length);
  }

  @Override
  public boolean run(boolean brief) {
    try {
      if (!answered.get()) { // Else the caller gave up while it waited.
        compute(brief);
      }
    } catch (LongRequestException _) {
      return true;
    } catch (RefusedException e) {
      refused(e);
    } catch (RuntimeException | Error e) {
      broken(e);
    }
    body.release();
    return false;
  }

  private void compute(boolean brief) {
    requireTime();
    Message message = message();
    Route route = GrpcAnswers.route(Route.Kind.INFER, message.bytes, message.from, message.to);
    Hosted found = front.answers().model(route);
    model = found;
    metrics = Guest.metrics(isWarmUp, front.metrics().warmUp, found.metrics());
    Answers.Scored scored = score(route, found, message, brief);
    requireTime();
    version = Long.toString(scored.step());
    answer(scored.reply());
  }

  private Answers.Scored score(Route route, Hosted found, Message message, boolean brief) {
    long begun = System.nanoTime();
    boolean isLong = false;
    try {
      return front
          .grpc()
          .score(route, found, metrics, message.bytes, message.from, message.to, brief);
    } catch (LongRequestException e) {
      isLong = true;
      throw e;
    } finally {
      if (!isLong) {
        found.quick().took(body.length(), System.nanoTime() - begun);
      }
    }
  }

  /** Refuses to go on after the time that the caller gave. */
  private void requireTime() {
    if (timeout.isPresent() && System.nanoTime() - start > timeout.getAsLong()) {
      throw new RefusedException(504, "grpc-timeout: got no answer within it");
    }
  }

  private void watch(String service) {
    HttpHealthWatch begun = new HttpHealthWatch(front, request, response, service);
    watch = begun;
    if (!front.addWatch(begun)) {
      throw new RefusedException(429, "watch: got more of them than can be held; ask Check");
    }
    if (answered.compareAndSet(false, true)) {
      count(GrpcStatus.OK, 0);
      body.release();
      begun.begin(callback);
    } else {
      front.removeWatch(begun);
    }
  }

  @Override
  public void refuse(boolean isFull) {
    if (isFull) {
      refused(front.full());
    } else {
      front.metrics().rejected.add(ServeMetrics.QUEUE_TIME);
      refused(new RefusedException(503, "queue: got no turn in time; ask again later"));
    }
  }

  @Override
  public void refused(RefusedException why) {
    GrpcStatus status = GrpcStatus.of(why.status());
    boolean later = why.status() == 429 || why.status() == 503;
    end(status, String.valueOf(why.getMessage()), later);
  }

  @Override
  public void broken(Throwable e) {
    front.broken(e);
    end(GrpcStatus.INTERNAL, "an error in the server; its log has it", false);
  }

  @Override
  public void aborted(Throwable failure) {
    HttpHealthWatch begun = watch;
    if (begun != null) {
      begun.failed(failure);
    }
    if (answered.compareAndSet(false, true)) {
      body.endBody();
      front.admission().withdraw(this);
      front.metrics().rejected.add(ServeMetrics.ABORTED);
      count(GrpcStatus.CANCELLED, 0);
      body.release();
      callback.failed(failure);
    }
  }

  private void answer(Reply reply) {
    if (!front.bodies().takeAnswer(reply.body().length)) {
      throw HttpFront.noRoom();
    }
    if (!answered.compareAndSet(false, true)) {
      front.bodies().giveAnswer(reply.body().length);
      return;
    }
    Callback sent = front.sent(reply, callback);
    HttpFields.Mutable fields = response.getHeaders();
    response.setStatus(200);
    fields.put(TYPE);
    fields.put(ENCODINGS);
    response.setTrailersSupplier(() -> DONE);
    count(GrpcStatus.OK, reply.body().length);
    body.release();
    // Two writes: trailers in the same one overtake a message that waits for the caller's window.
    Callback trailers =
        Callback.from(() -> response.write(true, ByteBuffer.allocate(0), sent), sent::failed);
    response.write(false, ByteBuffer.wrap(reply.body()), trailers);
  }

  /** Ends the call without an answer. */
  private void end(GrpcStatus status, String message, boolean later) {
    if (!answered.compareAndSet(false, true)) {
      return;
    }
    HttpFields.Mutable fields = response.getHeaders();
    response.setStatus(200);
    fields.put(TYPE);
    fields.put(ENCODINGS);
    fields.put("grpc-status", Integer.toString(status.ordinal()));
    fields.put("grpc-message", GrpcHead.message(message));
    if (later) {
      fields.put(LATER);
    }
    count(status, 0);
    body.release();
    response.write(true, ByteBuffer.allocate(0), callback);
  }

  /** Answers a request that is no call. */
  private void write(Reply reply) {
    if (answered.compareAndSet(false, true)) {
      response.setStatus(reply.status());
      response.getHeaders().put(HttpHeader.CONTENT_TYPE, reply.contentType());
      if (reply.status() == 405) {
        response.getHeaders().put(HttpHeader.ALLOW, "POST");
      }
      metrics.other().add(reply.status(), System.nanoTime() - start);
      log(reply.status(), "", reply.body().length);
      response.write(true, ByteBuffer.wrap(reply.body()), callback);
    }
  }

  private void count(GrpcStatus status, int bytesOut) {
    metrics.grpc().add(status.ordinal(), System.nanoTime() - start);
    log(200, status.name(), bytesOut);
  }

  private void log(int status, String grpc, int bytesOut) {
    Hosted served = model;
    String name = served == null ? "" : served.name();
    event.commit(name, version, status, grpc, body.length());
    if (isWarmUp) {
      return;
    }
    front
        .accessLog()
        .ifPresent(log ->
            log.add(
                new AccessLog.Entry(
                    HttpExchange.caller(request),
                    status,
                    grpc,
                    name,
                    version,
                    body.length(),
                    bytesOut,
                    System.nanoTime() - start)));
  }
}
