package dev.tern.checkpoint.tools;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A summary of one table in a checkpoint.
 *
 * @param name name of the table
 * @param layout how its rows are stored
 * @param rows rows of ids
 * @param norms L2 norms of the weights of rows
 * @param frequencies rows by how often they were seen; empty if the table does not count that
 * @param topByNorm ids with the largest norms
 * @param topByFrequency ids seen most often; empty if the table does not count that
 */
public record TableSummary(
    String name,
    Layout layout,
    long rows,
    Norms norms,
    List<Bin> frequencies,
    List<Top> topByNorm,
    List<Top> topByFrequency) {
  /**
   * How rows are stored.
   *
   * @param storage type of weights
   * @param width weights of a row
   * @param buckets rows that ids without a row share
   * @param fileBytesPerRow bytes of a row in files: id, weights, state, metadata
   */
  public record Layout(String storage, int width, int buckets, long fileBytesPerRow) {}

  /** Least, mean and largest norm; NaN for a table without rows. */
  public record Norms(double least, double mean, double largest) {}

  /** The number of rows that were seen {@code from} to {@code to} times. */
  public record Bin(long from, long to, long rows) {}

  /** An id and its number: a norm, a frequency or a distance. */
  public record Top(long id, double value) {}

  /**
   * Reads table {@code slot}.
   *
   * @param top ids to list
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
        new Layout(shape.storage().name(), shape.width(), buckets, Long.BYTES + shape.fileBytes()),
        rows,
        new Norms(least, sum / rows, largest),
        bins(bins),
        byNorm.list(),
        byFrequency.list());
  }

  /** Bins of powers of two, up to the last that is not empty. */
  private static List<Bin> bins(long[] rows) {
    int used = rows.length;
    while (used > 0 && rows[used - 1] == 0) {
      used--;
    }
    return IntStream.range(0, used)
        .mapToObj(i -> new Bin(1L << i, (2L << i) - 1, rows[i]))
        .toList();
  }

  /** This summary as one line of JSON. */
  public String toJson() {
    Json.Obj json =
        Json.object()
            .put("table", name)
            .put("storage", layout.storage())
            .put("width", layout.width())
            .put("rows", rows)
            .put("buckets", layout.buckets())
            .put("file_bytes_per_row", layout.fileBytesPerRow());
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
