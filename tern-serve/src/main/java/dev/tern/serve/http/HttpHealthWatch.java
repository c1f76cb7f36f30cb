package dev.tern.serve.http;

import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.grpc.GrpcStatus;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.PreEncodedHttpField;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@code grpc.health.v1.Health/Watch}: it is told how a service is, and again whenever
 * that changes, until the caller or the server ends. One message is under way at a time; what
 * changes meanwhile is told after it, as it is then.
 */
final class HttpHealthWatch {
  private static final HttpField TYPE =
      new PreEncodedHttpField(HttpHeader.CONTENT_TYPE, GrpcProtocol.TYPE);
  private static final HttpFields END =
      HttpFields.build()
          .add("grpc-status", Integer.toString(GrpcStatus.UNAVAILABLE.ordinal()))
          .add("grpc-message", "the server stops")
          .asImmutable();

  private final HttpFront front;
  private final Request request;
  private final Response response;
  private final String service;
  private @Nullable Callback callback;
  private Optional<GrpcAnswers.Health> told = Optional.empty();
  private boolean isWriting;
  private boolean ends;
  private boolean hasEnded;

  HttpHealthWatch(HttpFront front, Request request, Response response, String service) {
    this.front = front;
    this.request = request;
    this.response = response;
    this.service = service;
  }

  /** Tells how the service is now, and goes on telling. */
  void begin(Callback whole) {
    request.addIdleTimeoutListener(timeout -> false); // It may be long that nothing changes.
    response.setStatus(200);
    response.getHeaders().put(TYPE);
    response.setTrailersSupplier(() -> END);
    synchronized (this) {
      callback = whole;
    }
    tell();
  }

  /** Tells how the service is, if that changed. */
  void tell() {
    Callback whole;
    boolean last;
    ByteBuffer message = ByteBuffer.allocate(0);
    synchronized (this) {
      whole = callback;
      if (isWriting || hasEnded || whole == null) {
        return;
      }
      GrpcAnswers.Health now = front.grpc().health(service);
      last = ends;
      if (!last && told.isPresent() && told.get() == now) {
        return;
      }
      if (!last) {
        told = Optional.of(now);
        message = ByteBuffer.wrap(now.reply().body());
      }
      isWriting = true;
      hasEnded = last;
    }
    response.write(last, message, last ? whole : Callback.from(this::written, this::failed));
  }

  private void written() {
    synchronized (this) {
      isWriting = false;
    }
    tell();
  }

  /** The caller is gone. */
  void failed(Throwable failure) {
    Callback whole;
    synchronized (this) {
      whole = callback;
      if (hasEnded || whole == null) {
        return;
      }
      hasEnded = true;
    }
    front.removeWatch(this);
    whole.failed(failure);
  }

  /** Ends the call, as the server ends. */
  void end() {
    synchronized (this) {
      ends = true;
    }
    tell();
  }
}
