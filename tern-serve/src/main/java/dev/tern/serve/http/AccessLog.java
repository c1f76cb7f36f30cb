package dev.tern.serve.http;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.function.Consumer;

/** A line of JSON for each request. Lines reach the file within a second. */
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

  private final OutputStream out;
  private final Clock clock;
  private final Consumer<String> notes;
  private boolean failed;

  AccessLog(OutputStream out, Clock clock, Consumer<String> notes) {
    this.out = out;
    this.clock = clock;
    this.notes = notes;
  }

  /** Appends to {@code file}; {@code -} is the standard output. */
  static AccessLog open(Path file, Consumer<String> notes) {
    try {
      OutputStream to =
          file.toString().equals("-")
              ? new StandardOutput()
              : new FileOutputStream(file.toFile(), true);
      return new AccessLog(new BufferedOutputStream(to, 1 << 16), Clock.systemUTC(), notes);
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
    synchronized (this) {
      try {
        out.write(bytes);
      } catch (IOException e) {
        failed(e);
      }
    }
  }

  private static void text(StringBuilder line, String name, String value) {
    if (!value.isEmpty()) {
      line.append(",\"").append(name).append("\":");
      JsonText.quote(line, value);
    }
  }

  /** Says once that lines are lost; requests go on. */
  private void failed(IOException e) {
    if (!failed) {
      failed = true;
      notes.accept("access log: got " + e.getMessage() + "; lines are lost from here on");
    }
  }

  /** Writes what is held back. */
  synchronized void flush() {
    try {
      out.flush();
    } catch (IOException e) {
      failed(e);
    }
  }

  @Override
  public synchronized void close() {
    flush();
    try {
      out.close();
    } catch (IOException e) {
      failed(e);
    }
  }
}
