package dev.tern.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class FormatTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0.00",
    "9.5, 9.50",
    "950, 950",
    "999.6, 1.00k",
    "12345, 12.3k",
    "999999, 1.00M",
    "2500000, 2.50M",
    "NaN, –"
  })
  void ratesHaveThreeDigits(double value, String text) {
    assertThat(Format.rate(value)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0.04, 0.0 s",
    "9.94, 9.9 s",
    "59.9, 60 s",
    "60, 1 min 0 s",
    "3599, 59 min 59 s",
    "3661, 1 h 1 min",
    "NaN, –"
  })
  void timesAreShort(double value, String text) {
    assertThat(Format.time(value)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0.00 KiB", "1048576, 1.00 MiB", "2147483648, 2.00 GiB", "536870912, 512 MiB"})
  void bytesHaveBinaryUnits(long value, String text) {
    assertThat(Format.bytes(value)).isEqualTo(text);
  }

  @Test
  void signedNumbersHaveTheirSignAndZeroHasNone() {
    assertThat(Format.signed(0.25, 2)).isEqualTo("+0.25");
    assertThat(Format.signed(-0.25, 2)).isEqualTo("-0.25");
    assertThat(Format.signed(-0.0001, 2)).isEqualTo("0.00");
    assertThat(Format.signed(0, 3)).isEqualTo("0.000");
    assertThat(Format.signed(Double.NaN, 3)).isEqualTo("–");
  }

  @Test
  void smallProbabilitiesKeepTheirDigits() {
    assertThat(Format.probability(0.05)).isEqualTo("0.050");
    assertThat(Format.probability(1)).isEqualTo("1.000");
    assertThat(Format.probability(0.000123)).isEqualTo("1.23e-04");
    assertThat(Format.probability(0)).isEqualTo("0.000");
    assertThat(Format.probability(Double.NaN)).isEqualTo("–");
  }
}
