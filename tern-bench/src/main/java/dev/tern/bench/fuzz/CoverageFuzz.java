package dev.tern.bench.fuzz;

import dev.tern.bench.Children;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * {@code bench fuzz --coverage N}: N inputs by Jazzer, which goes on from those that reached code
 * that none had reached before; half of them to {@link NotationTarget}, half to {@link
 * ReaderTarget}. It runs in processes of its own, as it rewrites the classes to see what they do.
 */
final class CoverageFuzz {
  private static final String JAZZER = "com.code_intelligence.jazzer.Jazzer";

  /** One input of each kind that reached code of its own; a test reads them all. */
  private static final Path KEPT =
      Path.of(System.getProperty("tern.root", "."))
          .resolve("tern-bench/src/test/resources/dev/tern/bench/fuzz/readers.zip");

  /** Room for every sound file; larger ones take longer and reach nothing more. */
  private static final int MOST_BYTES = 4 << 10;

  /** By the clock, which runs on while the process is stopped: a hang, not slowness. */
  private static final int MOST_SECONDS = 1200;

  private static final int FINDINGS = 20;

  private static final String INCLUDES =
      "dev.tern.files.**:dev.tern.internal.files.**:dev.tern.data.**:dev.tern.base.Shown*";

  /** Traces of the many faults that files have take time; so few places tell findings apart. */
  private static final List<String> OPTIONS = List.of("-Xmx768m", "-XX:MaxJavaStackTraceDepth=8");

  private CoverageFuzz() {}

  /**
   * Runs and adds what was found to a corpus.
   *
   * @param corpus a folder of files for readers, of an earlier run or of none; inputs of small
   *     notations lie beside it, in one whose name ends with {@code -notations}
   */
  static void run(int executions, int seed, Path corpus) {
    try {
      Path notations = corpus.resolveSibling(corpus.getFileName() + "-notations");
      put(NotationTarget.seeds(), notations);
      fuzz(NotationTarget.class, executions - executions / 2, seed, notations);
      put(ReaderTarget.seeds(), corpus);
      ReaderTarget.fuzzerTearDown();
      unpack(KEPT, corpus);
      fuzz(ReaderTarget.class, executions / 2, seed, corpus);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("fuzz: interrupted", e);
    }
  }

  private static void put(Map<String, byte[]> inputs, Path corpus) throws IOException {
    Files.createDirectories(corpus);
    for (Map.Entry<String, byte[]> input : inputs.entrySet()) {
      Files.write(corpus.resolve(input.getKey()), input.getValue());
    }
  }

  private static void fuzz(Class<?> target, int executions, int seed, Path corpus)
      throws IOException, InterruptedException {
    if (executions == 0) {
      return;
    }
    List<String> command =
        new ArrayList<>(Children.command(OPTIONS, JAZZER, arguments(target, corpus)));
    command.add("-runs=" + executions);
    command.add("-seed=" + seed);
    long start = System.currentTimeMillis() / 1000 * 1000;
    Process process = new ProcessBuilder(command).inheritIO().start();
    int status = process.waitFor();
    if (status != 0 || anyFound(corpus, start)) {
      throw new IllegalStateException(
          "fuzz: got status "
              + status
              + " of Jazzer, expected 0 and no findings; they begin with "
              + corpus
              + "-found");
    }
  }

  /** Jazzer ends with 0 where it found less than it may. */
  private static boolean anyFound(Path corpus, long start) throws IOException {
    Path folder = corpus.toAbsolutePath().getParent();
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(folder, corpus.getFileName() + "-found-*")) {
      for (Path file : found) {
        if (Files.getLastModifiedTime(file).toMillis() >= start) {
          return true;
        }
      }
    }
    return false;
  }

  /** Adds the inputs that earlier runs kept, where this is their source tree. */
  private static void unpack(Path kept, Path corpus) throws IOException {
    if (!Files.exists(kept)) {
      return;
    }
    try (ZipFile zip = new ZipFile(kept.toFile())) {
      for (ZipEntry entry : Collections.list(zip.entries())) {
        try (InputStream in = zip.getInputStream(entry)) {
          Files.write(corpus.resolve(entry.getName()), in.readAllBytes());
        }
      }
    }
  }

  private static String[] arguments(Class<?> target, Path corpus) {
    return new String[] {
      "--target_class=" + target.getName(),
      "--instrumentation_includes=" + INCLUDES,
      // Lists of files may name any file, and a pattern of a path becomes one of the file system.
      "--disabled_hooks=com.code_intelligence.jazzer.sanitizers.FilePathTraversal"
          + ":com.code_intelligence.jazzer.sanitizers.RegexInjection",
      "--keep_going=" + FINDINGS,
      "-max_len=" + MOST_BYTES,
      "-timeout=" + MOST_SECONDS,
      "-rss_limit_mb=0",
      "--reproducer_path=" + corpus,
      "-artifact_prefix=" + corpus.resolveSibling(corpus.getFileName() + "-found-"),
      corpus.toString()
    };
  }
}
