package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scripts of {@code tern completion}, run by their shells where these are there. */
final class CompletionTest {
  @TempDir Path temp;

  private static boolean isInstalled(String shell) {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, shell)));
  }

  private Path script(String shell) throws IOException {
    MainTest.Result result = MainTest.tern("completion", shell);
    assertThat(result.code()).isZero();
    return Files.writeString(temp.resolve("script"), result.out());
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  @Test
  void scriptsNameCommandsAndOptions() throws IOException {
    assertThat(script("bash")).content().contains("_complete_tern", "info", "--debug");
    assertThat(MainTest.tern("completion").out())
        .isEqualTo(MainTest.tern("completion", "zsh").out());
    assertThat(script("fish"))
        .content()
        .contains("complete -c tern -n '__tern_at' -f -a train -d 'Trains a model")
        .contains("complete -c tern -n '__tern_at table' -f -a export -d '")
        .containsPattern("complete -c tern -n '__tern_in train' .*-l set -r -d 'Put a value")
        .containsPattern("-l follow -x -a 'latest best none'")
        .doesNotContain("${");
    assertThat(MainTest.tern("completion", "csh").code()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bash", "zsh", "fish"})
  void theShellReadsItsScript(String shell) throws Exception {
    assumeTrue(isInstalled(shell), "no " + shell);
    assertThat(run(shell, "-n", script(shell).toString())).isEmpty();
  }

  @Test
  void bashCompletesCommandsAndOptions() throws Exception {
    assumeTrue(isInstalled("bash"), "no bash");
    String ask =
        "source '"
            + script("bash")
            + "'; compopt() { :; }; %s; _complete_tern; echo ${COMPREPLY[@]}";
    assertThat(run("bash", "-c", ask.formatted("COMP_WORDS=(tern tra); COMP_CWORD=1")))
        .isEqualTo("train\n");
    assertThat(run("bash", "-c", ask.formatted("COMP_WORDS=(tern train --resu); COMP_CWORD=2")))
        .isEqualTo("--resume\n");
  }

  @Test
  void fishCompletesCommandsAndOptions() throws Exception {
    assumeTrue(isInstalled("fish"), "no fish");
    String ask = "source '" + script("fish") + "'; complete -C '%s'";
    assertThat(run("fish", "--no-config", "-c", ask.formatted("tern tra")))
        .startsWith("train\tTrains a model");
    assertThat(run("fish", "--no-config", "-c", ask.formatted("tern table ex")))
        .startsWith("export\t");
    assertThat(run("fish", "--no-config", "-c", ask.formatted("tern train --resu")))
        .startsWith("--resume\t");
    assertThat(run("fish", "--no-config", "-c", ask.formatted("tern serve --follow b")))
        .startsWith("best\t");
    assertThat(run("fish", "--no-config", "-c", ask.formatted("tern train --gra"))).isEmpty();
  }
}
