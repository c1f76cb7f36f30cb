package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.embedding.SelectedRows.Scatter;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SelectedRowsTest {
  private static final int HEIGHT = 40;

  /** Whole numbers, so that sums do not depend on their order. */
  private static SelectedRows random(long height, int width, int count) {
    SplittableRandom random = new SplittableRandom(31L * width + count);
    long[] rows = random.longs(count, 0, HEIGHT).toArray();
    float[] values = new float[count * width];
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextInt(-8, 9);
    }
    return SelectedRows.of(height, width, rows, values);
  }

  private static float[] sums(SelectedRows rows) {
    float[] dense = new float[HEIGHT * rows.width()];
    float[] values = rows.values();
    for (int i = 0; i < values.length; i++) {
      dense[(int) rows.rows()[i / rows.width()] * rows.width() + i % rows.width()] += values[i];
    }
    return dense;
  }

  private static byte[] written(SelectedRows rows) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      rows.writeTo(out);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return out.toByteArray();
  }

  private static SelectedRows read(byte[] bytes) throws IOException {
    return SelectedRows.readFrom(new ByteArrayInputStream(bytes), "rows.bin");
  }

  private static void same(SelectedRows got, SelectedRows expected) {
    assertThat(got.height()).isEqualTo(expected.height());
    assertThat(got.width()).isEqualTo(expected.width());
    assertThat(got.rows()).isEqualTo(expected.rows());
    assertThat(got.values()).isEqualTo(expected.values());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000})
  void sumsMergesAndOrdersAreThoseOfTheMatrix(int count) {
    Lookup scratch = new Lookup();
    for (int width : new int[] {1, 7, 8, 16, 17}) {
      SelectedRows rows = random(HEIGHT, width, count);
      float[] dense = sums(rows);
      assertThat(rows.toDense()).isEqualTo(dense);
      SelectedRows merged = rows.merged();
      assertThat(rows.merged(scratch).rows()).isEqualTo(merged.rows());
      assertThat(rows.merged(scratch).values()).isEqualTo(merged.values());
      assertThat(merged.rows()).isEqualTo(LongStream.of(rows.rows()).distinct().toArray());
      assertThat(merged.toDense()).isEqualTo(dense);
      SelectedRows sorted = rows.sorted();
      assertThat(sorted.rows()).isEqualTo(LongStream.of(rows.rows()).sorted().toArray());
      assertThat(sorted.toDense()).isEqualTo(dense);
      SelectedRows twice = rows.plus(sorted);
      assertThat(twice.size()).isEqualTo(2 * count);
      for (int i = 0; i < dense.length; i++) {
        assertThat(twice.toDense()[i]).isEqualTo(2 * dense[i]);
      }
    }
  }

  @Test
  void rowsOfOneNumberKeepTheirOrder() {
    SelectedRows rows =
        SelectedRows.of(9, 1, new long[] {5, 2, 5, 2, 5}, new float[] {1e8f, 2, 1, 3, -1e8f});
    assertThat(rows.sorted().values()).containsExactly(2, 3, 1e8f, 1, -1e8f);
    // 1e8 + 1 is 1e8 in F32.
    assertThat(rows.merged().values()).containsExactly(0, 5);
  }

  @ParameterizedTest
  @EnumSource(Scatter.class)
  void scatterDoesItsOperationRowByRow(Scatter operation) {
    SelectedRows rows = SelectedRows.of(3, 2, new long[] {2, 0, 2}, new float[] {2, 4, 5, 8, 3, 7});
    float[] dense = {1, 2, 3, 4, 5, 6};
    rows.scatter(operation, dense);
    float[] expected =
        switch (operation) {
          case ASSIGN -> new float[] {5, 8, 3, 4, 3, 7};
          case ADD -> new float[] {6, 10, 3, 4, 10, 17};
          case SUBTRACT -> new float[] {-4, -6, 3, 4, 0, -5};
          case SUBTRACT_FROM -> new float[] {4, 6, 3, 4, 3 - (2 - 5), 7 - (4 - 6)};
          case MULTIPLY -> new float[] {5, 16, 3, 4, 30, 168};
          case DIVIDE -> new float[] {1 / 5f, 2 / 8f, 3, 4, 5 / 2f / 3, 6 / 4f / 7};
          case DIVIDE_INTO -> new float[] {5, 4, 3, 4, 3 / (2 / 5f), 7 / (4 / 6f)};
        };
    assertThat(dense).isEqualTo(expected);
  }

  @Test
  void bytesAreThoseOfTheFormat() throws IOException {
    SelectedRows rows =
        SelectedRows.of(300, 3, new long[] {299, 4}, new float[] {1, -2, 0.5f, 0, 3, 4});
    String hex =
        "00000000 0200000000000000 2b01000000000000 0400000000000000 2c01000000000000"
            + "00000000 06000000 0805 1002 1003"
            + "0000803f 000000c0 0000003f 00000000 00004040 00008040";
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    assertThat(written(rows)).isEqualTo(bytes);
    same(read(bytes), rows);
  }

  @Test
  void whatIsWrittenIsReadAndWhatFollowsStays() throws IOException {
    long[] ids = {0, -1, -2, Long.MIN_VALUE, Long.MAX_VALUE, 13, 26};
    SelectedRows all = SelectedRows.of(SelectedRows.UNBOUNDED, 1, ids, new float[ids.length]);
    List<SelectedRows> written = new ArrayList<>(List.of(all, random(HEIGHT, 130, 20_000)));
    for (int count : new int[] {0, 1, 8191, 8192, 8193}) {
      written.add(random(HEIGHT, 2, count));
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (SelectedRows rows : written) {
      rows.writeTo(out);
    }
    ByteArrayInputStream in = new ByteArrayInputStream(out.toByteArray());
    for (SelectedRows rows : written) {
      same(SelectedRows.readFrom(in, "rows.bin"), rows);
    }
    assertThat(in.available()).isZero();
  }

  @Test
  void dataCutOffAnywhereAreRefused() {
    byte[] bytes = written(random(HEIGHT, 3, 5));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> read(cut))
          .isInstanceOf(DataException.class)
          .hasMessageStartingWith("rows.bin: byte " + length + ": got the end of the data");
    }
  }

  @Test
  void anyByteChangedIsReadOrRefusedButNeverAnythingElse() throws IOException {
    byte[] bytes = written(random(HEIGHT, 3, 5));
    int values = bytes.length - 4 * 3 * 5;
    int refused = 0;
    for (int at = 0; at < bytes.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] changed = bytes.clone();
        changed[at] ^= (byte) (1 << bit);
        try {
          // Fewer columns leave the last values in the stream.
          byte[] again = written(read(changed));
          assertThat(again).isEqualTo(Arrays.copyOf(changed, again.length));
        } catch (DataException e) {
          assertThat(at).as("a value is any number").isLessThan(values);
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(8 * 20);
  }

  @Test
  void aCountThatLiesTakesNoMemory() {
    ByteBuffer lie = ByteBuffer.allocate(12 + 8 * 100).order(ByteOrder.LITTLE_ENDIAN);
    lie.putInt(0).putLong(Integer.MAX_VALUE);
    assertThatThrownBy(() -> read(lie.array()))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("byte 812: got the end of the data");
    lie.putLong(4, -1);
    assertThatThrownBy(() -> read(lie.array()))
        .isInstanceOf(DataException.class)
        .hasMessage("rows.bin: byte 4: got -1 rows, expected 0 to 2^31 - 1");
  }

  @Test
  void rowsBeyondTheMatrixAndOtherTypesAreRefused() {
    byte[] bytes = written(SelectedRows.of(300, 1, new long[] {299}, new float[1]));
    byte[] lower = bytes.clone();
    lower[20] = 0x2b;
    assertThatThrownBy(() -> read(lower))
        .hasMessage("rows.bin: byte 12: got number 299 of row 0, expected 0 to 298");
    byte[] doubles = bytes.clone();
    doubles[37] = 6;
    assertThatThrownBy(() -> read(doubles))
        .hasMessageStartingWith("rows.bin: byte 36: got data type 6, expected 5");
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void theGradientOfALookupChangesATableAsApplyDoes(Combiner combiner) {
    changesATableAsApplyDoes(combiner, false);
    changesATableAsApplyDoes(combiner, true);
  }

  private void changesATableAsApplyDoes(Combiner combiner, boolean weighted) {
    int width = 5;
    long[] ids = {7, -1, 7, Long.MIN_VALUE, 0, 7, 99};
    int[] offsets = {0, 2, 2, 3, 6};
    float[] gradients = new float[4 * width];
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < gradients.length; i++) {
      gradients[i] = (float) random.nextDouble(-1, 1);
    }
    TableConfig config =
        new TableConfig("t", 0, width, 3, TableOptions.of(Optimizer.adagrad(0.1f)).initRange(0.1f));
    Allocator allocator = Allocator.of(1L << 26);
    try (EmbeddingTable one = EmbeddingTable.create(config, allocator);
        EmbeddingTable other = EmbeddingTable.create(config, allocator);
        Floats near = new Floats(allocator, gradients.length)) {
      Lookup lookup = new Lookup();
      one.find(ids, 6, lookup, true);
      other.find(ids, 6, new Lookup(), true);
      for (int i = 0; i < gradients.length; i++) {
        near.set(i, gradients[i]);
      }
      float[] weights = {1, 3, 0.25f, 2, 0, 0.5f, 9};
      SelectedRows gradient;
      if (weighted) {
        ByAddress.apply(one, lookup, offsets, weights, 4, combiner, near.address, width, 0.1f, 1);
        gradient =
            SelectedRows.ofBags(ids, new Bags(offsets, weights, 4, combiner), width, gradients);
      } else {
        ByAddress.apply(one, lookup, offsets, 4, combiner, near.address, width, 0.1f, 1);
        gradient = SelectedRows.ofBags(ids, Bags.of(offsets, 4, combiner), width, gradients);
      }
      assertThat(gradient.size()).isEqualTo(6);
      long[] more = LongStream.concat(LongStream.of(gradient.rows()), LongStream.of(99)).toArray();
      float[] values = Arrays.copyOf(gradient.values(), 7 * width);
      values[6 * width] = 1;
      // 99 has no row.
      SelectedRows.of(SelectedRows.UNBOUNDED, width, more, values).applyTo(other, 0.1f, 1);
      // A share is rounded before it is added up.
      float allowed = combiner == Combiner.SUM && !weighted ? 0 : 1e-6f;
      assertThat(rows(other, ids, allocator))
          .usingComparatorWithPrecision(allowed)
          .containsExactly(rows(one, ids, allocator));
      assertThat(other.size()).isEqualTo(4);
    }
  }

  private static float[] rows(EmbeddingTable table, long[] ids, Allocator allocator) {
    Lookup lookup = new Lookup();
    table.find(ids, 6, lookup, false);
    try (Floats out = new Floats(allocator, 6 * table.config().width())) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  @Test
  void theGradientOfALookupOfBoundedIdsScattersIntoADenseMatrix() {
    SelectedRows gradient =
        SelectedRows.ofBags(
            new long[] {2, 0, 2},
            Bags.of(new int[] {0, 2, 3}, 2, Combiner.SUM),
            2,
            new float[] {1, 2, 30, 40});
    assertThat(gradient.withHeight(3).toDense()).containsExactly(1, 2, 0, 0, 31, 42);
    assertThat(gradient.withHeight(3).height()).isEqualTo(3);
    assertThatThrownBy(() -> gradient.withHeight(2))
        .hasMessage("selected rows: got number 2 for row 0 of a matrix of 2 rows, expected 0 to 1");
  }

  @Test
  void wrongShapesAreRefused() {
    assertThatThrownBy(() -> SelectedRows.of(3, 2, new long[1], new float[3]))
        .hasMessage("selected rows: got 3 values for 1 rows of 2, expected 2");
    assertThatThrownBy(() -> SelectedRows.of(3, 1, new long[] {0, 3}, new float[2]))
        .hasMessage("selected rows: got number 3 for row 1 of a matrix of 3 rows, expected 0 to 2");
    assertThatThrownBy(() -> SelectedRows.of(-2, 1, new long[0], new float[0]))
        .hasMessageContaining("got a matrix of -2 x 1");
    SelectedRows rows = random(HEIGHT, 2, 5);
    assertThatThrownBy(() -> rows.plus(random(HEIGHT, 3, 5)))
        .hasMessageContaining("expected matrices of one shape");
    assertThatThrownBy(() -> rows.scatter(Scatter.ADD, new float[79]))
        .hasMessage("selected rows: got a matrix of 79 numbers, expected 40 x 2");
    assertThatThrownBy(() -> random(SelectedRows.UNBOUNDED, 2, 5).toDense())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("without an end");
    assertThatThrownBy(() -> random(1L << 40, 2, 5).toDense())
        .hasMessageContaining("for one array");
  }
}
