package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MappedMemoryTest {
  private static final long MIB = 1 << 20;
  private static final long BUDGET = 32 * MIB;

  @TempDir private Path folder;

  private record Block(long address, long bytes, long mark) {}

  private Allocator allocator(boolean isWhole) {
    return isWhole
        ? Allocator.of(BUDGET, new WholeFiles(folder))
        : Allocator.mapped(folder, BUDGET);
  }

  private static Block marked(Allocator allocator, long bytes, long mark) {
    long address = allocator.allocate(bytes, "rows");
    for (long at = 0; at + 8 <= bytes; at += 512) {
      Memory.setLong(address + at, mark + at);
    }
    return new Block(address, bytes, mark);
  }

  private static void assertMarked(Block block) {
    for (long at = 0; at + 8 <= block.bytes; at += 512) {
      assertThat(Memory.getLong(block.address + at)).isEqualTo(block.mark + at);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void contentSurvivesGrowthTrimAndReuse(boolean isWhole) {
    SplittableRandom random = new SplittableRandom(5);
    List<Block> live = new ArrayList<>();
    int refused = 0;
    try (Allocator allocator = allocator(isWhole)) {
      for (int i = 0; i < 3000; i++) {
        if (random.nextInt(100) < 54) {
          long bytes = random.nextInt(10) == 0 ? random.nextLong(4 * MIB) : random.nextLong(60_000);
          try {
            live.add(marked(allocator, bytes, random.nextLong()));
          } catch (OutOfBudgetException e) {
            refused++;
          }
        } else if (!live.isEmpty()) {
          Block block = live.remove(random.nextInt(live.size()));
          assertMarked(block);
          allocator.free(block.address);
        }
        if (random.nextInt(100) == 0) {
          allocator.trim();
        }
        assertThat(allocator.mapped()).isLessThanOrEqualTo(BUDGET);
      }
      live.forEach(MappedMemoryTest::assertMarked);
      assertThat(refused).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noFileIsLeft(boolean isWhole) throws IOException {
    Allocator allocator = allocator(isWhole);
    allocator.allocate(5 * MIB, "rows");
    allocator.close();
    allocator.close();
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
    assertThatThrownBy(() -> allocator.allocate(1, "rows")).hasMessageContaining("closed");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void filesHaveNoNameWhileTheyAreOpenAndAreClosed() throws IOException {
    try (Allocator allocator = Allocator.mapped(folder, BUDGET)) {
      marked(allocator, 3 * MIB, 7);
      try (Stream<Path> left = Files.list(folder)) {
        assertThat(left).isEmpty();
      }
      assertThat(descriptors()).hasSize(1);
    }
    assertThat(descriptors()).isEmpty();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void trimGivesTheRoomOnTheDiskBack() throws IOException, InterruptedException {
    try (Allocator allocator = Allocator.mapped(folder, BUDGET)) {
      Block stays = marked(allocator, 3 * MIB, 7);
      Block goes = marked(allocator, 5 * MIB, 9);
      assertThat(roomOnDisk()).isBetween(8 * MIB, BUDGET);
      allocator.free(goes.address);
      assumeThat(allocator.trim()).as("the file system punches holes").isPositive();
      assertThat(roomOnDisk()).isBetween(3 * MIB, 5 * MIB);
      assertMarked(stays);
      Block again = marked(allocator, 5 * MIB, 11);
      assertMarked(stays);
      assertMarked(again);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void fullDiskIsAClearErrorThatChangesNothing() throws IOException {
    Path disk = Path.of("/dev/shm");
    assumeThat(disk).isDirectory();
    FileStore store = Files.getFileStore(disk);
    // It refuses more than it has in all at once, without filling up.
    assumeThat(store.type()).isEqualTo("tmpfs");
    long tooMuch = store.getTotalSpace() + 64 * MIB;
    assumeThat(tooMuch).isBetween(65 * MIB, 1L << 44);
    try (Allocator allocator = Allocator.mapped(disk, 2 * tooMuch)) {
      Block before = marked(allocator, MIB, 3);
      long held = allocator.mapped();
      assertThatThrownBy(() -> allocator.allocate(tooMuch, "rows"))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageStartingWith("mapped memory: got no room for ")
          .hasMessageContaining("the disk is full")
          .hasMessageContaining("lower the budget");
      assertThat(allocator.mapped()).isEqualTo(held);
      assertThat(allocator.live()).isEqualTo(MIB);
      Block after = marked(allocator, MIB, 5);
      assertMarked(before);
      assertMarked(after);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void foldersThatCannotServeAreNamed(boolean isWhole) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    for (Path wrong : List.of(folder.resolve("missing"), file, Path.of("/proc"))) {
      assertThatThrownBy(
              () -> {
                if (isWhole) {
                  new WholeFiles(wrong);
                } else {
                  Allocator.mapped(wrong, BUDGET);
                }
              })
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageStartingWith("mapped memory: got " + wrong + ", expected a folder");
    }
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sizesBeyondReasonAreRefusedAndNothingIsTaken(boolean isWhole) {
    assertThatThrownBy(() -> Allocator.mapped(folder, -1)).hasMessageContaining("memory budget");
    try (Allocator allocator = allocator(isWhole)) {
      assertThatThrownBy(() -> allocator.allocate(-1, "rows")).hasMessageContaining("at least 0");
      assertThatThrownBy(() -> allocator.allocate(Long.MAX_VALUE, "rows"))
          .isInstanceOf(OutOfBudgetException.class);
      assertThatThrownBy(() -> allocator.free(64)).hasMessageContaining("not live");
      assertThat(allocator.mapped()).isZero();
    }
    try (Allocator nothing = Allocator.mapped(folder, 0)) {
      assertThatThrownBy(() -> nothing.allocate(1, "rows"))
          .isInstanceOf(OutOfBudgetException.class);
    }
  }

  /** Open descriptors of files that were in the folder. */
  private List<Path> descriptors() throws IOException {
    List<Path> found = new ArrayList<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : all.toList()) {
        // Those that were closed meanwhile point nowhere.
        if (Files.isSymbolicLink(descriptor)
            && Files.readSymbolicLink(descriptor)
                .toString()
                .startsWith(folder.toRealPath() + "/")) {
          found.add(descriptor);
        }
      }
    }
    return found;
  }

  private long roomOnDisk() throws IOException, InterruptedException {
    String name = descriptors().getFirst().getFileName().toString();
    String path = "/proc/" + ProcessHandle.current().pid() + "/fd/" + name;
    Process stat = new ProcessBuilder("stat", "-L", "-c", "%b", path).start();
    String blocks = new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(stat.waitFor()).isZero();
    return 512 * Long.parseLong(blocks.strip());
  }
}
