package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands that README and {@code docs/} show. A comment before a fenced block says what
 * the block is:
 *
 * <ul>
 *   <li>{@code <!-- file: NAME -->}: the file NAME of the folder in which the page's commands run;
 *   <li>{@code <!-- run -->}: commands that succeed; {@code <!-- run: exit code N -->}: the last
 *       one ends with N;
 *   <li>{@code <!-- prints -->}: lines that the commands before print; {@code ...} stands for any
 *       text.
 * </ul>
 */
final class DocumentsTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern BLOCK =
      Pattern.compile(
          "<!-- (file|run|prints)(?:: (?:exit code )?(\\S+))? -->\\n```\\w+\\n(.*?)```",
          Pattern.DOTALL);
  private static final Pattern COMMAND = Pattern.compile("\\./tern (.*)");

  @TempDir Path temp;

  @TestFactory
  Stream<DynamicTest> theCommandsOfEachPageDoWhatItSays() throws IOException {
    return pages().stream()
        .filter(page -> !blocks(page).isEmpty())
        .map(page -> DynamicTest.dynamicTest(name(page), () -> runs(page)));
  }

  @Test
  void everyPageOfTheDocumentsIsLinkedFromTheReadme() throws IOException {
    String readme = Files.readString(ROOT.resolve("README.md"));
    for (Path page : pages()) {
      if (!page.endsWith("README.md")) {
        assertThat(readme).contains("](docs/" + page.getFileName());
      }
    }
  }

  private void runs(Path page) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(temp.resolve(name(page)));
    String said = "";
    for (MatchResult block : blocks(page)) {
      String text = block.group(3);
      switch (block.group(1)) {
        case "file" -> Files.writeString(folder.resolve(block.group(2)), text);
        case "run" -> said = run(folder, text, block.group(2) == null ? "0" : block.group(2));
        default -> text.lines().forEach(line -> assertThat(line).isNotBlank());
      }
      if (block.group(1).equals("prints")) {
        assertPrinted(said, text);
      }
    }
  }

  private static void assertPrinted(String said, String text) {
    for (String line : text.lines().toList()) {
      String pattern =
          Stream.of(line.strip().split("\\.\\.\\.", -1))
              .map(Pattern::quote)
              .reduce((a, b) -> a + ".*" + b)
              .orElseThrow();
      assertThat(said.lines().map(String::strip)).anyMatch(l -> l.matches(pattern));
    }
  }

  private String run(Path folder, String script, String code)
      throws IOException, InterruptedException {
    List<String> commands = new ArrayList<>();
    for (String line : script.replace("\\\n", " ").lines().toList()) {
      var command = COMMAND.matcher(line.strip());
      assertThat(command.matches()).as("a command of Tern: %s", line).isTrue();
      commands.add(command.group(1));
    }
    Path file = Files.write(temp.resolve("commands"), commands);
    ProcessBuilder process = MainTest.process(file.toAbsolutePath().toString());
    process.command().replaceAll(word -> word.equals("dev.tern.cli.Main") ? RUNNER : word);
    int classPath = process.command().indexOf("-cp") + 1;
    process.command().set(classPath, absolute(process.command().get(classPath)));
    Process running = process.directory(folder.toFile()).start();
    String said = new String(running.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(running.waitFor()).as(said).isEqualTo(Integer.parseInt(code));
    return said;
  }

  private static final String RUNNER = DocumentedCommands.class.getName();

  /** The process runs in another folder. */
  private static String absolute(String classPath) {
    return Stream.of(classPath.split(java.io.File.pathSeparator))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .reduce((a, b) -> a + java.io.File.pathSeparator + b)
        .orElseThrow();
  }

  private static List<MatchResult> blocks(Path page) {
    try {
      return BLOCK.matcher(Files.readString(page)).results().toList();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static String name(Path page) {
    return page.getFileName().toString();
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs)
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    }
  }
}
