package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Segments that users give to a table are checked before they are accessed. */
final class NativeFloatsTest {
  private static final int WIDTH = 4;

  private final Device device = Device.cpu(1, 1L << 24);
  private final EmbeddingTable table =
      EmbeddingTable.create(
          new TableConfig("t", 0, WIDTH, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0)),
          device);
  private final Arena arena = Arena.ofConfined();
  private final Lookup lookup = new Lookup();
  private final Bags bags = Bags.of(new int[] {0, 2, 3}, 2, Combiner.SUM);

  NativeFloatsTest() {
    table.find(new long[] {5, 6, 5}, 3, lookup, true);
  }

  @AfterEach
  void close() {
    arena.close();
    table.close();
    device.close();
  }

  private MemorySegment floats(int count) {
    return arena.allocate(ValueLayout.JAVA_FLOAT, count);
  }

  @Test
  void aStepGoesThroughSegmentsOfTheExactSize() {
    MemorySegment gradients = floats(2 * WIDTH);
    gradients.setAtIndex(ValueLayout.JAVA_FLOAT, WIDTH, 3);
    table.apply(lookup, bags, gradients, WIDTH, 0.5f, 1);
    table.refresh(lookup);
    MemorySegment pooled = floats(2 * WIDTH);
    table.pool(lookup, bags, 0, 2, pooled, WIDTH);
    assertThat(pooled.toArray(ValueLayout.JAVA_FLOAT)).startsWith(-1.5f).hasSize(2 * WIDTH);
    MemorySegment rows = floats(3 * WIDTH);
    table.ragged(lookup, rows);
    assertThat(rows.getAtIndex(ValueLayout.JAVA_FLOAT, 2 * WIDTH)).isEqualTo(-1.5f);
  }

  @Test
  void segmentsThatAreTooSmallAreRefused() {
    assertThatThrownBy(() -> table.pool(lookup, bags, 0, 2, floats(2 * WIDTH - 1), WIDTH))
        .hasMessage("table t pool: got a segment of 28 bytes, expected 8 floats or more");
    assertThatThrownBy(() -> table.pool(lookup, bags, 0, 2, floats(2 * WIDTH), WIDTH + 1))
        .hasMessageContaining("expected 9 floats or more");
    assertThatThrownBy(() -> table.ragged(lookup, floats(2 * WIDTH)))
        .hasMessageContaining("table t ragged: got a segment of 32 bytes");
    assertThatThrownBy(() -> table.apply(lookup, bags, floats(WIDTH), WIDTH, 1, 1))
        .hasMessageContaining("table t apply: got a segment of 16 bytes");
    assertThatThrownBy(() -> table.apply(lookup, bags, floats(WIDTH), -1, 1, 1))
        .hasMessageContaining("got -1 floats from one bag to the next");
  }

  @Test
  void segmentsOnTheHeapReadOnlyOrClosedAreRefused() {
    MemorySegment heap = MemorySegment.ofArray(new float[8]);
    assertThatThrownBy(() -> table.pool(lookup, bags, 0, 2, heap, WIDTH))
        .hasMessageContaining("got a segment on the heap, expected native memory");
    MemorySegment fixed = floats(8).asReadOnly();
    assertThatThrownBy(() -> table.pool(lookup, bags, 0, 2, fixed, WIDTH))
        .hasMessageContaining("got a segment that is read-only");
    Arena other = Arena.ofConfined();
    MemorySegment closed = other.allocate(ValueLayout.JAVA_FLOAT, 8);
    other.close();
    assertThatThrownBy(() -> table.pool(lookup, bags, 0, 2, closed, WIDTH))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("got a segment that is closed");
  }

  @Test
  void bagsNeedAnOffsetMoreThanTheyAre() {
    assertThatThrownBy(() -> Bags.of(new int[2], 2, Combiner.SUM))
        .hasMessage("bags: got 2 offsets for 2 bags, expected one more than bags");
    assertThat(Bags.single(2).offsets()).containsExactly(0, 1, 2);
  }
}
