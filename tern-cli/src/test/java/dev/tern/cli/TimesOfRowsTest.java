package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.MainTest.Result;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A model of parts of times scores a row that has the time as Java has it as a row of a file. */
final class TimesOfRowsTest {
  private static final Instant FIRST = Instant.parse("2026-01-30T23:12:34.567891Z");
  private static final long STEP = 12_345_678_901L; // microseconds, about 3 hours 26 minutes

  @TempDir private static Path temp;
  private static Path run = Path.of("");

  @BeforeAll
  static void train() throws IOException {
    StringBuilder rows = new StringBuilder("y,t,user\n");
    for (int i = 0; i < 200; i++) {
      Instant time = time(i);
      int hour = time.atOffset(ZoneOffset.UTC).getHour();
      rows.append(hour % 2).append(',').append(i % 9 == 0 ? "NA" : time).append(",u\n");
    }
    Path csv = Files.writeString(temp.resolve("x.csv"), rows);
    run = temp.resolve("run");
    Path config = temp.resolve("c.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %s
          label: {column: y}
          missing_values: [NA]
          dense: {columns: [t@days]}
          sparse:
            - {columns: [t@hour, user], encode: vocabulary}
            - {columns: [t@weekday], encode: id}
        run: {dir: %s}
        model: {type: deepfm, hidden: 8, embedding: 4}
        train: {batch: 32, epochs: 2}
        """
            .formatted(csv, run));
    Result trained = tern("train", config.toString());
    assertThat(trained.code()).as(trained.err()).isZero();
  }

  private static Instant time(int i) {
    return FIRST.plusNanos(i * STEP * 1000);
  }

  /** Scores of a file whose column t has these fields. */
  private static List<Float> scores(List<String> times) throws IOException {
    StringBuilder rows = new StringBuilder("t,user\n");
    times.forEach(time -> rows.append(time).append(",u\n"));
    Path out = temp.resolve("out" + times.hashCode() + ".csv");
    Path file = Files.writeString(temp.resolve("rows" + times.hashCode() + ".csv"), rows);
    Result result = tern("predict", run.toString(), file.toString(), "--out", out.toString());
    assertThat(result.code()).as(result.err()).isZero();
    List<String> lines = Files.readAllLines(out);
    return lines.subList(1, lines.size()).stream().map(Float::parseFloat).toList();
  }

  private static Map<String, Object> row(Object time) {
    Map<String, Object> row = new HashMap<>();
    row.put("user", "u");
    row.put("t", time);
    return row;
  }

  @Test
  void aTimeScoresAsTheSameTimeInAFileWhateverItsType() throws IOException {
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      fields.add(time(i).toString());
    }
    List<Float> expected = scores(fields);
    assertThat(expected.stream().distinct().count()).isGreaterThan(20);
    try (Predictor predictor = Predictor.open(run)) {
      for (int i = 0; i < 40; i++) {
        Instant time = time(i);
        long micros = time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
        List<Object> forms =
            List.of(
                time,
                LocalDateTime.ofInstant(time, ZoneOffset.UTC),
                time.atOffset(ZoneOffset.ofHours(5)),
                time.atZone(ZoneOffset.ofHours(-7)),
                time.toString(),
                " " + time + " ",
                micros);
        for (Object form : forms) {
          assertThat(predictor.score(row(form)))
              .as("%s %s", form.getClass(), form)
              .isEqualTo(expected.get(i));
        }
      }
    }
  }

  @Test
  void aDayIsItsMidnightAndNothingIsMissing() throws IOException {
    List<Float> expected = scores(List.of("2026-02-03", ""));
    try (Predictor predictor = Predictor.open(run)) {
      assertThat(predictor.score(row(LocalDate.of(2026, 2, 3)))).isEqualTo(expected.get(0));
      assertThat(predictor.score(row(20260203))).isEqualTo(expected.get(0));
      List<Object> missing = new ArrayList<>(List.of("", "NA", Double.NaN, Float.NaN));
      missing.add(null);
      for (Object nothing : missing) {
        assertThat(predictor.score(row(nothing))).isEqualTo(expected.get(1));
      }
      assertThat(predictor.score(Map.of("user", "u"))).isEqualTo(expected.get(1));
    }
  }

  @Test
  void partsMayBeGivenByTheirOwnNamesAndComeBeforeTheTime() throws IOException {
    float expected = scores(List.of("2026-02-03T05:00:00Z")).getFirst();
    try (Predictor predictor = Predictor.open(run)) {
      Map<String, Object> row = row("2026-02-03T05:00:00Z");
      row.put("t@hour", 5);
      row.put("t@weekday", 2);
      assertThat(predictor.score(row)).isEqualTo(expected);
      row.put("t@weekday", 3);
      assertThat(predictor.score(row)).isNotEqualTo(expected);
    }
  }

  @Test
  void whatIsNoTimeIsRefusedWithItsColumn() {
    try (Predictor predictor = Predictor.open(run)) {
      for (Object wrong : List.of("yesterday", true, List.of("2026-01-01"))) {
        Map<String, Object> row = row(wrong);
        assertThatThrownBy(() -> predictor.score(row))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(
                "column t: got " + (wrong instanceof String ? "\"" + wrong + "\"" : wrong))
            .hasMessageContaining("expected a time: an Instant, LocalDate");
      }
      Map<String, Object> other = row("2026-01-01");
      other.put("s", 1);
      assertThatThrownBy(() -> predictor.score(other))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("column s: got a value for it, expected only [t@days],")
          .hasMessageContaining("times [t]");
    }
  }
}
