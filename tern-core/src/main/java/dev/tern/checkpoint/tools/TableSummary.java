package dev.tern.checkpoint.tools;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.RowWalk;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What a checkpoint holds of one table.
 *
 * @param name of its slot
 * @param storage how weights are stored
 * @param width weights a row
 * @param rows rows of ids
 * @param buckets rows that ids without one share
 * @param fileBytesPerRow bytes of a row in files: id, weights, state, metadata
 * @param norms L2 norms of rows' weights
 * @param frequencies rows by how often they were seen; where that is not kept none
 * @param topByNorm ids with the largest norms
 * @param topByFrequency ids seen most often; where that is not kept none
 */
public record TableSummary(
    String name,
    String storage,
    int width,
    long rows,
    int buckets,
    long fileBytesPerRow,
    Norms norms,
    List<Bin> frequencies,
    List<Top> topByNorm,
    List<Top> topByFrequency) {
  /** Least, mean and largest norm; NaN in a table without rows. */
  public record Norms(double least, double mean, double largest) {}

  /** Rows seen {@code from} to {@code to} times. */
  public record Bin(long from, long to, long rows) {}

  /** An id and the number that puts it here. */
  public record Top(long id, double value) {}

  /**
   * Reads the table of a slot.
   *
   * @param top how many ids to list
   */
  public static TableSummary of(Checkpoint checkpoint, int slot, int top) {
    RowShape shape = RowShape.of(checkpoint.tableFiles(slot).getLast());
    boolean counted = shape.metadata() > 1;
    TopIds byNorm = new TopIds(top);
    TopIds byFrequency = new TopIds(counted ? top : 0);
    long[] bins = new long[Integer.SIZE];
    long rows = 0;
    int buckets;
    double least = Double.NaN;
    double largest = Double.NaN;
    double sum = 0;
    try (SavedTable table = SavedTable.open(checkpoint.tableFiles(slot), shape);
        RowWalk walk = new RowWalk(shape, table)) {
      buckets = table.buckets();
      while (walk.next()) {
        double norm = walk.norm();
        least = rows == 0 ? norm : Math.min(least, norm);
        largest = rows == 0 ? norm : Math.max(largest, norm);
        sum += norm;
        rows++;
        byNorm.offer(walk.id(), norm);
        if (counted) {
          int frequency = Math.max(1, walk.metadata(1));
          bins[Integer.SIZE - 1 - Integer.numberOfLeadingZeros(frequency)]++;
          byFrequency.offer(walk.id(), frequency);
        }
      }
    }
    return new TableSummary(
        checkpoint.tables().get(slot),
        shape.storage().name(),
        shape.width(),
        rows,
        buckets,
        Long.BYTES + shape.fileBytes(),
        new Norms(least, sum / rows, largest),
        bins(bins),
        byNorm.list(),
        byFrequency.list());
  }

  /** Powers of two, up to the last that is not empty. */
  private static List<Bin> bins(long[] rows) {
    List<Bin> bins = new ArrayList<>();
    Optional<Integer> last =
        Arrays.stream(rows).sum() == 0 ? Optional.empty() : Optional.of(lastUsed(rows));
    for (int i = 0; last.isPresent() && i <= last.get(); i++) {
      bins.add(new Bin(1L << i, (2L << i) - 1, rows[i]));
    }
    return bins;
  }

  private static int lastUsed(long[] rows) {
    int last = rows.length - 1;
    while (rows[last] == 0) {
      last--;
    }
    return last;
  }

  /** The same as JSON, in one line. */
  public String toJson() {
    Json.Obj json =
        Json.object()
            .put("table", name)
            .put("storage", storage)
            .put("width", width)
            .put("rows", rows)
            .put("buckets", buckets)
            .put("file_bytes_per_row", fileBytesPerRow);
    if (rows > 0) {
      json.put(
          "norm",
          Json.object()
              .put("least", norms.least())
              .put("mean", norms.mean())
              .put("largest", norms.largest()));
    }
    List<Json> bins = new ArrayList<>();
    frequencies.forEach(bin ->
        bins.add(
            Json.object().put("from", bin.from()).put("to", bin.to()).put("rows", bin.rows())));
    return json.put("frequency", new Json.Arr(bins))
        .put("top_norm", tops(topByNorm))
        .put("top_frequency", tops(topByFrequency))
        .toString();
  }

  private static Json.Arr tops(List<Top> tops) {
    List<Json> items = new ArrayList<>();
    tops.forEach(top -> items.add(Json.object().put("id", top.id()).put("value", top.value())));
    return new Json.Arr(items);
  }
}
