package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.tensor.CudaDevices;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MainTest {
  /** What a command printed and its exit code. */
  record Result(int code, String out, String err) {}

  static Result tern(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err), args);
    return new Result(code, out.toString(), err.toString());
  }

  /** The command as a process of its own, with both streams in one. */
  static ProcessBuilder process(String... args) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--add-modules", "jdk.incubator.vector"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.tern.cli.Main"));
    command.addAll(List.of(args));
    return new ProcessBuilder(command).redirectErrorStream(true);
  }

  @Test
  void everyCommandHasHelp() {
    Result help = tern("--help");
    assertThat(help.code()).isZero();
    for (Subcommand each : Subcommand.values()) {
      String command = each.toString();
      assertThat(help.out()).containsPattern("\\n  " + command + " +\\S");
      Result result = tern(command, "--help");
      assertThat(result.code()).as(command).isZero();
      assertThat(result.out()).contains("Usage: tern " + command).contains("--debug");
      assertThat(tern("--debug", command, "--help").out()).isEqualTo(result.out());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          infoo        | did you mean info?
          info --versio | did you mean --version?
          info x       | Unmatched argument
          --xyz        | Unknown option
          """)
  void wrongUsageExitsWith2AndPointsToHelp(String line, String message) {
    Result result = tern(line.split(" "));
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains(message)
        .contains("--help shows what there is")
        .hasLineCount(1);
  }

  @Test
  void infoListsThePartsOfATrainingStepWithTheirCosts() {
    assertThat(tern("info", "--kernels", "fm", "--seconds", "1", "--threads", "1").out())
        .contains("fm, batch 2,048, 1 threads", "lookup of rows", "pairSums", " ms ", " GB/s");
  }

  @Test
  void infoRefusesToListKernelsOfNoTime() {
    assertThat(tern("info", "--kernels", "lr", "--seconds", "0").err())
        .contains("--seconds: got 0, expected at least 1");
  }

  @Test
  void infoEstimatesThePartsOfAStepOnAGpuWhereThereIsNone() {
    assumeTrue(CudaDevices.find().missing().isPresent(), "there is a GPU");
    assertThat(tern("info", "--kernels", "fm", "--device", "cuda").out())
        .contains("fm, batch 2,048: estimates for an NVIDIA H200", "pairSums", "us in all")
        .doesNotContain("lookup of rows");
    assertThat(tern("info", "--kernels", "fm", "--device", "gpu").err())
        .contains("--device: got gpu, expected cpu or cuda");
  }

  @Test
  void infoNamesTheJdk() {
    assertThat(tern("info").out()).contains(Runtime.version().toString());
  }

  @Test
  void infoSaysWhichCudaDevicesThereAreOrWhatIsMissing() {
    assertThat(tern("info").out())
        .containsPattern("\\ncuda:0 .* compute capability |\\nno cuda +device: got .*, expected ");
  }

  @Test
  void benchOutsideASourceTreeSaysWhereToRunIt() {
    Result result = tern("bench", "train", "--json", "--models", "deepfm");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("run ./tern bench in a source tree").doesNotContain("\tat ");
  }

  @Test
  void debugPrintsTheStackTrace() {
    assertThat(tern("bench", "train", "--debug").err()).contains("\tat ");
  }
}
