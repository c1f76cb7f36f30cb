package dev.tern.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.config.ConfigException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelSource;
import dev.tern.stream.TopicAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

final class ServedNameTest {
  @ParameterizedTest
  @CsvSource({
    "runs/census, census, stable, runs/census",
    "runs/census/, census, stable, runs/census",
    "runs/census/checkpoints/step-30, census, stable, runs/census/checkpoints/step-30",
    "/runs/census/best, census, stable, /runs/census/best",
    "ads=runs/census, ads, stable, runs/census",
    "ads@canary=runs/a=b, ads, canary, runs/a=b"
  })
  void anArgumentNamesAModelItsLabelAndItsPlace(
      String argument, String name, String label, Path path) {
    assertThat(ServedName.of(argument)).isEqualTo(new ServedName(name, label, path));
  }

  @ParameterizedTest
  @CsvSource({
    "kafka://broker:9092/ads, ads, stable",
    "clicks=kafka://broker:9092/ads, clicks, stable",
    "clicks@canary=kafka://broker:9092/ads, clicks, canary"
  })
  void aTopicMayStandInThePlaceOfAPath(String argument, String name, String label) {
    ServedName named = ServedName.of(argument);
    assertThat(named.topic()).contains(new TopicAddress("broker:9092", "ads"));
    assertThat(named.in(Path.of("spool")))
        .isEqualTo(
            new ServedName(name, label, Path.of("spool"), named.topic(), ServedName.Own.NOTHING));
    assertThatThrownBy(() -> ServedName.of("kafka://broker/ads"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("expected kafka://HOST:PORT/TOPIC");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b=runs/census", "runs/my model", "a@b c=runs/x", "é=x"})
  void aNameThatNoRequestCouldNameIsRefused(String argument) {
    ServedName named = ServedName.of(argument);
    assertThatThrownBy(() -> named.source(ModelSource.Follow.NONE, ScoreOptions.DEFAULT))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("name it as in");
  }

  @Test
  void sizesAndTimesHaveUnits() {
    Amounts.Bytes bytes = new Amounts.Bytes();
    assertThat(bytes.convert("512")).isEqualTo(512);
    assertThat(bytes.convert("8M")).isEqualTo(8 << 20);
    assertThat(bytes.convert("999999999999g")).isEqualTo(Long.MAX_VALUE);
    Amounts.Limits limits = new Amounts.Limits();
    assertThat(limits.convert("2k")).isEqualTo(new Amounts.Limit("", 2048));
    assertThat(limits.convert("a@b=2k")).isEqualTo(new Amounts.Limit("a@b", 2048));
    for (String wrong : new String[] {"=2k", "a=", "a=b", "2k=a"}) {
      assertThatThrownBy(() -> limits.convert(wrong)).isInstanceOf(TypeConversionException.class);
    }
    Amounts.Time time = new Amounts.Time();
    assertThat(time.convert("100ms")).isEqualTo(Duration.ofMillis(100));
    assertThat(time.convert("5s")).isEqualTo(Duration.ofSeconds(5));
    assertThat(time.convert("2m")).isEqualTo(Duration.ofMinutes(2));
    for (String wrong : new String[] {"", "8x", "-1", "m", "8 m", "1.5g"}) {
      assertThatThrownBy(() -> bytes.convert(wrong)).isInstanceOf(TypeConversionException.class);
    }
    for (String wrong : new String[] {"", "5", "5h", "-5s", "s"}) {
      assertThatThrownBy(() -> time.convert(wrong)).isInstanceOf(TypeConversionException.class);
    }
  }
}
