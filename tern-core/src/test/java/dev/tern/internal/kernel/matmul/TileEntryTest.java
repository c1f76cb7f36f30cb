package dev.tern.internal.kernel.matmul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls with a negative size, by which warm-up has vector code compiled, compute nothing; and
 * strips.
 */
final class TileEntryTest {
  private static final int FLOATS = 1024;
  private static final int COLUMNS = TileKernels.columns();
  private static final long ROW = 4L * COLUMNS;

  private final Arena arena = Arena.ofConfined();
  private final long a = Memory.allocate(arena, 4L * FLOATS, 64, "test").address();
  private final long b = Memory.allocate(arena, 4L * FLOATS, 64, "test").address();
  private final long c = Memory.allocate(arena, 4L * FLOATS, 64, "test").address();

  @BeforeEach
  void fill() {
    assumeThat(VectorSupport.available()).isTrue();
    for (long at = 0; at < 4L * FLOATS; at += 4) {
      Memory.setFloat(a + at, 2);
      Memory.setFloat(b + at, 3);
      Memory.setFloat(c + at, 5);
    }
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private void assertUntouched() {
    assertThat(IntStream.range(0, FLOATS)).allMatch(i -> Memory.getFloat(a + 4L * i) == 2);
    assertThat(IntStream.range(0, FLOATS)).allMatch(i -> Memory.getFloat(b + 4L * i) == 3);
    assertThat(IntStream.range(0, FLOATS)).allMatch(i -> Memory.getFloat(c + 4L * i) == 5);
  }

  @Test
  void tilesOfFewerThanNoTermsAreLeftAsTheyAre() {
    TileStrides strides = new TileStrides(4, 4L * TileLoops.ROWS, ROW, ROW, false);
    TileLoops loops = new VectorTile();
    loops.tile(strides, a, b, c, -1);
    loops.rows(strides, a, b, c, -1);
    loops.narrow(strides, a, b, c, -1);
    new VectorPackedTile().run(strides, a, b, c, -1);
    assertUntouched();
  }

  @Test
  void blocksOfFewerThanNoRowsOrColumnsAreLeftAsTheyAre() {
    BlockKernel blocks = new VectorBlocks();
    blocks.combine(a, b, ROW, c, -COLUMNS, 5);
    blocks.outer(new BlockKernel.Outer(4, ROW, -COLUMNS), a, b, c, 1);
    blocks.copy(a, ROW, c, ROW, -1, COLUMNS);
    blocks.copy(a, ROW, c, ROW, -1, COLUMNS - 1);
    blocks.spread(a, ROW, -1, c, 4 * ROW);
    blocks.spreadStrips(a, ROW, -1, c, 4 * ROW);
    blocks.interleave(a, ROW, -1, c);
    assertUntouched();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 53})
  void stripsAreTheSameWithAndWithoutVectors(int count) {
    long line = 4L * 60;
    for (int i = 0; i < 6 * 60; i++) {
      Memory.setFloat(a + 4L * i, i);
    }
    new VectorBlocks().interleave(a, line, count, b);
    Packing.interleaveSix(a, line, count, c);
    int packed = TileLoops.ROWS * count;
    assertThat(IntStream.range(0, packed))
        .allMatch(i -> Memory.getFloat(b + 4L * i) == Memory.getFloat(c + 4L * i))
        .allMatch(i -> Memory.getFloat(c + 4L * i) == i % 6 * 60 + i / 6);
    assertThat(Memory.getFloat(b + 4L * packed)).isEqualTo(3);
  }
}
