package dev.tern.cli;

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

/** What a run that goes on thinks of its best, and what a run without evaluations may promise. */
final class EvaluationFilesTest {
  private static final String ANEW = "the evaluation files are others than before";

  @TempDir Path temp;
  private Path run = Path.of("");

  /** Labels of these rows are the opposite of those trained on: each epoch is worse. */
  private Path eval = Path.of("");

  @BeforeEach
  void unpack() throws IOException {
    OldRun.unpack(temp);
    run = temp.resolve("new");
    eval = temp.resolve("eval.csv");
  }

  private Result run(String... more) {
    Result result = OldRun.train(temp, run, more);
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  private Result resume(int epochs, Path files) {
    return run("--resume", "--set", "train.epochs=" + epochs, "--set", "data.eval=" + files);
  }

  private static double best(Result result) {
    return Double.parseDouble(result.out().replaceAll("(?s).*best AUC ([0-9.]+).*", "$1"));
  }

  @Test
  void aFileOfTheSameNameWithOtherRowsIsAnotherFile() throws IOException {
    double worst = best(run());
    assertThat(worst).isLessThan(0.5);
    Files.copy(temp.resolve("rows.csv"), eval, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    Result result = resume(3, eval);
    assertThat(result.err()).contains(ANEW);
    assertThat(best(result)).isGreaterThan(0.7);
    Result again = resume(4, eval);
    assertThat(again.err()).doesNotContain(ANEW);
    assertThat(best(again)).isGreaterThanOrEqualTo(best(result));
  }

  @Test
  void aFileMoreThatAPatternMeetsIsAnother() throws IOException {
    Path folder = Files.createDirectories(temp.resolve("parts"));
    Files.copy(eval, folder.resolve("a.csv"));
    Path pattern = folder.resolve("*.csv");
    run("--set", "data.eval=" + pattern);
    assertThat(resume(3, pattern).err()).doesNotContain(ANEW);
    Files.copy(eval, folder.resolve("b.csv"));
    assertThat(resume(4, pattern).err()).contains(ANEW);
  }

  @Test
  void theOldBestStaysUntilAnEvaluationOnTheNewFilesReplacesIt() throws IOException {
    Result easy = run("--set", "data.eval=" + temp.resolve("rows.csv"));
    assertThat(best(easy)).isGreaterThan(0.7);
    byte[] old = Files.readAllBytes(run.resolve("checkpoints/best/manifest.json"));
    // Nothing is left to train, so nothing is evaluated: no model was chosen on these rows.
    Result none = resume(2, eval);
    assertThat(none.err()).contains(ANEW);
    assertThat(none.out()).doesNotContain("best AUC");
    assertThat(run.resolve("checkpoints/best/manifest.json")).hasBinaryContent(old);
    Result next = resume(3, eval);
    assertThat(next.err()).contains(ANEW);
    assertThat(best(next)).isLessThan(0.5);
    assertThat(resume(4, eval).err()).doesNotContain(ANEW);
  }

  @Test
  void aRunThatGoesOnWithoutEvaluationsKeepsItsBest() {
    double best = best(run("--set", "data.eval=" + temp.resolve("rows.csv")));
    Result none = run("--resume", "--set", "train.epochs=3", "--set", "data.eval=[]");
    assertThat(none.err()).doesNotContain(ANEW);
    assertThat(best(none)).isEqualTo(best);
    assertThat(run.resolve("checkpoints/best")).exists();
    assertThat(resume(4, temp.resolve("rows.csv")).err()).doesNotContain(ANEW);
    assertThat(resume(5, eval).err()).contains(ANEW);
  }

  @ParameterizedTest
  @CsvSource({
    "data.eval=[], give data.eval",
    "train.evaluate_every=never, set train.evaluate_every to epoch"
  })
  void earlyStopNeedsEvaluations(String setting, String advice) {
    Result result = OldRun.train(temp, run, "--set", setting, "--set", "train.early_stop=2");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("train.early_stop: got 2 without evaluations", advice);
    assertThat(run).doesNotExist();
  }

  @Test
  void generatedRowsThatAreNotEvaluatedCannotEndEarly() throws IOException {
    Path config =
        Files.writeString(
            temp.resolve("generated.yaml"),
            "data: {format: criteo-synthetic, rows: 100, eval_rows: 0}\nmodel: {type: lr}\n"
                + "run: {dir: \""
                + run
                + "\"}\ntrain: {early_stop: 1}\n");
    Result result = MainTest.tern("train", config.toString());
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("give data.eval_rows");
  }

  @Test
  void aRunOfAnEarlierBuildThatPromisedAnEarlyStopGoesOn() throws IOException {
    Path config = temp.resolve("run/config.yaml");
    String text = Files.readString(config);
    OldRun.mark(config, text.replace("early_stop: 0", "early_stop: 5"));
    Result result =
        OldRun.resume(temp, "--set", "train.early_stop=5", "--set", "train.evaluate_every=never");
    assertThat(result.code()).as(result.err()).isZero();
  }
}
