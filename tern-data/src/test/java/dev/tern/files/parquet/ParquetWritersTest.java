package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
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
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.EncryptionAlgorithm;
import org.apache.parquet.format.EncryptionWithFooterKey;
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
    ParquetWriterVersion version = ParquetWriterVersion.of(createdBy);
    assertThat(version).isEqualTo(new ParquetWriterVersion(application, major, minor, patch));
    assertThat(ParquetWriterVersion.of(null)).isEqualTo(ParquetWriterVersion.of(""));
  }

  @Test
  void versionsComparePartByPart() {
    ParquetWriterVersion version = ParquetWriterVersion.of("parquet-mr version 1.10.0");
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
