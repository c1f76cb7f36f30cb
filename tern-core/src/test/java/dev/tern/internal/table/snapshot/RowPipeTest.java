package dev.tern.internal.table.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.table.rows.PlacedBlock;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks of rows that are filled ahead. */
final class RowPipeTest {
  private static final TableConfig CONFIG =
      new TableConfig("t", 0, 3, 1, TableOptions.of(Optimizer.sgd(0.1f)).initRange(0.01f));

  /** Gives full blocks, the first id of each its number, up to {@code last}. */
  private static Predicate<PlacedBlock> upTo(int last, AtomicInteger filled) {
    return block -> {
      block.ids()[0] = filled.get();
      block.rows().setCount(block.rows().room());
      return filled.getAndIncrement() < last;
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 50})
  void theSinkTakesAllBlocksInOrderAndEachIsFinished(int blocks) {
    List<Long> taken = new ArrayList<>();
    Set<Long> finished = ConcurrentHashMap.newKeySet();
    RowPipe.run(
        CONFIG,
        upTo(blocks, new AtomicInteger()),
        block -> taken.add(block.ids()[0]),
        block -> finished.add(block.ids()[0]));
    List<Long> all = LongStream.range(0, blocks).boxed().toList();
    assertThat(taken).isEqualTo(all);
    assertThat(finished).hasSize(blocks).containsAll(all);
  }

  @Test
  void blocksThatAreNotFullStayOnOneThread() {
    AtomicInteger filled = new AtomicInteger();
    Set<Thread> threads = new HashSet<>();
    int[] counts = {1, 4095, 7};
    List<Integer> taken = new ArrayList<>();
    RowPipe.run(
        CONFIG,
        block -> {
          threads.add(Thread.currentThread());
          block.rows().setCount(filled.get() < counts.length ? counts[filled.get()] : 0);
          return filled.getAndIncrement() < counts.length;
        },
        block -> taken.add(block.count()),
        _ -> threads.add(Thread.currentThread()));
    assertThat(taken).containsExactly(1, 4095, 7);
    assertThat(threads).containsExactly(Thread.currentThread());
  }

  @Test
  void aFaultOfTheSourceReachesTheCallerAfterTheBlocksBefore() {
    List<Long> taken = new ArrayList<>();
    AtomicInteger filled = new AtomicInteger();
    Predicate<PlacedBlock> faulty =
        block -> {
          if (filled.get() == 7) {
            throw new IllegalStateException("damaged");
          }
          return upTo(50, filled).test(block);
        };
    assertThatThrownBy(() -> RowPipe.run(CONFIG, faulty, block -> taken.add(block.ids()[0])))
        .hasMessage("damaged");
    assertThat(taken).hasSize(7);
  }

  @Test
  void aFaultOfTheSinkEndsTheSource() {
    AtomicInteger filled = new AtomicInteger();
    AtomicReference<Thread> filler = new AtomicReference<>();
    Predicate<PlacedBlock> endless = upTo(Integer.MAX_VALUE, filled);
    assertThatThrownBy(() ->
            RowPipe.run(
                CONFIG,
                block -> {
                  filler.set(Thread.currentThread());
                  return endless.test(block);
                },
                block -> {
                  if (block.ids()[0] > 0) {
                    throw new IllegalStateException("full");
                  }
                }))
        .hasMessage("full");
    assertThat(filled.get()).isLessThan(10);
    assertThat(filler.get()).isNotSameAs(Thread.currentThread());
    assertThat(filler.get().isAlive()).isFalse();
  }

  @Test
  void anImportOfIdsThatDoNotAscendIsRefused() {
    for (List<Long> ids : List.of(List.of(5L, 5L), List.of(5L, 4L), List.of(-1L, 7L, 0L))) {
      try (Device device = Device.cpu(1, 1L << 26);
          EmbeddingTable table = EmbeddingTable.create(CONFIG, device)) {
        AtomicInteger at = new AtomicInteger();
        assertThatThrownBy(() ->
                table.importBlocks(
                    ids.size(),
                    block -> {
                      block.setCount(1);
                      block.ids()[0] = at.get() < ids.size() ? ids.get(at.get()) : 0;
                      return at.getAndIncrement() < ids.size();
                    }))
            .as("%s", ids)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("expected ascending ids");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {20_000, 200_000})
  void idsMostlyCloseTogetherAreSortedToo(int count) {
    long[] ids = new long[count];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (i % 3 - 1L) * (1L << 61) + (i * 7919L % ids.length);
    }
    ids[77] = Long.MIN_VALUE;
    ids[78] = Long.MAX_VALUE;
    SortedRows sorted =
        new SortedRows(
            sink -> {
              for (int i = 0; i < ids.length; i++) {
                sink.accept(ids[i], i);
              }
            },
            ids.length);
    assertThat(sorted.next()).isEqualTo(ids.length);
    long[] expected = ids.clone();
    Arrays.sort(expected);
    assertThat(sorted.ids()).isEqualTo(expected);
    for (int i = 0; i < ids.length; i++) {
      assertThat(ids[sorted.rows()[i]]).isEqualTo(expected[i]);
    }
    assertThat(sorted.next()).isZero();
  }

  @Test
  void anIdGivenOverAndOverIsGivenOnce() {
    int times = 200_000;
    SortedRows sorted =
        new SortedRows(
            sink -> {
              for (int i = 0; i < times; i++) {
                sink.accept(i % 1000 == 0 ? i : -5, i);
              }
            },
            times);
    int count = sorted.next();
    assertThat(count).isEqualTo(1 + times / 1000);
    assertThat(sorted.ids()[0]).isEqualTo(-5);
    for (int i = 1; i < count; i++) {
      assertThat(sorted.ids()[i]).isEqualTo(1000L * (i - 1));
      assertThat(sorted.rows()[i]).isEqualTo(1000 * (i - 1));
    }
    assertThat(sorted.next()).isZero();
  }
}
