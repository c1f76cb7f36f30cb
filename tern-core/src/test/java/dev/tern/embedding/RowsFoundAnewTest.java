package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lookups whose rows are found anew for an update, as others' rows went. */
final class RowsFoundAnewTest {
  private static final int[] ONE = {0, 1};

  private final Allocator allocator = Allocator.of(1L << 26);

  @AfterEach
  void closedTablesHoldNoMemory() {
    assertThat(allocator.live()).isZero();
  }

  private static Lookup found(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    return lookup;
  }

  /** A step on one id with gradient 1. */
  private void apply(EmbeddingTable table, Lookup lookup, long step) {
    try (Floats grad = Floats.of(allocator, 1)) {
      table.apply(lookup, ONE, 1, Combiner.SUM, grad.address, 1, 0.5f, step);
    }
  }

  private float read(EmbeddingTable table, long id) {
    Lookup lookup = new Lookup();
    table.find(new long[] {id}, 1, lookup, false);
    try (Floats out = new Floats(allocator, 1)) {
      table.ragged(lookup, out.address);
      return out.get(0);
    }
  }

  /** Whatever became of it, and of the row of a third. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anIdThatHadNoRowGetsNoUpdateThoughAnotherLookupGaveItOne(boolean hashed) {
    RowPolicy policy =
        RowPolicy.ALL
            .withAdmission(new Admission.ByCount(2, 1000))
            .withRoomMadeBy(new Eviction.LeastRecent(), 1);
    UnknownRow unknown = hashed ? new UnknownRow.Hashed(1) : UnknownRow.ZEROS;
    TableConfig config =
        new TableConfig(
            "t",
            2,
            1,
            42,
            TableOptions.of(Optimizer.sgd(1)).initRange(0.5f).unknown(unknown).rows(policy));
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      apply(table, found(table, 1, 1), 1);
      Lookup before = found(table, 7);
      Lookup after = found(table, 7);
      assertThat(table.statistics().evicted()).isOne();
      assertThat(before.isComplete()).isFalse();
      assertThat(after.isComplete()).isTrue();
      float row = read(table, 7);
      float without = read(table, 8);
      for (int step = 2; step < 4; step++) {
        apply(table, before, step);
        assertThat(read(table, 7)).isEqualTo(row);
      }
      assertThat(read(table, 8)).isEqualTo(hashed ? without - 1 : 0);
      apply(table, after, 4);
      assertThat(read(table, 7)).isEqualTo(row - 0.5f);
    }
  }
}
