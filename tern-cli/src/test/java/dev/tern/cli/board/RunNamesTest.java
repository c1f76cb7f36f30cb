package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.run.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunNamesTest {
  @TempDir Path temp;

  private Path run(String name) throws IOException {
    Path folder = Files.createDirectories(temp.resolve(name));
    Files.writeString(folder.resolve("metrics.jsonl"), "");
    return folder;
  }

  private RunNames of(String... names) {
    return RunNames.of(List.of(names).stream().map(name -> temp + "/" + name).toList(), false);
  }

  @Test
  void aPatternTakesInRunsThatBeginLater() throws IOException {
    Path a = run("runs/a");
    Files.createDirectories(temp.resolve("runs/none"));
    Files.writeString(temp.resolve("runs/file"), "");
    RunNames names = of("runs/*");
    assertThat(names.folders()).containsExactly(a);
    Path b = run("runs/b");
    assertThat(names.folders()).containsExactly(a, b);
  }

  @Test
  void patternsMayStandInAnyNameOfThePath() throws IOException {
    Path a = run("x1/runs/a");
    Path b = run("x2/runs/a");
    run("y/runs/a");
    run("x1/.hidden/a");
    assertThat(of("x?/*/[a-b]").folders()).containsExactly(a, b);
  }

  @Test
  void aFolderOfRunsStandsForAllOfThem() throws IOException {
    Path a = run("runs/a");
    RunNames names = of("runs");
    Path b = run("runs/b");
    assertThat(names.folders()).containsExactly(a, b);
  }

  @Test
  void aRunWithSignsOfPatternsInItsNameIsFound() throws IOException {
    Path odd = run("runs/a[1]");
    assertThat(of("runs/a[1]").folders()).containsExactly(odd);
  }

  @Test
  void aRunThatIsNamedTwiceStandsOnce() throws IOException {
    Path a = run("runs/a");
    assertThat(of("runs/a", "runs/*").folders()).containsExactly(a);
  }

  @Test
  void whatIsNoRunIsRefusedUnlessTheBoardWaits() throws IOException {
    Files.createDirectories(temp.resolve("empty"));
    Files.writeString(temp.resolve("file"), "");
    for (String name : List.of("missing", "empty", "file")) {
      assertThatThrownBy(() -> of(name))
          .isInstanceOf(RunException.class)
          .hasMessageContaining(temp + "/" + name + ": got ")
          .hasMessageContaining("expected the folder of a run");
    }
    String missing = temp + "/missing";
    RunNames names = RunNames.of(List.of(missing), true);
    assertThat(names.folders()).containsExactly(Path.of(missing));
    assertThatThrownBy(() -> of("runs/[a"))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("brackets");
  }
}
