package dev.tern.serve.http;

import dev.tern.serve.LongRequestException;
import dev.tern.serve.Reply;
import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.RefusedException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer. The body is read as it comes, without a thread that waits for it;
 * then the request waits for its turn, without a thread either; then one thread computes and
 * answers: the one that read it where that is quick ({@link Quick}).
 */
final class HttpExchange implements Admission.Request, HttpBody.Reader {
  private static final HttpField JSON =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, Reply.JSON);
  private static final HttpField RETRY = new PreEncodedHttpField(HttpHeader.RETRY_AFTER, "1");
  private static final HttpField CLOSE = new PreEncodedHttpField(HttpHeader.CONNECTION, "close");
  private static final String JSON_LENGTH = "Inference-Header-Content-Length";
  private static final byte[] NOTHING = {};

  /** Requests of a connection that the thread that reads it computes before others have a turn. */
  private static final int MOST_AT_ONCE = 64;

  private final HttpFront front;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final long start = System.nanoTime();
  private final RequestEvent event = new RequestEvent();
  private final AtomicBoolean answered = new AtomicBoolean();
  private @Nullable Route route;
  private @Nullable Hosted model;
  private ModelMetrics metrics;
  private final HttpBody body;
  private boolean isWarmUp;

  private String version = "";

  HttpExchange(HttpFront front, Request request, Response response, Callback callback) {
    this.front = front;
    this.request = request;
    this.response = response;
    this.callback = callback;
    body = new HttpBody(front, request, front.limits().body(), this);
    metrics = front.metrics().none;
    event.begin();
  }

  /** Answers, or begins to read the body. */
  void begin() {
    try {
      Optional<Reply> now = head();
      if (now.isPresent()) {
        answer(now.get());
      } else {
        body.read();
      }
    } catch (RefusedException e) {
      answer(JsonText.error(e));
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  /** The answer where the head of the request is enough for one. */
  private Optional<Reply> head() {
    HttpFields fields = request.getHeaders();
    if (fields.size() > ServeLimits.HEAD_FIELDS) {
      throw new RefusedException(
          431, "head: got more than 100 fields, expected at most as many; send fewer");
    }
    String method = request.getMethod();
    String path = Request.getPathInContext(request);
    if (request.getHttpURI().getPath().indexOf(';') >= 0) { // Left out of the path above.
      throw new RefusedException(404, "Not Found");
    }
    if (method.equals("OPTIONS")) {
      response.getHeaders().put(HttpHeader.ALLOW, Route.allowed(path));
      return Optional.of(new Reply(204, "", OptionalInt.empty(), NOTHING));
    }
    Route asked = allowed(method, path);
    route = asked;
    isWarmUp = front.isWarmUp(request);
    front.requireAllowed(asked, fields, isWarmUp);
    if (asked.kind() == Route.Kind.METRICS) {
      return Optional.of(front.page());
    }
    if (!asked.model().isEmpty() || asked.kind() == Route.Kind.INVOCATIONS) {
      Hosted found = front.answers().model(asked);
      model = found;
      metrics = Guest.metrics(isWarmUp, front.metrics().warmUp, found.metrics());
    }
    if (!asked.kind().scores() && !asked.kind().changes()) {
      return Optional.of(front.answers().get(asked));
    }
    if (asked.kind().scores()) {
      front.requireReady(isWarmUp);
    }
    requireBody(fields);
    return Optional.empty();
  }

  private Route allowed(String method, String path) {
    try {
      return Route.of(method, path);
    } catch (RefusedException e) {
      if (e.status() == 405) {
        response.getHeaders().put(HttpHeader.ALLOW, Route.allowed(path));
      }
      throw e;
    }
  }

  /** Refuses a body before it is read, where it is known that it would be refused then. */
  private void requireBody(HttpFields fields) {
    Optional<String> encoding = encoding();
    if (encoding.isPresent() && !Inflate.reads(encoding.get())) {
      throw new RefusedException(
          415, "Content-Encoding: got another one, expected gzip, deflate or none");
    }
    if (request.getLength() > front.limits().body()) {
      throw Inflate.tooLarge(front.limits().body());
    }
    if (front.admission().isFull()) {
      throw front.full();
    }
  }

  @Override
  public void refused(RefusedException why) {
    if (why.status() == 408) {
      response.getHeaders().put(CLOSE);
    }
    answer(JsonText.error(why));
  }

  @Override
  public void aborted(Throwable failure) {
    if (answered.compareAndSet(false, true)) {
      front.metrics().rejected.add(ServeMetrics.ABORTED);
      body.release();
      callback.failed(failure);
    }
  }

  @Override
  public void whole() {
    Route asked = route;
    Hosted served = model;
    if (asked != null && asked.kind().changes()) {
      front.execute(() -> change(asked));
    } else {
      front.admit(this, asked != null && served != null && isQuick(asked, served));
    }
  }

  /**
   * Whether the request is computed at once: not what a few bytes may inflate to, nor one after the
   * other of a caller that waits for no answer, whose connection would be the only one read.
   */
  private boolean isQuick(Route asked, Hosted served) {
    long messages = request.getConnectionMetaData().getConnection().getMessagesIn();
    return !asked.kind().finds()
        && served.quick().is(body.length())
        && !Inflate.isNeeded(encoding())
        && messages % MOST_AT_ONCE != 0;
  }

  private void change(Route asked) {
    try {
      answer(front.answers().change(asked, Arrays.copyOf(body.bytes(), body.length())));
    } catch (RefusedException e) {
      answer(JsonText.error(e));
    } catch (RuntimeException | Error e) {
      broken(e);
    }
  }

  @Override
  public boolean run(boolean brief) {
    Route asked = route;
    Hosted served = model;
    if (asked == null || served == null) {
      throw new IllegalStateException("exchange: got no route");
    }
    long begun = System.nanoTime();
    try {
      compute(asked, served, brief);
    } catch (LongRequestException _) {
      return true;
    } catch (RefusedException e) {
      answer(JsonText.error(e));
    } catch (RuntimeException | Error e) {
      broken(e);
    }
    if (!asked.kind().finds()) {
      served.quick().took(body.length(), System.nanoTime() - begun);
    }
    return false;
  }

  private void compute(Route asked, Hosted served, boolean brief) {
    byte[] bytes = body.bytes();
    int count = body.length();
    Optional<String> encoding = encoding();
    if (Inflate.isNeeded(encoding)) {
      bytes = body.inflated(0, encoding.get());
      count = bytes.length;
    }
    Answers.Scored scored =
        front.answers().score(asked, served, metrics, bytes, count, jsonLength(count), brief);
    version = Long.toString(scored.step());
    answer(scored.reply());
  }

  private Optional<String> encoding() {
    return Optional.ofNullable(request.getHeaders().get(HttpHeader.CONTENT_ENCODING));
  }

  @Override
  public void refuse(boolean isFull) {
    if (isFull) {
      RefusedException e = front.full();
      answer(JsonText.error(e));
    } else {
      front.metrics().rejected.add(ServeMetrics.QUEUE_TIME);
      answer(JsonText.error(503, "queue: got no turn in time; ask again later"));
    }
  }

  private OptionalInt jsonLength(int bytes) {
    String field = request.getHeaders().get(JSON_LENGTH);
    if (field == null) {
      return OptionalInt.empty();
    }
    if (!field.matches("[0-9]{1,9}") || Integer.parseInt(field) > bytes) {
      throw new RefusedException(
          400,
          JSON_LENGTH + ": got another value, expected a whole number up to the body's " + bytes);
    }
    return OptionalInt.of(Integer.parseInt(field));
  }

  @Override
  public void broken(Throwable e) {
    front.broken(e);
    answer(Answers.broken());
  }

  /** Sends the one answer. */
  private void answer(Reply wanted) {
    if (!answered.compareAndSet(false, true)) {
      return;
    }
    boolean hasRoom = front.bodies().takeAnswer(wanted.body().length);
    Reply reply = hasRoom ? wanted : JsonText.error(HttpFront.noRoom());
    HttpFields.Mutable fields = response.getHeaders();
    response.setStatus(reply.status());
    if (reply.contentType().equals(Reply.JSON)) {
      fields.put(JSON);
    } else if (!reply.contentType().isEmpty()) {
      fields.put(HttpHeader.CONTENT_TYPE, reply.contentType());
    }
    if (reply.status() != 204) {
      fields.put(HttpHeader.CONTENT_LENGTH, reply.body().length);
    }
    reply.jsonLength().ifPresent(bytes -> fields.put(JSON_LENGTH, bytes));
    if (reply.status() == 429 || reply.status() == 503) {
      fields.put(RETRY);
    }
    front.addCommon(request.getHeaders(), fields, reply.status());
    long nanos = System.nanoTime() - start;
    (route == null ? Route.Kind.SERVER : route.kind()).counts(metrics).add(reply.status(), nanos);
    log(reply, nanos);
    body.release();
    response.write(true, ByteBuffer.wrap(reply.body()), front.sent(reply, callback));
  }

  private void log(Reply reply, long nanos) {
    event.commit(name(), version, reply.status(), "", body.length());
    if (front.accessLog().isEmpty() || isWarmUp) {
      return;
    }
    front
        .accessLog()
        .get()
        .add(
            new AccessLog.Entry(
                caller(request),
                reply.status(),
                "",
                name(),
                version,
                body.length(),
                reply.body().length,
                nanos));
  }

  /** Who sent a request. */
  static AccessLog.Caller caller(Request request) {
    String trace = request.getHeaders().get("traceparent");
    return new AccessLog.Caller(
        Request.getRemoteAddr(request),
        request.getMethod(),
        request.getHttpURI().getPathQuery(),
        trace != null && Traces.isParent(trace) ? trace : "");
  }

  private String name() {
    Hosted served = model;
    return served == null ? "" : served.name();
  }
}
