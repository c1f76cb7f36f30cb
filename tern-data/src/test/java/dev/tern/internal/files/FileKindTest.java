package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FileKindTest {
  private static final Columns COLUMNS =
      new Columns(List.of("y"), Set.of(), List.of("a"), List.of());

  @TempDir Path folder;

  private static FileKind kind(byte[] bytes) {
    return FileKind.of(bytes, bytes.length);
  }

  private static byte[] latin(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] hex(String hex) {
    return java.util.HexFormat.of().parseHex(hex);
  }

  @ParameterizedTest
  @CsvSource({
    "1f8b0800000000000003, GZIP",
    "504b03040a0000000000, ZIP",
    "425a683931415926535900, BZIP2",
    "425a683917724538509000, BZIP2",
    "fd377a585a0000, XZ",
    "28b52ffd2400, ZSTD",
    "04224d186440, LZ4",
    "377abcaf271c0004, SEVEN_ZIP",
    "526172211a0701, RAR",
    "ff060000734e61507059, SNAPPY",
    "1f9d9079, COMPRESS",
    "4c5a495001, LZIP",
    "894c5a4f000d0a1a0a, LZOP",
    "504152311500150a, PARQUET",
    "4f524307000a, ORC",
    "4f626a0104, AVRO",
    "4152524f57310000, ARROW",
    "894844460d0a1a0a, HDF5",
    "53514c69746520666f726d6174203300, SQLITE",
    "934e554d50590100, NUMPY",
    "d0cf11e0a1b11ae1, EXCEL",
    "fffe61002c000a00, UTF_16",
    "feff0061002c000a, UTF_16",
    "61002c0062000a0031002c0032000a00, UTF_16",
    "0061002c0062000a0031002c0032000a, UTF_16",
    "fffe000061000000, UTF_32",
    "0000fe ff00000061, UTF_32",
    "0000803f000000400000404000000000, BINARY",
  })
  void formatsAreKnownByTheirFirstBytes(String bytes, FileKind expected) {
    assertThat(kind(hex(bytes.replace(" ", "")))).isEqualTo(expected);
  }

  @Test
  void markupAndPointersAreKnownByTheirFirstWords() {
    assertThat(kind(latin("%PDF-1.7\n"))).isEqualTo(FileKind.PDF);
    assertThat(kind(latin("\n<!DOCTYPE HTML>\n<html>"))).isEqualTo(FileKind.HTML);
    assertThat(kind(latin("<html lang=en>"))).isEqualTo(FileKind.HTML);
    assertThat(kind(latin("\u00ef\u00bb\u00bf<?xml version=\"1.0\"?>"))).isEqualTo(FileKind.XML);
    assertThat(kind(latin("{\"y\": 1, \"a\": 2}\n{\"y\": 0, \"a\": 3}\n")))
        .isEqualTo(FileKind.JSON);
    assertThat(kind(latin("[\n {\n \"y\": 1"))).isEqualTo(FileKind.JSON);
    assertThat(kind(latin("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")))
        .isEqualTo(FileKind.GIT_LFS);
    byte[] excel = Arrays.copyOf(latin("PK\3\4"), 60);
    System.arraycopy(latin("[Content_Types].xml"), 0, excel, 30, 19);
    assertThat(kind(excel)).isEqualTo(FileKind.EXCEL);
    byte[] tar = Arrays.copyOf(latin("rows.csv"), 512);
    System.arraycopy(latin("ustar"), 0, tar, 257, 5);
    assertThat(kind(tar)).isEqualTo(FileKind.TAR);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "y,a\n1,2\n",
        "y,a\r\n1,2\r\n",
        "y,a",
        "y\r",
        "PAR1,ORC\n1,2\n",
        "ORCA\n1\n",
        "BZh91,2\n",
        "LZIP,a\n",
        "Rar!,a\n",
        "{\"a\":1}\t2\n",
        "{a},b\n",
        "[1,2]\n",
        "<a>,b\n",
        "y,a\n1,0\u0000\n",
        "a\u0001b\u0001c\n1\u00012\u00013\n",
        "1 1:0.5 2:1\n",
        "\u00ef\u00bb\u00bfy,a\n",
        "\u00e9t\u00e9,a\n1,2\n"
      })
  void rowsOfTextAreNoOtherFormat(String text) {
    assertThat(kind(latin(text))).isEqualTo(FileKind.OTHER);
  }

  @Test
  void linesThatEndInReturnsAloneAreKnown() {
    assertThat(kind(latin("y,a\r1,2\r"))).isEqualTo(FileKind.CR_ENDS);
    assertThat(kind(latin("y,a\r1,2\r\n"))).isEqualTo(FileKind.OTHER);
  }

  @Test
  void anyBytesHaveAKind() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(600)];
      random.nextBytes(bytes);
      byte[] start = latin(random.nextBoolean() ? "PAR1" : "{\"a\" :");
      System.arraycopy(start, 0, bytes, 0, Math.min(start.length, bytes.length));
      assertThat(FileKind.of(bytes, random.nextInt(bytes.length + 1))).isNotNull();
    }
  }

  private void assertRefused(String name, byte[] bytes, String... says) throws IOException {
    Path file = Files.write(folder.resolve(name), bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(file), CsvOptions.csv(), COLUMNS))
        .withMessageContainingAll(says)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400).doesNotContain("column"));
  }

  @Test
  void otherFormatsReadAsCsvAreNamed() throws IOException {
    assertRefused(
        "packed.csv",
        hex("425a683931415926535900"),
        "packed.csv: got a file compressed by bzip2, expected lines of text",
        "bunzip2");
    assertRefused("t.csv", hex("504152311500150a"), "Parquet", "--set data.format=parquet");
    Charset wide = StandardCharsets.UTF_16LE;
    assertRefused("wide.csv", "y,a\n1,2\n".getBytes(wide), "UTF-16", "data.encoding: utf-16");
    assertRefused("mac.csv", latin("y,a\r1,2\r"), "CR alone (\\r)", "tr '\\r' '\\n'");
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write("y,a\n1,2\n".getBytes(wide));
    }
    assertRefused("wide.csv.gz", bytes.toByteArray(), "UTF-16", "in the gzip file");
  }

  @Test
  void packedFilesReadAsNormAreNamed() throws IOException {
    Path file = Files.write(folder.resolve("x.norm"), Arrays.copyOf(hex("1f8b0800"), 200));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> NormReader.open(List.of(file), NormOptions.DETECT))
        .withMessageContainingAll("x.norm", "compressed by gzip", "expected a Norm file", "gunzip");
  }

  @Test
  void packedFilesReadAsRawAreNamedThoughTheirSizeFits() throws IOException {
    Path file = Files.write(folder.resolve("x.raw"), Arrays.copyOf(hex("1f8b0800"), 240));
    RawOptions options =
        new RawOptions(
            new Schema(List.of("y"), List.of("a"), List.of(new Slot("s", 1))),
            false,
            RawOptions.Dense.FLOAT,
            KeyType.U32,
            OptionalLong.empty());
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> RawReader.open(List.of(file), options, ReadPolicy.STRICT.withoutLabels()))
        .withMessageContainingAll("x.raw", "compressed by gzip", "gunzip");
  }

  @Test
  void headersOfNormFilesAreKnown() {
    ByteBuffer header = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(0).putLong(5).putLong(1).putLong(2).putLong(3);
    assertThat(kind(header.array())).isEqualTo(FileKind.NORM);
    header.clear();
    header.putInt(64).putLong(1).putLong(5);
    assertThat(kind(header.array())).isEqualTo(FileKind.NORM);
    assertThat(kind(new byte[100])).isEqualTo(FileKind.BINARY);
  }
}
