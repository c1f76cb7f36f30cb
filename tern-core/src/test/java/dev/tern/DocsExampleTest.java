package dev.tern;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.tensor.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Examples in documents: each marked block of Java with a {@code main} that needs core alone
 * compiles, and prints the block of text behind it.
 */
final class DocsExampleTest {
  private static final Path DOCS = Path.of("../docs");

  /** Packages of other modules. */
  private static final Pattern OTHER_MODULE =
      Pattern.compile("import dev\\.tern\\.(files|checkpoint\\.tools|cli)\\b");

  private static final Pattern EXAMPLE =
      Pattern.compile(
          "<!-- example: ([\\w-]+) -->\\n```java\\n(.*?)```\\n(?:\\n```text\\n(.*?)```)?",
          Pattern.DOTALL);

  @TempDir Path folder;

  /** A block, and what it prints. */
  record Example(String page, String name, String code, String printed) {
    @Override
    public String toString() {
      return page + ": " + name;
    }
  }

  static List<Example> examples() throws IOException {
    List<Example> examples = new ArrayList<>();
    try (Stream<Path> pages = Files.list(DOCS)) {
      for (Path page : pages.filter(p -> p.toString().endsWith(".md")).sorted().toList()) {
        Matcher match = EXAMPLE.matcher(Files.readString(page));
        while (match.find()) {
          String code = match.group(2);
          if (code.contains("void main()") && !OTHER_MODULE.matcher(code).find()) {
            String printed = match.group(3) == null ? "" : match.group(3);
            examples.add(new Example(page.getFileName().toString(), match.group(1), code, printed));
          }
        }
      }
    }
    return examples;
  }

  @ParameterizedTest
  @MethodSource("examples")
  void examplesPrintWhatTheirPageSays(Example example) throws Exception {
    Path source = Files.writeString(folder.resolve("Example.java"), example.code());
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Path core = Path.of(Tensor.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    int status =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(
                out,
                out,
                "-proc:none",
                "-nowarn",
                "-cp",
                core.toString(),
                "-d",
                folder.toString(),
                source.toString());
    assertThat(status).as(said.toString(StandardCharsets.UTF_8)).isZero();
    assertThat(printed()).isEqualTo(example.printed());
  }

  private String printed() throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.out;
    URL[] classes = {folder.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(classes, getClass().getClassLoader());
        PrintStream capture = new PrintStream(printed, true, StandardCharsets.UTF_8)) {
      Class<?> type = loader.loadClass("Example");
      Constructor<?> constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
      Method main = type.getDeclaredMethod("main");
      main.setAccessible(true);
      System.setOut(capture);
      main.invoke(constructor.newInstance());
    } finally {
      System.setOut(before);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }
}
