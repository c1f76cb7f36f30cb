package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.util.List;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import shaded.parquet.org.apache.thrift.TBase;
import shaded.parquet.org.apache.thrift.TConfiguration;
import shaded.parquet.org.apache.thrift.TException;
import shaded.parquet.org.apache.thrift.protocol.TCompactProtocol;
import shaded.parquet.org.apache.thrift.transport.TEndpointTransport;
import shaded.parquet.org.apache.thrift.transport.TTransportException;

/**
 * Footers and page headers from bytes in memory. A list or string can never claim more than the
 * bytes that are left, so what a hostile header makes us allocate is bounded by its own size.
 */
public final class ParquetThrift {
  /** No room for a header of this size in the bytes given: give more bytes. */
  static final int TRUNCATED = -1;

  private ParquetThrift() {}

  public static FileMetaData footer(byte[] bytes, int from, int to) {
    FileMetaData footer = new FileMetaData();
    if (read(footer, bytes, from, to) == TRUNCATED) {
      throw new DataException("got a footer that ends early" + ParquetFile.REWRITE);
    }
    return footer;
  }

  /** Reads a page header; returns the index after it, or {@link #TRUNCATED}. */
  static int pageHeader(PageHeader header, byte[] bytes, int from, int to) {
    return read(header, bytes, from, to);
  }

  private static int read(TBase<?, ?> target, byte[] bytes, int from, int to) {
    try {
      Bytes source = new Bytes(bytes, from, to);
      target.read(new TCompactProtocol(source));
      return source.position;
    } catch (TTransportException e) {
      return TRUNCATED;
    } catch (TException | RuntimeException e) {
      throw new DataException(fault(String.valueOf(e.getMessage())), e);
    } catch (StackOverflowError e) {
      throw new DataException("got a Thrift structure nested without end" + ParquetFile.REWRITE, e);
    }
  }

  /** A value of an enum that the library does not know comes as none at all. */
  private static String fault(String message) {
    for (String field : List.of("codec", "encoding", "type")) {
      if (message.startsWith("Required field '" + field + "' was not present")) {
        return "got no "
            + field
            + ", or one newer than this reader, expected one that Parquet had by 2025; write the"
            + " file with another";
      }
    }
    return "got bytes that are no Thrift structure, expected one of Parquet's"
        + ParquetFile.REWRITE;
  }

  /** Part of an array as a Thrift transport. */
  private static final class Bytes extends TEndpointTransport {
    private final byte[] bytes;
    private final int end;
    private int position;

    Bytes(byte[] bytes, int from, int to) throws TTransportException {
      super(new TConfiguration(Math.max(1, to - from), Integer.MAX_VALUE, 64));
      this.bytes = bytes;
      position = from;
      end = to;
    }

    @Override
    public void checkReadBytesAvailable(long wanted) throws TTransportException {
      if (wanted < 0 || wanted > end - position) {
        throw new TTransportException(TTransportException.END_OF_FILE, "no bytes left");
      }
    }

    @Override
    public int read(byte[] target, int at, int length) throws TTransportException {
      checkReadBytesAvailable(length);
      System.arraycopy(bytes, position, target, at, length);
      position += length;
      return length;
    }

    @Override
    public byte[] getBuffer() {
      return bytes;
    }

    @Override
    public int getBufferPosition() {
      return position;
    }

    @Override
    public int getBytesRemainingInBuffer() {
      return end - position;
    }

    @Override
    public void consumeBuffer(int length) {
      position += length;
    }

    @Override
    public void write(byte[] source, int at, int length) {
      throw new UnsupportedOperationException("these bytes are for reading");
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void open() {}

    @Override
    public void close() {}
  }
}
