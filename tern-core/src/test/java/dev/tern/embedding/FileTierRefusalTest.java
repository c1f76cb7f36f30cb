package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that cannot have a file tier, and tiers that no table can use. */
final class FileTierRefusalTest {
  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final TableOptions sgd = TableOptions.of(Optimizer.sgd(1));

  @AfterEach
  void nothingIsHeld() {
    assertThat(allocator.live()).isZero();
  }

  private static TableConfig config(TableOptions options) {
    return new TableConfig("t", 3, 2, 42, options);
  }

  private void requireRefused(TableOptions options, long memory, String message) {
    FileTier tier = FileTier.of(folder, memory);
    assertThatThrownBy(() -> EmbeddingTable.create(config(options), tier, allocator))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("table t with a file tier: got")
        .hasMessageContaining(message);
    assertThat(tier.left()).isEqualTo(memory);
  }

  @Test
  void whatATableWithAFileCannotBeIsRefused() {
    requireRefused(TableOptions.of(Optimizer.adam(1)), 1 << 20, "use lazy Adam");
    requireRefused(sgd.l2(1).l2OfAllRows(true), 1 << 20, "take l2 of the rows of a batch");
    requireRefused(sgd.unknown(UnknownRow.MEAN), 1 << 20, "the mean of all rows");
    requireRefused(
        sgd.unknown(new UnknownRow.Hashed(3)),
        1 << 20,
        "Hashed[buckets=3]; have unknown ids read as zeros");
    RowPolicy unseen = RowPolicy.ALL.withEviction(new Eviction.Unseen(3));
    requireRefused(sgd.rows(unseen), 1 << 20, "a table with a file keeps every row");
  }

  @Test
  void aTierWithoutMemoryOrFolderIsRefused() {
    requireRefused(sgd, 1000, "got 1000 bytes of memory left of 1000, expected");
    assertThatThrownBy(() -> FileTier.of(folder, 0)).hasMessageContaining("expected 1 or more");
    FileTier nowhere = FileTier.of(folder.resolve("none"), 1 << 20);
    assertThatThrownBy(() -> EmbeddingTable.create(config(sgd), nowhere, allocator))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("none")
        .hasMessageContaining("expected a folder where files can be made");
  }
}
