package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.files.ReadPolicy;
import dev.tern.files.text.CsvOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ConservationFuzzTest {
  private static final ConservationCheck.Way SKIPPING =
      new ConservationCheck.Way(ReadPolicy.Labels.BINARY, false, 1, 0, true, false);
  private static final ConservationCheck.Way COPYING =
      new ConservationCheck.Way(ReadPolicy.Labels.BINARY, false, 1, 0, false, true);

  @Test
  void rowsOfDamagedFilesAreReadOrReported() {
    ConservationFuzz fuzz = new ConservationFuzz();
    try (ConservationCheck check = new ConservationCheck()) {
      for (long seed = 1; seed <= 3000; seed++) {
        assertThat(fuzz.check(check, seed)).as("seed %s", seed).isEmpty();
      }
    }
    assertThat(fuzz.read()).isGreaterThan(500);
    assertThat(fuzz.lost()).isGreaterThan(1000);
  }

  @Test
  void aRowThatAReaderDoesNotGiveIsFound() {
    ConservationFuzz fuzz = new ConservationFuzz();
    try (ConservationCheck check = new ConservationCheck()) {
      for (DataSets.DataSet set : fuzz.sets()) {
        List<byte[]> bytes = set.parts().stream().map(DataSets.Part::bytes).toList();
        assertThat(check.check(set, bytes, SKIPPING).fault()).isEmpty();
        assertThat(check.check(set, bytes, COPYING).fault()).isEmpty();
        DataSets.DataSet longer = withOneRowMore(set);
        assertThatThrownBy(() -> check.check(longer, bytes, SKIPPING))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("rows read and 0 reported, expected");
        assertThatThrownBy(() -> check.check(longer, bytes, COPYING))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("rows read and 0 reported, expected");
      }
    }
  }

  /** {@code set}, of which the plain count says that it has a row more than its files hold. */
  private static DataSets.DataSet withOneRowMore(DataSets.DataSet set) {
    DataSets.Part first = set.parts().getFirst();
    RowCount.Counter more =
        bytes -> first.rows().count(bytes).map(c -> c.plus(RowCount.exactly(1)));
    List<DataSets.Part> parts = new ArrayList<>(set.parts());
    parts.set(0, new DataSets.Part(first.name(), first.bytes(), more));
    return new DataSets.DataSet(parts, set.framed(), set.opener(), set.copier());
  }

  @Test
  void plainRecordsOfCsvAreCounted() {
    CsvRows rows = new CsvRows(CsvOptions.csv());
    assertThat(count(rows, "a,b\n1,2\n3,4\n")).isEqualTo(RowCount.exactly(2));
    assertThat(count(rows, "a,b\n1,2\n3,4")).isEqualTo(RowCount.exactly(2));
    assertThat(count(rows, "a,b\n1,\"x\ny\"\n3,4\n\n\n")).isEqualTo(new RowCount(2, 3));
    assertThat(count(rows, "a,b\n1,\"x\n2,y\n3,z\n")).isEqualTo(RowCount.exactly(3));
    assertThat(count(rows, "a,b\n\n\n1,2\n")).isEqualTo(new RowCount(2, 3));
    assertThat(count(rows, "a,b\n1,\"x\"y\n2,3\n")).isEqualTo(RowCount.exactly(2));
  }

  @Test
  void gzipOfAnyDamageIsRefusedByThePlainCount() {
    ConservationFuzz fuzz = new ConservationFuzz();
    byte[] bytes =
        fuzz.sets().stream()
            .flatMap(set -> set.parts().stream())
            .filter(part -> part.name().endsWith(".gz"))
            .findFirst()
            .orElseThrow()
            .bytes();
    Optional<byte[]> text = RowCount.gunzip(bytes);
    assertThat(text).isPresent();
    byte[] damaged = bytes.clone();
    damaged[bytes.length / 2] ^= 1;
    assertThat(RowCount.gunzip(damaged)).isEmpty();
  }

  private static RowCount count(RowCount.Counter counter, String text) {
    return counter.count(text.getBytes(StandardCharsets.UTF_8)).orElseThrow();
  }
}
