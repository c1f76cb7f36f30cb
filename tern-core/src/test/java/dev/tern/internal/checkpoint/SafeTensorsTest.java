package dev.tern.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SafeTensorsTest {
  @TempDir Path folder;

  private static ByteBuffer bytes(int count) {
    return ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A file as the format's page describes it: header length, header, data. */
  private Path file(String header, int dataBytes) throws IOException {
    byte[] json = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer all = bytes(8 + json.length + dataBytes).putLong(json.length).put(json);
    for (int i = 0; i < dataBytes; i++) {
      all.put((byte) i);
    }
    Path path = folder.resolve("file.safetensors");
    return Files.write(path, all.array());
  }

  @Test
  void fileOfTheFormatIsRead() throws IOException {
    Path path =
        file(
            """
            {"__metadata__":{"by":"hand"},
             "b":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},
             "a":{"shape":[2,1],"dtype":"F32","data_offsets":[0,8]},
             "none":{"dtype":"F32","shape":[0,5],"data_offsets":[8,8]},
             "h":{"dtype":"BF16","shape":[],"data_offsets":[16,18]}}  \
            """,
            18);
    try (SafeTensors file = SafeTensors.open(path)) {
      assertThat(file.names()).containsExactly("b", "a", "none", "h");
      assertThat(file.entry("a").shape()).containsExactly(2L, 1L);
      assertThat(file.entry("b").type()).isEqualTo(DType.I64);
      assertThat(file.entry("none").elements()).isZero();
      assertThat(file.entry("h").elements()).isEqualTo(1);
      ByteBuffer b = bytes(8);
      file.read("b", 0, b);
      assertThat(b.flip().getLong()).isEqualTo(0x0F0E0D0C0B0A0908L);
      ByteBuffer part = bytes(3);
      file.read("a", 4, part);
      assertThat(part.array()).containsExactly(4, 5, 6);
    }
  }

  @Test
  void writtenFileHasTheBytesOfTheFormat() throws IOException {
    Path path = folder.resolve("out.safetensors");
    SafeTensors.Layout layout =
        new SafeTensors.Layout().add("w", DType.F32, 2).add("ids", DType.I64, 1, 1);
    try (SafeTensors file = SafeTensors.create(path, layout, Map.of("k", "v"))) {
      file.write("ids", 0, bytes(8).putLong(-2).flip());
      file.write("w", 4, bytes(4).putFloat(2.5f).flip());
      file.write("w", 0, bytes(4).putFloat(-1).flip());
    }
    String header =
        "{\"__metadata__\":{\"k\":\"v\"},"
            + "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            + "\"ids\":{\"dtype\":\"I64\",\"shape\":[1,1],\"data_offsets\":[8,16]}}";
    ByteBuffer got = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    int length = (int) got.getLong();
    assertThat(length % 8).isZero();
    byte[] json = new byte[length];
    got.get(json);
    assertThat(new String(json, StandardCharsets.UTF_8).stripTrailing()).isEqualTo(header);
    assertThat(got.getFloat()).isEqualTo(-1);
    assertThat(got.getFloat()).isEqualTo(2.5f);
    assertThat(got.getLong()).isEqualTo(-2);
    assertThat(got.hasRemaining()).isFalse();
  }

  @Test
  void whatIsWrittenReadsBack() {
    Path path = folder.resolve("out.safetensors");
    SafeTensors.Layout layout = new SafeTensors.Layout();
    int[] sizes = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};
    for (int size : sizes) {
      layout.add("array \"" + size + "\" é", DType.F32, size);
    }
    try (SafeTensors file = SafeTensors.create(path, layout, Map.of())) {
      for (int size : sizes) {
        ByteBuffer values = bytes(4 * size);
        for (int i = 0; i < size; i++) {
          values.putFloat(size + i / 7f);
        }
        file.write("array \"" + size + "\" é", 0, values.flip());
      }
    }
    try (SafeTensors file = SafeTensors.open(path)) {
      for (int size : sizes) {
        String name = "array \"" + size + "\" é";
        assertThat(file.entry(name).shape()).isEqualTo(List.of((long) size));
        ByteBuffer values = bytes(4 * size);
        file.read(name, 0, values);
        values.flip();
        for (int i = 0; i < size; i++) {
          assertThat(values.getFloat()).isEqualTo(size + i / 7f);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[]|expected an object",
        "{1|expected a key in quotes",
        "{\"a\":1}|expected an object",
        "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}|\"dtype\": got none",
        "{\"a\":{\"dtype\":\"F8\",\"shape\":[2],\"data_offsets\":[0,8]}}|got the type F8 of a",
        "{\"a\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,8]}}|got the type BOOL",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}|expected 12 bytes",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}|the range [0] of a",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}|the range [8, 0] of a",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}|got -2, expected 0",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}|expected an integer",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}|got 8 bytes after",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}|got 8 bytes after",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}|expected it at byte 0",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}|fits"
            + " 64",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}|fits"
            + " 64",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[9223372036854775803,"
            + "9223372036854775807]}}|expected it at byte 0",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\","
            + "\"shape\":[2],\"data_offsets\":[0,8]}}|expected it at byte 8",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{\"dtype\":\"F32\","
            + "\"shape\":[1],\"data_offsets\":[4,8]}}|each key once",
      })
  void hostileHeaderIsRefused(String header, String message) throws IOException {
    Path path = file(header, 8);
    assertThatThrownBy(() -> SafeTensors.open(path))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("file.safetensors")
        .hasMessageContaining(message);
  }

  @Test
  void everyTruncationIsRefused() throws IOException {
    Path path = file("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
    byte[] whole = Files.readAllBytes(path);
    for (int length = 0; length < whole.length; length++) {
      Files.write(path, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> SafeTensors.open(path))
          .as("%d bytes", length)
          .isInstanceOf(DataException.class)
          .hasMessageContaining("file.safetensors");
    }
    Files.write(path, Arrays.copyOf(whole, whole.length + 1));
    assertThatThrownBy(() -> SafeTensors.open(path)).hasMessageContaining("got 9 bytes after");
  }

  @Test
  void headerLengthOutOfRangeIsRefused() throws IOException {
    for (long length : new long[] {-1, 0, 1, 9, 1L << 40, Long.MIN_VALUE}) {
      Path path = Files.write(folder.resolve("bad"), bytes(16).putLong(length).array());
      assertThatThrownBy(() -> SafeTensors.open(path))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("byte 0: got a header of " + length + " bytes");
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void aFileThatCannotBeBegunIsNotLeftOpen() throws IOException {
    Path path = folder.resolve("vast.safetensors");
    SafeTensors.Layout vast = new SafeTensors.Layout().add("vast", DType.I64, 1L << 57);
    assertThatThrownBy(() -> SafeTensors.create(path, vast, Map.of()))
        .isInstanceOf(ArithmeticException.class);
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      assertThat(open.map(SafeTensorsTest::linked)).noneMatch(name -> name.contains("vast"));
    }
  }

  private static String linked(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException _) {
      return ""; // closed meanwhile
    }
  }

  @Test
  void accessOutsideAnArrayIsRefused() throws IOException {
    Path path = file("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8);
    try (SafeTensors file = SafeTensors.open(path)) {
      assertThatThrownBy(() -> file.read("a", 4, bytes(5)))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> file.read("a", -1, bytes(1)))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> file.entry("b"))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("got no array b, expected one of [a]");
    }
  }

  @Test
  void absentFileIsNamed() {
    assertThatThrownBy(() -> SafeTensors.open(folder.resolve("absent")))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("absent: got an error reading it (no such file or folder), expected");
  }
}
