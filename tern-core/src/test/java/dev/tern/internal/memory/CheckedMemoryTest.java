package dev.tern.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.table.rows.FaultySlabs;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Faults planted in a process in checked mode, and what it says about each. */
final class CheckedMemoryTest {
  /** What was said, by fault; empty where nothing was. */
  private static Map<String, String> said = Map.of();

  /** Each uses an allocator that has one block of 100 bytes before and one behind what it takes. */
  private enum Fault {
    NONE(allocator -> {
      long address = allocator.allocate(100, "sound");
      Memory.zero(address, 100);
      Memory.setLong(address + 92, 7);
      Memory.copy(address, address + 50, 50);
      Memory.copy(address + 100, address + 100, 0);
      allocator.free(address);
    }),
    PAST_END(allocator -> Memory.setFloat(allocator.allocate(64, "gradients") + 64, 1)),
    ACROSS_END(allocator -> Memory.setLong(allocator.allocate(64, "gradients") + 60, 1)),
    PAST_ODD_END(allocator -> Memory.getByte(allocator.allocate(63, "marks") + 63)),
    BEFORE(allocator -> Memory.getInt(allocator.allocate(64, "ids") - 8)),
    FAR_AWAY(allocator -> Memory.getInt(4096)),
    COPY_TOO_LONG(allocator -> {
      long source = allocator.allocate(128, "source");
      Memory.copy(source, allocator.allocate(64, "target"), 65);
    }),
    AFTER_FREE(allocator -> {
      long address = allocator.allocate(256, "session");
      allocator.free(address);
      allocator.allocate(256, "another");
      Memory.getLong(address + 128);
    }),
    AFTER_CLOSE(allocator -> {
      long address = allocator.allocate(256, "activations");
      allocator.close();
      Memory.getLong(address);
    }),
    AFTER_ARENA(allocator -> {
      long address;
      try (Arena arena = Arena.ofConfined()) {
        address = Memory.allocate(arena, 32, 8, "row block").address();
        Memory.setLong(address + 24, 1);
      }
      Memory.getLong(address + 24);
    }),
    FREED_TWICE(allocator -> {
      long address = allocator.allocate(256, "twice");
      allocator.free(address);
      allocator.free(address);
    }),
    UNCHECKED_WRITE(allocator -> {
      long address = allocator.allocate(64, "tile");
      Memory.ALL.set(ValueLayout.JAVA_INT, address + 64, 1);
      allocator.free(address);
    }),
    UNCHECKED_WRITE_BEFORE(allocator -> {
      long address = allocator.allocate(64, "tile");
      Memory.ALL.set(ValueLayout.JAVA_INT, address - 4, 1);
      allocator.free(address);
    }),
    PAST_SLAB(FaultySlabs::readPastLastRow),
    FREED_SLAB(FaultySlabs::writeAfterFree);

    private final Consumer<Allocator> commit;

    Fault(Consumer<Allocator> commit) {
      this.commit = commit;
    }

    String message() {
      try (Allocator allocator = Allocator.of(1 << 22)) {
        long before = allocator.allocate(100, "before");
        commit.accept(allocator);
        allocator.free(before);
        return "";
      } catch (AssertionError | IllegalStateException e) {
        return String.valueOf(e.getMessage());
      }
    }
  }

  /** Commits all faults and prints a line for each. */
  public static void main(String[] args) {
    for (Fault fault : Fault.values()) {
      System.out.println(fault + " " + fault.message());
    }
  }

  @BeforeAll
  static void commitAll() throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-Dtern.memory=checked",
            "-cp",
            System.getProperty("java.class.path"),
            CheckedMemoryTest.class.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    said = new HashMap<>();
    for (String line : output.lines().toList()) {
      String[] words = line.split(" ", 2);
      said.put(words[0], words[1]);
    }
    assertThat(said).hasSize(Fault.values().length);
  }

  @Test
  void soundAccessesPass() {
    assertThat(said.get("NONE")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      textBlock =
          """
          PAST_END | access of 4 bytes at 0 bytes past the end of block "gradients" (64 bytes at 0x
          ACROSS_END | access of 8 bytes at offset 60 of block "gradients" (64 bytes at 0x
          PAST_ODD_END | access of 1 bytes at 0 bytes past the end of block "marks" (63 bytes at 0x
          BEFORE | access of 4 bytes at 8 bytes before block "ids" (64 bytes at 0x
          COPY_TOO_LONG | access of 65 bytes at offset 0 of block "target" (64 bytes at 0x
          AFTER_FREE | access of 8 bytes at offset 128 of block "session" (256 bytes at 0x
          AFTER_CLOSE | access of 8 bytes at offset 0 of block "activations" (256 bytes at 0x
          AFTER_ARENA | access of 8 bytes at offset 24 of block "row block" (32 bytes at 0x
          UNCHECKED_WRITE | write at 0 bytes past the end of block "tile" (64 bytes at 0x
          UNCHECKED_WRITE_BEFORE | write at 1 bytes before block "tile" (64 bytes at 0x
          PAST_SLAB | access of 4 bytes at 0 bytes past the end of block "table item rows" (65,536
          FREED_SLAB | access of 4 bytes at offset 64 of block "table user rows" (65,536 bytes at 0x
          """)
  void anAccessOutsideNamesBlockHolderAndOffset(Fault fault, String text) {
    assertThat(said.get(fault.name())).startsWith("memory: got a").contains(text);
  }

  @ParameterizedTest
  @CsvSource({"AFTER_FREE", "AFTER_CLOSE", "AFTER_ARENA", "FREED_SLAB"})
  void aUseAfterFreeSaysSo(Fault fault) {
    assertThat(said.get(fault.name())).contains(", freed), expected one inside a live block");
  }

  @Test
  void anAddressFarFromAllBlocksIsRefused() {
    assertThat(said.get("FAR_AWAY")).contains("access of 4 bytes at ").contains("expected one");
  }

  @Test
  void aBlockFreedTwiceIsRefused() {
    assertThat(said.get("FREED_TWICE")).contains("which is not live, expected a live block");
  }

  @Test
  void nothingIsCheckedWithoutTheProperty() {
    assumeThat(Memory.CHECKED).isFalse();
    try (Allocator allocator = Allocator.of(1 << 20)) {
      long address = allocator.allocate(4, "ids");
      Memory.setInt(address + 4, 1);
      assertThat(Memory.getInt(address + 4)).isEqualTo(1);
    }
  }
}
