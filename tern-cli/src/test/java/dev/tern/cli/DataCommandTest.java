package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DataCommandTest {
  private static final String LABEL = "data.label.column=y";
  private static final String DENSE = "data.dense.columns=a";
  private static final String SPARSE = "data.sparse.columns=c";

  @TempDir Path temp;
  private Path csv = Path.of("");

  @BeforeEach
  void writeRows() throws IOException {
    csv = temp.resolve("rows.csv");
    Files.writeString(csv, "y,a,c\n1,0.5,red\n0,,blue\n0,2,red\n");
  }

  private Result convert(Path from, Path to, String... more) {
    return tern(arguments("convert", from, more, "--out", to.toString()));
  }

  private static String[] arguments(String command, Path from, String[] more, String... last) {
    List<String> all = new ArrayList<>(List.of("data", command, from.toString()));
    for (String key : new String[] {LABEL, DENSE, SPARSE}) {
      all.add("--set");
      all.add(key);
    }
    all.addAll(List.of(more));
    all.addAll(List.of(last));
    return all.toArray(String[]::new);
  }

  @Test
  void encodedRowsAreTheSameAfterNormRawAndParquet() throws IOException {
    Path plain = temp.resolve("plain.csv");
    assertThat(convert(csv, plain, "--encode").out()).contains("wrote 3 rows");
    String[] ids = {"--set", "data.sparse.encode=id"};
    Path norm = temp.resolve("rows.norm");
    assertThat(convert(csv, norm, "--encode", "--keys", "u32").code()).isZero();
    Path raw = temp.resolve("rows.raw");
    assertThat(convert(norm, raw, "--keys", "u32").code()).isZero();
    Path parquet = temp.resolve("rows.parquet");
    assertThat(convert(raw, parquet, "--set", "data.key_type=u32").code()).isZero();
    Path back = temp.resolve("back.csv");
    assertThat(convert(parquet, back, ids).code()).isZero();
    assertThat(Files.readString(back))
        .isEqualTo(Files.readString(plain))
        .contains("y,a,c", "1,0.5,1");
  }

  @Test
  void inspectPrintsEveryColumn() {
    Result result = tern(arguments("inspect", csv, new String[0]));
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .contains("1 labels, 1 dense, 1 sparse")
        .containsPattern("a +1.25000 +0.5.* 1\n");
    assertThat(result.out()).containsPattern("c +1.00 +2 ");
  }

  @Test
  void verifyCountsFaultsAndExitsWith1() throws IOException {
    assertThat(tern(arguments("verify", csv, new String[0])).code()).isZero();
    Files.writeString(csv, "y,a,c\n1,x,red\n0,1,blue\n7,2,red\n");
    Result result = tern(arguments("verify", csv, new String[0]));
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).isEqualTo("1 good rows, 2 faults\n");
    assertThat(result.err().lines()).hasSize(2).allMatch(line -> line.startsWith(csv.toString()));
  }

  @Test
  void aFailedConversionLeavesNoFile() throws IOException {
    Files.writeString(csv, "y,a,c\n1,x,red\n");
    Path norm = temp.resolve("rows.norm");
    Result result = convert(csv, norm);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains(csv.toString()).doesNotContain("\tat ");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(csv);
    }
  }

  @Test
  void aFileThatIsThereIsReplacedOnlyWhereAsked() throws IOException {
    Path norm = temp.resolve("rows.norm");
    Files.writeString(norm, "mine");
    Result refused = convert(csv, norm);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains(norm + ": got a file that is there already", "--overwrite");
    assertThat(norm).hasContent("mine");
    assertThat(convert(csv, norm, "--overwrite").code()).isZero();
    assertThat(Files.size(norm)).isGreaterThan(16);
  }

  @Test
  void anUnknownFormatIsRefused() {
    assertThat(tern("data", "inspect", "x.bin").err())
        .contains("x.bin: got a name that tells no format");
    assertThat(convert(csv, temp.resolve("x.bin")).code()).isEqualTo(2);
    assertThat(convert(csv, temp.resolve("x.norm"), "--keys", "u16").err())
        .contains("--keys: got u16, expected one of u32, i32, i64");
  }
}
