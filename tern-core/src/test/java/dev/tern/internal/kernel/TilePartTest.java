package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class TilePartTest {
  private final List<Optional<TileLoops>> used = new ArrayList<>();
  private int ends;

  @BeforeEach
  void assumeVectors() {
    assumeThat(VectorSupport.available()).isTrue();
  }

  private TilePart<TileLoops> part() {
    return new TilePart<>(TilePart.LOOPS, used::add, () -> ends++);
  }

  /** As the warm-up thread does with code that comes to box in use. */
  private void replace(TilePart<TileLoops> part) {
    part.withdraw();
    part.renew();
    part.adopt();
  }

  @Test
  void codeThatIsWithdrawnIsOutOfUseUntilACopyIs() {
    TilePart<TileLoops> part = part();
    part.adopt();
    part.round(true);
    replace(part);
    assertThat(used).hasSize(3);
    assertThat(used.get(1)).isEmpty();
    assertThat(used.get(2).orElseThrow()).isNotSameAs(used.get(0).orElseThrow());
    assertThat(ends).isOne();
  }

  @Test
  void codeIsReplacedAFewTimesAtMost() {
    TilePart<TileLoops> part = part();
    part.adopt();
    int replaced = 0;
    while (part.isWatched()) {
      replace(part);
      replaced++;
    }
    assertThat(replaced).isBetween(1, 10);
    assertThat(used.getLast()).isPresent();
    assertThat(ends).isOne();
  }

  @Test
  void codeOfWhichNoCopyServesStaysOutOfUse() {
    TilePart<TileLoops> part = part();
    part.adopt();
    part.withdraw();
    part.giveUp();
    assertThat(used.getLast()).isEmpty();
    assertThat(ends).isOne();
  }
}
