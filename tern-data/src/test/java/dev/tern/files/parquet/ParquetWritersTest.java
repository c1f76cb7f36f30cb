package dev.tern.files.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.apache.parquet.format.AesGcmV1;
import org.apache.parquet.format.ColumnCryptoMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.EncryptionAlgorithm;
import org.apache.parquet.format.EncryptionWithFooterKey;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What single writers do in their own way, or did wrong for some time. */
class ParquetWritersTest {
  private static final Columns IDS =
      new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));

  @TempDir Path folder;

  private static List<String> read(Path file, Columns columns) {
    return ParquetRows.allAndClose(
        ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns));
  }

  private static byte[] longs(long... values) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (long value : values) {
      for (int k = 0; k < 8; k++) {
        out.write((int) (value >> 8 * k));
      }
    }
    return out.toByteArray();
  }

  @ParameterizedTest
  @CsvSource({
    "parquet-mr version 1.8.0 (build 0fda28), parquet-mr, 1, 8, 0",
    "parquet-cpp-arrow version 9.0.0, parquet-cpp-arrow, 9, 0, 0",
    "parquet-cpp version 1.5.1-SNAPSHOT, parquet-cpp, 1, 5, 1",
    "parquet-mr, parquet-mr, 0, 0, 0",
    "parquet-mr version unknown, parquet-mr, 0, 0, 0",
    "'Jean-Luc\nversion 9', Jean-Luc, 0, 0, 0",
    "parquet-mr version 99999999999.1, parquet-mr, 999999, 0, 0",
    "'', '', 0, 0, 0",
  })
  void writersTellTheirVersions(
      String createdBy, String application, int major, int minor, int patch) {
    ParquetFile.Writer version = ParquetFile.Writer.of(createdBy);
    assertThat(version).isEqualTo(new ParquetFile.Writer(application, major, minor, patch));
    assertThat(ParquetFile.Writer.of(null)).isEqualTo(ParquetFile.Writer.of(""));
  }

  @Test
  void versionsComparePartByPart() {
    ParquetFile.Writer version = ParquetFile.Writer.of("parquet-mr version 1.10.0");
    assertThat(version.isBefore("parquet-mr", 1, 10, 1)).isTrue();
    assertThat(version.isBefore("parquet-mr", 1, 10, 0)).isFalse();
    assertThat(version.isBefore("parquet-mr", 1, 9, 9)).isFalse();
    assertThat(version.isBefore("parquet-mr", 2, 0, 0)).isTrue();
    assertThat(version.isBefore("parquet-cpp", 2, 0, 0)).isFalse();
  }

  /** A chunk whose size lacks the header of its dictionary (PARQUET-816). */
  private Path withoutDictionaryHeader(String createdBy) throws IOException {
    ParquetForge.Page dictionary = ParquetForge.Page.dictionary(2, longs(7, 8));
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    Util.writePageHeader(dictionary.header(), header);
    byte[] bytes =
        ParquetForge.oneColumn(
            folder,
            "required int64 c;",
            3,
            List.of(
                dictionary,
                // One bit each, three values from the lowest bit: 1, 0, 1.
                ParquetForge.Page.data(
                    3, Encoding.PLAIN_DICTIONARY, 3, (byte) 1, (byte) 3, (byte) 5)),
            meta -> meta.setTotal_compressed_size(meta.getTotal_compressed_size() - header.size()),
            footer -> footer.setCreated_by(createdBy));
    return Files.write(folder.resolve("a.parquet"), bytes);
  }

  @Test
  void earlyParquetMrLeavesTheHeaderOfTheDictionaryOutOfTheSize() throws IOException {
    for (String writer : List.of("parquet-mr", "parquet-mr version 1.2.8 (build x)")) {
      assertThat(read(withoutDictionaryHeader(writer), IDS))
          .containsExactly("[] | [] | [8]", "[] | [] | [7]", "[] | [] | [8]");
    }
    for (String writer : List.of("x", "parquet-mr version 1.2.9")) {
      Path file = withoutDictionaryHeader(writer);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> read(file, IDS))
          .withMessageContaining("a.parquet: column c, byte ");
    }
  }

  @Test
  void anEncodingNewerThanTheReaderIsNamed() throws IOException {
    byte[] bytes =
        ParquetForge.oneColumn(
            folder,
            "required int64 c;",
            1,
            List.of(ParquetForge.Page.data(1, Encoding.BYTE_STREAM_SPLIT, 8, longs(1))),
            meta -> {});
    String hex = HexFormat.of().formatHex(bytes);
    int at = hex.indexOf("1512"); // an i32 that is 9 in zigzag; 10 is ALP
    assertThat(at).isBetween(8, 40);
    bytes[at / 2 + 1] += 2;
    Path file = Files.write(folder.resolve("a.parquet"), bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, IDS))
        .withMessageContaining("column c, byte 4: got no encoding, or one newer than this reader")
        .withMessageNotContaining("damaged");
  }

  private Path forge(
      String fields,
      long rows,
      String createdBy,
      CompressionCodec codec,
      ParquetForge.Page... pages)
      throws IOException {
    return Files.write(
        folder.resolve("a.parquet"),
        ParquetForge.oneColumn(
            folder,
            fields,
            rows,
            List.of(pages),
            meta -> meta.setCodec(codec),
            footer -> footer.setCreated_by(createdBy)));
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  @Test
  void levelsInBitPackedAreReadFromTheHighestBit() throws IOException {
    // Ten rows: values in 0, 2, 3 and 9, of which one definition bit each tells.
    byte[] body = join(new byte[] {(byte) 0b1011_0000, 0b0100_0000}, longs(5, 6, 7, 8));
    ParquetForge.Page page = ParquetForge.Page.data(10, Encoding.PLAIN, body.length, body);
    page.header().getData_page_header().setDefinition_level_encoding(Encoding.BIT_PACKED);
    Path file = forge("optional int64 c;", 10, "impala", CompressionCodec.UNCOMPRESSED, page);
    assertThat(read(file, IDS))
        .containsExactly(
            "[] | [] | [5]",
            "[] | [] | []",
            "[] | [] | [6]",
            "[] | [] | [7]",
            "[] | [] | []",
            "[] | [] | []",
            "[] | [] | []",
            "[] | [] | []",
            "[] | [] | []",
            "[] | [] | [8]");
    // Levels of a list: two bits of definition (3 is a value), one of repetition.
    byte[] lists =
        join(new byte[] {0b0101_0000, (byte) 0b1111_1011, (byte) 0b1100_0000}, longs(1, 2, 3, 4));
    ParquetForge.Page page2 = ParquetForge.Page.data(5, Encoding.PLAIN, lists.length, lists);
    page2.header().getData_page_header().setDefinition_level_encoding(Encoding.BIT_PACKED);
    page2.header().getData_page_header().setRepetition_level_encoding(Encoding.BIT_PACKED);
    byte[] bytes =
        ParquetForge.oneColumn(
            folder,
            "optional group c (LIST) { repeated group list { optional int64 element; } }",
            3,
            List.of(page2),
            meta -> meta.setNum_values(5));
    assertThat(read(Files.write(folder.resolve("b.parquet"), bytes), IDS))
        .containsExactly("[] | [] | [1, 2]", "[] | [] | [3]", "[] | [] | [4]");
  }

  @Test
  void bitPackedLevelsThatThePageDoesNotHoldAreAFault() throws IOException {
    ParquetForge.Page page = ParquetForge.Page.data(1 << 30, Encoding.PLAIN, 8, longs(1));
    page.header().getData_page_header().setDefinition_level_encoding(Encoding.BIT_PACKED);
    Path file = forge("optional int64 c;", 1 << 30, "x", CompressionCodec.UNCOMPRESSED, page);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, IDS))
        .withMessageContaining("got levels of 134217728 bytes, 8 left in the page");
  }

  @Test
  void earlyParquetCppCompressedPagesThatItSaysAreNot() throws IOException {
    byte[] packed = HexFormat.of().parseHex("10" + "1c" + "0700000000000000" + "1e0800");
    ParquetForge.Page page = version2(packed, 16);
    for (String writer : List.of("parquet-cpp version 1.5.0", "parquet-cpp")) {
      assertThat(read(forge("required int64 c;", 2, writer, CompressionCodec.SNAPPY, page), IDS))
          .containsExactly("[] | [] | [7]", "[] | [] | [7]");
    }
    Path file =
        forge("required int64 c;", 2, "parquet-cpp version 2.0.0", CompressionCodec.SNAPPY, page);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, IDS))
        .withMessageContaining("plain bytes said to be 16");
  }

  private static ParquetForge.Page version2(byte[] body, int size) {
    PageHeader header = new PageHeader(PageType.DATA_PAGE_V2, size, body.length);
    DataPageHeaderV2 v2 = new DataPageHeaderV2(2, 0, 2, Encoding.PLAIN, 0, 0);
    v2.setIs_compressed(false);
    header.setData_page_header_v2(v2);
    return new ParquetForge.Page(header, body);
  }

  /** One integer in DELTA_BINARY_PACKED. */
  private static byte[] one(int value) {
    return new byte[] {(byte) 0x80, 1, 4, 1, (byte) (2 * value)};
  }

  @Test
  void earlyParquetMrSharesPrefixesOverPages() throws IOException {
    byte[] first = join(one(0), one(3), "abc".getBytes(UTF_8));
    byte[] second = join(one(2), one(1), "x".getBytes(UTF_8));
    ParquetForge.Page[] pages = {
      ParquetForge.Page.data(1, Encoding.DELTA_BYTE_ARRAY, first.length, first),
      ParquetForge.Page.data(1, Encoding.DELTA_BYTE_ARRAY, second.length, second)
    };
    String fields = "required binary c (STRING);";
    Columns texts = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.text("c")));
    Path file = forge(fields, 2, "parquet-mr version 1.7.0", CompressionCodec.UNCOMPRESSED, pages);
    List<String> rows = read(file, texts);
    assertThat(rows)
        .containsExactly(
            "[] | [] | [" + TextHash.of("abc") + "]", "[] | [] | [" + TextHash.of("abx") + "]");
    try (DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, texts)) {
      assertThat(reader.skip(1)).isEqualTo(1);
      assertThat(ParquetRows.all(reader)).isEqualTo(rows.subList(1, 2));
    }
    Path sound = forge(fields, 2, "parquet-mr version 1.8.0", CompressionCodec.UNCOMPRESSED, pages);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(sound, texts))
        .withMessageContaining("keeps 2 bytes of 0 before it");
  }

  @Test
  void indicesOfNoBitsNeedNoRun() throws IOException {
    Path file =
        forge(
            "required int64 c;",
            3,
            "x",
            CompressionCodec.UNCOMPRESSED,
            ParquetForge.Page.dictionary(1, longs(9)),
            ParquetForge.Page.data(3, Encoding.RLE_DICTIONARY, 1, (byte) 0));
    assertThat(read(file, IDS)).hasSize(3).containsOnly("[] | [] | [9]");
    Path empty =
        forge(
            "required int64 c;",
            3,
            "x",
            CompressionCodec.UNCOMPRESSED,
            ParquetForge.Page.dictionary(0),
            ParquetForge.Page.data(3, Encoding.RLE_DICTIONARY, 1, (byte) 0));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(empty, IDS))
        .withMessageContaining("got dictionary index 0 of 0 entries");
  }

  @Test
  void aStructWithoutFieldsIsNoColumn() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "required int64 c; required int64 d;",
            1,
            (group, i) -> group.append("c", 4L).append("d", 5L));
    byte[] bytes =
        ParquetForge.withFooter(
            Files.readAllBytes(file),
            footer -> {
              SchemaElement struct = new SchemaElement("nothing");
              struct.setRepetition_type(FieldRepetitionType.REQUIRED);
              struct.setNum_children(0);
              footer.getSchema().getFirst().setNum_children(3);
              footer.getSchema().add(1, struct);
            });
    Files.write(file, bytes);
    assertThat(read(file, IDS)).containsExactly("[] | [] | [4]");
    Columns columns =
        new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("nothing")));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, columns))
        .withMessageContaining("column nothing: got nested, expected a column of one value");
  }

  /** A dictionary before 3,000,000,000 nulls: it must not be taken for rows. */
  @Test
  void veryManyRowsAreSkippedPastTheDictionary() throws IOException {
    int half = 1_500_000_000;
    byte[] nulls = HexFormat.of().parseHex("06000000" + "80bcc1960b" + "00");
    byte[] values = HexFormat.of().parseHex("02000000" + "0401" + "00" + "04");
    Path file =
        forge(
            "optional int64 c;",
            2L * half + 2,
            "x",
            CompressionCodec.UNCOMPRESSED,
            ParquetForge.Page.dictionary(1, longs(9)),
            ParquetForge.Page.data(half, Encoding.RLE_DICTIONARY, nulls.length, nulls),
            ParquetForge.Page.data(half, Encoding.RLE_DICTIONARY, nulls.length, nulls),
            ParquetForge.Page.data(2, Encoding.RLE_DICTIONARY, values.length, values));
    try (DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, IDS)) {
      assertThat(reader.skip(2L * half)).isEqualTo(2L * half);
      assertThat(ParquetRows.all(reader)).containsExactly("[] | [] | [9]", "[] | [] | [9]");
    }
  }

  @Test
  void encryptedColumnsAreNamedAndTheOthersAreRead() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "required int64 c; required int64 secret; required int64 lost; required int64 far;",
            1,
            (group, i) ->
                group.append("c", 5L).append("secret", 6L).append("lost", 7L).append("far", 8L));
    Files.write(
        file,
        ParquetForge.withFooter(
            Files.readAllBytes(file),
            footer -> {
              footer.setEncryption_algorithm(EncryptionAlgorithm.AES_GCM_V1(new AesGcmV1()));
              var chunks = footer.getRow_groups().getFirst().getColumns();
              chunks
                  .get(1)
                  .setCrypto_metadata(
                      ColumnCryptoMetaData.ENCRYPTION_WITH_FOOTER_KEY(
                          new EncryptionWithFooterKey()));
              chunks.get(2).unsetMeta_data();
              chunks.get(3).setFile_path("part-9.parquet");
            }));
    assertThat(read(file, IDS)).containsExactly("[] | [] | [5]");
    for (String name : List.of("secret", "lost")) {
      Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id(name)));
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> read(file, columns))
          .withMessageContainingAll("column " + name, "got an encrypted column", "decrypt")
          .withMessageNotContaining("damaged");
    }
    Columns far = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("far")));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, far))
        .withMessageContaining("got a column kept in part-9.parquet");
  }
}
