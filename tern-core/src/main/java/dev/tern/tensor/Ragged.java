package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.IndexRules;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Sequences;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Sequences of any lengths: rows of values, one sequence after the other, and levels of offsets
 * that part them, the outermost first, see {@link Levels}. Rows may have weights. Immutable;
 * methods record ops, with gradients, as those of {@link Tensor} do.
 *
 * <p>Offsets are tensors, so a {@link Computation} serves batches of any lengths: values {@code [n,
 * ...]} and offsets {@code [s + 1]} are room, not what is in use. Rows from the last offset on
 * belong to no sequence: no result depends on them, no gradient goes into them, and ops that move
 * rows leave zeros there. Elementwise ops compute on them too, so they should hold numbers, and
 * such at which slopes are finite: 0 times infinity is not a number, and it would spread through
 * the gradient of a weight, which sums over all rows. Room is mostly zeros, so ops whose slope at 0
 * is infinite, as a root, a logarithm or a quotient, need {@link #filled} first. Sequences that are
 * not in use are empty, at the end of their level: the last offset repeats. {@link RaggedVariable}
 * fills such room batch by batch. {@link #of(Tensor, Levels)} has no room to spare.
 *
 * <pre>{@code
 * Tensor rows = Tensor.of(Shape.of(5, 1), 1, 2, 3, 4, 5);
 * Ragged x = Ragged.of(rows, Levels.ofLengths(new int[] {2, 0, 3}));
 * x.pool(SequencePooling.MEAN).toArray(); // 1.5, 0, 4
 * x.reverse().toArray(); // 2, 1, 5, 4, 3
 * }</pre>
 *
 * <p>Where nothing else is said, an op is about the sequences of the last level, and the levels
 * above stay. What only values decide is checked when they are computed.
 *
 * <p>PaddlePaddle's {@code sequence_} ops: expand is {@link #repeat}, expand_as {@link #expand},
 * topk_avg_pooling {@link #topMeans}, and lod_reset {@link #reset}; the others have their names.
 * FBGEMM's {@code jagged_} ops: to_padded_dense is {@link #pad}, dense_to_jagged {@link #unpad},
 * index_select {@link #take}, dense_elementwise {@link #add} and {@link #mul}, dense_bmm {@link
 * #matmul}, dense_vec_2d_mul {@link #weightedSum}, jagged_bmm {@link #products}.
 */
public final class Ragged {
  private final Tensor values;
  private final List<Tensor> offsets;
  private final Optional<Tensor> weights;

  private Ragged(Tensor values, List<Tensor> offsets, Optional<Tensor> weights) {
    this.values = values;
    this.offsets = List.copyOf(offsets);
    this.weights = weights;
    if (values.shape().rank() < 1) {
      throw new IllegalArgumentException("ragged: got a scalar, expected values [rows, ...]");
    }
    for (int level = 0; level < offsets.size(); level++) {
      requireOffsets(offsets.get(level), level);
    }
  }

  private static void requireOffsets(Tensor offsets, int level) {
    boolean fits = offsets.type() == DType.I32 && offsets.shape().rank() == 1;
    if (!fits || offsets.shape().size(0) < 1) {
      throw new IllegalArgumentException(
          "ragged: got %s as offsets of level %d, expected I32 [sequences + 1]"
              .formatted(offsets, level));
    }
  }

  /**
   * Sequences of all rows of {@code values}, which is {@code [levels.rows(), ...]}.
   *
   * @throws IllegalArgumentException where it has other rows
   */
  public static Ragged of(Tensor values, Levels levels) {
    Shape shape = values.shape();
    if (shape.rank() < 1 || shape.size(0) != levels.rows()) {
      throw new IllegalArgumentException(
          "ragged: got values %s, expected %d rows, the last offset of level %d; give all rows"
              .formatted(shape, levels.rows(), levels.depth() - 1));
    }
    return new Ragged(values, constants(levels), Optional.empty());
  }

  /**
   * Sequences by offsets that are computed, I32 {@code [sequences + 1]}, the outermost first. They
   * are checked whenever they are used.
   */
  public static Ragged of(Tensor values, Tensor... offsets) {
    if (offsets.length == 0) {
      throw new IllegalArgumentException("ragged: got no offsets, expected one level or more");
    }
    return new Ragged(values, List.of(offsets), Optional.empty());
  }

  static Ragged of(Tensor values, List<Tensor> offsets, Optional<Tensor> weights) {
    return new Ragged(values, offsets, weights);
  }

  private static List<Tensor> constants(Levels levels) {
    List<Tensor> offsets = new ArrayList<>();
    for (int level = 0; level < levels.depth(); level++) {
      int[] of = levels.offsets(level);
      offsets.add(Tensor.ofInts(Shape.of(of.length), of));
    }
    return offsets;
  }

  /** All rows, {@code [n, ...]}. */
  public Tensor values() {
    return values;
  }

  /** A weight for each row, F32 {@code [n]}, if there are any. */
  public Optional<Tensor> weights() {
    return weights;
  }

  /** Number of levels, 1 or more. */
  public int depth() {
    return offsets.size();
  }

  /** Room for rows, {@code n}. */
  public int rows() {
    return values.shape().size(0);
  }

  /** Room for sequences of the last level, {@code s}. */
  public int sequences() {
    return sequences(-1);
  }

  /** Room for sequences of a level; a negative one counts from the last. */
  public int sequences(int level) {
    return offsets(level).shape().size(0) - 1;
  }

  /** Offsets of a level, I32 {@code [sequences + 1]}; a negative one counts from the last. */
  public Tensor offsets(int level) {
    int counted = level < 0 ? level + depth() : level;
    if (counted < 0 || counted >= depth()) {
      throw new IllegalArgumentException(
          "ragged: got level %d, expected %d to %d".formatted(level, -depth(), depth() - 1));
    }
    return offsets.get(counted);
  }

  List<Tensor> offsets() {
    return offsets;
  }

  /** The lengths of the sequences of the last level, I32 {@code [s]}. */
  public Tensor lengths() {
    return lengths(-1);
  }

  /** The lengths of the sequences of a level, in elements of the next, I32 {@code [sequences]}. */
  public Tensor lengths(int level) {
    return new Tensor(Sequences.lengths(offsets(level).node(), below(level)));
  }

  /** 1 for each row of a sequence, 0 for room to spare; BOOL {@code [n]}. */
  public Tensor present() {
    return RaggedRows.index(this, Rule.SEQUENCES).cast(DType.F32).ge(Tensor.scalar(0));
  }

  /** The sequence of the last level that each row is in, I32 {@code [n]}; -1 for none. */
  public Tensor sequenceIds() {
    return RaggedRows.index(this, Rule.SEQUENCES);
  }

  /** The place of each row in its sequence, from 0, I32 {@code [n]}; -1 for none. */
  public Tensor positions() {
    return RaggedRows.index(this, Rule.POSITIONS);
  }

  /** Other values, {@code [n, ...]}, for the same rows. */
  public Ragged with(Tensor others) {
    if (others.shape().rank() < 1 || others.shape().size(0) != rows()) {
      throw new IllegalArgumentException(
          "with: got values %s, expected %d rows; change offsets with reset"
              .formatted(others.shape(), rows()));
    }
    return new Ragged(others, offsets, weights);
  }

  /** The same rows, values F32, with {@code value} in all room to spare. */
  public Ragged filled(float value) {
    Tensor isRow = RaggedPooling.column(present(), values.shape().rank());
    return with(isRow.select(values, Tensor.scalar(value)));
  }

  /** The same rows with a weight each, F32 {@code [n]}. */
  public Ragged weighted(Tensor rowWeights) {
    if (!rowWeights.shape().equals(Shape.of(rows())) || rowWeights.type() != DType.F32) {
      throw new IllegalArgumentException(
          "weighted: got %s, expected F32[%d], one for each row".formatted(rowWeights, rows()));
    }
    return new Ragged(values, offsets, Optional.of(rowWeights));
  }

  /** The same rows without weights. */
  public Ragged unweighted() {
    return new Ragged(values, offsets, Optional.empty());
  }

  /** The same rows in other sequences. */
  public Ragged reset(Levels levels) {
    Ragged parted = of(values, levels);
    return new Ragged(values, parted.offsets, weights);
  }

  /** The same rows in the sequences of {@code other}. */
  public Ragged reset(Ragged other) {
    return other.unweighted().with(values).carrying(weights);
  }

  private Ragged carrying(Optional<Tensor> others) {
    return new Ragged(values, offsets, others);
  }

  /**
   * One level less: {@code rows}, {@code [s, ...]}, one for each sequence of the last level, in the
   * sequences of the levels above.
   */
  public Ragged outer(Tensor rows) {
    if (depth() == 1 || rows.shape().rank() < 1 || rows.shape().size(0) != sequences()) {
      throw new IllegalArgumentException(
          "outer: got %s for %d sequences in %d levels, expected a row for each and a level above"
              .formatted(rows.shape(), sequences(), depth()));
    }
    return new Ragged(rows, offsets.subList(0, depth() - 1), Optional.empty());
  }

  /** One row for each sequence, {@code [s, ...]}; zeros for an empty one. */
  public Tensor pool(SequencePooling kind) {
    return pool(kind, 0);
  }

  /**
   * One row for each sequence, {@code [s, ...]}. Weights count in SUM, MEAN and SQRT; a divisor of
   * 0 counts as 1. Of equal largest numbers each takes its share of the gradient.
   *
   * @param empty what an empty sequence is pooled to
   */
  public Tensor pool(SequencePooling kind, float empty) {
    return RaggedPooling.pool(this, kind, empty);
  }

  /**
   * For each k the sum of the k largest numbers of each sequence and column by k: of values {@code
   * [n, w]}, {@code [s, ks, w]}. Numbers that a sequence lacks count as 0.
   */
  public Tensor topMeans(int... ks) {
    return RaggedPooling.topMeans(this, ks);
  }

  /** {@code exp(x) / sum(exp(x))} over the rows of each sequence, column by column. */
  public Ragged softmax() {
    return RaggedPooling.softmax(this);
  }

  /** Row {@code i} of {@code x}, {@code [s, ...]}, for each row of sequence {@code i}. */
  public Ragged expand(Tensor x) {
    return new Ragged(spread(x), offsets, weights);
  }

  /** {@link #expand}, the rows alone; zeros for room to spare. */
  Tensor spread(Tensor x) {
    if (x.shape().rank() < 1 || x.shape().size(0) != sequences()) {
      throw new IllegalArgumentException(
          "expand: got %s, expected a row for each of %d sequences"
              .formatted(x.shape(), sequences()));
    }
    return picked(x, RaggedRows.index(this, Rule.SEQUENCES));
  }

  /** The rows of each sequence in the opposite order. */
  public Ragged reverse() {
    return RaggedRows.reverse(this);
  }

  /**
   * A part of each sequence.
   *
   * @param from its first row in the sequence, from 0, I32 {@code [s]}
   * @param length its rows, I32 {@code [s]}
   */
  public Ragged slice(Tensor from, Tensor length) {
    return RaggedRows.slice(this, from, length);
  }

  /** At most the first {@code most} rows of each sequence. */
  public Ragged truncate(int most) {
    return keep(positions().cast(DType.F32).lt(Tensor.scalar(most)));
  }

  /** The rows with nonzero {@code marks}, {@code [n]} of any type but the half ones. */
  public Ragged keep(Tensor marks) {
    return RaggedRows.keep(this, marks);
  }

  /**
   * Without the rows whose id is one of {@code ids}.
   *
   * @param of the id of each row, I32 or I64 {@code [n]}
   */
  public Ragged erase(Tensor of, long... ids) {
    return RaggedRows.erase(this, of, ids);
  }

  /**
   * Each row with those that follow it in its sequence, {@code [n, width, ...]}.
   *
   * @param width rows in all
   * @param pad what stands where the sequence has ended; a whole number where values are
   */
  public Ragged enumerate(int width, float pad) {
    return RaggedRows.enumerate(this, width, pad);
  }

  /**
   * The numbers of each sequence in rows of {@code width}: of values {@code [n, w]}, {@code [n w /
   * width, width]}. Each sequence must fill its rows.
   */
  public Ragged reshape(int width) {
    return RaggedRows.reshape(this, width);
  }

  /**
   * {@code dense}, {@code [s, d]}, with the numbers of these rows, values F32 {@code [n]}, added:
   * each in the row of its sequence.
   *
   * @param columns where in it, I32 or I64 {@code [n]}
   */
  public Tensor scatter(Tensor dense, Tensor columns) {
    return RaggedRows.scatter(this, dense, columns);
  }

  /** {@link #pad(int, Tensor)} with one number. */
  public Tensor pad(int length, float value) {
    return pad(length, Tensor.scalar(value));
  }

  /**
   * Sequences of one length, {@code [s, length, ...]}. A longer sequence is an error; {@link
   * Levels#longest} says how long they are.
   *
   * @param value what stands where a sequence has ended: a row, or of a shape that is broadcast
   */
  public Tensor pad(int length, Tensor value) {
    return RaggedPadding.pad(this, length, value);
  }

  /** 1 where a sequence has a row, 0 where it has ended; BOOL {@code [s, length]}. */
  public Tensor mask(int length) {
    return RaggedPadding.mask(this, length);
  }

  /** The opposite of {@link #pad}: rows of {@code padded}, {@code [s, length, ...]}. */
  public Ragged unpad(Tensor padded) {
    return with(RaggedPadding.unpadded(this, padded));
  }

  /**
   * The first rows of each sequence of {@code padded}, F32 {@code [s, length, ...]}.
   *
   * @param lengths how many of each, I32 {@code [s]}
   * @param rows room for all
   */
  public static Ragged unpad(Tensor padded, Tensor lengths, int rows) {
    return RaggedPadding.unpad(padded, lengths, rows);
  }

  /** Adds to each row that of {@code padded}, {@code [s, length, ...]}, at its place. */
  public Ragged add(Tensor padded) {
    return with(values.add(RaggedPadding.unpadded(this, padded)));
  }

  /** Multiplies each row by that of {@code padded}, {@code [s, length, ...]}, at its place. */
  public Ragged mul(Tensor padded) {
    return with(values.mul(RaggedPadding.unpadded(this, padded)));
  }

  /**
   * The rows of each sequence, values {@code [n, d]}, times its matrix of {@code dense}, {@code [s,
   * d, e]}.
   *
   * @param longest rows of the longest sequence, or more
   */
  public Ragged matmul(Tensor dense, int longest) {
    return RaggedPadding.matmul(this, dense, longest);
  }

  /**
   * Sums of the rows of each sequence, values {@code [n, d]}, times the numbers at their places:
   * {@code [s, d]}.
   *
   * @param factors {@code [s, length]}, no shorter than the longest sequence
   */
  public Tensor weightedSum(Tensor factors) {
    return RaggedPadding.weightedSum(this, factors);
  }

  /**
   * For each sequence the matrix product of its columns with those of {@code other}: values {@code
   * [n, d]} and {@code [n, e]} of the same sequences, {@code [s, d, e]}.
   *
   * @param longest rows of the longest sequence, or more
   */
  public Tensor products(Ragged other, int longest) {
    return RaggedPadding.products(this, other, longest);
  }

  /**
   * Outermost sequences with all in them, in any order and as often as wanted, in as much room as
   * there is.
   *
   * @param index which, I32 or I64 of one dimension; -1 stands for an empty one
   */
  public Ragged take(Tensor index) {
    return RaggedMoves.take(List.of(this), index, room());
  }

  /**
   * {@link #take(Tensor)} with other room.
   *
   * @param room for sequences of each level below the outermost, then for rows
   */
  public Ragged take(Tensor index, int... room) {
    return RaggedMoves.take(List.of(this), index, room);
  }

  /**
   * Each outermost sequence as often as {@code counts} says, one after the other. With {@code
   * other.lengths(k)} as counts, and {@code other.sequences(k + 1)}, it is repeated for each
   * element of a sequence of {@code other}.
   *
   * @param counts I32, one for each outermost sequence
   * @param sequences room for all of them
   * @param room for sequences of each level below the outermost, then for rows
   */
  public Ragged repeat(Tensor counts, int sequences, int... room) {
    return RaggedMoves.repeat(this, counts, sequences, room);
  }

  /** Joins sequence {@code i} of each of {@code parts}, for all outermost sequences. */
  public static Ragged concat(List<Ragged> parts) {
    return RaggedMoves.concat(parts);
  }

  /** All outermost sequences of the first of {@code parts}, then those of the next. */
  public static Ragged merge(List<Ragged> parts) {
    return RaggedMoves.merge(parts);
  }

  /** The opposite of {@link #merge}: so many outermost sequences each. */
  public List<Ragged> split(int... sizes) {
    return RaggedMoves.split(this, sizes);
  }

  /** Room for elements below a level, sequences or rows; a negative one counts from the last. */
  private int below(int level) {
    return level == -1 || level == depth() - 1 ? rows() : sequences(level + 1);
  }

  /** Room for sequences of each level below the outermost, then for rows. */
  int[] room() {
    int[] room = new int[depth()];
    for (int level = 1; level < depth(); level++) {
      room[level - 1] = sequences(level);
    }
    room[depth() - 1] = rows();
    return room;
  }

  /**
   * Computes the offsets: the levels in use, without room to spare.
   *
   * @throws IllegalArgumentException where they are none, or point past the room below them
   */
  public Levels levels() {
    int[][] used = new int[depth()][];
    int sequences = sequences(0);
    for (int level = 0; level < depth(); level++) {
      int[] all = Arrays.stream(offsets(level).toLongs()).mapToInt(Math::toIntExact).toArray();
      String op = "levels, level " + level;
      IndexRules.check(op, MemorySegment.ofArray(all), all.length, below(level));
      used[level] = Arrays.copyOf(all, sequences + 1);
      sequences = all[sequences];
    }
    return Levels.ofOffsets(used);
  }

  /** Computes the rows that are in sequences and copies them out. */
  public float[] toArray() {
    int width = values.shape().elements() / Math.max(1, rows());
    return Arrays.copyOf(values.toArray(), levels().rows() * width);
  }

  /** The offsets of the last level. */
  Node lastNode() {
    return offsets(-1).node();
  }

  /** Rows of {@code from} at {@code index}; zeros at -1. */
  static Tensor picked(Tensor from, Tensor index) {
    return new Tensor(Nodes.gather(from.node(), index.node(), true));
  }

  /** The offsets with others of the last level. */
  List<Tensor> withLast(Tensor last) {
    List<Tensor> changed = new ArrayList<>(offsets);
    changed.set(depth() - 1, last);
    return changed;
  }

  /** Rows at {@code index}, I32, in sequences with other offsets. */
  Ragged moved(Tensor index, Tensor last) {
    return new Ragged(
        picked(values, index), withLast(last), weights.map(each -> picked(each, index)));
  }

  @Override
  public String toString() {
    List<Integer> sequences = new ArrayList<>();
    offsets.forEach(level -> sequences.add(level.shape().size(0) - 1));
    return "Ragged %s of sequences %s%s"
        .formatted(values, sequences, weights.isPresent() ? ", weighted" : "");
  }
}
