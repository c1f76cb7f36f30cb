package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.IndexRules;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Room for ragged values that are filled anew for each run of a {@link Computation}. It holds the
 * largest batch; others use less. So the computation is planned once. Values are F32, off-heap, in
 * the memory of the device. Do not fill it while a computation runs. Unused rows are zeros; see
 * {@link Ragged#filled} for ops whose slopes at 0 are infinite.
 *
 * <pre>{@code
 * RaggedVariable clicks = RaggedVariable.of(device, "clicks", 64, Shape.of(4096, 16));
 * Tensor pooled = clicks.ragged().pool(SequencePooling.MEAN); // [64, 16]
 * Computation step = Computation.of(device, List.of(pooled), Map.of());
 * clicks.set(Levels.ofLengths(lengths), rows);
 * step.run();
 * }</pre>
 */
public final class RaggedVariable implements AutoCloseable {
  private final Variable values;
  private final List<Variable> offsets;
  private final Ragged ragged;

  /** Numbers in a row. */
  private final int width;

  /** Rows of the last batch. */
  private int used;

  private RaggedVariable(Variable values, List<Variable> offsets) {
    this.values = values;
    this.offsets = offsets;
    width = values.shape().elements() / Math.max(1, values.shape().size(0));
    Tensor[] tensors = offsets.stream().map(Variable::tensor).toArray(Tensor[]::new);
    ragged = Ragged.of(values.tensor(), tensors);
  }

  /** Room for one level of at most {@code sequences}, and for values {@code [rows, ...]}. */
  public static RaggedVariable of(Device device, String name, int sequences, Shape rows) {
    return of(device, name, new int[] {sequences}, rows);
  }

  /**
   * Room for any number of levels.
   *
   * @param sequences most sequences of each level, the outermost first
   * @param rows shape of the values, {@code [rows, ...]}, with most rows
   */
  public static RaggedVariable of(Device device, String name, int[] sequences, Shape rows) {
    boolean fits = Arrays.stream(sequences).allMatch(most -> most >= 0 && most < Integer.MAX_VALUE);
    if (sequences.length == 0 || !fits || rows.rank() < 1) {
      throw new IllegalArgumentException(
          "%s: got room for %s sequences and values %s, expected one level or more and [rows, ...]"
              .formatted(name, Arrays.toString(sequences), rows));
    }
    List<Variable> made = new ArrayList<>();
    try {
      for (int level = 0; level < sequences.length; level++) {
        Shape shape = Shape.of(sequences[level] + 1);
        made.add(Variable.of(device, name + ".offsets" + level, shape, DType.I32));
      }
      return new RaggedVariable(Variable.zeros(device, name, rows), List.copyOf(made));
    } catch (RuntimeException | Error e) {
      made.forEach(Variable::close);
      throw e;
    }
  }

  /** In an expression: reads what it holds when the computation runs. */
  public Ragged ragged() {
    return ragged;
  }

  /**
   * Sets all levels and rows.
   *
   * @param rows of all sequences, row-major
   * @throws IllegalArgumentException where there is no room for them, or rows do not fit the levels
   */
  public void set(Levels levels, float... rows) {
    if (levels.depth() != offsets.size()) {
      throw new IllegalArgumentException(
          "%s: got %d levels, expected %d; make a variable of that depth"
              .formatted(values.name(), levels.depth(), offsets.size()));
    }
    if (rows.length != levels.rows() * width) {
      throw new IllegalArgumentException(
          "%s: got %d numbers, expected %d rows of %d, as the last level says"
              .formatted(values.name(), rows.length, levels.rows(), width));
    }
    for (int level = 0; level < offsets.size(); level++) {
      requireRoom(level, levels.sequences(level));
    }
    if (levels.rows() > values.shape().size(0)) {
      throw new IllegalArgumentException(
          "%s: got %d rows, expected at most %d; make it with more room"
              .formatted(values.name(), levels.rows(), values.shape().size(0)));
    }
    for (int level = 0; level < offsets.size(); level++) {
      write(offsets.get(level), levels.offsets(level), levels.sequences(level));
    }
    long address = values.addressToWrite();
    clear(address, levels.rows());
    Memory.copyIn(rows, 0, address, rows.length);
  }

  /**
   * Sets the one level, as slots of a {@code Batch} have it. Rows are written to {@link #memory}
   * after that.
   *
   * @param from {@code sequences + 1} offsets; what follows them is not read
   */
  public void setOffsets(int[] from, int sequences) {
    if (offsets.size() != 1) {
      throw new IllegalArgumentException(
          "%s: got offsets of one level, expected %d levels; use set"
              .formatted(values.name(), offsets.size()));
    }
    if (sequences < 0 || sequences >= from.length) {
      throw new IllegalArgumentException(
          "%s: got %d sequences of %d offsets, expected 0 to %d; each has a first and an end"
              .formatted(values.name(), sequences, from.length, from.length - 1));
    }
    requireRoom(0, sequences);
    if (!areValid(from, sequences + 1, values.shape().size(0))) {
      IndexRules.check(
          values.name(), MemorySegment.ofArray(from), sequences + 1, values.shape().size(0));
    }
    // The caller writes rows next, so sessions must have read the old rows.
    long address = values.addressToWrite();
    write(offsets.get(0), from, sequences);
    clear(address, from[sequences]);
  }

  /** As {@link IndexRules#check}, of an array as it is: a step makes no garbage. */
  private static boolean areValid(int[] offsets, int count, int rows) {
    boolean valid = offsets[0] == 0 && offsets[count - 1] <= rows;
    for (int i = 1; i < count; i++) {
      valid &= offsets[i] >= offsets[i - 1];
    }
    return valid;
  }

  private void requireRoom(int level, int sequences) {
    int most = ragged.sequences(level);
    if (sequences > most) {
      throw new IllegalArgumentException(
          "%s: got %d sequences in level %d, expected at most %d; make it with more room"
              .formatted(values.name(), sequences, level, most));
    }
  }

  /** Writes offsets and repeats the last one: unused sequences are empty. */
  private static void write(Variable target, int[] from, int sequences) {
    long address = target.addressToWrite();
    int count = target.shape().size(0);
    for (int i = 0; i < count; i++) {
      Memory.setInt(address + 4L * i, from[Math.min(i, sequences)]);
    }
  }

  /** Zeros the rows that only the batch before had. */
  private void clear(long address, int rows) {
    long bytes = 4L * width;
    if (rows < used) {
      Memory.zero(address + rows * bytes, (used - rows) * bytes);
    }
    used = rows;
  }

  /**
   * The rows in memory, as {@link Variable#memory}. Write rows to it after {@link #setOffsets},
   * before something that reads them is asked for.
   */
  public MemorySegment memory() {
    return values.memory();
  }

  /** Frees its memory; computations that use it must not run again. */
  @Override
  public void close() {
    values.close();
    offsets.forEach(Variable::close);
  }
}
