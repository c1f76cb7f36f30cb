package dev.tern.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void aLinkToNothingUnderTheTemporaryNameIsSwept() throws IOException {
    Path target = parent.resolve("target");
    Files.createSymbolicLink(parent.resolve("target.writing"), parent.resolve("nothing"));
    AtomicFolder.write(target, content("new"));
    assertThat(text(target)).isEqualTo("new");
    assertThat(names()).containsExactly("target");
  }

  /** Makes a file or a folder of one file. */
  private static Consumer<Path> made(boolean folder, String text) {
    return path -> {
      try {
        if (folder) {
          Files.createDirectories(path);
        }
        Files.writeString(file(folder, path), text);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  private static Path file(boolean folder, Path path) {
    return folder ? path.resolve("file") : path;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void somethingNewIsRefusedWhereAnythingIs(boolean folder) throws IOException {
    Path target = parent.resolve("target");
    AtomicFolder.writeNew(target, made(folder, "first"));
    Path link = Files.createSymbolicLink(parent.resolve("link"), parent.resolve("nothing"));
    for (Path taken : List.of(target, link, Path.of("/"))) {
      assertThatThrownBy(() ->
              AtomicFolder.writeNew(
                  taken,
                  path -> {
                    throw new AssertionError("written to " + path);
                  }))
          .isInstanceOf(DataException.class)
          .hasMessage(taken + ": got a path where something is, expected none; give another name");
    }
    assertThat(file(folder, target)).hasContent("first");
    assertThat(names()).containsExactly("link", "target");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofTwoWritersOfSomethingNewTheFirstToEndKeepsItsPlace(boolean folder) throws IOException {
    Path target = parent.resolve("target");
    assertThatThrownBy(() ->
            AtomicFolder.writeNew(
                target,
                path -> {
                  made(folder, "half").accept(path);
                  AtomicFolder.writeNew(target, made(folder, "other"));
                  assertThat(file(folder, path)).hasContent("half");
                  made(folder, "whole").accept(path);
                }))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got a path where something is");
    assertThat(file(folder, target)).hasContent("other");
    assertThat(names()).containsExactly("target");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofManyWritersAtOnceOneMakesSomethingNew(boolean folder) throws Exception {
    int writers = 4;
    CyclicBarrier together = new CyclicBarrier(writers);
    try (ExecutorService threads = Executors.newFixedThreadPool(writers)) {
      for (int round = 0; round < 30; round++) {
        Path target = parent.resolve("target-" + round);
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
          tasks.add(() -> {
            together.await();
            try {
              AtomicFolder.writeNew(target, made(folder, "whole"));
              return true;
            } catch (DataException e) {
              assertThat(e).hasMessageContaining("got a path where something is");
              return false;
            }
          });
        }
        int made = 0;
        for (Future<Boolean> task : threads.invokeAll(tasks)) {
          made += task.get() ? 1 : 0;
        }
        assertThat(made).as("round %d", round).isEqualTo(1);
        assertThat(file(folder, target)).hasContent("whole");
      }
    }
    assertThat(names()).hasSize(30).allMatch(name -> name.startsWith("target-"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void somethingNewThatFailsLeavesNothing(boolean folder) throws IOException {
    List<Throwable> failures =
        List.of(new IllegalStateException("told"), new OutOfMemoryError("as if"));
    for (Throwable failure : failures) {
      assertThatThrownBy(() ->
              AtomicFolder.writeNew(
                  parent.resolve("target"),
                  path -> {
                    made(folder, "half").accept(path);
                    assertThat(path.getFileName().toString()).matches("target\\..+\\.writing");
                    if (failure instanceof Error error) {
                      throw error;
                    }
                    throw (RuntimeException) failure;
                  }))
          .isSameAs(failure);
      assertThat(names()).isEmpty();
    }
  }

  @Test
  void whoeverMissesAFileOfARemovedFolderFindsTheFolderGone() throws Exception {
    AtomicReference<Path> target = new AtomicReference<>(parent.resolve("none"));
    AtomicInteger missed = new AtomicInteger();
    AtomicBoolean ends = new AtomicBoolean();
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      Callable<Boolean> reads =
          () -> {
            while (!ends.get()) {
              Path read = target.get();
              try {
                text(read);
              } catch (NoSuchFileException _) {
                missed.incrementAndGet();
                assertThat(read).as("the folder of a file that went").doesNotExist();
              }
            }
            return true;
          };
      Future<Boolean> reading = thread.submit(reads);
      for (int round = 0; round < 300; round++) {
        Path folder = parent.resolve("target-" + round);
        AtomicFolder.write(folder, content("whole"));
        target.set(folder);
        AtomicFolder.remove(folder);
      }
      while (missed.get() == 0 && !reading.isDone()) {
        Thread.onSpinWait();
      }
      ends.set(true);
      assertThat(reading.get()).isTrue();
    }
    assertThat(names()).isEmpty();
  }

  @Test
  void childrenOfAnAbsentFolderAreNone() {
    assertThat(AtomicFolder.children(parent.resolve("absent"))).isEmpty();
  }
}
