package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which checkpoint of a run is found, also after a crash, made by hand. */
final class CheckpointFolderTest {
  @TempDir Path folder;

  private void leave(String name, String text) throws IOException {
    Files.writeString(Files.createDirectories(folder.resolve(name)).resolve("file"), text);
  }

  private static Consumer<Path> save(String text) {
    return target ->
        AtomicFolder.write(
            target,
            writing -> {
              try {
                Files.writeString(writing.resolve("file"), text);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }

  private static String read(Path checkpoint) throws IOException {
    return Files.readString(checkpoint.resolve("file"));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> paths = Files.list(folder)) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aRunKeepsItsLatestAndItsBestCheckpoint() throws IOException {
    CheckpointFolder run = new CheckpointFolder(folder);
    assertThat(CheckpointFolder.latest(folder)).isEmpty();
    assertThat(CheckpointFolder.best(folder)).isEmpty();
    run.write("step-9", save("9"), List.of());
    assertThat(CheckpointFolder.best(folder)).contains(folder.resolve("step-9"));
    run.writeBest(save("9"));
    run.write("step-10", save("10"), List.of());
    assertThat(CheckpointFolder.latest(folder)).contains(folder.resolve("step-10"));
    assertThat(CheckpointFolder.best(folder)).contains(folder.resolve("best"));
    assertThat(names()).containsExactly("best", "step-10");
  }

  @Test
  void aCheckpointWrittenTwiceSurvivesACrashBetweenItsRenames() throws IOException {
    leave("step-47.replaced", "whole");
    leave("step-47.writing", "half");
    Path latest = CheckpointFolder.latest(folder).orElseThrow();
    assertThat(read(latest)).isEqualTo("whole");
    new CheckpointFolder(folder).write("step-48", save("48"), List.of());
    assertThat(names()).containsExactly("step-48");
  }

  @Test
  void theBestCheckpointSurvivesACrashBetweenItsRenames() throws IOException {
    leave("best.replaced", "best");
    leave("step-9", "latest");
    assertThat(read(CheckpointFolder.best(folder).orElseThrow())).isEqualTo("best");
  }

  @Test
  void theBestCheckpointIsTheLatestWhereItStandsAlone() throws IOException {
    leave("best", "best");
    assertThat(CheckpointFolder.latest(folder)).contains(folder.resolve("best"));
    Files.move(folder.resolve("best"), folder.resolve("best.replaced"));
    assertThat(read(CheckpointFolder.latest(folder).orElseThrow())).isEqualTo("best");
    leave("step-1", "latest");
    assertThat(read(CheckpointFolder.latest(folder).orElseThrow())).isEqualTo("latest");
  }

  @Test
  void unfinishedAndForeignFoldersAreNoCheckpoints() throws IOException {
    leave("step-50.writing", "half");
    leave("step-52.removed", "half of what went");
    leave("step-51.3d6f0a52-9a3c-4b0e-8f0a-1c2d3e4f5a6b.writing", "half of a new one");
    leave("step-", "foreign");
    leave("step-99999999999999999999", "foreign");
    leave("step-007x", "foreign");
    assertThat(CheckpointFolder.latest(folder)).isEmpty();
    leave("step-3", "whole");
    assertThat(CheckpointFolder.latest(folder)).contains(folder.resolve("step-3"));
    new CheckpointFolder(folder).write("step-4", save("4"), List.of());
    assertThat(names())
        .as("what a crash left of a checkpoint goes with the next")
        .contains("step-4")
        .doesNotContain("step-3", "step-50.writing", "step-52.removed");
  }

  @Test
  void ofOneStepTheFullCheckpointIsLaterThanTheOneOfChanges() throws IOException {
    leave("step-9", "full");
    leave("step-10.delta", "changes");
    assertThat(read(CheckpointFolder.latest(folder).orElseThrow())).isEqualTo("changes");
    leave("step-10", "full");
    assertThat(CheckpointFolder.latest(folder)).contains(folder.resolve("step-10"));
    leave("step-11.delta.writing", "half");
    leave("step-.delta", "foreign");
    assertThat(CheckpointFolder.latest(folder)).contains(folder.resolve("step-10"));
    leave("step-11.delta.replaced", "whole");
    assertThat(read(CheckpointFolder.latest(folder).orElseThrow())).isEqualTo("whole");
  }

  @Test
  void changesKeepWhatTheyFollowAndNothingElse() throws IOException {
    leave("step-3", "old");
    leave("step-4.delta.writing", "half");
    leave("step-9", "full");
    leave("step-10.delta", "changes");
    List<Path> chain = List.of(folder.resolve("step-9"), folder.resolve("step-10.delta"));
    new CheckpointFolder(folder).write("step-11.delta", save("11"), chain);
    assertThat(names()).containsExactly("step-10.delta", "step-11.delta", "step-9");
  }
}
