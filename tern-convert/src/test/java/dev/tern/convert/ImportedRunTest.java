package dev.tern.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run is there as a whole, or not at all. */
final class ImportedRunTest {
  @TempDir private Path folder;

  private static String saved(Path checkpoint) {
    try {
      Files.createDirectories(checkpoint);
      Files.writeString(checkpoint.resolve("weights"), "1 2 3");
      return "saved";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aRunHasItsCheckpointAndTheFilesBesideIt() {
    Path run = folder.resolve("run");
    String report =
        ImportedRun.write(run, ImportedRunTest::saved, made -> Map.of("train.yaml", made));
    assertThat(report).isEqualTo("saved");
    assertThat(run.resolve("checkpoints/step-0/weights")).hasContent("1 2 3");
    assertThat(run.resolve("train.yaml")).hasContent("saved");
  }

  @Test
  void whatFailsBehindTheCheckpointLeavesNothing() throws IOException {
    Path run = folder.resolve("run");
    assertThatThrownBy(() ->
            ImportedRun.write(
                run,
                ImportedRunTest::saved,
                _ -> {
                  throw new IllegalStateException("no configuration");
                }))
        .hasMessage("no configuration");
    Map<String, String> impossible = Map.of("train.yaml", "", "none/graph.json", "");
    assertThatThrownBy(() -> ImportedRun.write(run, ImportedRunTest::saved, _ -> impossible))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("graph.json");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }
}
