package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
final class ThreadWeightTest {
  private static final Executor OWN_THREAD = task -> Thread.ofPlatform().daemon().start(task);

  /** The nice value of the calling thread: the 19th field, the 17th behind the name. */
  private static int nice() {
    try {
      String all = Files.readString(Path.of("/proc/thread-self/stat"));
      return Integer.parseInt(all.substring(all.lastIndexOf(')') + 2).split(" ")[16]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLoweredThreadAndThoseThatItStartsStepBackAndOthersDoNot() {
    int own = nice();
    int[] lowered =
        CompletableFuture.supplyAsync(
                () -> {
                  ThreadWeight.lower();
                  int started =
                      CompletableFuture.supplyAsync(ThreadWeightTest::nice, OWN_THREAD).join();
                  return new int[] {nice(), started};
                },
                OWN_THREAD)
            .join();
    assertThat(lowered).containsExactly(10, 10);
    assertThat(nice()).isEqualTo(own);
  }
}
