package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AllocationHistoryTest {
  /** With a small heap: starts a history, then one for which there is no room. */
  public static void main(String[] arguments) {
    AllocationHistory history = new AllocationHistory();
    history.start(4);
    history.note(AllocationHistory.Action.ALLOCATE, 64, 128, "first");
    try {
      history.start(1 << 24);
      System.out.println("room for all");
    } catch (OutOfMemoryError e) {
      for (int i = 2; i <= 5; i++) {
        history.note(AllocationHistory.Action.FREE, 64L * i, 128, "later");
      }
      System.out.println(
          history.last(10).stream().map(AllocationHistory.Event::address).toList()
              + " of "
              + history.count());
    }
  }

  @Test
  void aHistoryForWhichTheHeapHasNoRoomLeavesTheOneBeforeAsItWas()
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx32m",
            "-cp",
            System.getProperty("java.class.path"),
            AllocationHistoryTest.class.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output.strip()).isEqualTo("[128, 192, 256, 320] of 5");
  }

  @Test
  void aLengthOutOfRangeIsRefusedNamingTheRangeAndTheZeroThatEndsIt() {
    try (Allocator allocator = Allocator.of(1 << 20)) {
      assertThatThrownBy(() -> allocator.recordHistory(-1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got room for -1 events, expected 1 to 16777216, or 0 to end it");
    }
  }
}
