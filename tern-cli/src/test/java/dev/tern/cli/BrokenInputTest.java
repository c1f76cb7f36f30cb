package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each broken input is answered with; all answers go into a table in the build's folder. */
final class BrokenInputTest {
  private static final SortedMap<String, String> TABLE = new TreeMap<>();

  @TempDir Path folder;

  static List<BrokenInputs.Case> inputs() {
    return BrokenInputs.all();
  }

  @ParameterizedTest
  @MethodSource("inputs")
  void isAnsweredWithWhatToDoAndLeavesNothing(BrokenInputs.Case broken) throws IOException {
    String[] command = broken.preparation().in(folder).toArray(String[]::new);
    SortedMap<String, Integer> before = listing();
    Result result = tern(command);
    String error = result.err().replace(folder + "/", "").replace(folder.toString(), ".").strip();
    TABLE.put(broken.name(), "%-48s %d  %s".formatted(broken.name(), result.code(), error));
    assertThat(result.code()).as(error).isEqualTo(broken.code());
    assertThat(error)
        .contains(broken.said())
        .startsWith("error: ")
        .doesNotContain("\tat ", "java.", "Exception")
        .hasLineCount(1);
    assertThat(error)
        .matches("(?s)error: .*(: got .+, expected .+; .+|got the unknown key .+; did .+|help .+)");
    assertThat(result.out()).isEmpty();
    assertThat(listing()).isEqualTo(before);
  }

  /** The system's limit on the size of a file stands in for a full disk: writes fail alike. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @EnabledOnOs({OS.LINUX, OS.MAC})
  void aFullDiskIsReportedAndLeavesNoHalfFile(boolean checkpoint) throws Exception {
    Path out = folder.resolve("out");
    List<String> command =
        checkpoint
            ? new ArrayList<>(BrokenInputs.wideModel(folder, out))
            : List.of("data", "generate", "--rows", "2000", "--out", out.resolve("r.csv") + "");
    SortedMap<String, Integer> before = listing();
    List<String> process = new ArrayList<>(List.of("sh", "-c", "ulimit -f 16; exec \"$@\"", "sh"));
    process.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    process.addAll(List.of("--add-modules", "jdk.incubator.vector", "-XX:-UsePerfData"));
    process.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.tern.cli.Main"));
    process.addAll(command);
    Process running = new ProcessBuilder(process).redirectErrorStream(true).start();
    String error = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(running.waitFor()).as(error).isEqualTo(1);
    assertThat(error)
        .containsPattern("error: .+: got an error writing .*\\(File too large\\), expected room")
        .doesNotContain("\tat ");
    assertThat(listing()).isEqualTo(before);
  }

  /** Every file and folder, with a hash of its bytes. */
  private SortedMap<String, Integer> listing() throws IOException {
    SortedMap<String, Integer> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path file : all.toList()) {
        int hash = Files.isDirectory(file) ? 0 : Arrays.hashCode(Files.readAllBytes(file));
        files.put(folder.relativize(file).toString(), hash);
      }
    }
    return files;
  }

  @AfterAll
  static void writeTable() throws IOException {
    Files.write(
        Files.createDirectories(Path.of("target")).resolve("broken-inputs.txt"), TABLE.values());
  }
}
