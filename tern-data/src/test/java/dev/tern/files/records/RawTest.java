package dev.tern.files.records;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.records.RawOptions.Dense;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class RawTest {
  private static final int[] HOTNESS = {1, 3, 2};

  @TempDir Path folder;

  private Path file(byte[] bytes) {
    try {
      return Files.write(folder.resolve("in.bin"), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Rows.Row> read(Path file, RawOptions options) {
    try (DataReader reader = RawReader.open(List.of(file), options)) {
      return Rows.read(reader);
    }
  }

  private void assertFault(byte[] bytes, RawOptions options, String... parts) {
    Path file = file(bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, options))
        .satisfies(e -> {
          assertThat(e.getMessage()).contains("in.bin");
          for (String part : parts) {
            assertThat(e.getMessage()).contains(part);
          }
        });
  }

  static Stream<RawOptions> variants() {
    Schema schema = Rows.random(1, 0, 2, 3, HOTNESS, 1).schema();
    List<RawOptions> variants = new ArrayList<>();
    for (boolean intLabels : new boolean[] {false, true}) {
      for (Dense dense : Dense.values()) {
        for (KeyType keys : KeyType.values()) {
          variants.add(new RawOptions(schema, intLabels, dense, keys, OptionalLong.empty()));
        }
      }
    }
    return variants.stream();
  }

  /** Rows that the variant can hold, as they are written. */
  private static Rows rows(RawOptions options, int count) {
    long maxId =
        switch (options.keys()) {
          case U32 -> 0xFFFFFFFFL;
          case I32 -> Integer.MAX_VALUE;
          case I64 -> -1;
        };
    Rows rows = Rows.random(9, count, 2, 3, HOTNESS, maxId);
    if (options.dense() == Dense.FLOAT) {
      return rows;
    }
    SplittableRandom random = new SplittableRandom(1);
    int min = options.dense() == Dense.INT ? -1000 : 0;
    return new Rows(
        rows.schema(),
        rows.list().stream()
            .map(r ->
                new Rows.Row(
                    r.labels(),
                    Stream.generate(() -> (float) random.nextInt(min, 5000)).limit(3).toList(),
                    r.ids()))
            .toList());
  }

  /** What is read of rows that were written. */
  private static List<Rows.Row> expected(RawOptions options, Rows rows) {
    if (options.dense() != Dense.INT_LOG) {
      return rows.list();
    }
    return rows.list().stream()
        .map(r ->
            new Rows.Row(
                r.labels(),
                r.dense().stream().map(x -> (float) Math.log((double) (x + 1f))).toList(),
                r.ids()))
        .toList();
  }

  /** The format once more, sharing nothing with the code under test. */
  private static byte[] tiny(RawOptions options, Rows rows) {
    ByteBuffer out = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
    for (Rows.Row row : rows.list()) {
      for (float label : row.labels()) {
        putNumber(out, label, options.intLabels());
      }
      for (float number : row.dense()) {
        putNumber(out, number, options.dense() != Dense.FLOAT);
      }
      for (List<Long> ids : row.ids()) {
        for (long id : ids) {
          if (options.keys() == KeyType.I64) {
            out.putLong(id);
          } else {
            out.putInt((int) id);
          }
        }
      }
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  private static void putNumber(ByteBuffer out, float value, boolean integer) {
    if (integer) {
      out.putInt((int) value);
    } else {
      out.putFloat(value);
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void everyVariantIsWrittenAndReadByteForByte(RawOptions options) throws IOException {
    for (int count : new int[] {0, 1, 7, 1000}) {
      Rows rows = rows(options, count);
      byte[] bytes = tiny(options, rows);
      assertThat(bytes).hasSize(count * options.sampleBytes());
      Path out = folder.resolve("out.bin");
      rows.write(RawWriter.create(out, options), 64);
      assertThat(Files.readAllBytes(out)).isEqualTo(bytes);
      assertThat(read(file(bytes), options)).isEqualTo(expected(options, rows));
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void skippingEqualsReading(RawOptions options) {
    Rows rows = rows(options, 5000);
    List<Rows.Row> expected = expected(options, rows);
    Path file = file(tiny(options, rows));
    for (int skip : new int[] {0, 1, 4096, 4999, 5000}) {
      try (DataReader reader = RawReader.open(List.of(file, file), options)) {
        assertThat(reader.rowCount()).hasValue(10_000);
        assertThat(reader.skip(skip)).isEqualTo(skip);
        assertThat(Rows.read(reader).subList(0, 5000 - skip))
            .isEqualTo(expected.subList(skip, 5000));
        reader.start(1);
        assertThat(reader.skip(20_000)).isEqualTo(10_000);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aFileCutShortAnywhereIsAFault(RawOptions options) {
    byte[] bytes = tiny(options, rows(options, 1));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      if (length % options.sampleBytes() != 0) {
        assertFault(cut, options, "samples of " + options.sampleBytes() + " bytes");
      }
      assertFault(cut, options.withRows(1), "samples");
    }
  }

  /** Label 1, dense {0, 2} read as ln(x + 1), ids 5 and 4294967295, byte by byte. */
  @Test
  void goldenIntegerFileIsReadAndWritten() throws IOException {
    Schema schema =
        new Schema(List.of("y"), List.of("a", "b"), List.of(Slot.oneHot("c"), Slot.oneHot("d")));
    byte[] golden =
        HexFormat.of().parseHex("01000000" + "00000000" + "02000000" + "05000000" + "FFFFFFFF");
    RawOptions options = RawOptions.integers(schema);
    assertThat(read(file(golden), options))
        .containsExactly(
            row(1, List.of(0f, 1.0986123f), List.of(List.of(5L), List.of(0xFFFFFFFFL))));
    assertThat(read(file(golden), options.withKeys(KeyType.I32)).getFirst().ids())
        .containsExactly(List.of(5L), List.of(-1L));
    Rows rows =
        new Rows(
            schema, List.of(row(1, List.of(0f, 2f), List.of(List.of(5L), List.of(0xFFFFFFFFL)))));
    Path out = folder.resolve("out.bin");
    rows.write(RawWriter.create(out, options), 1);
    assertThat(Files.readAllBytes(out)).isEqualTo(golden);
  }

  /** int32 label, 13 floats and 214 int32 keys: the multi-hot Criteo set of MLPerf. */
  @Test
  void samplesOfTheMlperfSetHave912Bytes() {
    int[] hotness = {
      3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1
    };
    Rows rows = Rows.random(3, 20, 1, 13, hotness, Integer.MAX_VALUE);
    RawOptions options =
        new RawOptions(rows.schema(), true, Dense.FLOAT, KeyType.U32, OptionalLong.empty());
    assertThat(options.sampleBytes()).isEqualTo(912);
    Path out = folder.resolve("out.bin");
    rows.write(RawWriter.create(out, options.withRows(20)), 7);
    assertThat(out).hasSize(20 * 912);
    assertThat(read(out, options.withRows(20))).isEqualTo(rows.list());
  }

  @Test
  void logarithmOfZeroIsZeroAndOfANegativeNumberAFault() {
    Schema schema = new Schema(List.of(), List.of("a", "b"), List.of());
    RawOptions options = RawOptions.integers(schema);
    byte[] bytes = new byte[16];
    assertThat(read(file(bytes), options))
        .allSatisfy(r -> assertThat(r.dense()).containsExactly(0f, 0f));
    for (int value : new int[] {-1, -2, Integer.MIN_VALUE}) {
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(12, value);
      assertFault(bytes, options, "row 2", "byte 12", "column b", "got " + value);
    }
  }

  @Test
  void labelsOfTheOtherTypeAreRecognised() {
    Schema schema = Rows.random(1, 0, 1, 1, new int[] {1}, 1).schema();
    Rows rows = new Rows(schema, List.of(row(1, List.of(2f), List.of(List.of(3L)))));
    RawOptions floats = RawOptions.floats(schema);
    RawOptions ints = new RawOptions(schema, true, Dense.FLOAT, KeyType.U32, OptionalLong.empty());
    assertFault(
        tiny(floats, rows), ints, "row 1", "byte 0", "label 1065353216 (1.0 as float label)");
    assertFault(tiny(ints, rows), floats, "row 1", "byte 0", "(1 as int label)");
  }

  @Test
  void wrongWidthOfKeysIsFoundByTheNumberOfRows() {
    Rows rows = Rows.random(4, 10, 1, 1, new int[] {1, 1}, 100);
    RawOptions narrow = RawOptions.floats(rows.schema()).withRows(10);
    assertFault(tiny(narrow, rows), narrow.withKeys(KeyType.I64), "2 I64 keys");
    assertFault(tiny(narrow.withKeys(KeyType.I64), rows), narrow, "got 15 samples", "expected 10");
  }

  @Test
  void badSamplesAreDroppedAloneWhereFaultsAreCollected() {
    Rows rows = Rows.random(4, 10, 1, 1, new int[] {1, 1}, 100);
    RawOptions options = RawOptions.floats(rows.schema());
    byte[] bytes = Arrays.copyOf(tiny(options, rows), 10 * options.sampleBytes() + 5);
    bytes[3 * options.sampleBytes() + 1] = 7;
    Path file = file(bytes);
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    List<Path> files = List.of(folder.resolve("absent"), file);
    try (DataReader reader = RawReader.open(files, options, policy)) {
      List<Rows.Row> expected = new ArrayList<>(rows.list());
      expected.remove(3);
      assertThat(Rows.read(reader)).isEqualTo(expected);
    }
    assertThat(faults)
        .satisfiesExactly(
            f -> assertThat(f).contains("absent", "no such file"),
            f -> assertThat(f).contains("in.bin", "5 bytes after 10 samples"),
            f -> assertThat(f).contains("in.bin", "row 4", "byte 48"));
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    Schema schema = Rows.random(1, 0, 1, 1, new int[] {1}, 1).schema();
    RawOptions ints = RawOptions.integers(schema);
    for (float number : new float[] {Float.NaN, 0.5f, -1, 0x1p31f, 1e20f}) {
      assertRefused(ints, row(1, List.of(number), List.of(List.of(1L))), "column dense0");
    }
    assertRefused(ints, row(0.5f, List.of(1f), List.of(List.of(1L))), "column label0");
    assertRefused(ints, row(1, List.of(1f), List.of(List.of(1L, 2L))), "2 ids in slot slot0");
    assertRefused(ints, row(1, List.of(1f), List.of(List.of())), "0 ids in slot slot0");
    assertRefused(ints, row(1, List.of(1f), List.of(List.of(-1L))), "id -1");
    assertRefused(
        ints.withKeys(KeyType.I32), row(1, List.of(1f), List.of(List.of(1L << 31))), "I32");
    Rows one = new Rows(schema, List.of(row(1, List.of(1f), List.of(List.of(1L)))));
    assertThatIllegalStateException()
        .isThrownBy(() -> one.write(RawWriter.create(folder.resolve("o"), ints.withRows(2)), 1));
  }

  private void assertRefused(RawOptions options, Rows.Row row, String part) {
    Rows rows = new Rows(options.schema(), List.of(row));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows.write(RawWriter.create(folder.resolve("out.bin"), options), 1))
        .withMessageContainingAll("out.bin", "row 1", part);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void slotsOfVaryingHotnessAndEmptySamplesAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> RawOptions.floats(new Schema(List.of(), List.of(), List.of(Slot.ragged("s")))))
        .withMessageContaining("slot s");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RawOptions.floats(new Schema(List.of(), List.of(), List.of())));
  }
}
