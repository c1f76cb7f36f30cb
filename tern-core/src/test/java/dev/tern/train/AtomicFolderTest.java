package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AtomicFolderTest {
  @TempDir Path parent;

  private static Consumer<Path> content(String text) {
    return folder -> {
      try {
        Files.createDirectories(folder.resolve("inner"));
        Files.writeString(folder.resolve("inner/file"), text);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  private static String text(Path folder) throws IOException {
    return Files.readString(folder.resolve("inner/file"));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> list = Files.list(parent)) {
      return list.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void folderAppearsAndIsReplacedWhole() throws IOException {
    Path target = parent.resolve("target");
    AtomicFolder.write(target, content("first"));
    assertThat(text(target)).isEqualTo("first");
    AtomicFolder.write(
        target,
        folder -> {
          content("second").accept(folder);
          assertThat(target.resolve("inner/file")).hasContent("first");
        });
    assertThat(text(target)).isEqualTo("second");
    assertThat(names()).containsExactly("target");
  }

  @Test
  void failureLeavesTheOldFolderAndNothingElse() throws IOException {
    Path target = parent.resolve("target");
    for (boolean exists : new boolean[] {false, true}) {
      if (exists) {
        AtomicFolder.write(target, content("old"));
      }
      List<Throwable> failures =
          List.of(
              new IllegalStateException("told"),
              new UncheckedIOException(new IOException("no space")),
              new OutOfMemoryError("as if"));
      for (Throwable failure : failures) {
        assertThatThrownBy(() ->
                AtomicFolder.write(
                    target,
                    folder -> {
                      content("new").accept(folder);
                      if (failure instanceof Error error) {
                        throw error;
                      }
                      throw (RuntimeException) failure;
                    }))
            .isSameAs(failure);
        assertThat(names()).isEqualTo(exists ? List.of("target") : List.of());
      }
    }
    assertThat(text(target)).isEqualTo("old");
  }

  @Test
  void folderUnderAFileCannotBeWrittenAndSaysSo() throws IOException {
    Path file = Files.writeString(parent.resolve("file"), "x");
    assertThatThrownBy(() -> AtomicFolder.write(file.resolve("target"), content("new")))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("target: got an error writing it");
    assertThat(names()).containsExactly("file");
  }

  @Test
  void crashWhileWritingIsSweptByTheNextWrite() throws IOException {
    Path target = parent.resolve("target");
    AtomicFolder.write(target, content("old"));
    content("half").accept(Files.createDirectory(parent.resolve("target.writing")));
    Files.writeString(parent.resolve("target.writing/left"), "over");
    assertThat(text(AtomicFolder.current(target))).isEqualTo("old");
    AtomicFolder.write(target, content("new"));
    assertThat(text(target)).isEqualTo("new");
    assertThat(target.resolve("left")).doesNotExist();
    assertThat(names()).containsExactly("target");
  }

  @Test
  void afterACrashBetweenTheRenamesTheOldFolderIsReadAndThenReplaced() throws IOException {
    Path target = parent.resolve("target");
    AtomicFolder.write(target, content("old"));
    Files.move(target, parent.resolve("target.replaced"));
    content("new").accept(Files.createDirectory(parent.resolve("target.writing")));
    assertThat(text(AtomicFolder.current(target))).isEqualTo("old");
    assertThat(names())
        .as("reading changes nothing, for a writer may be at work")
        .containsExactly("target.replaced", "target.writing");
    assertThatThrownBy(() ->
            AtomicFolder.write(
                target,
                folder -> {
                  throw new IllegalStateException("told");
                }))
        .hasMessage("told");
    assertThat(text(target)).isEqualTo("old");
    AtomicFolder.write(target, content("newer"));
    assertThat(text(target)).isEqualTo("newer");
    assertThat(names()).containsExactly("target");
  }

  @Test
  void crashAfterTheRenamesKeepsTheNewFolder() throws IOException {
    Path target = parent.resolve("target");
    AtomicFolder.write(target, content("new"));
    content("old").accept(Files.createDirectory(parent.resolve("target.replaced")));
    assertThat(text(AtomicFolder.current(target))).isEqualTo("new");
    AtomicFolder.write(target, content("newer"));
    assertThat(text(target)).isEqualTo("newer");
    assertThat(names()).containsExactly("target");
  }

  @Test
  void childrenOfAnAbsentFolderAreNone() {
    assertThat(AtomicFolder.children(parent.resolve("absent"))).isEmpty();
  }
}
