package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.files.parquet.ParquetRows;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SkippedRecordsTest {
  private static final Columns COLUMNS =
      new Columns(List.of("y"), Set.of(), List.of("a"), List.of());

  @TempDir Path folder;

  private DataReader open(SkippedRecords skipped) throws IOException {
    Path file = folder.resolve("rows.csv");
    Files.writeString(file, "y,a\n1,2\n0,x\n3,4\n0,5\n");
    ReadPolicy policy = ReadPolicy.STRICT.withThreads(2).withFaults(skipped);
    return CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, policy);
  }

  @Test
  void badRecordsCountOnceHoweverOftenTheyAreRead() throws IOException {
    SkippedRecords skipped = new SkippedRecords(2);
    assertThat(skipped.first()).isEmpty();
    try (DataReader reader = open(skipped)) {
      for (int pass = 0; pass < 3; pass++) {
        reader.start(pass);
        assertThat(ParquetRows.all(reader)).containsExactly("[1.0] | [2.0] |", "[0.0] | [5.0] |");
      }
    }
    assertThat(skipped.count()).isEqualTo(2);
    assertThat(skipped.first().orElseThrow()).hasMessageContaining("rows.csv: line 3");
  }

  @Test
  void aFaultThatCostsMoreRowsInALaterPassCountsWithThose() {
    SkippedRecords skipped = new SkippedRecords(40);
    DataException fault = new DataException("a.parquet: byte 4: got a damaged page");
    skipped.report(fault.losing(16));
    skipped.report(fault.losing(40));
    skipped.report(fault.losing(16));
    assertThat(skipped.count()).isEqualTo(40);
    assertThat(skipped.faults()).isEqualTo(1);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> skipped.report(fault.losing(41)))
        .withMessageContaining("got more than 40 bad records");
  }

  @Test
  void aQuoteLeftOpenCountsAllLinesThatItTakes() throws IOException {
    Path file = folder.resolve("open.csv");
    Files.writeString(file, "y,a\n1,2\n0,\"3\n1,4\n0,5\n");
    SkippedRecords skipped = new SkippedRecords(3);
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(skipped);
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, policy)) {
      assertThat(ParquetRows.all(reader)).hasSize(1);
    }
    assertThat(skipped.count()).isEqualTo(3);
    assertThat(skipped.faults()).isEqualTo(1);
    ReadPolicy few = ReadPolicy.STRICT.withFaults(new SkippedRecords(2));
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS, few)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> ParquetRows.all(reader))
          .withMessageContainingAll("line 3", "quote left open", "more than 2 bad records");
    }
  }

  @Test
  void whatNobodyCanCountStopsTheReader() throws IOException {
    Path sound = Files.writeString(folder.resolve("a.csv"), "y,a\n1,2\n");
    Path other = Files.writeString(folder.resolve("b.csv"), "y,b\n1,2\n0,3\n");
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(new SkippedRecords(1000));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(sound, other), CsvOptions.csv(), COLUMNS, policy))
        .withMessageContainingAll("b.csv", "nobody knows how many rows", "take it out");
  }

  @Test
  void aFileThatChangesBetweenPassesIsFound() throws IOException {
    Path file = Files.writeString(folder.resolve("a.csv"), "y,a\n1,2\n0,3\n");
    try (DataReader reader = CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS)) {
      assertThat(ParquetRows.all(reader)).hasSize(2);
      Files.writeString(file, "y,a\n1,2\n");
      reader.start(1);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> ParquetRows.all(reader))
          .withMessageContainingAll("a.csv: got 8 bytes, expected 12", "changed");
    }
  }

  @Test
  void oneMoreThanTheLimitStopsTheReader() throws IOException {
    for (int most = 0; most < 2; most++) {
      SkippedRecords skipped = new SkippedRecords(most);
      try (DataReader reader = open(skipped)) {
        assertThatExceptionOfType(DataException.class)
            .isThrownBy(() -> ParquetRows.all(reader))
            .withMessageContaining("line " + (3 + most), "more than " + most + " bad records");
      }
      assertThat(skipped.count()).isEqualTo(most);
    }
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> new SkippedRecords(-1));
  }
}
