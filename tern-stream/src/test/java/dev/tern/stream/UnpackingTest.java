package dev.tern.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files as one row of bytes, and back. */
final class UnpackingTest {
  @TempDir Path temp;

  private static byte[] packed(String name, byte[] content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeUTF(name); // Two bytes of length, and UTF-8.
    out.writeLong(content.length);
    out.write(content);
    return bytes.toByteArray();
  }

  private void unpack(byte[] bytes, int piece, Path into) throws IOException {
    Files.createDirectories(into);
    try (Unpacking files = new Unpacking(into, bytes.length)) {
      for (int at = 0; at < bytes.length; at += piece) {
        files.write(ByteBuffer.wrap(bytes, at, Math.min(piece, bytes.length - at)));
      }
      files.finish();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 64, 1_000, 1 << 20})
  void filesComeBackWhateverThePieces(int piece) throws IOException {
    Path from = Files.createDirectories(temp.resolve("from/tables"));
    byte[] large = new byte[5_000];
    new SplittableRandom(1).nextBytes(large);
    Files.write(from.resolve("0.safetensors"), large);
    Files.write(from.resolve("1.safetensors"), new byte[0]);
    Files.writeString(temp.resolve("from/manifest.json"), "{}");
    List<String> names = List.of("manifest.json", "tables/0.safetensors", "tables/1.safetensors");
    ByteBuffer all;
    try (PackedFiles packed = new PackedFiles(temp.resolve("from"), names)) {
      all = ByteBuffer.allocate((int) packed.bytes());
      while (all.hasRemaining()) {
        packed.read(all.slice(all.position(), Math.min(piece, all.remaining())));
        all.position(Math.min(all.limit(), all.position() + piece));
      }
    }
    byte[] first = packed("manifest.json", "{}".getBytes(StandardCharsets.UTF_8));
    assertThat(all.array()).startsWith(first);
    unpack(all.array(), piece, temp.resolve("to"));
    for (String name : names) {
      assertThat(temp.resolve("to").resolve(name))
          .hasSameBinaryContentAs(temp.resolve("from").resolve(name));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../manifest.json",
        "/etc/passwd",
        "tables/../../x",
        "a/b/c",
        ".",
        "..",
        ".hidden",
        "a\\b",
        "a b",
        "a\u0000b",
        "é",
        ""
      })
  void namesThatLeadElsewhereAreRefused(String name) throws IOException {
    byte[] bytes = packed(name, new byte[] {1});
    assertThatThrownBy(() -> unpack(bytes, 3, temp.resolve("to")))
        .isInstanceOf(DataException.class);
    try (Stream<Path> files = Files.walk(temp)) {
      assertThat(files.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void filesTwiceOrLongerThanTheRestAreRefused() throws IOException {
    byte[] one = packed("a", new byte[] {1});
    byte[] two = Arrays.copyOf(one, 2 * one.length);
    System.arraycopy(one, 0, two, one.length, one.length);
    assertThatThrownBy(() -> unpack(two, 4, temp.resolve("twice"))).hasMessageContaining("twice");
    byte[] longer = one.clone();
    longer[9] = 2; // The low bytes of the length begin before.
    longer[10] = 2;
    assertThatThrownBy(() -> unpack(longer, 4, temp.resolve("longer")))
        .hasMessageContaining("expected at most");
    assertThatThrownBy(() -> unpack(Arrays.copyOf(one, 5), 4, temp.resolve("short")))
        .hasMessageContaining("got an end within a file");
  }

  @Test
  void aManifestThatMemoryMayNotHoldIsRefusedBeforeItIsWritten() throws IOException {
    byte[] begin = packed("manifest.json", new byte[0]);
    begin[begin.length - 4] = 5; // 5 times 16 MiB.
    try (Unpacking files =
        new Unpacking(Files.createDirectories(temp.resolve("to")), Long.MAX_VALUE)) {
      assertThatThrownBy(() -> files.write(ByteBuffer.wrap(begin)))
          .isInstanceOf(DataException.class)
          .hasMessage("got the file manifest.json of 83886080 bytes, expected at most 67108864");
    }
  }

  @ParameterizedTest
  @CsvSource({"a, a/b", "a/b, a"})
  void aNameThatIsAFileAndAFolderIsRefused(String first, String second) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(packed(first, new byte[] {1}));
    bytes.write(packed(second, new byte[] {2}));
    assertThatThrownBy(() -> unpack(bytes.toByteArray(), 4, temp.resolve("to")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got the file " + second);
  }

  @Test
  void anyDamageIsRefusedOrStaysWithinTheFolder() throws IOException {
    byte[] good = packed("tables/0.safetensors", new byte[100]);
    SplittableRandom random = new SplittableRandom(7);
    for (int time = 0; time < 500; time++) {
      byte[] bad = Arrays.copyOf(good, random.nextInt(good.length + 1));
      for (int flip = random.nextInt(4); flip > 0 && bad.length > 0; flip--) {
        bad[random.nextInt(Math.min(bad.length, 40))] ^= (byte) (1 << random.nextInt(8));
      }
      Path to = temp.resolve("to" + time);
      assertThatCode(
              () -> {
                try {
                  unpack(bad, 1 + random.nextInt(50), to);
                } catch (DataException e) {
                  assertThat(e.getMessage()).startsWith("got ");
                }
              })
          .doesNotThrowAnyException();
    }
    try (Stream<Path> there = Files.list(temp)) {
      assertThat(there).allMatch(path -> path.getFileName().toString().startsWith("to"));
    }
  }
}
