package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
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
  private final Charset charset;
  private final RecordBuffer text = new RecordBuffer();
  private boolean complete;

  /** Where bytes go. */
  interface Sink extends AutoCloseable {
    void write(byte[] bytes, int from, int to);

    /** All is written; {@link #finish} alone may follow. */
    void complete();

    /** Completes it if need be, and shows what was written. */
    void finish();

    @Override
    void close();
  }

  private TextOutput(Sink out, Optional<GZIPOutputStream> gzip, Charset charset) {
    this.out = out;
    this.gzip = gzip;
    this.charset = charset;
  }

  /** Starts a file in UTF-8 that will stand at {@code file}. */
  public static TextOutput create(Path file) {
    return create(file, StandardCharsets.UTF_8);
  }

  /**
   * Starts a file that will stand at {@code file}.
   *
   * @param charset of the file, which must have all characters of the text; the text is put
   *     together in UTF-8
   */
  static TextOutput create(Path file, Charset charset) {
    OutputFile out = OutputFile.create(file);
    boolean compressed = TextBytes.isNamedGzip(file);
    return new TextOutput(out, compressed ? Optional.of(gzip(out)) : Optional.empty(), charset);
  }

  /** Text for {@code stream}. */
  public static TextOutput to(OutputStream stream) {
    return new TextOutput(new StreamSink(stream), Optional.empty(), StandardCharsets.UTF_8);
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
    public void complete() {
      try {
        stream.flush();
      } catch (IOException e) {
        throw unwritten(e);
      }
    }

    @Override
    public void finish() {
      complete();
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
    flushFull();
  }

  /** Writes what there is now and then; called between whole lines. */
  void flushFull() {
    if (text.size() > FLUSH) {
      flush();
    }
  }

  private void flush() {
    if (charset.equals(StandardCharsets.UTF_8)) {
      write(text.bytes(), text.size());
    } else {
      byte[] bytes =
          new String(text.bytes(), 0, text.size(), StandardCharsets.UTF_8).getBytes(charset);
      write(bytes, bytes.length);
    }
    text.clear();
  }

  private void write(byte[] bytes, int size) {
    if (gzip.isEmpty()) {
      out.write(bytes, 0, size);
      return;
    }
    try {
      gzip.get().write(bytes, 0, size);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // its target throws none
    }
  }

  /** Writes what is left and forces it to disk; {@link #finish} alone may follow. */
  public void complete() {
    flush();
    try {
      if (gzip.isPresent()) {
        gzip.get().finish();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // its target throws none
    }
    out.complete();
    complete = true;
  }

  /** Writes what is left and makes the file appear under its name. */
  public void finish() {
    if (!complete) {
      complete();
    }
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
