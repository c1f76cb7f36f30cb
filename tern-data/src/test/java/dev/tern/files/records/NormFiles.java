package dev.tern.files.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import dev.tern.files.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.Arguments;

/** Norm files in a temporary folder, for tests to extend: from rows, from bytes, with faults. */
abstract class NormFiles {
  /** A framed file of one record with U32 keys. */
  static final String SUM_U32 =
      """
      40000000
      0100000000000000 0100000000000000 0100000000000000 0100000000000000 0200000000000000
      0000000000000000 0000000000000000 0000000000000000 06
      18000000
      0000803F 00002040
      02000000 07000000 FFFFFFFF
      00000000 24
      """;

  @TempDir Path folder;

  static Stream<Arguments> variants() {
    return Stream.of(NormCheck.values())
        .flatMap(c -> Stream.of(Arguments.of(c, KeyType.U32), Arguments.of(c, KeyType.I64)));
  }

  Path file(byte[] bytes) {
    return file("in.norm", bytes);
  }

  Path file(String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static byte[] hex(String text) {
    return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
  }

  static List<Rows.Row> read(Path file, NormOptions options) {
    try (DataReader reader = NormReader.open(List.of(file), options)) {
      return Rows.read(reader);
    }
  }

  static NormOptions keys(KeyType keys) {
    return NormOptions.DETECT.withKeys(keys);
  }

  static Rows random(int count, KeyType keys) {
    return Rows.random(
        11, count, 1, 2, new int[] {1, 0, 2}, keys == KeyType.U32 ? 0xFFFFFFFFL : -1);
  }

  static byte[] tiny(Rows rows, NormCheck check, KeyType keys) {
    Schema schema = rows.schema();
    return TinyNorm.write(
        rows.list(),
        schema.labelDim(),
        schema.denseDim(),
        schema.slotCount(),
        check == NormCheck.SUM,
        keys == KeyType.I64);
  }

  void assertFault(byte[] bytes, NormOptions options, String... parts) {
    Path file = file(bytes);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, options))
        .satisfies(e -> {
          assertThat(e.getMessage()).contains("in.norm");
          for (String part : parts) {
            assertThat(e.getMessage()).contains(part);
          }
        });
  }
}
