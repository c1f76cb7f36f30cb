package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files, folders and patterns as users name them, and what tells their format. */
final class InputsTest {
  @TempDir private Path temp;

  private Path file(String name, byte[] bytes) throws IOException {
    Path file = temp.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.write(file, bytes);
  }

  private Path file(String name, String text) throws IOException {
    return file(name, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return out.toByteArray();
  }

  private Result verify(String name, String... more) {
    List<String> command =
        new ArrayList<>(List.of("data", "verify", temp.resolve(name).toString()));
    for (String key : more) {
      command.addAll(List.of("--set", key));
    }
    return tern(command.toArray(String[]::new));
  }

  private void assertRows(int rows, String name, String... more) {
    Result result = verify(name, more);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains(rows + " good rows, 0 faults");
  }

  @Test
  void aFolderOfCsvAsSparkWritesItIsRead() throws IOException {
    file("rows.csv/part-0.csv", "label,f\n1,0.5\n0,2\n");
    file("rows.csv/part-1.csv", "");
    file("rows.csv/part-2.csv.gz", gzip("label,f\n1,0.5\n"));
    file("rows.csv/part-3.csv.gz", gzip(""));
    file("rows.csv/_SUCCESS", "");
    file("rows.csv/.part-0.csv.crc", "crc");
    assertRows(3, "rows.csv", "data.dense.columns=f");
    assertRows(3, "rows.csv/*", "data.dense.columns=f");
    assertRows(2, "r*/p*0.csv", "data.dense.columns=f");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "part-00000 | label,f\\n1,2\\n | data.dense.columns=f",
        "rows.txt | label\\tf\\n1\\t2\\n | data.dense.columns=f",
        "rows.DAT | # c\\n1 3:1 5:1 # c\\n | data.sparse.columns=s",
        "a1a | -1 qid:1 3:1 11:1\\n | data.unnamed=skip",
        "train.ffm2 | 1 0:3:1 1:7:1\\n | data.sparse.columns=0..1",
        "ROWS.CSV | label,f\\n1,2\\n | data.dense.columns=f"
      })
  void theFirstBytesTellTheFormatWhereTheNameDoesNot(String name, String text, String key)
      throws IOException {
    String lines = text.replace("\\n", "\n").replace("\\t", "\t");
    file(name, lines);
    assertRows(1, name, key);
    file("packed-" + name, gzip(lines));
    assertRows(1, "packed-" + name, key);
    file("set/" + name, lines);
    assertRows(1, "set", key);
  }

  @Test
  void anUnknownFileIsNamedByWhatItIs() throws IOException {
    file("rows.bz2", "BZh91AY&SY12345");
    assertThat(verify("rows.bz2").err()).contains("rows.bz2: got a file compressed by bzip2");
    file("rows.x", "no idea\n");
    assertThat(verify("rows.x").err()).contains("rows.x: got a name that tells no format");
    file("semi.x", "label;f\n1;2\n");
    assertThat(verify("semi.x").err()).contains("semi.x: got a name that tells no format");
  }

  @Test
  void aFileNamedTwiceIsRefused() throws IOException {
    String file = file("a.csv", "label,f\n1,2\n").toString();
    for (String again : List.of(file, temp + "/*.csv", temp.toString())) {
      Result result = tern("data", "verify", file, again, "--set", "data.dense.columns=f");
      assertThat(result.code()).isEqualTo(1);
      assertThat(result.err()).contains("a.csv: got the file twice", "expected each once");
    }
  }

  @Test
  void aFolderOfALakeTableIsRefusedByName() throws IOException {
    file("t/_delta_log/0.json", "{}");
    file("t/x.parquet", "PAR1");
    Result result = verify("t", "data.dense.columns=f");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("got a Delta Lake table").doesNotContain("permissions");
  }
}
