package dev.tern.internal.table.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The set beside the JDK's. */
final class IdSetTest {
  @Test
  void idsThatComeAndGoAreThoseOfAPlainSet() {
    for (int most : new int[] {1, 2, 3, 7, 8, 9, 100}) {
      Random random = new Random(most);
      IdSet ids = new IdSet(most);
      Set<Long> plain = new HashSet<>();
      for (int i = 0; i < 5000; i++) {
        long id = random.nextInt(2 * most + 1) - most;
        if (random.nextBoolean()) {
          assertThat(ids.remove(id)).isEqualTo(plain.remove(id));
        } else if (plain.size() < most || plain.contains(id)) {
          assertThat(ids.add(id)).isEqualTo(plain.add(id));
        } else {
          assertThatThrownBy(() -> ids.add(id))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("got one more than");
        }
        assertThat(ids.size()).isEqualTo(plain.size());
        for (long other = -most; other <= most + 1; other++) {
          assertThat(ids.contains(other)).isEqualTo(plain.contains(other));
        }
      }
    }
  }

  @Test
  void aSetHasRoomForOneIdOrMore() {
    assertThatThrownBy(() -> new IdSet(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got a set of 0");
  }
}
