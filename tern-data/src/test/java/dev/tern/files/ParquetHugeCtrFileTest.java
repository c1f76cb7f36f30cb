package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.DataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What may stand where a HugeCTR data set is expected. */
final class ParquetHugeCtrFileTest {
  @TempDir private Path folder;

  private static void assertRefused(Path source, String... parts) {
    assertThatThrownBy(() -> ParquetReader.openHugeCtr(source, ParquetOptions.DEFAULT).close())
        .isInstanceOf(DataException.class)
        .hasMessageStartingWith(source.toString())
        .hasMessageContainingAll(parts);
  }

  @Test
  void aParquetFileWithoutMetadataAsksForItsColumns() throws IOException {
    Path file = Files.write(folder.resolve("rows.parquet"), new byte[] {'P', 'A', 'R', '1'});
    assertRefused(
        file, "got Parquet with no columns named", "name label, dense and sparse columns");
  }

  @Test
  void bytesThatAreNoTextAreNoFileList() throws IOException {
    Path file = Files.write(folder.resolve("list.txt"), new byte[] {'1', (byte) 0xFF, '\n'});
    assertRefused(file, "got bytes that are no UTF-8 text", "expected a file list");
  }
}
