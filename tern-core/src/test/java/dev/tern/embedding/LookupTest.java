package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LookupTest {
  private final Allocator allocator = Allocator.of(1L << 28);
  private final EmbeddingTable table =
      EmbeddingTable.create(
          new TableConfig("t", 0, 4, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0.1f)),
          allocator);

  @AfterEach
  void close() {
    table.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 5000})
  void distinctIdsStandInOrderOfFirstPosition(int count) {
    SplittableRandom random = new SplittableRandom(count);
    Lookup lookup = new Lookup();
    for (int range : new int[] {1, 10, 1000, Integer.MAX_VALUE}) {
      long[] ids = random.longs(count, -range, range).toArray();
      if (random.nextBoolean()) {
        table.find(ids, count, lookup, false);
      } else {
        lookup.found.fillRepeated(ids, count);
        assertThat(lookup.unique()).isEqualTo(LongStream.of(ids).distinct().count());
        lookup.found.separate();
      }
      Set<Long> expected = new LinkedHashSet<>();
      Arrays.stream(ids).forEach(expected::add);
      assertThat(lookup.count()).isEqualTo(count);
      assertThat(lookup.unique()).isEqualTo(expected.size());
      List<Long> distinct = List.copyOf(expected);
      for (int u = 0; u < distinct.size(); u++) {
        assertThat(lookup.found.ids[u]).isEqualTo(distinct.get(u));
      }
      for (int i = 0; i < count; i++) {
        assertThat(lookup.found.ids[lookup.found.inverse[i]]).isEqualTo(ids[i]);
      }
    }
  }

  /** 65,536 positions are the most of a batch whose slots hold them in 16 bits. */
  @ParameterizedTest
  @ValueSource(ints = {4096, 65_535, 65_536, 65_537, 150_000})
  void distinctIdsOfLargeBatchesAreThoseOfAMap(int count) {
    SplittableRandom random = new SplittableRandom(count);
    Lookup lookup = new Lookup();
    for (long range : new long[] {count / 64, count, Long.MAX_VALUE}) {
      // Blocks of mostly new and of mostly known ids take turns, in a lookup used before.
      long[] ids = new long[count];
      for (int i = 0; i < count; i++) {
        ids[i] = random.nextLong((i >> 10) % 3 == 0 ? range : 1 + range / 100);
      }
      lookup.found.fill(ids, count);
      Map<Long, Integer> numbers = new HashMap<>();
      int[] counts = new int[count];
      for (int i = 0; i < count; i++) {
        int number = numbers.computeIfAbsent(ids[i], _ -> numbers.size());
        counts[number]++;
        assertThat(lookup.found.inverse[i] == number && lookup.found.ids[number] == ids[i])
            .as("position %d", i)
            .isTrue();
      }
      int unique = numbers.size();
      assertThat(lookup.unique()).isEqualTo(unique);
      assertThat(Arrays.copyOf(lookup.found.counts, unique))
          .isEqualTo(Arrays.copyOf(counts, unique));
      for (int u = 0; u < unique; u++) {
        assertThat(lookup.found.hashes[u]).isEqualTo(Hashing.mix(lookup.found.ids[u]));
      }
    }
  }

  /**
   * Ids of one slot, as the bits of their hashes that pick it are 0, several times and in any
   * order.
   */
  @Test
  void idsThatShareASlotAreToldApart() {
    long[] same =
        LongStream.iterate(1, id -> id + 1)
            .filter(id -> Hashing.mix(id) >>> 40 << 50 == 0)
            .limit(40)
            .toArray();
    SplittableRandom random = new SplittableRandom(8);
    for (int count : new int[] {1, 2, 63, 64, 65, 500}) {
      long[] ids = random.ints(count, 0, same.length).mapToLong(i -> same[i]).toArray();
      Lookup lookup = new Lookup();
      lookup.found.fill(ids, count);
      long[] expected = LongStream.of(ids).distinct().toArray();
      assertThat(Arrays.copyOf(lookup.found.ids, lookup.unique())).isEqualTo(expected);
      for (int i = 0; i < count; i++) {
        assertThat(lookup.found.ids[lookup.found.inverse[i]]).isEqualTo(ids[i]);
      }
    }
    Lookup lookup = new Lookup();
    lookup.found.fill(same, same.length);
    assertThat(Arrays.copyOf(lookup.found.ids, lookup.unique())).isEqualTo(same);
  }

  /** A find without insert does not look which ids are alike; an update after it must. */
  @ParameterizedTest
  @ValueSource(ints = {1, 7, 64, 65, 1000, 5000})
  void anUpdateTakesOneStepAnIdAlsoAfterAFindWithoutInsert(int count) {
    SplittableRandom random = new SplittableRandom(count);
    for (int range : new int[] {1, 20, 100_000}) {
      for (UnknownRow unknown : List.of(UnknownRow.ZEROS, new UnknownRow.Hashed(5))) {
        // With more rows than positions, ids are not told apart by the find.
        LongStream others = LongStream.range(1 << 20, (1 << 20) + count);
        long[] known = LongStream.concat(random.longs(count, 0, range), others).toArray();
        long[] ids = random.longs(count, 0, range + range / 4 + 1).toArray();
        float[] gradients = new float[4 * count];
        for (int i = 0; i < gradients.length; i++) {
          gradients[i] = (float) random.nextDouble(-1, 1);
        }
        List<float[]> results = new ArrayList<>();
        for (boolean apart : new boolean[] {false, true}) {
          results.add(updated(unknown, known, ids, gradients, apart));
        }
        assertThat(results.getFirst()).isEqualTo(results.getLast());
      }
    }
  }

  /** What the ids read as before and after an update; {@code apart}: with ids told apart before. */
  private float[] updated(
      UnknownRow unknown, long[] known, long[] ids, float[] gradients, boolean apart) {
    TableOptions options = TableOptions.of(Optimizer.adagrad(0.1f)).initRange(0.1f);
    TableConfig config = new TableConfig("u", 0, 4, 1, options.unknown(unknown));
    int[] offsets = IntStream.rangeClosed(0, ids.length).toArray();
    try (EmbeddingTable fresh = EmbeddingTable.create(config, allocator);
        Floats out = new Floats(allocator, 3 * gradients.length);
        Floats given = Floats.of(allocator, gradients)) {
      Lookup lookup = new Lookup();
      fresh.find(known, known.length, lookup, true);
      assertThat(lookup.found.expectsRepeats(ids.length)).isFalse();
      fresh.find(ids, ids.length, lookup, false);
      if (apart) {
        lookup.found.separate();
      }
      ByAddress.pool(fresh, lookup, offsets, 0, ids.length, Combiner.SUM, out.address, 12);
      ByAddress.apply(fresh, lookup, offsets, ids.length, Combiner.SUM, given.address, 4, 0.1f, 1);
      fresh.refresh(lookup);
      ByAddress.pool(fresh, lookup, offsets, 0, ids.length, Combiner.SUM, out.address + 16, 12);
      fresh.find(ids, ids.length, lookup, false);
      ByAddress.pool(fresh, lookup, offsets, 0, ids.length, Combiner.SUM, out.address + 32, 12);
      float[] read = out.toArray();
      for (int i = 0; i < ids.length; i++) {
        assertThat(Arrays.copyOfRange(read, 12 * i + 4, 12 * i + 8))
            .isEqualTo(Arrays.copyOfRange(read, 12 * i + 8, 12 * i + 12));
      }
      return read;
    }
  }

  @Test
  void onlyTheIdsBeforeCountAreTaken() {
    Lookup lookup = new Lookup();
    table.find(new long[] {1, 2, 3}, 2, lookup, true);
    assertThat(lookup.unique()).isEqualTo(2);
    assertThat(table.size()).isEqualTo(2);
  }

  @Test
  void positionsAreGroupedByIdInTheirOrder() {
    Lookup lookup = new Lookup();
    int[] offsets = {0, 2, 2, 3, 6};
    table.find(new long[] {7, 8, 7, 9, 8, 7}, 6, lookup, true);
    for (int round = 0; round < 2; round++) {
      lookup.found.group(PooledBags.of(offsets, 4, Combiner.MEAN));
      assertThat(Arrays.copyOf(lookup.found.starts, 4)).containsExactly(0, 3, 5, 6);
      assertThat(Arrays.copyOf(lookup.found.bags, 6)).containsExactly(0, 2, 3, 0, 3, 3);
      assertThat(Arrays.copyOf(lookup.found.scales, 6))
          .containsExactly(0.5f, 1, 1f / 3, 0.5f, 1f / 3, 1f / 3);
      float[] weights = {1, 3, 5, 2, 1, 4};
      lookup.found.group(new PooledBags(Combiner.SUM).set(offsets, weights, 4));
      assertThat(Arrays.copyOf(lookup.found.bags, 6)).containsExactly(0, 2, 3, 0, 3, 3);
      assertThat(Arrays.copyOf(lookup.found.scales, 6)).containsExactly(1, 5, 4, 3, 1, 2);
      lookup.found.group(PooledBags.of(offsets, 3, Combiner.SUM));
      assertThat(Arrays.copyOf(lookup.found.starts, 4)).containsExactly(0, 2, 3, 3);
      assertThat(Arrays.copyOf(lookup.found.bags, 3)).containsExactly(0, 2, 0);
      assertThat(lookup.found.isAbsent(1)).isFalse();
      assertThat(lookup.found.isAbsent(2)).isTrue();
      lookup.found.group(PooledBags.of(offsets, 4, Combiner.SUM));
      assertThat(Arrays.copyOf(lookup.found.bags, 6)).containsExactly(0, 2, 3, 0, 3, 3);
      assertThat(Arrays.copyOf(lookup.found.scales, 6)).containsOnly(1);
    }
  }

  @Test
  void aLookupNeverFilledIsRefused() {
    assertThatThrownBy(
            () -> ByAddress.pool(table, new Lookup(), new int[1], 0, 0, Combiner.SUM, 0, 4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("call find first");
  }

  @Test
  void moreIdsThanTheArrayHoldsAreRefused() {
    assertThatThrownBy(() -> table.find(new long[2], 3, new Lookup(), true))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
