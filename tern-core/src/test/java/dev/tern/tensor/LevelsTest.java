package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LevelsTest {
  private static final Levels TWO = Levels.ofLengths(new int[] {2, 1}, new int[] {2, 0, 3});

  @Test
  void offsetsAndLengthsSayTheSame() {
    assertThat(TWO).isEqualTo(Levels.ofOffsets(new int[] {0, 2, 3}, new int[] {0, 2, 2, 5}));
    assertThat(TWO).hasToString("Levels [2, 1] [2, 0, 3]");
    assertThat(TWO.lengths(0)).containsExactly(2, 1);
    assertThat(TWO.offsets(-1)).containsExactly(0, 2, 2, 5);
    assertThat(TWO.depth()).isEqualTo(2);
    assertThat(TWO.sequences(0)).isEqualTo(2);
    assertThat(TWO.sequences(1)).isEqualTo(3);
    assertThat(TWO.rows()).isEqualTo(5);
    assertThat(TWO.longest()).isEqualTo(3);
  }

  @Test
  void offsetsOfAnyLevelCanBeCountedInRows() {
    Levels three = Levels.ofLengths(new int[] {1, 1}, new int[] {2, 1}, new int[] {2, 0, 3});
    assertThat(three.rowOffsets(0)).containsExactly(0, 2, 5);
    assertThat(three.rowOffsets(1)).containsExactly(0, 2, 5);
    assertThat(three.rowOffsets(2)).containsExactly(0, 2, 2, 5);
  }

  @Test
  void aSliceCountsFromItsOwnBegin() {
    assertThat(TWO.slice(1, 2)).isEqualTo(Levels.ofLengths(new int[] {1}, new int[] {3}));
    assertThat(TWO.slice(1, 1)).isEqualTo(Levels.ofLengths(new int[0], new int[0]));
    assertThat(Levels.merge(List.of(TWO.slice(0, 1), TWO.slice(1, 2)))).isEqualTo(TWO);
    assertThatThrownBy(() -> TWO.slice(1, 3)).hasMessageContaining("sequences 1 to 3");
    Levels one = Levels.ofLengths(new int[] {1});
    assertThatThrownBy(() -> Levels.merge(List.of(TWO, one)))
        .hasMessageContaining("expected as many levels in each");
  }

  @Test
  void noSequencesAndEmptySequencesAreLegal() {
    assertThat(Levels.ofOffsets(new int[] {0}).sequences(0)).isZero();
    assertThat(Levels.ofOffsets(new int[] {0}).longest()).isZero();
    Levels empty = Levels.ofOffsets(new int[] {0, 0, 0}, new int[] {0});
    assertThat(empty.rows()).isZero();
    assertThat(empty).isEqualTo(Levels.ofLengths(new int[] {0, 0}, new int[0]));
  }

  @Test
  void changingTheArraysChangesNoLevels() {
    int[] given = {0, 2};
    Levels levels = Levels.ofOffsets(given);
    given[1] = 7;
    levels.offsets(0)[1] = 7;
    assertThat(levels.rows()).isEqualTo(2);
  }

  /** Paddle's CheckAbsLoD sorted an empty range and so never found any of these. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aDescentIsFoundWhereverItIs(int place) {
    int[] offsets = {0, 3, 6, 9};
    offsets[place] = offsets[place - 1] - 1;
    assertThatThrownBy(() -> Levels.ofOffsets(new int[] {0, 3}, offsets))
        .hasMessageContaining("got offset " + offsets[place] + " after " + offsets[place - 1])
        .hasMessageContaining("at place " + place + " of level 1");
  }

  @Test
  void errorsNameTheLevelAndTheOffset() {
    assertThatThrownBy(() -> Levels.ofOffsets()).hasMessageContaining("got none, expected one");
    assertThatThrownBy(() -> Levels.ofOffsets(new int[] {0}, new int[0]))
        .hasMessageContaining("got no offsets in level 1, expected 0");
    assertThatThrownBy(() -> Levels.ofOffsets(new int[] {1, 2}))
        .hasMessageContaining("got first offset 1 in level 0");
    assertThatThrownBy(() -> Levels.ofOffsets(new int[] {0, 5}, new int[] {0, 2, 5}))
        .hasMessageContaining("got last offset 5 of level 0, expected 2, the sequences of level 1");
    assertThatThrownBy(() -> Levels.ofLengths(new int[] {2}, new int[] {4, -1}))
        .hasMessageContaining("got length -1 at place 1 of level 1");
    assertThatThrownBy(() -> Levels.ofLengths(new int[] {Integer.MAX_VALUE, 1}))
        .hasMessageContaining("below 2^31");
    assertThatThrownBy(() -> TWO.lengths(2)).hasMessageContaining("got level 2");
  }
}
