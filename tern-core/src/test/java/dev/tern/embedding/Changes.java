package dev.tern.embedding;

import java.util.stream.LongStream;

/** What a snapshot of changes says. */
record Changes(boolean all, long[] rows, long[] gone, long[] filterWords) {
  static Changes of(EmbeddingTable table) {
    try (TableSnapshot snapshot = table.snapshotOfChanges()) {
      LongStream.Builder rows = LongStream.builder();
      if (!snapshot.isWhole()) {
        snapshot.exportBlocks(block -> {
          for (int i = 0; i < block.count(); i++) {
            rows.add(block.ids()[i]);
          }
        });
      }
      return new Changes(
          snapshot.isWhole(), rows.build().toArray(), snapshot.gone(), snapshot.filterNumbers());
    }
  }
}
