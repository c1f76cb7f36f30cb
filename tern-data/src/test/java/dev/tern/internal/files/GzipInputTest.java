package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GzipInputTest {
  private static final byte[] FIRST = "y,a\n1,0.5\n".getBytes(StandardCharsets.UTF_8);
  private static final byte[] SECOND = "0,2.5\n".repeat(100).getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  private static byte[] gzip(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    }
    return out.toByteArray();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private byte[] read(byte[] file) throws IOException {
    Path path = Files.write(folder.resolve("x.gz"), file);
    try (InputStream in = GzipInput.open(path)) {
      return in.readAllBytes();
    }
  }

  private void assertFault(byte[] file, String... says) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file))
        .withMessageContaining("x.gz: byte ")
        .withMessageContainingAll(says)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("null", "permission"));
  }

  @Test
  void membersAreReadOneAfterTheOther() throws IOException {
    assertThat(read(gzip(FIRST))).isEqualTo(FIRST);
    assertThat(read(join(gzip(FIRST), gzip(SECOND)))).isEqualTo(join(FIRST, SECOND));
    byte[] empty = gzip(new byte[0]);
    assertThat(read(join(empty, gzip(FIRST), empty, gzip(SECOND), empty)))
        .isEqualTo(join(FIRST, SECOND));
  }

  @Test
  void zerosBehindTheLastMemberArePassedOver() throws IOException {
    for (int zeros : new int[] {1, 17, 18, 512, 70_000}) {
      assertThat(read(join(gzip(FIRST), gzip(SECOND), new byte[zeros])))
          .isEqualTo(join(FIRST, SECOND));
    }
  }

  /** Flags 1, 2, 4, 8 and 16: text, check of the header, extra field, name and comment. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8, 16, 31})
  void optionalPartsOfHeadersArePassedOver(int flags) throws IOException {
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    header.writeBytes(new byte[] {0x1f, (byte) 0x8b, 8, (byte) flags, 1, 2, 3, 4, 0, 3});
    header.writeBytes((flags & 4) != 0 ? new byte[] {3, 0, 9, 0, 9} : new byte[0]);
    header.writeBytes((flags & 8) != 0 ? "rows.csv\0".getBytes() : new byte[0]);
    header.writeBytes((flags & 16) != 0 ? "made by hand\0".getBytes() : new byte[0]);
    CRC32 sum = new CRC32();
    sum.update(header.toByteArray());
    int check = (int) sum.getValue();
    header.writeBytes(
        (flags & 2) != 0 ? new byte[] {(byte) check, (byte) (check >> 8)} : new byte[0]);
    byte[] plain = gzip(SECOND);
    byte[] member = join(header.toByteArray(), Arrays.copyOfRange(plain, 10, plain.length));
    assertThat(read(join(gzip(FIRST), member))).isEqualTo(join(FIRST, SECOND));
    if ((flags & 2) != 0) {
      member[header.size() - 1] ^= 1;
      assertFault(join(gzip(FIRST), member), "member 2", "checksum", "of its header");
    }
  }

  @Test
  void aDamagedHeaderOfALaterMemberIsAFault() throws IOException {
    byte[] first = gzip(FIRST);
    byte[] second = gzip(SECOND);
    byte[] damaged = second.clone();
    damaged[0] ^= 1;
    String place = "x.gz: byte " + first.length + ": got 1e 8b behind gzip member 1";
    assertFault(join(first, damaged), place, "expected the next member");
    for (int length = 1; length < second.length; length++) {
      assertFault(
          join(first, Arrays.copyOf(second, length)),
          "byte " + (first.length + length),
          "gzip member 2 from byte " + first.length,
          "got the end of the file");
    }
    assertFault(join(first, new byte[3], second), "byte " + (first.length + 3), "and zeros");
    assertFault(join(first, new byte[70_000], new byte[] {7}), "got 07 behind");
    assertFault(join(first, "garbage".getBytes(StandardCharsets.UTF_8)), "got 67 61 behind");
    damaged = second.clone();
    damaged[2] = 7;
    assertFault(join(first, damaged), "member 2", "method 7");
    damaged = second.clone();
    damaged[3] = (byte) 0x80;
    assertFault(join(first, damaged), "member 2", "flags 80");
  }

  @Test
  void aWrongChecksumOrLengthIsAFault() throws IOException {
    byte[] file = gzip(FIRST);
    file[file.length - 8] ^= 1;
    assertFault(file, "gzip member 1 from byte 0", "checksum", "expected");
    file = gzip(FIRST);
    file[file.length - 1] ^= 1;
    assertFault(file, "member 1", "got 10 bytes of data, expected 16777226");
  }

  /** Each byte changed: the data of the file, or a fault; never other data, never fewer. */
  @Test
  void anyDamagedByteIsAFaultOrChangesNothing() throws IOException {
    byte[] file = join(gzip(FIRST), gzip(SECOND), new byte[4]);
    byte[] whole = join(FIRST, SECOND);
    for (int at = 0; at < file.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] damaged = file.clone();
        damaged[at] ^= (byte) (1 << bit);
        try {
          assertThat(read(damaged)).as("byte %d bit %d", at, bit).isEqualTo(whole);
        } catch (DataException e) {
          assertThat(e.getMessage()).contains("x.gz: byte ");
        }
      }
    }
  }

  @Test
  void soundFilesReadAsTheJdkReadsThem() throws IOException {
    SplittableRandom random = new SplittableRandom(11);
    for (int i = 0; i < 40; i++) {
      byte[] file = new byte[0];
      for (int members = random.nextInt(1, 5); members > 0; members--) {
        byte[] data = new byte[random.nextInt(1 << random.nextInt(1, 19))];
        random.nextBytes(data);
        Arrays.fill(data, 0, data.length / 2, (byte) 'x');
        file = join(file, gzip(data));
      }
      try (InputStream jdk = new GZIPInputStream(new ByteArrayInputStream(file))) {
        assertThat(read(file)).isEqualTo(jdk.readAllBytes());
      }
    }
  }
}
