package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The file of a table whose end came off. */
final class BrokenScratchFile {
  private BrokenScratchFile() {}

  /** Has the file of the one open table end at its beginning: another takes its descriptor. */
  static void breakOpenOne() throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle duplicate =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("dup2"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    int scratch = -1;
    int empty = -1;
    try (RandomAccessFile none = new RandomAccessFile("/dev/null", "r");
        Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      assertThat(none.length()).isZero();
      for (Path link : open.filter(Files::isSymbolicLink).toList()) {
        String target = Files.exists(link, LinkOption.NOFOLLOW_LINKS) ? linkOf(link) : "";
        int number = Integer.parseInt(String.valueOf(link.getFileName()));
        scratch = target.endsWith(".scratch (deleted)") ? number : scratch;
        empty = target.equals("/dev/null") && number > 2 ? number : empty;
      }
      assertThat(scratch).isNotNegative();
      assertThat(empty).isNotNegative();
      assertThat((int) duplicate.invokeExact(empty, scratch)).isEqualTo(scratch);
    }
  }

  private static String linkOf(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
