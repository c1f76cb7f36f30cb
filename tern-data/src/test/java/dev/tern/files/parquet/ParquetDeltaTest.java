package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesWriterForLong;
import org.junit.jupiter.api.Test;

/** Delta values that parquet-java packs. */
class ParquetDeltaTest {
  private static byte[] pack(int block, int parts, long... values) throws IOException {
    try (var writer =
        new DeltaBinaryPackingValuesWriterForLong(
            block, parts, 64, 1 << 20, HeapByteBufferAllocator.getInstance())) {
      for (long value : values) {
        writer.writeLong(value);
      }
      return writer.getBytes().toByteArray();
    }
  }

  private static byte[] slack(byte[] packed) {
    return Arrays.copyOf(packed, packed.length + ParquetRuns.SLACK);
  }

  @Test
  void valuesOfEveryWidthAndCountRead() throws IOException {
    SplittableRandom random = new SplittableRandom(9);
    for (int size : new int[] {1, 2, 7, 8, 31, 32, 33, 127, 128, 129, 130, 1000}) {
      for (int width = 0; width <= 64; width++) {
        long[] values = new long[size];
        for (int i = 0; i < size; i++) {
          values[i] = width == 0 ? 42 : random.nextLong() >> (64 - width);
        }
        byte[] packed = pack(width % 2 == 0 ? 128 : 256, 4, values);
        ParquetDelta delta = new ParquetDelta();
        delta.open(slack(packed), 0, packed.length);
        assertThat(delta.skipAll()).as("end of " + size + " by " + width).isEqualTo(packed.length);
        delta.open(slack(packed), 0, packed.length);
        long[] read = new long[size + 1];
        for (int done = 0; done < size; ) {
          int count = 1 + random.nextInt(size - done);
          delta.read(read, done, count);
          done += count;
        }
        assertThat(read).as(size + " by " + width).startsWith(values);
      }
    }
  }

  @Test
  void differencesWrapAround() throws IOException {
    long[] values = {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1, Long.MIN_VALUE, 1};
    byte[] packed = pack(128, 4, values);
    ParquetDelta delta = new ParquetDelta();
    delta.open(slack(packed), 0, packed.length);
    long[] read = new long[values.length];
    delta.read(read, 0, values.length);
    assertThat(read).isEqualTo(values);
  }

  @Test
  void cutOrAbsurdBytesAreFaults() throws IOException {
    long[] values = new long[300];
    Arrays.setAll(values, i -> (long) i * i * i);
    byte[] packed = pack(128, 4, values);
    for (int cut = 0; cut < packed.length; cut++) {
      int length = cut;
      assertThatExceptionOfType(DataException.class)
          .as("cut to " + cut)
          .isThrownBy(() -> {
            ParquetDelta delta = new ParquetDelta();
            delta.open(slack(packed), 0, length);
            delta.read(new long[300], 0, 300);
          })
          .withMessageContaining("cut short");
    }
    ParquetDelta delta = new ParquetDelta();
    delta.open(slack(packed), 0, packed.length);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> delta.read(new long[301], 0, 301))
        .withMessageContaining("fewer delta values");
    byte[][] heads = {
      {0, 4, 1, 0},
      {(byte) 0x80, 1, 0, 1, 0},
      {100, 4, 1, 0},
      {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 1, 4, 1, 0},
    };
    for (byte[] head : heads) {
      assertThatExceptionOfType(DataException.class)
          .as(Arrays.toString(head))
          .isThrownBy(() -> new ParquetDelta().open(slack(head), 0, head.length))
          .withMessageContaining("got delta blocks of");
    }
  }
}
