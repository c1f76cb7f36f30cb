package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class TextHashTest {
  /** The buffer of xxHash's own sanity check. */
  private static byte[] sanityBuffer() {
    byte[] bytes = new byte[222];
    long generator = 2654435761L;
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (generator >>> 56);
      generator *= 0x9E3779B185EBCA8DL;
    }
    return bytes;
  }

  @Test
  void publishedVectorsAgree() {
    assertThat(TextHash.of("")).isEqualTo(0xEF46DB3751D8E999L);
    assertThat(TextHash.EMPTY).isEqualTo(0xEF46DB3751D8E999L);
    assertThat(TextHash.of("a")).isEqualTo(0xD24EC4F1A98C6E5BL);
    assertThat(TextHash.of("abc")).isEqualTo(0x44BC2CF5AD770999L);
    assertThat(TextHash.of("Nobody inspects the spammish repetition"))
        .isEqualTo(0xFBCEA83C8A378BF1L);
  }

  @Test
  void sanityCheckVectorsAgree() {
    byte[] bytes = sanityBuffer();
    assertThat(TextHash.of(bytes, 0, 1)).isEqualTo(0xE934A84ADB052768L);
    assertThat(TextHash.of(bytes, 0, 4)).isEqualTo(0x9136A0DCA57457EEL);
    assertThat(TextHash.of(bytes, 0, 14)).isEqualTo(0x8282DCC4994E35C8L);
    assertThat(TextHash.of(bytes, 0, 222)).isEqualTo(0xB641AE8CB691C174L);
  }

  @Test
  void hashDoesNotDependOnWhereTheTextLies() {
    byte[] bytes = sanityBuffer();
    for (int length = 0; length <= 100; length++) {
      for (int from : new int[] {1, 3, 8, 121}) {
        byte[] alone = java.util.Arrays.copyOfRange(bytes, from, from + length);
        assertThat(TextHash.of(bytes, from, from + length))
            .as("length %d from %d", length, from)
            .isEqualTo(TextHash.of(alone, 0, length));
      }
    }
  }

  @Test
  void integersHashAsTheirDecimalText() {
    for (long power = 1, i = 0; i < 19; i++, power *= 10) {
      for (long value : new long[] {power - 1, power, -power, 1 - power, 7 * power}) {
        assertThat(TextHash.ofInteger(value))
            .as("%d", value)
            .isEqualTo(TextHash.of(Long.toString(value)));
      }
    }
    assertThat(TextHash.ofInteger(Long.MIN_VALUE)).isEqualTo(TextHash.of("-9223372036854775808"));
    assertThat(TextHash.ofInteger(Long.MAX_VALUE)).isEqualTo(TextHash.of("9223372036854775807"));
    long seed = 11;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 20_000; i++) {
      long value = random.nextLong() >> random.nextInt(64);
      assertThat(TextHash.ofInteger(value))
          .as("seed %d value %d", seed, value)
          .isEqualTo(TextHash.of(Long.toString(value)));
    }
  }

  @Test
  void textIsHashedAsUtf8() {
    String mixed = "0123456789 abcdefghijklmnopqrstuvwxyz é日本 ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int from = 0; from < mixed.length(); from++) {
      for (int to = from; to <= mixed.length(); to++) {
        String text = mixed.substring(from, to);
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        assertThat(TextHash.of(text)).as(text).isEqualTo(TextHash.of(utf8, 0, utf8.length));
      }
    }
  }

  @Test
  void textOutsideTheBasicPlaneIsHashedAsUtf8() {
    byte[] utf8 = "naïve 日本 😀".getBytes(StandardCharsets.UTF_8);
    assertThat(TextHash.of("naïve 日本 😀")).isEqualTo(TextHash.of(utf8, 0, utf8.length));
  }

  @Test
  void rangeOutsideTheArrayIsRefused() {
    assertThatThrownBy(() -> TextHash.of(new byte[8], 1, 9))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> TextHash.of(new byte[8], 5, 4))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
