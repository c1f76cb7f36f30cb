package dev.tern.serve.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fields of messages, and bytes that are none. */
final class ProtoReaderTest {
  private static ProtoReader of(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    return new ProtoReader(bytes, 0, bytes.length);
  }

  @Test
  void fieldsOfAllKindsAreRead() {
    ProtoReader reader = of("08 96 01 12 03 61 62 63 1d 00 00 80 3f 21 01 00 00 00 00 00 00 80");
    assertThat(reader.next()).isTrue();
    assertThat(reader.field()).isEqualTo(1);
    assertThat(reader.value()).isEqualTo(150);
    assertThat(reader.next()).isTrue();
    assertThat(reader.text("name", 3)).isEqualTo("abc");
    assertThat(reader.next()).isTrue();
    assertThat(Float.intBitsToFloat((int) reader.value())).isEqualTo(1);
    assertThat(reader.next()).isTrue();
    assertThat(reader.value()).isEqualTo(Long.MIN_VALUE + 1);
    assertThat(reader.next()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "00, 0",
    "ff ff ff ff ff ff ff ff ff 01, -1",
    "80 80 80 80 80 80 80 80 80 01, -9223372036854775808",
    "80 00, 0",
    "ff ff ff ff 0f, 4294967295"
  })
  void numbersOfUpTo64BitsAreRead(String hex, long value) {
    assertThat(of(hex).varint()).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80",
        "ff ff",
        "ff ff ff ff ff ff ff ff ff 02",
        "ff ff ff ff ff ff ff ff ff 80 00",
        "80 80 80 80 80 80 80 80 80 80 01"
      })
  void numbersThatDoNotEndAreRefused(String hex) {
    assertThatExceptionOfType(RefusedException.class).isThrownBy(() -> of(hex).varint());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00 01", // field 0
        "80 80 80 80 10 01", // a field beyond 2^29
        "0b", // a group
        "0c", // the end of one
        "0e 01", // wire types that there are not
        "0f 01",
        "0a 02 61", // a length beyond the message
        "0a ff ff ff ff ff ff ff ff ff 01 61", // a length of 2^64 - 1
        "0a ff ff ff ff 07 61",
        "0d 00 00 00",
        "09 00 00 00 00 00 00 00",
        "0a"
      })
  void whatIsNoMessageIsRefused(String hex) {
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> of(hex).next())
        .withMessageStartingWith("body: got ")
        .withMessageContaining(" at byte ");
  }

  @Test
  void everyEndWithinAMessageIsRefusedOrAShorterMessage() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeInt64(1, Long.MIN_VALUE);
    out.writeString(2, "text");
    out.writeFixed32(3, 7);
    out.writeFixed64(4, 7);
    out.flush();
    byte[] whole = bytes.toByteArray();
    int refused = 0;
    for (int end = 0; end < whole.length; end++) {
      ProtoReader reader = new ProtoReader(whole, 0, end);
      try {
        while (reader.next()) {
          continue;
        }
      } catch (RefusedException e) {
        refused++;
      }
    }
    assertThat(refused).isEqualTo(whole.length - 4);
  }

  @Test
  void whatIsWrittenIsWhatProtobufWrites() throws IOException {
    Random random = new Random(5);
    for (int round = 0; round < 200; round++) {
      ByteArrayOutputStream expected = new ByteArrayOutputStream();
      CodedOutputStream out = CodedOutputStream.newInstance(expected);
      ProtoWriter writer = new ProtoWriter().clear();
      long number = random.nextLong() >> random.nextInt(64);
      byte[] inner = new byte[random.nextInt(round < 100 ? 200 : 40_000)];
      random.nextBytes(inner);
      out.writeInt64(random.nextInt(1) + 1, number);
      out.writeByteArray(3_000, inner);
      out.flush();
      if (number != 0) {
        writer.number(1, number);
      } else {
        writer.number(1, 0).varint(8).varint(0);
      }
      int mark = writer.begin(3_000);
      writer.raw(inner);
      writer.end(mark);
      byte[] message = writer.message();
      assertThat(message).hasSize(5 + expected.size()).endsWith(expected.toByteArray());
      assertThat(message[0]).isZero();
      assertThat(
              (message[1] & 0xFF) << 24
                  | (message[2] & 0xFF) << 16
                  | (message[3] & 0xFF) << 8
                  | message[4] & 0xFF)
          .isEqualTo(expected.size());
    }
  }
}
