package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * A table whose file may not grow any more, as on a full disk: by a limit on files of a process.
 */
@EnabledOnOs(OS.LINUX)
final class FileTierDiskTest {
  private static final int BATCH = 500;
  private static final int WIDTH = 15;

  @TempDir private Path folder;

  /** The process: fills a table until it fails, and says what is left. */
  public static void main(String[] args) {
    Allocator allocator = Allocator.of(1L << 28);
    TableConfig config =
        new TableConfig("t", 0, WIDTH, 42, TableOptions.of(Optimizer.adagrad(1)).initRange(0.5f));
    try (EmbeddingTable file =
            EmbeddingTable.create(config, FileTier.of(Path.of(args[0]), 2_000_000), allocator);
        EmbeddingTable plain = EmbeddingTable.create(config, allocator)) {
      long id = 0;
      try {
        for (; id < 200_000; id += BATCH) {
          train(file, id, allocator);
          train(plain, id, allocator);
        }
      } catch (UncheckedIOException e) {
        System.out.println(e.getMessage());
      }
      // Another failure is like the first.
      try {
        train(file, id, allocator);
      } catch (UncheckedIOException e) {
        System.out.println("again");
      }
      System.out.println(same(file, plain, (int) id, allocator) + " rows of " + id);
    }
    System.out.println(allocator.live() + " bytes held");
  }

  private static void train(EmbeddingTable table, long first, Allocator allocator) {
    long[] ids = LongStream.range(first, first + BATCH).toArray();
    int[] offsets = IntStream.rangeClosed(0, BATCH).toArray();
    Lookup lookup = new Lookup();
    table.find(ids, BATCH, lookup, true);
    long gradients = allocator.allocate(4L * BATCH * WIDTH, "gradients");
    for (int i = 0; i < BATCH * WIDTH; i++) {
      Memory.setFloat(gradients + 4L * i, (i % 13) - 6);
    }
    table.apply(lookup, offsets, BATCH, Combiner.SUM, gradients, WIDTH, 0.1f, 1 + first);
    allocator.free(gradients);
  }

  /** How many rows of the ids below a bound have the same floats in both tables. */
  private static int same(EmbeddingTable file, EmbeddingTable plain, int bound, Allocator a) {
    long[] ids = LongStream.range(0, bound).toArray();
    long got = a.allocate(4L * bound * WIDTH, "got");
    long expected = a.allocate(4L * bound * WIDTH, "expected");
    Lookup one = new Lookup();
    Lookup other = new Lookup();
    file.find(ids, bound, one, false);
    plain.find(ids, bound, other, false);
    file.ragged(one, got);
    plain.ragged(other, expected);
    int same = 0;
    for (int i = 0; i < bound; i++) {
      boolean equal = one.isComplete();
      for (int j = 0; j < WIDTH; j++) {
        long at = 4L * (i * WIDTH + j);
        equal &= Memory.getInt(got + at) == Memory.getInt(expected + at);
      }
      same += equal ? 1 : 0;
    }
    a.free(got);
    a.free(expected);
    return same;
  }

  @Test
  void aFullDiskIsAClearErrorThatLosesNothing() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "ulimit -f 16384; exec \"$@\"",
                "sh",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:-UsePerfData",
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                FileTierDiskTest.class.getName(),
                folder.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    String[] lines = output.split("\n");
    assertThat(lines[0])
        .contains("table t file tier: got no room for ", folder.toString())
        .contains("the file would be too large", "free space there, or name a folder on another");
    assertThat(lines[1]).isEqualTo("again");
    String[] counts = lines[2].split(" rows of ");
    assertThat(counts[0]).isEqualTo(counts[1]);
    assertThat(Integer.parseInt(counts[0])).isGreaterThan(20_000);
    assertThat(lines[3]).isEqualTo("0 bytes held");
  }
}
