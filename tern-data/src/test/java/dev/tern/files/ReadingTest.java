package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers of files say how fields became values, and readers made of them hand it on. */
final class ReadingTest {
  private static final Columns COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("a"),
          List.of(SparseColumn.text("c"), new SparseColumn("t", true, "|")),
          Set.of("NA"));
  private static final Reading READING = new Reading(" \t", Map.of("t", "|"), Set.of("NA"), "{}");

  @TempDir Path temp;
  private Path file = Path.of("");

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(temp.resolve("rows.csv"), "y,a,c,t\n1,2,x,a|b\n");
  }

  private DataReader open(CsvOptions options, ReadPolicy policy) {
    return CsvReader.open(List.of(file), options, COLUMNS, policy, TextDictionary.none());
  }

  private DataReader open() {
    return open(CsvOptions.csv(), ReadPolicy.STRICT);
  }

  @Test
  void csvFilesSayWhatIsTrimmedSplitAndMissing() throws IOException {
    try (DataReader one = open();
        DataReader two = open(CsvOptions.csv(), ReadPolicy.STRICT.withThreads(2))) {
      assertThat(one.reading()).contains(READING);
      assertThat(two.reading()).contains(READING);
    }
    Files.writeString(file, "y\ta\tc\tt\n1\t2\tx\ta\n");
    try (DataReader tabs = open(new CsvOptions('\t', List.of(), true, true), ReadPolicy.STRICT);
        DataReader plain = open(CsvOptions.tsv(), ReadPolicy.STRICT)) {
      assertThat(tabs.reading().orElseThrow().trimmed()).isEqualTo(" ");
      assertThat(plain.reading().orElseThrow().trimmed()).isEmpty();
    }
  }

  @Test
  void readersOverReadersHandItOn() {
    Schema schema = COLUMNS.schema();
    try (DataReader rows =
        Readers.prefetched(
            Readers.cached(Readers.shuffled(Readers.batched(open(), 2, false), 4, 1), 1 << 20),
            2)) {
      assertThat(rows.reading()).contains(READING);
    }
    try (DataReader same = Readers.mapped(open(), schema, (from, to) -> {});
        DataReader onThreads = Readers.mapped(open(), schema, (from, to) -> {}, 2)) {
      assertThat(same.reading()).contains(READING);
      assertThat(onThreads.reading()).contains(READING);
    }
    Schema fewer = new Schema(schema.labels(), List.of(), schema.slots());
    try (DataReader other = Readers.mapped(open(), fewer, (from, to) -> {})) {
      assertThat(other.reading()).isEmpty();
    }
  }

  @Test
  void readersOverSeveralHandOnWhatTheyAgreeOn() {
    CsvOptions untrimmed = new CsvOptions(',', List.of(), false, true);
    try (DataReader same = Readers.concat(List.of(open(), open()));
        DataReader other = Readers.concat(List.of(open(), open(untrimmed, ReadPolicy.STRICT)))) {
      assertThat(same.reading()).contains(READING);
      assertThat(other.reading()).isEmpty();
    }
  }
}
