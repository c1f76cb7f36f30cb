package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Run folders and checkpoints of an earlier build keep their meaning and their bits. */
final class OldRunTest {
  @TempDir Path temp;

  @BeforeEach
  void unpack() throws IOException {
    OldRun.unpack(temp);
  }

  @Test
  void aRunOfAnEarlierBuildGoesOnToTheBytesOfThatBuild() throws IOException {
    Result result = OldRun.resume(temp);
    assertThat(result.code()).as(result.err()).isZero();
    OldRun.requireNext(temp);
  }

  @Test
  void aRunGoesOnWhoseConfigurationLacksKeysThatCameLater() throws IOException {
    Path config = temp.resolve("run/config.yaml");
    String text = Files.readString(config);
    String without = text.replace("  activation_memory: 0\n", "").replace("  unknown: zeros\n", "");
    assertThat(without).isNotEqualTo(text);
    OldRun.mark(config, without);
    Result result = OldRun.resume(temp);
    assertThat(result.code()).as(result.err()).isZero();
    OldRun.requireNext(temp);
  }

  @Test
  void aRunIsRefusedOnlyForWhatItsUserChanged() {
    Result result = OldRun.resume(temp, "--set", "model.hidden=5");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains("got another configuration for --resume (model.hidden: [5], was [4])");
  }

  /** A run of an earlier build names no evaluation files in its mark. */
  @Test
  void otherEvaluationFilesLetTheBestBeginAnew() throws IOException {
    Path other = temp.resolve("other.csv");
    Files.copy(temp.resolve("rows.csv"), other);
    Result same = OldRun.resume(temp);
    assertThat(same.out()).contains("best AUC 0.2022").contains("at step 4");
    String more = "train.epochs=4";
    Result result = OldRun.resume(temp, "--set", "data.eval=" + other, "--set", more);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("the evaluation files are others than before");
    assertThat(result.out()).contains("best AUC 0.8").contains("at step 16");
    String report = Files.readString(temp.resolve("run/report.html"));
    assertThat(report).doesNotContain("0.2022</b>");
  }

  @ParameterizedTest
  @CsvSource({"run, best.csv", "run/checkpoints/step-8, latest.csv"})
  void itsCheckpointsScoreAsThatBuildDid(String checkpoint, String scores) throws IOException {
    Path out = temp.resolve("out.csv");
    Result result =
        tern(
            "predict",
            temp.resolve(checkpoint).toString(),
            temp.resolve("rows.csv").toString(),
            "--out",
            out.toString());
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(out).hasSameTextualContentAs(temp.resolve(scores));
  }
}
