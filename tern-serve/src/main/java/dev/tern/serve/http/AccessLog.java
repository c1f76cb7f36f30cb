package dev.tern.serve.http;

import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * A line of JSON for each request, which reaches the file within a second. A thread of its own
 * writes, so no request waits for a disk: lines that it takes too slowly are left out and counted.
 */
final class AccessLog implements AutoCloseable {
  /**
   * Who asked, and what for.
   *
   * @param target the path as it was sent, with its query
   * @param trace a field {@code traceparent} that was sent, or nothing
   */
  record Caller(String remote, String method, String target, String trace) {}

  /**
   * One request.
   *
   * @param status that of HTTP
   * @param grpc that of a call by gRPC, or nothing
   * @param model the name that was found, or nothing
   * @param version the step that answered, or nothing
   */
  record Entry(
      Caller caller,
      int status,
      String grpc,
      String model,
      String version,
      long bytesIn,
      long bytesOut,
      long nanos) {}

  private static final int LONGEST_TARGET = 256;

  /** Bytes that wait for the file at most: a second of some 15,000 requests. */
  private static final int MOST_BYTES = 4 << 20;

  /** Bytes that are written without waiting for more. */
  private static final int WORTH_WRITING = 1 << 16;

  private static final long PAUSE_MILLIS = 200;
  private static final long END_MILLIS = 2_000;

  private final OutputStream out;
  private final int most;
  private final LongAdder dropped;
  private final Consumer<String> notes;
  private final Clock clock = Clock.systemUTC();
  private final Semaphore wake = new Semaphore(0);
  private final Thread writer;

  // Guarded by this; nobody writes to a file under this lock.
  private ByteArrayOutputStream waiting = new ByteArrayOutputStream();
  private int lines;
  private boolean isLate;
  private boolean isClosed;

  // For the thread that writes.
  private boolean isFailing;
  private boolean isTold;

  /**
   * @param most bytes that wait at most
   * @param dropped counts lines that are left out
   */
  AccessLog(OutputStream out, int most, LongAdder dropped, Consumer<String> notes) {
    this.out = out;
    this.most = most;
    this.dropped = dropped;
    this.notes = notes;
    writer = Thread.ofPlatform().daemon().name("tern-access-log").start(this::write);
  }

  /** Appends to {@code file}; {@code -} is the standard output. */
  static AccessLog open(Path file, LongAdder dropped, Consumer<String> notes) {
    try {
      OutputStream to =
          file.toString().equals("-")
              ? new StandardOutput()
              : new FileOutputStream(file.toFile(), true);
      return new AccessLog(to, MOST_BYTES, dropped, notes);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "access log: got " + e.getMessage() + ", expected a file that can be written", e);
    }
  }

  /** The standard output, which stays open for others. */
  private static final class StandardOutput extends FileOutputStream {
    StandardOutput() {
      super(FileDescriptor.out);
    }

    @Override
    public void close() {}
  }

  void add(Entry entry) {
    StringBuilder line = new StringBuilder(256);
    line.append("{\"time\":\"").append(clock.instant()).append('"');
    text(line, "remote", entry.caller().remote());
    text(line, "method", entry.caller().method());
    String target = entry.caller().target();
    text(
        line,
        "target",
        target.length() > LONGEST_TARGET ? target.substring(0, LONGEST_TARGET) : target);
    line.append(",\"status\":").append(entry.status());
    text(line, "grpc", entry.grpc());
    text(line, "model", entry.model());
    text(line, "version", entry.version());
    line.append(",\"bytes_in\":").append(entry.bytesIn());
    line.append(",\"bytes_out\":").append(entry.bytesOut());
    line.append(",\"micros\":").append(entry.nanos() / 1_000);
    text(line, "traceparent", entry.caller().trace());
    byte[] bytes = line.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
    boolean isEnough;
    synchronized (this) {
      int size = waiting.size();
      if (isClosed || size + bytes.length > most) {
        dropped.increment();
        isLate = true;
        return;
      }
      waiting.writeBytes(bytes);
      lines++;
      isEnough = size < WORTH_WRITING && waiting.size() >= WORTH_WRITING;
    }
    if (isEnough) {
      wake.release();
    }
  }

  private static void text(StringBuilder line, String name, String value) {
    if (!value.isEmpty()) {
      line.append(",\"").append(name).append("\":");
      JsonText.quote(line, value);
    }
  }

  private void write() {
    ByteArrayOutputStream spare = new ByteArrayOutputStream();
    boolean isLast = false;
    while (!isLast) {
      pause();
      ByteArrayOutputStream taken;
      int count;
      boolean tells;
      synchronized (this) {
        taken = waiting;
        waiting = spare;
        count = lines;
        lines = 0;
        tells = isLate && !isTold;
        isLast = isClosed;
      }
      write(taken, count);
      taken.reset();
      spare = taken;
      if (tells) {
        isTold = true;
        notes.accept(
            "access log: got more lines than the file takes in time; some are left out, and"
                + " counted in tern_access_log_dropped_total");
      }
    }
    end();
  }

  /** Lets lines gather, which are then written at once. */
  private void pause() {
    try {
      if (wake.tryAcquire(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        wake.drainPermits();
      }
    } catch (InterruptedException e) {
      synchronized (this) {
        isClosed = true; // Whoever interrupts wants it to end.
      }
    }
  }

  private void write(ByteArrayOutputStream taken, int count) {
    if (count == 0) {
      return;
    }
    try {
      if (isFailing) {
        out.write('\n'); // Ends the line that may have been cut.
      }
      taken.writeTo(out);
      out.flush();
      isFailing = false;
    } catch (IOException e) {
      dropped.add(count);
      if (!isFailing) {
        isFailing = true;
        notes.accept(
            "access log: got " + e.getMessage() + "; lines are lost until the file takes some");
      }
    }
  }

  private void end() {
    try {
      out.close();
    } catch (IOException e) {
      notes.accept("access log: got " + e.getMessage() + " at its end");
    }
  }

  /** Writes what waits; gives up where the file takes nothing for some seconds. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    wake.release();
    try {
      if (!writer.join(Duration.ofMillis(END_MILLIS))) {
        notes.accept("access log: the file takes no lines; what waits is lost");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
