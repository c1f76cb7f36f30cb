package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.internal.table.index.Hashing;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which ids a shard of a table has. */
final class TableShardTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, TableShard.MOST})
  void everyIdIsInOneShardAndShardsAreOfAboutOneSize(int count) {
    long[] sizes = new long[count];
    int ids = 200 * count;
    for (long id = -ids / 2; id < ids / 2; id++) {
      long each = id;
      List<TableShard> having =
          TableShard.allOf(count).stream().filter(shard -> shard.has(each)).toList();
      assertThat(having).hasSize(1);
      sizes[having.getFirst().number()]++;
      if (count == TableShard.MOST) {
        id += 40;
      }
    }
    if (count < TableShard.MOST) {
      assertThat(Arrays.stream(sizes)).allMatch(size -> size > 140 && size < 260);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2,1",
    "8,1",
    "8,-1",
    "8,3",
    "64,1",
    "64,-64",
    "64,1024",
    "1024,1",
    "1024,1073741824"
  })
  void idsThatAreMultiplesOfTheNumberOfShardsSpreadOverAllOfThem(int count, long factor) {
    List<TableShard> shards = TableShard.allOf(count);
    int[] sizes = new int[count];
    for (long i = -100L * count; i < 100L * count; i++) {
      sizes[only(shards, i * count * factor)]++;
    }
    // The square root of 200 is 14.
    assertThat(Arrays.stream(sizes)).allMatch(size -> size > 120 && size < 280);
  }

  /** The number of the one shard that has an id. */
  private static int only(List<TableShard> shards, long id) {
    int number = -1;
    for (TableShard shard : shards) {
      if (shard.has(id)) {
        assertThat(number).as("another shard of id %d", id).isNegative();
        number = shard.number();
      }
    }
    assertThat(number).as("shard of id %d", id).isNotNegative();
    return number;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 64, TableShard.MOST})
  void everyIdIsInTheShardThatItsHashBeginsWith(int count) {
    long[] ids = {0, 1, -1, -2, Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MAX_VALUE, 1L << 32};
    BigInteger all = BigInteger.ONE.shiftLeft(Long.SIZE);
    for (long id : ids) {
      BigInteger hash = BigInteger.valueOf(Hashing.mix(id)).mod(all);
      int begin = hash.multiply(BigInteger.valueOf(count)).divide(all).intValueExact();
      assertThat(only(TableShard.allOf(count), id)).isEqualTo(begin);
    }
  }

  @Test
  void aShardOverlapsThoseThatShareIdsWithIt() {
    SplittableRandom random = new SplittableRandom(1);
    long[] ids = random.longs(5000).toArray();
    for (TableShard few : TableShard.allOf(4)) {
      for (int count : new int[] {1, 2, 4, 16}) {
        for (TableShard other : TableShard.allOf(count)) {
          boolean shared = false;
          for (long id : ids) {
            shared |= few.has(id) && other.has(id);
          }
          assertThat(few.overlaps(other)).isEqualTo(shared);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0,3", "0,0", "0,-4", "0,2048", "4,4", "-1,4"})
  void otherNumbersAreRefused(int number, int count) {
    assertThatThrownBy(() -> new TableShard(number, count))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected");
  }
}
