package dev.tern.bench;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.MessageColumnIO;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.api.Converter;
import org.apache.parquet.io.api.GroupConverter;
import org.apache.parquet.io.api.PrimitiveConverter;
import org.apache.parquet.io.api.RecordMaterializer;

/**
 * parquet-java's record reader on the columns of a Parquet file, into arrays: converters store each
 * value in its place and no object stands for a row. Threads share out the file by bytes, as its
 * input splits do.
 */
final class ParquetJavaScan {
  private static final int ROWS = 4096;

  private final Path file;
  private final Schema schema;
  private final int threads;

  ParquetJavaScan(Path file, Schema schema, int threads) {
    this.file = file;
    this.schema = schema;
    this.threads = threads;
  }

  /** Every value into an array; returns the sum of ids. */
  long arrays() {
    long size;
    try {
      size = Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    long[] sums = new long[threads];
    Thread[] team = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      int part = t;
      team[t] =
          Thread.ofPlatform()
              .start(() -> sums[part] = part(size * part / threads, size * (part + 1) / threads));
    }
    for (Thread thread : team) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return Arrays.stream(sums).sum();
  }

  private long part(long from, long to) {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration()).withRange(from, to).build();
    RowArrays rows = new RowArrays(schema);
    long sum = 0;
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file), options)) {
      MessageColumnIO columns =
          new ColumnIOFactory().getColumnIO(reader.getFileMetaData().getSchema());
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        RecordReader<RowArrays> records = columns.getRecordReader(group, rows);
        for (long left = group.getRowCount(); left > 0; left--) {
          records.read();
          if (rows.row == ROWS || left == 1) {
            sum += rows.idSum();
          }
        }
      }
      return sum;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Rows being put into arrays. */
  private static final class RowArrays extends RecordMaterializer<RowArrays> {
    private final float[][] floats;
    private final long[][] ids;
    private final GroupConverter root;
    private int row;

    RowArrays(Schema schema) {
      int numbers = schema.labelDim() + schema.denseDim();
      floats = new float[numbers][ROWS];
      ids = new long[schema.slotCount()][ROWS];
      Converter[] fields =
          IntStream.range(0, numbers + ids.length)
              .mapToObj(i -> i < numbers ? number(floats[i]) : id(ids[i - numbers]))
              .toArray(Converter[]::new);
      if (schema.slots().stream().mapToInt(Slot::hotness).anyMatch(hotness -> hotness != 1)) {
        throw new IllegalArgumentException("parquet-java: expected slots of one id");
      }
      root =
          new GroupConverter() {
            @Override
            public Converter getConverter(int field) {
              return fields[field];
            }

            @Override
            public void start() {
              for (float[] column : floats) {
                column[row] = Float.NaN;
              }
            }

            @Override
            public void end() {
              row++;
            }
          };
    }

    private Converter number(float[] column) {
      return new PrimitiveConverter() {
        @Override
        public void addFloat(float value) {
          column[row] = value;
        }
      };
    }

    private Converter id(long[] column) {
      return new PrimitiveConverter() {
        @Override
        public void addLong(long value) {
          column[row] = value;
        }
      };
    }

    /** The sum of the ids at hand, which then make way for the next rows. */
    long idSum() {
      long sum = 0;
      for (long[] column : ids) {
        for (int i = 0; i < row; i++) {
          sum += column[i];
        }
      }
      row = 0;
      return sum;
    }

    @Override
    public RowArrays getCurrentRecord() {
      return this;
    }

    @Override
    public GroupConverter getRootConverter() {
      return root;
    }
  }
}
