package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaGrid;
import dev.tern.internal.ir.Op;
import dev.tern.internal.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The launches that pick, scatter and reduce rows. */
final class RowLaunches {
  /** Positions that a block sorts; a constant of the kernels too. */
  private static final int SORTED = 2048;

  private static final int DIGITS = 16;

  /** Threads of a block that takes a run of rows; a constant of the kernels too. */
  private static final int RUN_THREADS = 128;

  private final Launches launches;
  private final StepAddresses at;
  private final ErrorWords errors;
  private final IndexLaunches index;
  private final long scratch;

  RowLaunches(
      Launches launches, StepAddresses at, ErrorWords errors, IndexLaunches index, long scratch) {
    this.launches = launches;
    this.at = at;
    this.errors = errors;
    this.index = index;
    this.scratch = scratch;
  }

  private long word(String op, int rows) {
    return errors.add((place, value) ->
        new IndexOutOfBoundsException(
            String.format(
                Locale.ROOT,
                "%s: got index %d at position %d, expected 0 to %d",
                op,
                value,
                place,
                rows - 1)));
  }

  void add(Step.Gather step) {
    int count = step.index().count();
    // Rows of no width have indices too, which are checked.
    boolean isBare = step.width() == 0;
    launches.add(
        "gather",
        (long) count * Math.max(1, step.width()),
        at.of(step.table().place()),
        step.table().rows(),
        at.of(step.index().place()),
        IndexLaunches.wide(step.index().type()),
        step.index().gaps() ? 1 : 0,
        at.of(step.out()),
        count,
        step.width(),
        word("gather", step.table().rows()));
    if (isBare) {
      keys(step.index(), step.table().rows(), "gather");
    }
  }

  void add(Step.SegmentReduce step) {
    int count = step.offsets().rows() - 1;
    long offsets = at.of(step.offsets().place());
    index.checkOffsets("segmentReduce", offsets, count + 1, step.values().rows());
    launches.add(
        "segments",
        (long) count * step.width(),
        at.of(step.values().place()),
        offsets,
        at.of(step.out()),
        count,
        step.width(),
        step.values().rows(),
        step.kind() == Op.Reduce.Kind.MAX ? 1 : 0);
  }

  /** A block takes a run of rows, whose states follow from each other. */
  void add(Step.Gru step) {
    int count = step.offsets().rows() - 1;
    int rows = step.states().rows();
    long offsets = at.of(step.offsets().place());
    index.checkOffsets("gru", offsets, count + 1, rows);
    List<Object> values = new ArrayList<>();
    step.inputs().forEach(place -> values.add(at.of(place)));
    values.add(offsets);
    values.add(at.of(step.out()));
    values.addAll(List.of(count, rows, step.states().width()));
    String kernel = step.isGradient() ? "gru_gradient" : "gru";
    launches.add(kernel, CudaGrid.of(launches.samples(count), RUN_THREADS), values.toArray());
  }

  /** Bytes of scratch memory for a sort of positions. */
  static long sortBytes(Step.ScatterAdd step) {
    long count = step.index().count();
    return 4 * (4 * count + DIGITS * blocks(count) + step.out().rows() + 1L);
  }

  private static long blocks(long count) {
    return (count + SORTED - 1) / SORTED;
  }

  private void keys(Step.RowNumbers numbers, int rows, String op) {
    launches.add(
        "row_keys",
        numbers.count(),
        at.of(numbers.place()),
        IndexLaunches.wide(numbers.type()),
        numbers.gaps() ? 1 : 0,
        rows,
        scratch,
        scratch + 4L * numbers.count(),
        numbers.count(),
        word(op, rows));
  }

  /** Sorts positions by row, stably, then adds the rows at each row's positions in order. */
  void add(Step.ScatterAdd step) {
    int rows = step.out().rows();
    int count = step.index().count();
    keys(step.index(), rows, "scatterAdd");
    long column = 4L * count;
    long from = scratch;
    long to = scratch + 2 * column;
    long counts = scratch + 4 * column;
    int blocks = (int) blocks(count);
    long starts = counts + 4L * DIGITS * blocks;
    int bits = 32 - Integer.numberOfLeadingZeros(rows);
    for (int shift = 0; shift < bits && count > 0; shift += 4) {
      CudaGrid grid = CudaGrid.of(blocks, Launches.THREADS);
      launches.add("sort_count", grid, from, count, shift, counts);
      launches.add("sort_starts", CudaGrid.of(1, Launches.THREADS), counts, DIGITS * blocks);
      launches.add("sort_move", grid, from, from + column, count, shift, counts, to, to + column);
      long sorted = to;
      to = from;
      from = sorted;
    }
    launches.add("row_starts", rows + 1L, from, count, starts, rows);
    launches.add(
        "scatter_add",
        (long) rows * step.width(),
        from + column,
        starts,
        at.of(step.values()),
        at.of(step.out().place()),
        rows,
        step.width());
  }
}
