package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import dev.tern.data.readers.BatchMap;
import dev.tern.data.readers.Readers;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Random pipelines over files of every format, stopped at any batch and resumed. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ResumeFilesTest {
  private static final Rows DATA = Rows.random(5, 9000, 1, 2, new int[] {1, 2}, 100_000);
  private static final CriteoGenerator GENERATOR = CriteoGenerator.of(3, 1e-5);
  private static final int[] FILES = {4097, 1, 4902};
  private static final int PIPELINES_A_FORMAT = 12;

  enum Format {
    RAW,
    NORM,
    PARQUET,
    CSV,
    LIBFFM,
    GENERATED
  }

  @TempDir Path folder;

  private List<Path> write(Format format) {
    List<Path> files = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < FILES.length && format != Format.GENERATED; i++) {
      Path file = folder.resolve(format + "-" + i + ".parquet");
      Schema schema = DATA.schema();
      DataWriter writer =
          switch (format) {
            case RAW -> RawWriter.create(file, RawOptions.floats(schema));
            case NORM -> NormWriter.create(file, schema, NormCheck.SUM, KeyType.I64);
            case PARQUET ->
                ParquetWriter.create(file, schema, ParquetLayout.DEFAULT.withGroupRows(1500));
            case LIBFFM ->
                LibsvmWriter.create(file, schema, LibsvmOptions.libffm().withNamesOf(schema));
            case CSV, GENERATED -> CsvWriter.create(file, schema, CsvOptions.csv());
          };
      new Rows(schema, DATA.list().subList(from, from + FILES[i])).write(writer, 1000);
      from += FILES[i];
      files.add(file);
    }
    return files;
  }

  private static DataReader open(Format format, List<Path> files, int threads) {
    Schema schema = DATA.schema();
    ReadPolicy policy = ReadPolicy.STRICT.withThreads(threads);
    return switch (format) {
      case RAW -> RawReader.open(files, RawOptions.floats(schema), policy);
      case NORM -> NormReader.open(files, NormOptions.DETECT.withSchema(schema), policy);
      case PARQUET -> ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(schema), policy);
      case CSV -> CsvReader.open(files, CsvOptions.csv(), Columns.of(schema), policy);
      case LIBFFM ->
          LibsvmReader.open(
              files, LibsvmOptions.libffm().withNamesOf(schema), Columns.of(schema), policy);
      case GENERATED -> GENERATOR.open(17, 5000);
    };
  }

  /** A pipeline over {@code source}; the same random numbers make the same one. */
  private static DataReader pipeline(DataReader source, SplittableRandom random) {
    DataReader reader = source;
    for (int depth = random.nextInt(1, 5); depth > 0; depth--) {
      int size = random.nextInt(1, 3000);
      reader =
          switch (random.nextInt(8)) {
            case 0 -> Readers.shuffled(reader, size, 7);
            case 1 -> Readers.batched(reader, size, true);
            case 2 -> Readers.prefetched(reader, random.nextInt(1, 4));
            case 3 -> Readers.filtered(reader, (batch, row) -> batch.ids(0)[row] % 3 != 0);
            case 4 -> Readers.mapped(reader, reader.schema(), copy(), random.nextInt(1, 4));
            case 5 -> Readers.shard(reader, random.nextInt(2), 2);
            case 6 -> Readers.take(reader, random.nextInt(9000));
            default -> Readers.cached(reader, 1 << 24);
          };
    }
    return reader;
  }

  private static BatchMap copy() {
    return (from, to) -> to.appendRows(from, 0, from.size());
  }

  @Test
  void aRunOverFilesStoppedAnywhereAndResumedSeesExactlyTheRemainingRows()
      throws InterruptedException {
    Set<Thread> before = threads();
    for (Format format : Format.values()) {
      List<Path> files = write(format);
      for (int seed = 0; seed < PIPELINES_A_FORMAT; seed++) {
        int number = seed;
        checkOrdered(
            format + " " + seed,
            () -> pipeline(open(format, files, 1 + number % 3), new SplittableRandom(number)),
            number);
        checkUnordered(format, files, number);
      }
    }
    for (Thread thread : threads()) {
      assertThat(before.contains(thread) || thread.join(Duration.ofSeconds(30))).isTrue();
    }
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tern-"))
        .collect(Collectors.toSet());
  }

  private static void checkOrdered(String name, Supplier<DataReader> open, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Rows.Row> all;
    try (DataReader reader = open.get()) {
      reader.start(1);
      all = Rows.read(reader);
    }
    ReaderState state = ReaderState.start(1);
    for (int stops = 0; stops < 3; stops++) {
      try (DataReader reader = open.get()) {
        reader.restore(state);
        int at = (int) state.rows();
        for (int calls = random.nextInt(3); calls > 0; calls--) {
          at += (int) reader.skip(random.nextInt(1500));
          Optional<Batch> next = reader.next();
          at += next.map(Batch::size).orElse(0);
          next.ifPresent(Batch::close);
        }
        state = ReaderState.parse(reader.state().text());
        assertThat(state.rows()).as(name).isEqualTo(at);
      }
      try (DataReader reader = open.get()) {
        reader.restore(state);
        assertThat(Rows.read(reader).equals(all.subList((int) state.rows(), all.size())))
            .as("%s from row %s of %s", name, state.rows(), all.size())
            .isTrue();
      }
    }
  }

  /** Shuffled rows, mapped by threads and given as they are done, in batches read ahead. */
  private static DataReader unordered(Format format, List<Path> files, int seed) {
    DataReader source = Readers.shuffled(open(format, files, 1 + seed % 3), 1000, seed);
    DataReader mapped = Readers.mappedUnordered(source, source.schema(), copy(), 3, 100);
    return Readers.prefetched(Readers.batched(mapped, 330, false), 2);
  }

  private static void checkUnordered(Format format, List<Path> files, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Rows.Row> seen = new ArrayList<>();
    ReaderState state;
    try (DataReader reader = unordered(format, files, seed)) {
      for (int batches = random.nextInt(28); batches > 0; batches--) {
        reader
            .next()
            .ifPresent(batch -> {
              seen.addAll(Rows.read(Readers.inMemory(batch)));
              batch.close();
            });
      }
      state = reader.state();
    }
    try (DataReader reader = unordered(format, files, seed)) {
      reader.restore(state);
      seen.addAll(Rows.read(reader));
    }
    try (DataReader reader = open(format, files, 1)) {
      assertThat(counts(seen).equals(counts(Rows.read(reader)))).as("%s %s", format, seed).isTrue();
    }
  }

  private static Map<Rows.Row, Integer> counts(List<Rows.Row> rows) {
    Map<Rows.Row, Integer> counts = new HashMap<>();
    rows.forEach(row -> counts.merge(row, 1, Integer::sum));
    return counts;
  }
}
