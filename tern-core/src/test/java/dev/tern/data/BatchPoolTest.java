package dev.tern.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class BatchPoolTest {
  private static final Schema SCHEMA =
      new Schema(List.of("label"), List.of("x"), List.of(Slot.ragged("ids")));

  private final BatchPool pool = new BatchPool(SCHEMA, 8);

  @Test
  void aBatchThatWasClosedIsRecycledEmpty() {
    Batch first = pool.take();
    first.addId(0, 7);
    first.endRow();
    float[] labels = first.labels();
    first.close();

    Batch second = pool.take();

    assertThat(second.labels()).isSameAs(labels);
    assertThat(second.size()).isZero();
    assertThat(second.idCount(0)).isZero();
  }

  @Test
  void aBatchClosedTwiceIsLentToOneBorrowerAtATime() {
    Batch batch = pool.take();
    batch.close();
    batch.close();

    assertThat(pool.take().labels()).isNotSameAs(pool.take().labels());
  }

  @Test
  void aCloseAfterTheArraysWereLentAgainDoesNotEndTheOtherLoan() {
    Batch stale = pool.take();
    stale.close();
    Batch other = pool.take();
    other.setLabel(0, 3);
    other.endRow();

    stale.close();
    Batch third = pool.take();
    third.setLabel(0, 4);
    third.endRow();

    assertThat(third.labels()).isNotSameAs(other.labels());
    assertThat(other.labels()[0]).isEqualTo(3);
  }

  @Test
  void arraysThatGrewAreRecycledAsTheyAre() {
    Batch first = pool.take();
    first.resize(100);
    float[] grown = first.labels();
    first.close();

    Batch second = pool.take();
    second.resize(100);

    assertThat(second.labels()).isSameAs(grown);
  }

  @Test
  void batchesOfWideRowsHaveRoomForFewer() {
    Schema wide = new Schema(List.of(), List.of("x"), List.of(new Slot("ids", 1 << 20)));
    assertThat(BatchPool.forFiles(wide, 1000).rows()).isEqualTo(3);
    assertThat(BatchPool.forFiles(SCHEMA, 1000).rows()).isEqualTo(1000);
    assertThat(BatchPool.forFiles(SCHEMA, 1_000_000).rows()).isEqualTo(4096);
  }
}
