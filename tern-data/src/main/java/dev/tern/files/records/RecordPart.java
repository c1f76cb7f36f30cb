package dev.tern.files.records;

import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import dev.tern.internal.files.RecordSink;
import java.nio.file.Path;

/** A Norm or Raw file in the making that takes records of others as they are. */
final class RecordPart implements RecordSink {
  private static final int FLUSH = 1 << 20;

  private final OutputFile out;
  private final byte[] header;
  private final RecordBuffer buffer = new RecordBuffer();
  private long records;

  /**
   * Starts {@code file}.
   *
   * @param header of a Norm file, framed or not, in which the number of records is put at the end;
   *     of Raw no byte
   */
  RecordPart(Path file, byte[] header) {
    this.header = header;
    out = OutputFile.create(file);
    buffer.putBytes(header);
  }

  @Override
  public void put(byte[] bytes, int from, int to) {
    buffer.putBytes(bytes, from, to);
    records++;
    if (buffer.size() > FLUSH) {
      out.write(buffer);
    }
  }

  @Override
  public void complete() {
    out.write(buffer);
    if (header.length > 0) {
      NormHeader.putRecords(header, records, buffer);
      out.patch(0, buffer);
    }
    out.complete();
  }

  @Override
  public void finish() {
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
