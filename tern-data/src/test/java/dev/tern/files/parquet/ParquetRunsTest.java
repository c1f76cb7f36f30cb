package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.internal.files.RecordBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The run-length / bit-packed hybrid, written and read, and against bytes worked out by hand. */
class ParquetRunsTest {
  private static final int[] SIZES = {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 5000};

  @Test
  void whatIsWrittenReadsBackAtEveryWidth() {
    SplittableRandom random = new SplittableRandom(3);
    for (int width = 0; width <= 32; width++) {
      for (int size : SIZES) {
        int[] values = new int[size];
        for (int i = 0; i < size; ) {
          int value = width == 0 ? 0 : random.nextInt() >>> (32 - width);
          int end = Math.min(size, i + 1 + (random.nextBoolean() ? 0 : random.nextInt(40)));
          Arrays.fill(values, i, end, value);
          i = end;
        }
        assertThat(read(write(values, width), width, size, random))
            .as("width " + width + ", size " + size)
            .isEqualTo(values);
      }
    }
  }

  private static RecordBuffer write(int[] values, int width) {
    RecordBuffer out = new RecordBuffer();
    out.putByte(77);
    new ParquetRunWriter(out).write(values, 0, values.length, width);
    return out;
  }

  private static int[] read(RecordBuffer written, int width, int size, SplittableRandom random) {
    byte[] bytes = Arrays.copyOf(written.bytes(), written.size() + ParquetRuns.SLACK);
    Arrays.fill(bytes, written.size(), bytes.length, (byte) -1);
    ParquetRuns runs = new ParquetRuns();
    runs.open(bytes, 1, written.size(), width);
    int[] all = new int[size];
    int[] part = new int[size];
    for (int done = 0; done < size; ) {
      int count = 1 + random.nextInt(Math.min(size - done, 200));
      if (done == 0 || !runs.takeRepeated(all[done - 1], count)) {
        runs.read(part, count);
      } else {
        Arrays.fill(part, 0, count, all[done - 1]);
      }
      System.arraycopy(part, 0, all, done, count);
      done += count;
    }
    return all;
  }

  @Test
  void theExampleOfTheFormatReads() {
    // 0 to 7 in three bits: 88 C6 FA by the format's own description; then 4 times 5.
    byte[] bytes = new byte[6 + ParquetRuns.SLACK];
    System.arraycopy(new byte[] {3, (byte) 0x88, (byte) 0xC6, (byte) 0xFA, 8, 5}, 0, bytes, 0, 6);
    ParquetRuns runs = new ParquetRuns();
    runs.open(bytes, 0, 6, 3);
    int[] values = new int[12];
    runs.read(values, 12);
    assertThat(values).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 5, 5, 5, 5);
    RecordBuffer written = write(new int[] {0, 1, 2, 3, 4, 5, 6, 7}, 3);
    assertThat(Arrays.copyOfRange(written.bytes(), 1, written.size()))
        .containsExactly(3, 0x88, 0xC6, 0xFA);
  }

  @Test
  void readingPastTheEndIsAFault() {
    for (int size : new int[] {1, 8, 17}) {
      int[] values = new int[size];
      Arrays.setAll(values, i -> i);
      RecordBuffer written = write(values, 5);
      byte[] bytes = Arrays.copyOf(written.bytes(), written.size() + ParquetRuns.SLACK);
      for (int cut = 1; cut < written.size(); cut++) {
        ParquetRuns runs = new ParquetRuns();
        runs.open(bytes, 1, cut, 5);
        int[] out = new int[64];
        assertThatExceptionOfType(DataException.class)
            .as("size " + size + " cut to " + cut)
            .isThrownBy(() -> runs.read(out, 40))
            .withMessageContaining("fewer values");
      }
    }
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> new ParquetRuns().open(new byte[8], 0, 0, 33))
        .withMessageContaining("33 bits");
  }
}
