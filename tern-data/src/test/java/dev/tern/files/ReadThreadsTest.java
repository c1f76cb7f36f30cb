package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.CsvWriter;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import dev.tern.files.text.LibsvmWriter;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Readers of several threads against those of one. */
class ReadThreadsTest {
  private static final int ROWS = 13_000; // some batches, the last of them short
  private static final Rows DATA = Rows.random(5, ROWS, 1, 3, new int[] {1, 2, 1}, 100_000);

  enum Format {
    RAW,
    NORM_NONE,
    NORM_SUM,
    PARQUET,
    CSV,
    LIBFFM
  }

  @TempDir Path folder;

  private DataWriter writer(Format format, Path file) {
    Schema schema = DATA.schema();
    return switch (format) {
      case RAW -> RawWriter.create(file, RawOptions.floats(schema));
      case NORM_NONE -> NormWriter.create(file, schema, NormCheck.NONE, KeyType.U32);
      case NORM_SUM -> NormWriter.create(file, schema, NormCheck.SUM, KeyType.I64);
      case PARQUET -> ParquetWriter.create(file, schema, ParquetLayout.DEFAULT.withGroupRows(5000));
      case CSV -> CsvWriter.create(file, schema, CsvOptions.csv());
      case LIBFFM -> LibsvmWriter.create(file, schema, LibsvmOptions.libffm().withNamesOf(schema));
    };
  }

  private static DataReader open(Format format, List<Path> files, ReadPolicy policy) {
    Schema schema = DATA.schema();
    return switch (format) {
      case RAW -> RawReader.open(files, RawOptions.floats(schema), policy);
      case NORM_NONE, NORM_SUM ->
          NormReader.open(files, NormOptions.DETECT.withSchema(schema), policy);
      case PARQUET -> ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(schema), policy);
      case CSV -> CsvReader.open(files, CsvOptions.csv(), Columns.of(schema), policy);
      case LIBFFM ->
          LibsvmReader.open(
              files, LibsvmOptions.libffm().withNamesOf(schema), Columns.of(schema), policy);
    };
  }

  @ParameterizedTest
  @EnumSource
  void rowsFromAnyPlaceOnAreThoseOfOneThread(Format format) {
    Path one = folder.resolve("one.parquet");
    Path two = folder.resolve("two.parquet");
    new Rows(DATA.schema(), DATA.list().subList(0, 6001)).write(writer(format, one), 1000);
    new Rows(DATA.schema(), DATA.list().subList(6001, ROWS)).write(writer(format, two), 1000);
    SplittableRandom random = new SplittableRandom(format.ordinal());
    for (int threads = 2; threads <= 3; threads++) {
      try (DataReader reader =
          open(format, List.of(one, two), ReadPolicy.STRICT.withThreads(threads))) {
        assertThat(Rows.read(reader)).isEqualTo(DATA.list());
        assertThat(reader.next()).isEmpty();
        for (int i = 0; i < 4; i++) {
          int skip = random.nextInt(ROWS + 1);
          int more = random.nextInt(ROWS + 1 - skip);
          reader.start(i);
          assertThat(reader.skip(skip)).isEqualTo(skip);
          int passed = skip;
          if (i % 2 == 0 && skip < ROWS) {
            try (Batch batch = reader.next().orElseThrow()) {
              passed += batch.size();
            }
          }
          int expected = Math.min(more, ROWS - passed);
          assertThat(reader.skip(more)).isEqualTo(expected);
          assertThat(Rows.read(reader)).isEqualTo(DATA.list().subList(passed + expected, ROWS));
          reader.start(i);
          assertThat(reader.skip(skip)).isEqualTo(skip);
          assertThat(reader.skip(Long.MAX_VALUE)).isEqualTo(ROWS - skip);
          assertThat(reader.next()).isEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFaultComesInItsPlaceAndIsThatOfOneThread(Format format) throws IOException {
    Path file = folder.resolve("bad.parquet");
    List<Rows.Row> rows = new ArrayList<>(DATA.list());
    Rows.Row bad = rows.get(9000);
    rows.set(9000, Rows.row(7, bad.dense(), bad.ids()));
    new Rows(DATA.schema(), rows).write(writer(format, file), 1000);
    assertSameFault(format, file, 8192);
    new Rows(DATA.schema(), DATA.list()).write(writer(format, file), 1000);
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 5));
    if (format == Format.NORM_NONE || format == Format.NORM_SUM) { // others tell it on opening
      assertSameFault(format, file, 12_288);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatGoesWhileItIsReadEndsInItsRowsOrAFaultAndStaysOpenNowhere(Format format)
      throws IOException {
    Path file = folder.resolve("going.parquet");
    for (int threads = 1; threads <= 2; threads++) {
      DATA.write(writer(format, file), 1000);
      try (DataReader reader =
          open(format, List.of(file), ReadPolicy.STRICT.withThreads(threads))) {
        reader.next().orElseThrow().close();
        Files.delete(file);
        try {
          assertThat(Rows.read(reader)).isEqualTo(DATA.list().subList(4096, ROWS));
        } catch (DataException e) {
          assertThat(e).hasMessageContaining("going.parquet");
        }
        reader.start(1);
        assertThatExceptionOfType(DataException.class)
            .isThrownBy(reader::next)
            .withMessageContaining("going.parquet");
      }
      DATA.write(writer(format, file), 1000);
      try (DataReader reader = open(format, List.of(file), ReadPolicy.STRICT.withThreads(threads));
          FileChannel cut = FileChannel.open(file, StandardOpenOption.WRITE)) {
        reader.next().orElseThrow().close();
        cut.truncate(cut.size() / 8);
        // Text cut at the end of a line is whole; all else says what it should hold.
        if (format != Format.CSV && format != Format.LIBFFM) {
          assertThatExceptionOfType(DataException.class)
              .isThrownBy(() -> {
                for (int pass = 1; pass < 3; pass++) {
                  Rows.read(reader);
                  reader.start(pass);
                }
              })
              .withMessageContaining("going.parquet");
        }
      }
      assertThat(openFiles()).noneMatch(name -> name.contains("going.parquet"));
    }
  }

  /** Names of the files that this process has open, once threads that are done have let go. */
  private static List<String> openFiles() throws IOException {
    List<String> names = List.of("going.parquet");
    for (int i = 0; i < 1000 && names.stream().anyMatch(n -> n.contains("going.parquet")); i++) {
      LockSupport.parkNanos(1_000_000);
      try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
        names = open.map(ReadThreadsTest::target).toList();
      }
    }
    return names;
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return ""; // closed meanwhile
    }
  }

  private void assertSameFault(Format format, Path file, int before) {
    List<String> messages = new ArrayList<>();
    List<Integer> counts = new ArrayList<>();
    for (int threads = 1; threads <= 3; threads++) {
      int[] rows = {0};
      try (DataReader reader =
          open(format, List.of(file), ReadPolicy.STRICT.withThreads(threads))) {
        assertThatExceptionOfType(DataException.class)
            .isThrownBy(() -> {
              for (Optional<Batch> b = reader.next(); b.isPresent(); b = reader.next()) {
                rows[0] += b.get().size();
                b.get().close();
              }
            })
            .satisfies(e -> messages.add(e.getMessage()));
      }
      counts.add(rows[0]);
    }
    assertThat(counts).containsOnly(before);
    assertThat(messages).hasSize(3).containsOnly(messages.getFirst());
  }

  @Test
  void whereBadRowsAreDroppedTheyAreHeardOfInOrder() {
    Path file = folder.resolve("bad.csv");
    List<Rows.Row> rows = new ArrayList<>(DATA.list());
    for (int i = 100; i < ROWS; i += 1000) {
      rows.set(i, Rows.row(i, rows.get(i).dense(), rows.get(i).ids()));
    }
    new Rows(DATA.schema(), rows).write(writer(Format.CSV, file), 1000);
    List<String> faults = new ArrayList<>();
    ReadPolicy policy =
        ReadPolicy.STRICT.withThreads(3).withFaults(fault -> faults.add(fault.getMessage()));
    try (DataReader reader = open(Format.CSV, List.of(file), policy)) {
      assertThat(Rows.read(reader)).hasSize(ROWS - 13);
    }
    assertThat(faults).hasSize(13);
    for (int i = 0; i < 13; i++) {
      assertThat(faults.get(i)).contains("line " + (100 + 1000 * i + 2));
    }
  }
}
