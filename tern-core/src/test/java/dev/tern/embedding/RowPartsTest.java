package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows split over several tensors against the same rows in one. */
final class RowPartsTest {
  private static final int WIDTH = 26;
  private static final int BAGS = 300;
  private static final List<List<Integer>> SPLITS =
      List.of(List.of(1, 25), List.of(25, 1), List.of(16, 10), List.of(3, 8, 1, 14));

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void nothingIsLeft() {
    assertThat(allocator.live()).isZero();
  }

  /** Bits of the pooled vectors of training and of scoring, and of the rows afterwards. */
  private record Outcome(List<Integer> pooled, List<Integer> unknown, List<Integer> rows) {}

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "F16", "BF16"})
  void partsHoldTheBitsOfTheWhole(DType storage) {
    for (Optimizer optimizer : List.of(Optimizer.rowWiseAdagrad(0.1f), Optimizer.adam(0.01f))) {
      for (Combiner combiner : Combiner.values()) {
        for (int hotness : new int[] {1, 3}) {
          Outcome whole = run(storage, optimizer, combiner, hotness, List.of(WIDTH), 200);
          for (List<Integer> split : SPLITS) {
            assertThat(run(storage, optimizer, combiner, hotness, split, 200))
                .as("%s %s, %d ids a bag, %s", optimizer, combiner, hotness, split)
                .isEqualTo(whole);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void distinctIdsInPartsTakeTheSameStep(int hotness) {
    Optimizer optimizer = Optimizer.rowWiseAdagrad(0.1f);
    Outcome whole = run(DType.F32, optimizer, Combiner.SUM, hotness, List.of(WIDTH), 0);
    for (List<Integer> split : SPLITS) {
      assertThat(run(DType.F32, optimizer, Combiner.SUM, hotness, split, 0)).isEqualTo(whole);
    }
  }

  @Test
  void partsThatAreNotTheRowAreRefused() {
    try (EmbeddingTable table = table(DType.F32, Optimizer.sgd(1))) {
      SlotTables tables = new SlotTables(List.of(table), Combiner.SUM);
      for (List<Integer> widths : List.of(List.of(25), List.of(0, 26), List.of(27, -1))) {
        assertThatThrownBy(() -> tables.newLookup(widths))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(
                "table t: got rows in parts of widths %s, ".formatted(widths)
                    + "expected 1 or more each and 26 in all");
      }
    }
  }

  private EmbeddingTable table(DType storage, Optimizer optimizer) {
    TableConfig config =
        new TableConfig(
            "t",
            0,
            WIDTH,
            42,
            TableOptions.of(optimizer)
                .initRange(0.5f)
                .unknown(UnknownRow.INITIAL)
                .storage(storage));
    return EmbeddingTable.create(config, allocator);
  }

  /**
   * @param range ids are random and below it, or distinct where it is 0
   */
  private Outcome run(
      DType storage,
      Optimizer optimizer,
      Combiner combiner,
      int hotness,
      List<Integer> widths,
      int range) {
    SplittableRandom random = new SplittableRandom(7);
    int count = BAGS * hotness;
    long[] ids =
        IntStream.range(0, count).mapToLong(i -> range == 0 ? i : random.nextInt(range)).toArray();
    int[] offsets = IntStream.rangeClosed(0, BAGS).map(b -> b * hotness).toArray();
    PooledBags bags = PooledBags.of(offsets, BAGS, combiner);
    float[] gradient = new float[BAGS * WIDTH];
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] = (float) random.nextDouble() - 0.5f;
    }
    List<Floats> blocks = new ArrayList<>();
    try (EmbeddingTable table = table(storage, optimizer)) {
      RowParts parts = parts(widths, blocks);
      Lookup lookup = new Lookup();
      table.find(ids, count, lookup, true);
      table.pool(lookup.found, bags, 0, BAGS, parts);
      List<Integer> pooled = bits(parts);
      set(parts, gradient);
      table.apply(lookup.found, bags, parts, 0.1f, 1);
      List<Integer> rows = rows(table);
      for (int i = 0; i < count; i += 5) {
        ids[i] = -1 - i;
      }
      table.find(ids, count, lookup, false);
      table.pool(lookup.found, bags, 0, BAGS, parts);
      return new Outcome(pooled, bits(parts), rows);
    } finally {
      blocks.forEach(Floats::close);
    }
  }

  /** Parts in blocks of their own; the vector of a bag is followed by room for another slot's. */
  private RowParts parts(List<Integer> widths, List<Floats> blocks) {
    RowParts parts = new RowParts(widths);
    for (int p = 0; p < widths.size(); p++) {
      Floats block = new Floats(allocator, BAGS * 2 * widths.get(p));
      blocks.add(block);
      parts.set(p, block.address, 2L * widths.get(p));
    }
    return parts;
  }

  private static List<Integer> bits(RowParts parts) {
    List<Integer> bits = new ArrayList<>();
    for (int b = 0; b < BAGS; b++) {
      for (int p = 0; p < parts.count(); p++) {
        MatrixBlock part = parts.part(p, b, b + 1);
        for (int j = part.begin; j < part.end; j++) {
          bits.add(Memory.getInt(part.base + b * part.stride + 4L * j));
        }
      }
    }
    return bits;
  }

  private static void set(RowParts parts, float[] rows) {
    for (int b = 0; b < BAGS; b++) {
      for (int p = 0; p < parts.count(); p++) {
        MatrixBlock part = parts.part(p, b, b + 1);
        for (int j = part.begin; j < part.end; j++) {
          Memory.setFloat(part.base + b * part.stride + 4L * j, rows[b * WIDTH + j]);
        }
      }
    }
  }

  private List<Integer> rows(EmbeddingTable table) {
    List<Integer> bits = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, rows, count) -> {
      for (int i = 0; i < count * floats; i++) {
        bits.add(Memory.getInt(rows + 4L * i));
      }
    });
    return bits;
  }
}
