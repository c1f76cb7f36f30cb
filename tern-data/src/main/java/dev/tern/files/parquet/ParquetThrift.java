package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.RowGroup;
import shaded.parquet.org.apache.thrift.TBase;
import shaded.parquet.org.apache.thrift.TConfiguration;
import shaded.parquet.org.apache.thrift.TException;
import shaded.parquet.org.apache.thrift.protocol.TCompactProtocol;
import shaded.parquet.org.apache.thrift.protocol.TField;
import shaded.parquet.org.apache.thrift.protocol.TProtocolUtil;
import shaded.parquet.org.apache.thrift.transport.TEndpointTransport;
import shaded.parquet.org.apache.thrift.transport.TIOStreamTransport;
import shaded.parquet.org.apache.thrift.transport.TTransportException;

/**
 * Footers and page headers from bytes in memory. A list or string can never claim more than the
 * bytes that are left, so what a hostile header makes us allocate is bounded by its own size.
 */
public final class ParquetThrift {
  /** No room for a header of this size in the bytes given: give more bytes. */
  static final int TRUNCATED = -1;

  /** Fields of a footer, and of each its type in the compact protocol. */
  private static final int ROWS = 3;

  private static final int GROUPS = 4;
  private static final int CREATED_BY = 6;
  private static final int COLUMN_ORDERS = 7;
  private static final int STOP = 0;

  private static final int STRUCT = 12;
  private static final int[] TYPES = {0, 5, 9, 6, 9, 9, 8, 9};

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

  /**
   * A footer with what {@code kept}, the {@link #fields} of another, says of all rows, to the
   * letter, unknown annotations too: its version, schema, metadata and orders of columns.
   */
  static byte[] footer(
      Map<Integer, byte[]> kept, long rows, List<RowGroup> groups, String createdBy) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      int last = 0;
      for (int id = 1; id <= COLUMN_ORDERS; id++) {
        byte[] value =
            switch (id) {
              case ROWS -> varint(rows << 1);
              case GROUPS -> groups(groups);
              case CREATED_BY -> text(createdBy);
              default -> kept.getOrDefault(id, new byte[0]);
            };
        if (value.length > 0) {
          out.write(id - last << 4 | TYPES[id]);
          out.writeBytes(value);
          last = id;
        }
      }
    } catch (TException e) {
      throw new IllegalStateException("parquet: got " + e + " writing to memory", e);
    }
    out.write(0);
    return out.toByteArray();
  }

  /** The bytes of each field of the structure in {@code bytes}. */
  static Map<Integer, byte[]> fields(byte[] bytes) {
    Map<Integer, byte[]> fields = new HashMap<>();
    try {
      Bytes source = new Bytes(bytes, 0, bytes.length);
      TCompactProtocol protocol = new TCompactProtocol(source);
      protocol.readStructBegin();
      for (TField field = protocol.readFieldBegin();
          field.type != STOP;
          field = protocol.readFieldBegin()) {
        int from = source.position;
        TProtocolUtil.skip(protocol, field.type);
        fields.put((int) field.id, Arrays.copyOfRange(bytes, from, source.position));
        protocol.readFieldEnd();
      }
      return fields;
    } catch (TException e) {
      throw new DataException(fault(String.valueOf(e.getMessage())), e);
    }
  }

  private static byte[] groups(List<RowGroup> groups) throws TException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(groups.size() < 15 ? groups.size() << 4 | STRUCT : 15 << 4 | STRUCT);
    if (groups.size() >= 15) {
      out.writeBytes(varint(groups.size()));
    }
    TCompactProtocol protocol = new TCompactProtocol(new TIOStreamTransport(out));
    for (RowGroup group : groups) {
      group.write(protocol);
    }
    return out.toByteArray();
  }

  private static byte[] text(String text) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeBytes(varint(bytes.length));
    out.writeBytes(bytes);
    return out.toByteArray();
  }

  private static byte[] varint(long value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
    return out.toByteArray();
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
