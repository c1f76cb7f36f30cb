package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/security.md} names are there. */
final class SecurityPageTest {
  private static final Pattern NAMED = Pattern.compile("`(\\w+Test)\\.(\\w+)`");

  @Test
  void eachTestThatThePageNamesIsThere() throws IOException {
    List<MatchResult> named =
        NAMED.matcher(Files.readString(Path.of("../docs/security.md"))).results().toList();
    assertThat(named).hasSizeGreaterThan(20);
    try (Stream<Path> own = Files.walk(Path.of("src/test/java"));
        Stream<Path> ofTopics = Files.walk(Path.of("../tern-stream/src/test/java"))) {
      List<Path> files =
          Stream.concat(own, ofTopics)
              .filter(file -> file.toString().endsWith("Test.java"))
              .toList();
      for (MatchResult each : named) {
        assertThat(files)
            .as(each.group())
            .anyMatch(file -> file.endsWith(each.group(1) + ".java") && has(file, each.group(2)));
      }
    }
  }

  private static boolean has(Path file, String method) {
    try {
      return Files.readString(file).contains(" void " + method + "(");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
