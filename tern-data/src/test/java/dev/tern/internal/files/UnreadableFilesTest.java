package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of files that cannot be read. */
final class UnreadableFilesTest {
  private static String message(String file, IOException e) {
    return String.valueOf(BinaryInput.unreadable(Path.of(file), e).getMessage());
  }

  @Test
  void permissionsAreAdvisedOnWhereTheyLackAlone() {
    assertThat(message("a.csv", new AccessDeniedException("a.csv")))
        .isEqualTo("a.csv: got a file that may not be read, expected data; check its permissions");
    List<IOException> others =
        List.of(
            new NoSuchFileException("a.csv"),
            new FileSystemException("a.csv", null, "Too many levels of symbolic links"),
            new FileSystemException("a.csv", null, "File name too long"),
            new IOException("Stale file handle"),
            new IOException());
    for (IOException other : others) {
      assertThat(message("a.csv", other)).contains("check the path").doesNotContain("permission");
    }
  }

  @Test
  void pathsThatEndInBlanksStandInQuotes() {
    assertThat(message("a.csv ", new IOException("x"))).startsWith("\"a.csv \": got ");
    assertThat(message("a\u00a0", new NoSuchFileException("a"))).startsWith("\"a\\u00a0\": got no");
  }
}
