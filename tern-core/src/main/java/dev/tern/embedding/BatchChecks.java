package dev.tern.embedding;

import dev.tern.data.Batch;
import dev.tern.internal.table.rows.ClickCounts;
import java.util.List;

/** Checks of what batches hold for a lookup. */
final class BatchChecks {
  private BatchChecks() {}

  /** Throws if some sample has no label of 0 or 1, where rows depend on clicks. */
  static void requireLabels(Batch batch) {
    int labels = batch.schema().labelDim();
    if (labels == 0) {
      throw new IllegalArgumentException(
          "lookup: got a batch without labels, expected one for each sample, as rows depend on"
              + " clicks; name the label's column");
    }
    ClickCounts.requireLabels(batch.labels(), batch.size(), labels);
  }

  /** Throws if the slots of a sequence differ in the number of ids in some row. */
  static void requireEqualLengths(Batch of, List<List<Integer>> sequences) {
    for (int q = 0; q < sequences.size(); q++) {
      List<Integer> members = sequences.get(q);
      for (int m = 1; m < members.size(); m++) {
        if (of.firstUnequal(members.getFirst(), members.get(m), 0, of.size()) >= 0) {
          throw new IllegalArgumentException(
              "lookup: got different numbers of ids in slots %s of one sequence, expected the same in each row"
                  .formatted(members));
        }
      }
    }
  }
}
