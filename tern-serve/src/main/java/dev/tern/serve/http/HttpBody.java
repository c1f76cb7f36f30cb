package dev.tern.serve.http;

import dev.tern.serve.wire.RefusedException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

/**
 * The body of a request, read as it comes, without a thread that waits for it. Its bytes count in
 * the budget of all bodies until it is let go.
 */
final class HttpBody {
  private static final int FIRST_BYTES = 64 << 10;
  private static final byte[] NOTHING = {};

  /** Bytes that a thread which reads connections takes of a body before others have their turn. */
  private static final int MOST_AT_ONCE = 256 << 10;

  /** Who wants the body. One of these ends the reading. */
  interface Reader {
    /** All of it has come. */
    void whole();

    /** It is not taken. */
    void refused(RefusedException why);

    /** The caller is gone. */
    void aborted(Throwable failure);

    /** An error of Tern itself. */
    void broken(Throwable e);

    /** Looks at the bytes so far, {@code bytes[0, length)}, and refuses them if it may. */
    default void look(byte[] bytes, int length) {}
  }

  private final HttpFront front;
  private final Request request;
  private final Reader reader;
  private final long most;
  private final long start = System.nanoTime();
  private final Runnable later = Invocable.from(InvocationType.NON_BLOCKING, this::read);
  private byte[] bytes = NOTHING;
  private int length;
  private long reserved;
  private boolean isRead;
  private boolean isWatched;

  /**
   * @param most bytes of it
   */
  HttpBody(HttpFront front, Request request, long most, Reader reader) {
    this.front = front;
    this.request = request;
    this.most = most;
    this.reader = reader;
  }

  /** What has come: {@code bytes()[0, length())}. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Reads what has come; goes on when more comes. Does not hold its thread for long. */
  void read() {
    read(MOST_AT_ONCE);
  }

  /** The same on a thread that may be held. */
  private void readOn() {
    read(Integer.MAX_VALUE);
  }

  private void read(int atOnce) {
    try {
      if (take(atOnce)) {
        reader.whole();
      }
    } catch (RefusedException e) {
      endBody();
      reader.refused(e);
    } catch (RuntimeException | Error e) {
      endBody();
      reader.broken(e);
    }
  }

  /**
   * Appends what has come; true where it was the last of the body.
   *
   * @param atOnce bytes after which another thread goes on
   */
  private boolean take(int atOnce) {
    Throwable failure;
    synchronized (this) { // The sweep may give up on the body meanwhile.
      int before = length;
      while (true) {
        if (isRead) {
          return false;
        }
        if (length - before >= atOnce) {
          front.execute(this::readOn);
          return false;
        }
        Content.Chunk chunk = request.read();
        if (chunk == null) {
          watch(true);
          request.demand(later);
          return false;
        }
        if (Content.Chunk.isFailure(chunk)) {
          endBody();
          failure = chunk.getFailure();
          break;
        }
        boolean isLast = chunk.isLast();
        try {
          append(chunk.getByteBuffer());
        } finally {
          chunk.release();
        }
        if (isLast) {
          endBody();
          return true;
        }
      }
    }
    broke(failure);
    return false;
  }

  private void broke(Throwable failure) {
    if (failure instanceof TimeoutException) {
      reader.refused(new RefusedException(408, "body: got nothing for a while, expected the rest"));
    } else {
      reader.aborted(failure);
    }
  }

  /** Reads no more. */
  synchronized void endBody() {
    isRead = true;
    watch(false);
  }

  private void append(ByteBuffer more) {
    int count = more.remaining();
    if (count == 0) {
      return;
    }
    if (length + (long) count > most) {
      throw Inflate.tooLarge(front.limits().body());
    }
    if (length + count > bytes.length) {
      grow(length + count);
    }
    more.get(bytes, length, count);
    length += count;
    reader.look(bytes, length);
  }

  /** Makes room; a caller that announces much and sends little holds little. */
  private void grow(int least) {
    long wanted = Math.max(least, Math.min(most, Math.max(FIRST_BYTES, 2L * bytes.length)));
    if (request.getLength() >= least) {
      wanted = Math.min(wanted, request.getLength());
    }
    long before = reserved;
    reserve(wanted);
    give(before);
    byte[] larger = new byte[(int) wanted];
    System.arraycopy(bytes, 0, larger, 0, length);
    bytes = larger;
  }

  private void watch(boolean now) {
    if (now != isWatched) {
      isWatched = now;
      front.watch(this, now);
    }
  }

  /** Whether the body comes in slower than anybody needs to send it. */
  synchronized boolean isSlow(long nanos) {
    long taken = nanos - start;
    double least = taken / 1e9 * ServeLimits.BODY_RATE;
    return taken > front.limits().headerTime().toNanos() && length < least;
  }

  /** Gives up on the body. */
  void slow() {
    synchronized (this) {
      if (isRead) {
        return;
      }
      endBody();
    }
    front.metrics().rejected.add(ServeMetrics.SLOW_BODY);
    reader.refused(new RefusedException(408, "body: got less than 1 KiB a second, expected more"));
  }

  EndPoint endPoint() {
    return request.getConnectionMetaData().getConnection().getEndPoint();
  }

  /**
   * Bytes of it as they were before they were compressed; they count as those of bodies do.
   *
   * @param from the first of them
   */
  byte[] inflated(int from, String encoding) {
    long room = front.limits().body();
    reserve(room);
    byte[] inflated = Inflate.of(bytes, from, length, encoding, room);
    give(room - inflated.length);
    return inflated;
  }

  /** Takes memory for bytes until the body is let go. */
  private void reserve(long count) {
    if (!front.bodies().take(count)) {
      throw new RefusedException(503, "body: got more bodies than memory is left for; ask again");
    }
    synchronized (this) {
      reserved += count;
    }
  }

  private void give(long count) {
    front.bodies().give(count);
    synchronized (this) {
      reserved -= count;
    }
  }

  /** Lets go of the body: its bytes no longer count. */
  synchronized void release() {
    front.bodies().give(reserved);
    reserved = 0;
  }
}
