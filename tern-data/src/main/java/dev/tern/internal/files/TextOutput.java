package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;

/**
 * A text file in the making, compressed by gzip where its name ends in {@code .gz}; or text on its
 * way to a stream, which stays open.
 */
public final class TextOutput implements AutoCloseable {
  private static final int FLUSH = 1 << 20;

  private final Sink out;
  private final Optional<GZIPOutputStream> gzip;
  private final RecordBuffer text = new RecordBuffer();

  /** Where bytes go. */
  interface Sink extends AutoCloseable {
    void write(byte[] bytes, int from, int to);

    /** All is written. */
    void finish();

    @Override
    void close();
  }

  private TextOutput(Sink out, Optional<GZIPOutputStream> gzip) {
    this.out = out;
    this.gzip = gzip;
  }

  /** Starts a file that will stand at {@code file}. */
  public static TextOutput create(Path file) {
    OutputFile out = OutputFile.create(file);
    boolean compressed = file.toString().endsWith(".gz");
    return new TextOutput(out, compressed ? Optional.of(gzip(out)) : Optional.empty());
  }

  /** Text for {@code stream}. */
  public static TextOutput to(OutputStream stream) {
    return new TextOutput(new StreamSink(stream), Optional.empty());
  }

  /** A stream that its owner closes. */
  private record StreamSink(OutputStream stream) implements Sink {
    @Override
    public void write(byte[] bytes, int from, int to) {
      try {
        stream.write(bytes, from, to - from);
      } catch (IOException e) {
        throw unwritten(e);
      }
    }

    @Override
    public void finish() {
      try {
        stream.flush();
      } catch (IOException e) {
        throw unwritten(e);
      }
    }

    private static DataException unwritten(IOException e) {
      return new DataException(
          "output: got an error writing (%s), expected somebody who reads it, or room on the disk"
              .formatted(DataException.reason(e)),
          e);
    }

    @Override
    public void close() {}
  }

  private static GZIPOutputStream gzip(OutputFile out) {
    try {
      return new GZIPOutputStream(
          new OutputStream() {
            @Override
            public void write(int b) {
              write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int count) {
              out.write(bytes, from, from + count);
            }
          },
          1 << 16);
    } catch (IOException e) {
      out.close();
      throw new UncheckedIOException(e); // its target throws none
    }
  }

  /** Where lines are put together. */
  public RecordBuffer text() {
    return text;
  }

  /** Ends a line, and writes what there is now and then. */
  public void endLine() {
    text.putByte('\n');
    if (text.size() > FLUSH) {
      flush();
    }
  }

  private void flush() {
    if (gzip.isEmpty()) {
      out.write(text.bytes(), 0, text.size());
      text.clear();
      return;
    }
    try {
      gzip.get().write(text.bytes(), 0, text.size());
      text.clear();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // its target throws none
    }
  }

  /** Writes what is left and makes the file appear under its name. */
  public void finish() {
    flush();
    try {
      if (gzip.isPresent()) {
        gzip.get().finish();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // its target throws none
    }
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
