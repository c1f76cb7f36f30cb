package dev.tern.internal.table.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Numbers of ids beside those that a map gives. */
final class IdNumbersTest {
  @Test
  void idsAreNumberedInTheOrderInWhichTheyComeFirst() {
    IdNumbers numbers = new IdNumbers();
    assertThat(numbers.of(7)).isZero();
    assertThat(numbers.of(Long.MIN_VALUE)).isEqualTo(1);
    assertThat(numbers.of(7)).isZero();
    assertThat(numbers.find(0)).isEqualTo(-1);
    assertThat(numbers.of(0)).isEqualTo(2);
    assertThat(numbers.size()).isEqualTo(3);
    numbers.clear();
    assertThat(numbers.size()).isZero();
    assertThat(numbers.find(7)).isEqualTo(-1);
    assertThat(numbers.of(0)).isZero();
  }

  @Test
  void manyIdsHaveTheNumbersOfAMap() {
    Random random = new Random(4);
    Map<Long, Integer> expected = new HashMap<>();
    IdNumbers numbers = new IdNumbers();
    for (int i = 0; i < 50_000; i++) {
      long id = random.nextLong(20_000) << 32;
      int number = expected.computeIfAbsent(id, _ -> expected.size());
      assertThat(numbers.of(id)).isEqualTo(number);
    }
    assertThat(numbers.size()).isEqualTo(expected.size());
    expected.forEach((id, number) -> assertThat(numbers.find(id)).isEqualTo(number));
    assertThat(numbers.find(1)).isEqualTo(-1);
  }
}
