package dev.tern.internal.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The best of scores with many ties beside a sort. */
final class BestScoresTest {
  private static final int COUNT = 300;

  @Test
  void theBestOfAnyScoresAreThoseThatASortFinds() {
    Random random = new Random(5);
    try (Allocator allocator = Allocator.of(1 << 20)) {
      long scores = allocator.allocate(4L * COUNT, "scores");
      for (int round = 0; round < 300; round++) {
        int values = 1 + random.nextInt(40);
        for (int i = 0; i < COUNT; i++) {
          Memory.setFloat(scores + 4L * i, random.nextInt(values) - values / 2f);
        }
        int most = 1 + random.nextInt(COUNT + 20);
        int[] excluded =
            random.ints(random.nextInt(3) * 60, 0, COUNT).sorted().distinct().toArray();
        check(scores, most, excluded, random);
      }
    }
  }

  private static void check(long scores, int most, int[] excluded, Random random) {
    List<Integer> without = IntStream.of(excluded).boxed().toList();
    List<Integer> expected =
        IntStream.range(0, COUNT)
            .boxed()
            .filter(item -> !without.contains(item))
            .sorted(Comparator.comparingDouble(item -> -Memory.getFloat(scores + 4L * item)))
            .limit(most)
            .toList();
    BestScores best = new BestScores(most);
    best.exclude(excluded);
    for (int from = 0; from < COUNT; ) {
      int count = Math.min(COUNT - from, random.nextInt(200));
      best.offer(scores + 4L * from, from, count);
      from += count;
    }
    int[] items = new int[most];
    float[] values = new float[most];
    assertThat(best.drain(items, values, 0)).isEqualTo(expected.size());
    for (int rank = 0; rank < expected.size(); rank++) {
      assertThat(items[rank]).isEqualTo(expected.get(rank));
      assertThat(values[rank]).isEqualTo(Memory.getFloat(scores + 4L * items[rank]));
    }
    assertThat(best.drain(items, values, 0)).isZero();
  }
}
