package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What it takes to make a tensor of an array, in a process that has done nothing else. */
final class ConstantsTest {
  /** Makes one of each kind and prints the threads that Tern started. */
  public static void main(String[] args) {
    Tensor.of(Shape.of(2), 1, 2);
    Tensor.ofLongs(Shape.of(2), 1, 2);
    Tensor.ofInts(Shape.of(2), 1, 2);
    Tensor.scalar(1);
    Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("tern"))
        .sorted()
        .forEach(System.out::println);
    System.out.println("made");
  }

  private static Path placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  @Test
  void constantsStartNoThreads() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:-UsePerfData",
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                placeOf(Tensor.class) + File.pathSeparator + placeOf(ConstantsTest.class),
                ConstantsTest.class.getName())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    assertThat(printed).isEqualToIgnoringNewLines("made");
  }
}
