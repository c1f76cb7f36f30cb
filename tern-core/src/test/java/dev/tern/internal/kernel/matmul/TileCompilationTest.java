package dev.tern.internal.kernel.matmul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.HiddenClasses;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What C2 makes of the tile kernels, by the log of a process that has them compiled. */
@Tag("unchecked") // Its process has vectors, which are not checked.
final class TileCompilationTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final int OTHER_COPIES = 100;
  private static final int OTHER_RUNS = 2000;

  /**
   * Calls that may be compiled for another length: of the load or store that the parser is in the
   * middle of at its limit of nodes. The pass that inlines the rest sets that right.
   */
  private static final int FEW = 6;

  private static final String PACKAGE = VectorTile.class.getPackageName();
  private static final Pattern TASK = Pattern.compile("<task ([^>]*)>.*?</task>", Pattern.DOTALL);
  private static final Pattern CLASS =
      Pattern.compile("<klass id='(\\d+)' name='(jdk\\.incubator\\.vector\\.Float\\d+Vector)'");

  @TempDir private static Path folder;
  private static String log = "";

  /**
   * The process. Most of what the methods of the JDK see in it are vectors of another length: by
   * copies of the code, for what the last tier has compiled no longer counts.
   */
  public static void main(String[] args) throws InterruptedException {
    for (int copy = 0; copy < OTHER_COPIES; copy++) {
      Runnable other = (Runnable) HiddenClasses.copyOf(OtherLength.class);
      for (int run = 0; run < OTHER_RUNS; run++) {
        other.run();
      }
    }
    long start = System.nanoTime();
    while (TileKernels.isPending()) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new IllegalStateException("the tile kernels were not compiled in time");
      }
      Thread.sleep(10);
    }
    MemorySegment.ofArray(new byte[1]);
  }

  @BeforeAll
  static void logProcess() throws IOException, InterruptedException {
    assumeThat(VectorSupport.available()).isTrue();
    Path file = folder.resolve("compilation.xml");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--add-modules",
            "jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+LogCompilation",
            "-XX:LogFile=" + file,
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=log," + PACKAGE + ".Vector*::*",
            "-cp",
            System.getProperty("java.class.path"),
            TileCompilationTest.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    log = Files.readString(file, StandardCharsets.ISO_8859_1);
  }

  /** By the last tier, for calls; what is entered inside a loop only serves until that is there. */
  private static List<String> compiled(String method) {
    return TASK.matcher(log)
        .results()
        .filter(task -> isOf(method, task.group(1)))
        .map(MatchResult::group)
        .toList();
  }

  private static boolean isOf(String method, String task) {
    return task.contains("method='" + PACKAGE + ".Vector")
        && task.contains(" " + method + " (")
        && !task.contains(" level=")
        && !task.contains(" osr_bci=");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tile", "rows", "narrow", "run"})
  void everyCallInALoopIsInlined(String method) {
    List<String> tasks = compiled(method);
    assertThat(tasks.size()).isPositive();
    assertThat(tasks.stream().flatMap(String::lines))
        .filteredOn(line -> line.contains("NodeCountInliningCutoff"))
        .isEmpty();
  }

  /** Where vectors of another length are in most of what the JIT has seen. */
  @ParameterizedTest
  @ValueSource(strings = {"tile", "rows", "narrow", "run"})
  void noCallIsCompiledForVectorsOfAnotherLength(String method) {
    assertThat(compiled(method))
        .allSatisfy(task -> assertThat(otherLengths(task)).hasSizeLessThanOrEqualTo(FEW));
  }

  /** The calls of which C2 guessed that they are on vectors of floats of another length. */
  private static List<String> otherLengths(String task) {
    String own = VectorSupport.floatSpecies().vectorType().getName();
    List<String> others =
        CLASS
            .matcher(task)
            .results()
            .filter(found -> !found.group(2).equals(own))
            .map(found -> "klass='" + found.group(1) + "'")
            .toList();
    return task.lines()
        .filter(line -> line.startsWith("<predicted_call"))
        .filter(line -> others.stream().anyMatch(line::contains))
        .toList();
  }

  @Test
  void otherKindsOfMemoryDoNotUndoIt() {
    assertThat(log.lines().filter(line -> line.startsWith("<dependency_failed")))
        .noneMatch(line -> line.contains("MemorySegmentImpl"));
  }
}
