package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NumberParserTest {
  private static final long SEED = 7;

  private final NumberParser parser = new NumberParser();

  private boolean parsesFloat(String text) {
    byte[] bytes = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
    return parser.parseFloat(bytes, 1, bytes.length - 1);
  }

  private boolean parsesInteger(String text) {
    byte[] bytes = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
    return parser.parseInteger(bytes, 1, bytes.length - 1);
  }

  private void assertSameAsJdk(String text) {
    assertThat(parsesFloat(text)).as(text).isTrue();
    assertThat(Float.floatToIntBits(parser.number()))
        .as(text)
        .isEqualTo(Float.floatToIntBits(Float.parseFloat(text)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0",
        "+0",
        "0.0",
        "-0.0",
        "1",
        "-1",
        ".5",
        "5.",
        "+.5",
        "1e0",
        "1E+3",
        "1e-3",
        "0e999999999",
        "1e-999999999999",
        "1e999999999999",
        "3.4028235e38",
        "3.4028236e38",
        "3.4028235677973366e38",
        "1.17549435e-38",
        "1.1754942e-38",
        "1.4e-45",
        "0.7e-45",
        "7e-46",
        "16777217",
        "16777219",
        "9007199254740993",
        "9223372036854775807",
        "9999999999999999999",
        "18446744073709551616",
        "33554434.999999999999",
        "0.000000000000000000000000000000001",
        "123456789012345678901234567890",
        "1.00000017881393432617187499",
        "1.000000059604644775390625",
        "1.00000017881393432617187500",
        "1.00000017881393432617187501",
        "8388608.5",
        "8388609.5",
        "2.2250738585072011e-308",
        "340282346638528859811704183484516925440",
        "340282356779733661637539395458142568447",
        "340282356779733661637539395458142568448",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "00000000000000000000000000001",
        "7.0385307e-26"
      })
  void floatsRoundAsTheJdkRounds(String text) {
    assertSameAsJdk(text);
  }

  @Test
  void everyShortestTextOfARandomFloatReadsBackToItsBits() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      float value = Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(value)) {
        assertSameAsJdk(Float.toString(value));
        assertThat(parser.number()).isEqualTo(value);
      }
    }
  }

  @Test
  void randomDecimalsOfAnyLengthRoundAsTheJdkRounds() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      long digits = random.nextLong() >>> random.nextInt(1, 64);
      int scale = random.nextInt(-30, 50);
      String text = BigDecimal.valueOf(digits, scale).toString();
      assertSameAsJdk(text);
      assertSameAsJdk(digits + "e" + -scale);
    }
  }

  @Test
  void textsMidwayBetweenTwoFloatsAndBesideRoundAsTheJdkRounds() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 20_000; i++) {
      float value = Float.intBitsToFloat(random.nextInt(0x30000000, 0x50000000));
      BigDecimal midway =
          new BigDecimal(value).add(new BigDecimal(Math.nextUp(value))).divide(BigDecimal.TWO);
      assertSameAsJdk(midway.toPlainString());
      assertSameAsJdk(midway.add(new BigDecimal(BigInteger.ONE, 19)).toPlainString());
      assertSameAsJdk(midway.subtract(new BigDecimal(BigInteger.ONE, 19)).toPlainString());
      assertSameAsJdk(midway.round(new java.math.MathContext(random.nextInt(1, 19))).toString());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nan", "NaN", "-nan", "NAN"})
  void nanIsRead(String text) {
    assertThat(parsesFloat(text)).isTrue();
    assertThat(parser.number()).isNaN();
  }

  @ParameterizedTest
  @ValueSource(strings = {"inf", "Infinity", "+inf", "INFINITY", "1e39"})
  void infinityIsRead(String text) {
    assertThat(parsesFloat(text)).isTrue();
    assertThat(parser.number()).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(parsesFloat("-" + text.replace("+", ""))).isTrue();
    assertThat(parser.number()).isEqualTo(Float.NEGATIVE_INFINITY);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "-", "+", ".", "e", "e5", ".e5", "1e", "1e+", "1e-", "1.2.3", "1,2", "--1", "+-1", "1f",
        "1d", "0x10", "0x1p3", " 1", "1 ", "na", "infin", "nano", "1e5.", "1_000", "\u0661"
      })
  void whatIsNoNumberIsRefused(String text) {
    assertThat(parsesFloat(text)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-0",
        "1",
        "-1",
        "+7",
        "9223372036854775807",
        "-9223372036854775808",
        "00000000000000000000000000000000000012",
        "922337203685477580",
        "9223372036854775800"
      })
  void integersAreRead(String text) {
    assertThat(parsesInteger(text)).isTrue();
    assertThat(parser.integer()).isEqualTo(Long.parseLong(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854775808", "18446744073709551615", "18446744073709551609"})
  void unsignedIntegersKeepTheirBits(String text) {
    assertThat(parsesInteger(text)).isTrue();
    assertThat(parser.integer()).isEqualTo(Long.parseUnsignedLong(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "+",
        "1.0",
        "1e3",
        "a",
        "-9223372036854775809",
        "18446744073709551616",
        "18446744073709551620",
        "99999999999999999999",
        "-18446744073709551615",
        "1 ",
        "--1",
        "/"
      })
  void whatIsNoIntegerIsRefused(String text) {
    assertThat(parsesInteger(text)).isFalse();
  }

  @Test
  void randomIntegersReadBack() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      long value = random.nextLong() >> random.nextInt(64);
      assertThat(parsesInteger(Long.toString(value))).isTrue();
      assertThat(parser.integer()).isEqualTo(value);
      assertThat(parsesInteger(Long.toUnsignedString(value))).isTrue();
      assertThat(parser.integer()).isEqualTo(value);
    }
  }

  @Test
  void wholeNumbersEndWhereTheirDigitsDo() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 200_000; i++) {
      long value = random.nextLong() >>> random.nextInt(64);
      String digits =
          "0".repeat(random.nextInt(8) / 6 * random.nextInt(9)) + Long.toUnsignedString(value);
      char end = (char) random.nextInt(256);
      byte[] bytes = ("7" + digits + "x1234567").getBytes(StandardCharsets.ISO_8859_1);
      bytes[digits.length() + 1] = end >= '0' && end <= '9' ? (byte) ':' : (byte) end;
      assertThat(parser.parseWhole(bytes, 1)).as(digits).isEqualTo(digits.length() + 1);
      assertThat(parser.integer()).as(digits).isEqualTo(value);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "+1",
        "x",
        ":",
        "/",
        "\u00b0",
        "18446744073709551616",
        "99999999999999999999",
        "100000000000000000000000000000000000000000000000000"
      })
  void whatIsNoWholeNumberEndsWhereItStarts(String text) {
    byte[] bytes = ("7" + text + "x1234567").getBytes(StandardCharsets.ISO_8859_1);
    assertThat(parser.parseWhole(bytes, 1)).isEqualTo(1);
  }
}
