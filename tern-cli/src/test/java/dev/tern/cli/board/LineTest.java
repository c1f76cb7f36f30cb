package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.run.MetricsLine;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableStatistics;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LineTest {
  private final Line line = new Line();

  private boolean read(String text) {
    byte[] bytes = (" \n" + text + "\n{").getBytes(StandardCharsets.UTF_8);
    return line.read(bytes, 2, bytes.length - 4);
  }

  private static MetricsLine written() {
    return new MetricsLine(
        300,
        2,
        MetricsLine.Split.TRAIN,
        0.5,
        0.75,
        1.25,
        1000.5,
        4096,
        12.5,
        0.125,
        List.of(
            new MetricsLine.Task("click", 0.5, 0.75, 1.25),
            new MetricsLine.Task(
                "a \"b\" </script>",
                Double.NaN,
                Double.NaN,
                1,
                Optional.of(new MetricsLine.Values(1, 2, 0.25, 3)))),
        List.of(table("user", 20), table("item", 30)),
        List.of(),
        List.of());
  }

  private static TableStatistics table(String name, long rows) {
    return new TableStatistics(
        name,
        rows,
        rows * 10,
        new TableStatistics.Index(1, 1),
        new TableStatistics.Ids(7, 3, 2, 1, 0),
        new TableStatistics.Filter(0, 0),
        FileStatistics.NONE);
  }

  @Test
  void theNumbersAreThoseThatTrainingWrote() {
    assertThat(read(written().toJson())).isTrue();
    assertThat(line.step()).isEqualTo(300);
    assertThat(line.epoch()).isEqualTo(2);
    assertThat(line.isEval()).isFalse();
    assertThat(line.seconds()).isEqualTo(12.5);
    assertThat(line.of(Figure.LOSS)).isEqualTo(0.5);
    assertThat(line.of(Figure.SPEED)).isEqualTo(1000.5);
    assertThat(line.of(Figure.MEMORY)).isEqualTo(4096);
    assertThat(line.of(Figure.WAITING)).isEqualTo(0.125);
    assertThat(line.of(Figure.ROWS)).isEqualTo(50);
    assertThat(line.of(Figure.TABLE_BYTES)).isEqualTo(500);
    assertThat(line.hits()).isEqualTo(14);
    assertThat(line.misses()).isEqualTo(6);
    assertThat(line.tasks()).containsExactly("click", "a \"b\" </script>");
    assertThat(line.of(0, Figure.AUC)).isEqualTo(0.75);
    assertThat(line.of(1, Figure.R2)).isEqualTo(0.25);
    assertThat(line.of(1, Figure.LOSS)).isNaN();
    assertThat(line.isLossUnknown()).isTrue();
  }

  @Test
  void nothingIsLeftOfTheLineBefore() {
    read(written().toJson());
    assertThat(read("{\"step\":1,\"split\":\"eval\",\"seconds\":2}")).isTrue();
    assertThat(line.isEval()).isTrue();
    assertThat(line.tasks()).isEmpty();
    assertThat(line.hasTables()).isFalse();
    assertThat(line.isLossUnknown()).isFalse();
    for (Figure figure : Figure.values()) {
      assertThat(line.of(figure)).as("%s", figure).isNaN();
    }
  }

  @Test
  void noBeginningOfALineIsALine() {
    String whole = written().toJson();
    for (int length = 0; length < whole.length(); length++) {
      assertThat(read(whole.substring(0, length))).as("%d characters", length).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "[]",
        "7",
        "{}",
        "{\"step\":1,\"split\":\"train\"}",
        "{\"step\":1,\"seconds\":1}",
        "{\"step\":-1,\"split\":\"train\",\"seconds\":1}",
        "{\"step\":1.5,\"split\":\"train\",\"seconds\":1}",
        "{\"step\":1,\"split\":\"test\",\"seconds\":1}",
        "{\"step\":1,\"split\":[\"train\"],\"seconds\":1}",
        "{\"step\":1,\"split\":\"train\",\"seconds\":\"1\"}",
        "{\"step\":1,\"split\":\"train\",\"seconds\":NaN}",
        "{\"step\":1,\"split\":\"train\",\"seconds\":1e999}",
        "{\"step\":99999999999999999999,\"split\":\"train\",\"seconds\":1}",
        "{\"step\":1,\"split\":\"train\",\"seconds\":1} {}",
        "{\"step\":1,\"split\":\"train\",\"seconds\":1}}",
      })
  void whatIsNoLineIsRefused(String text) {
    assertThat(read(text)).isFalse();
  }

  @Test
  void valuesOfOtherKindsAreUnknownAndTheRestIsRead() {
    assertThat(
            read(
                "{\"loss\":{\"a\":[1]},\"tasks\":[{\"x\":1}],\"tables\":[7,[1],{\"rows\":[2],"
                    + "\"bytes\":5}],\"auc\":\"high\",\"more\":{\"tasks\":{}},\"step\":1,"
                    + "\"split\":\"train\",\"seconds\":1}"))
        .isTrue();
    assertThat(line.of(Figure.LOSS)).isNaN();
    assertThat(line.of(Figure.AUC)).isNaN();
    assertThat(line.tasks()).isEmpty();
  }

  @Test
  void deepNestingIsRefusedWithoutAnErrorOfTheStack() {
    assertThat(read("{\"x\":" + "[".repeat(100_000))).isFalse();
    assertThat(read("{\"tables\":" + "[".repeat(100_000))).isFalse();
  }

  @Test
  void damagedLinesEndInAnAnswer() {
    Random random = new Random(3);
    byte[] whole = written().toJson().getBytes(StandardCharsets.UTF_8);
    int refused = 0;
    for (int round = 0; round < 20_000; round++) {
      byte[] damaged = whole.clone();
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      refused += line.read(damaged, 0, damaged.length) ? 0 : 1;
    }
    assertThat(refused).isBetween(1_000, 20_000);
  }
}
