package dev.tern.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.table.index.SoundIndex;
import dev.tern.internal.table.tier.RowSpiller;

/** Checks what every call of a table keeps true. */
public final class SoundTable {
  private SoundTable() {}

  /**
   * The index is sound and names every row in memory. Call it while no other thread changes rows.
   */
  public static void require(TableRows table) {
    SoundIndex.require(table.index);
    int leaving = table.tier.map(RowSpiller::leaving).orElse(0);
    assertThat(table.rows.inUse() - table.config().unknown().buckets() - leaving)
        .isEqualTo((int) table.index.size());
  }
}
