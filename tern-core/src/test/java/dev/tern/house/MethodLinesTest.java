package dev.tern.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class MethodLinesTest {
  private static final Path SOURCE = Path.of("src/test/java/dev/tern/house/MethodLinesTest.java");

  /** Fields are filled by the constructor, and do not count as its lines. */
  static final class Spelt {
    private final List<Integer> many =
        List.of(
            1, //
            2, 3);
    private int most;

    Spelt(int most) {
      if (most > 0) {
        this.most = most;
      }
    }

    int sum() {
      int sum = most;
      for (int each : many) {
        sum += each;
      }
      return sum;
    }

    Runnable later() {
      return () -> {
        most++;
        most++;
      };
    }
  }

  /** Has a constructor that nobody wrote. */
  static final class Unspelt {
    final Object first = new Object();

    final Object second = new Object();
  }

  private static Map<String, Integer> lines(Class<?> type) throws IOException {
    List<String> source = Files.readAllLines(SOURCE);
    Map<String, Integer> lines = new TreeMap<>();
    String file = "MethodLinesTest$" + type.getSimpleName() + ".class";
    try (InputStream in =
        Objects.requireNonNull(MethodLinesTest.class.getResourceAsStream(file), file)) {
      for (MethodModel method : ClassFile.of().parse(in.readAllBytes()).methods()) {
        lines.put(method.methodName().stringValue(), MethodLines.of(method, source));
      }
    }
    return lines;
  }

  @Test
  void linesAreCountedFromTheFirstWithCodeToTheLast() throws IOException {
    assertThat(lines(Spelt.class))
        .containsEntry("<init>", 5)
        .containsEntry("sum", 5)
        .containsEntry("later", 1)
        .containsEntry("lambda$later$0", 3);
  }

  @Test
  void aConstructorThatTheSourceDoesNotSpellOutHasNoLines() throws IOException {
    assertThat(lines(Unspelt.class)).containsEntry("<init>", 0);
  }
}
