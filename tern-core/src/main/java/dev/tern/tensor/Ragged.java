package dev.tern.tensor;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.internal.ir.IndexRules;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Recurrence;
import dev.tern.internal.ir.Sequences;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A batch of sequences of different lengths. All rows lie in one tensor, one sequence after the
 * other; offsets say where each sequence starts. Several levels of offsets nest sequences, the
 * outermost first, see {@link Levels}. Rows may have weights. Immutable. Methods record ops with
 * gradients, like the methods of {@link Tensor}.
 *
 * <p>Offsets are tensors, so one {@link Computation} serves batches of any lengths. Values {@code
 * [n, ...]} and offsets {@code [s + 1]} are room for the largest batch; a batch may use less, as
 * {@link RaggedVariable} fills it. Rows after the last offset belong to no sequence. No result
 * depends on them, they get no gradient, and ops that move rows leave zeros there. Sequences that
 * are not used are empty and end their level: the last offset repeats.
 *
 * <p>Elementwise ops compute on unused rows too. Their slopes must be finite there, as the gradient
 * of a weight sums over all rows and 0 times infinity is NaN. Most unused rows are zeros. So call
 * {@link #filled} before a root, a logarithm or a quotient, whose slopes at 0 are infinite.
 *
 * <pre>{@code
 * Tensor rows = Tensor.of(Shape.of(5, 1), 1, 2, 3, 4, 5);
 * Ragged x = Ragged.of(rows, Levels.ofLengths(new int[] {2, 0, 3}));
 * x.pool(SequencePooling.MEAN).toArray(); // 1.5, 0, 4
 * x.reverse().toArray(); // 2, 1, 5, 4, 3
 * }</pre>
 *
 * <p>Unless it says otherwise, an op works on the sequences of the last level and keeps the levels
 * above. Checks that depend on values happen when the values are computed.
 *
 * <p>Most of PaddlePaddle's {@code sequence_} ops have the same names here. Others: expand is
 * {@link #repeat}, expand_as {@link #expand}, topk_avg_pooling {@link #topMeans}, lod_reset {@link
 * #reset}. FBGEMM's {@code jagged_} ops: to_padded_dense is {@link #pad}, dense_to_jagged {@link
 * #unpad}, index_select {@link #take}, dense_elementwise {@link #add} and {@link #mul}, dense_bmm
 * {@link #matmul}, dense_vec_2d_mul {@link #weightedSum}, jagged_bmm {@link #products}.
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
      Tensor of = offsets.get(level);
      if (of.type() != DType.I32 || of.shape().rank() != 1 || of.shape().size(0) < 1) {
        throw new IllegalArgumentException(
            "ragged: got %s as offsets of level %d, expected I32 [sequences + 1]"
                .formatted(of, level));
      }
    }
  }

  /** Sequences of all rows of {@code values}, which must be {@code [levels.rows(), ...]}. */
  public static Ragged of(Tensor values, Levels levels) {
    Shape shape = values.shape();
    if (shape.rank() < 1 || shape.size(0) != levels.rows()) {
      throw new IllegalArgumentException(
          "ragged: got values %s, expected %d rows, the last offset of level %d; give all rows"
              .formatted(shape, levels.rows(), levels.depth() - 1));
    }
    List<Tensor> offsets = new ArrayList<>();
    for (int level = 0; level < levels.depth(); level++) {
      int[] of = levels.offsets(level);
      offsets.add(Tensor.ofInts(Shape.of(of.length), of));
    }
    return new Ragged(values, offsets, Optional.empty());
  }

  /**
   * Sequences by computed offsets, I32 {@code [sequences + 1]} for each level, the outermost first.
   * Each use checks them.
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

  /** 1 for each row of a sequence, 0 for an unused row; BOOL {@code [n]}. */
  public Tensor present() {
    return isRow(sequenceIds());
  }

  /** 1 where the index is not -1. */
  private static Tensor isRow(Tensor index) {
    return index.cast(DType.F32).ge(Tensor.scalar(0));
  }

  /** The sequence of the last level that each row is in, I32 {@code [n]}; -1 for none. */
  public Tensor sequenceIds() {
    return index(Rule.SEQUENCES);
  }

  /** The place of each row in its sequence, from 0, I32 {@code [n]}; -1 for none. */
  public Tensor positions() {
    return index(Rule.POSITIONS);
  }

  private Tensor index(Rule rule) {
    return new Tensor(Sequences.rows(rule, lastNode(), rows()));
  }

  /** The same sequences and weights with other values, {@code [n, ...]}. */
  public Ragged with(Tensor others) {
    if (others.shape().rank() < 1 || others.shape().size(0) != rows()) {
      throw new IllegalArgumentException(
          "with: got values %s, expected %d rows; change offsets with reset"
              .formatted(others.shape(), rows()));
    }
    return new Ragged(others, offsets, weights);
  }

  /** The same rows, values F32, and {@code value} in all unused rows. */
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
    return new Ragged(other.with(values).values, other.offsets, weights);
  }

  /**
   * One level less: {@code rows}, {@code [s, ...]}, take the place of the sequences of the last
   * level in the levels above.
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
   * One row for each sequence, {@code [s, ...]}; {@code empty} for an empty one. SUM, MEAN and SQRT
   * use weights; a divisor of 0 counts as 1. In MAX, equal largest numbers share the gradient.
   */
  public Tensor pool(SequencePooling kind, float empty) {
    return RaggedPooling.pool(this, kind, empty);
  }

  /**
   * For each k of {@code ks}, sequence and column: the sum of the k largest numbers, divided by k.
   * Values {@code [n, w]} become {@code [s, ks, w]}. Numbers that a sequence lacks count as 0.
   */
  public Tensor topMeans(int... ks) {
    return RaggedPooling.topMeans(this, ks);
  }

  /** {@code exp(x) / sum(exp(x))} over the rows of each sequence, column by column. */
  public Ragged softmax() {
    return RaggedPooling.softmax(this);
  }

  /**
   * The states of a gated recurrent unit after each row (Cho et al. 2014), values {@code [n, h]}.
   * Values of this, {@code [n, 3 h]}, are what rows give to the update, the reset and the
   * candidate, side by side. From the state {@code p} before, zeros at first, comes
   *
   * <pre>
   * [su; sr; sc] = p U
   * u = a sigmoid(xu + su),   r = sigmoid(xr + sr),   c = tanh(xc + r * sc)
   * h = (1 - u) * p + u * c
   * </pre>
   *
   * where {@code a} is the weight of the row, 1 without weights.
   *
   * @param recurrent U, {@code [h, 3 h]}
   */
  public Ragged gru(Tensor recurrent) {
    Tensor factors = weights.orElseGet(() -> Tensor.full(Shape.of(rows()), 1));
    Node states = Recurrence.states(values.node(), factors.node(), recurrent.node(), lastNode());
    return new Ragged(new Tensor(states), offsets, Optional.empty());
  }

  /** Row {@code i} of {@code x}, {@code [s, ...]}, for each row of sequence {@code i}. */
  public Ragged expand(Tensor x) {
    return new Ragged(spread(x), offsets, weights);
  }

  /** The values of {@link #expand}; zeros in unused rows. */
  Tensor spread(Tensor x) {
    if (x.shape().rank() < 1 || x.shape().size(0) != sequences()) {
      throw new IllegalArgumentException(
          "expand: got %s, expected a row for each of %d sequences"
              .formatted(x.shape(), sequences()));
    }
    return picked(x, sequenceIds());
  }

  /** The rows of each sequence in the opposite order. */
  public Ragged reverse() {
    return moved(index(Rule.MIRROR), offsets(-1));
  }

  /** Rows {@code from} to {@code from + length - 1} of each sequence; both are I32 {@code [s]}. */
  public Ragged slice(Tensor from, Tensor length) {
    Node starts = Sequences.starts(lastNode(), rows(), from.node(), length.node());
    Tensor parts = new Tensor(Sequences.offsets(length.node()));
    return moved(new Tensor(Sequences.ranges(starts, parts.node(), rows())), parts);
  }

  /** At most the first {@code most} rows of each sequence. */
  public Ragged truncate(int most) {
    return keep(positions().cast(DType.F32).lt(Tensor.scalar(most)));
  }

  /** The rows with nonzero {@code marks}, {@code [n]} of any type but the half ones. */
  public Ragged keep(Tensor marks) {
    requireOneEach("keep", marks);
    Tensor lengths = new Tensor(Sequences.keptLengths(marks.node(), lastNode()));
    Tensor kept = new Tensor(Sequences.kept(marks.node(), lastNode()));
    return moved(kept, new Tensor(Sequences.offsets(lengths.node())));
  }

  /** The rows whose id in {@code of}, I32 or I64 {@code [n]}, is none of {@code ids}. */
  public Ragged erase(Tensor of, long... ids) {
    requireOneEach("erase", of);
    Tensor erased = Tensor.ofLongs(Shape.of(ids.length), ids);
    return keep(new Tensor(Sequences.notAmong(of.node(), erased.node())));
  }

  /**
   * Each row and the {@code width - 1} rows that follow it in its sequence, {@code [n, width,
   * ...]}.
   *
   * @param pad takes the place of rows after the end; a whole number if values are whole
   */
  public Ragged enumerate(int width, float pad) {
    // A row behind the last stands for the end of a sequence.
    Tensor end = Tensor.full(values.shape().withSize(0, 1), pad).cast(values.type());
    Tensor ended = Tensor.concat(0, List.of(values, end));
    return with(ended.gather(new Tensor(Sequences.windows(lastNode(), rows(), width))));
  }

  /**
   * The numbers of each sequence in rows of {@code width}: values {@code [n, w]} become {@code [n w
   * / width, width]}. The numbers of each sequence must fill whole rows.
   */
  public Ragged reshape(int width) {
    Shape shape = values.shape();
    if (shape.rank() != 2 || width < 1 || weights.isPresent()) {
      throw new IllegalArgumentException(
          "reshape: got values %s to rows of %d%s, expected [n, w] without weights"
              .formatted(shape, width, weights.isPresent() ? " with weights" : ""));
    }
    if (shape.elements() % width != 0) {
      throw new IllegalArgumentException(
          "reshape: got room for %d rows of %d, expected a multiple of %d numbers; give other room"
              .formatted(rows(), shape.size(1), width));
    }
    Tensor scaled = new Tensor(Sequences.scale(lastNode(), shape.size(1), width));
    return new Ragged(
        values.reshape(shape.elements() / width, width), withLast(scaled), Optional.empty());
  }

  /**
   * Adds each value, F32 {@code [n]}, to {@code dense}, {@code [s, d]}: to the row of its sequence,
   * at its column in {@code columns}, I32 or I64 {@code [n]}.
   */
  public Tensor scatter(Tensor dense, Tensor columns) {
    requireOneEach("scatter", columns);
    if (dense.shape().rank() != 2 || dense.shape().size(0) != sequences()) {
      throw new IllegalArgumentException(
          "scatter: got %s, expected [%d, columns]".formatted(dense.shape(), sequences()));
    }
    Node cells = Sequences.cells(columns.node(), lastNode(), dense.shape().size(1));
    Node added = Nodes.scatterAdd(cells, values.node(), dense.shape().elements(), true);
    return dense.add(new Tensor(Nodes.reshape(added, dense.shape())));
  }

  private void requireOneEach(String op, Tensor given) {
    if (!given.shape().equals(Shape.of(rows()))) {
      throw new IllegalArgumentException(
          "%s: got %s, expected one element for each of %d rows".formatted(op, given, rows()));
    }
  }

  /** {@link #pad(int, Tensor)} with one number. */
  public Tensor pad(int length, float value) {
    return pad(length, Tensor.scalar(value));
  }

  /**
   * Sequences of one length, {@code [s, length, ...]}. A longer sequence is an error; see {@link
   * Levels#longest}.
   *
   * @param value takes the place of rows after the end of a sequence; is broadcast
   */
  public Tensor pad(int length, Tensor value) {
    Tensor index = padded(Rule.ALL, length);
    Tensor rows = picked(values, index);
    return RaggedPooling.column(isRow(index), rows.shape().rank()).select(rows, value);
  }

  /** 1 where a sequence has a row, 0 after its end; BOOL {@code [s, length]}. */
  public Tensor mask(int length) {
    return isRow(padded(Rule.HEADS, length));
  }

  private Tensor padded(Rule rule, int length) {
    return new Tensor(Sequences.ends(rule, lastNode(), rows(), length));
  }

  /** The opposite of {@link #pad}: rows of {@code padded}, {@code [s, length, ...]}. */
  public Ragged unpad(Tensor padded) {
    return with(unpadded(padded));
  }

  /**
   * The first rows of each sequence of {@code padded}, F32 {@code [s, length, ...]}: as many as
   * {@code lengths}, I32 {@code [s]}, says. {@code rows} is room for all of them.
   */
  public static Ragged unpad(Tensor padded, Tensor lengths, int rows) {
    Tensor offsets = new Tensor(Sequences.offsets(lengths.node()));
    return of(Tensor.zeros(Shape.of(rows)), offsets).unpad(padded);
  }

  /** Adds to each row the row at its place in {@code padded}, {@code [s, length, ...]}. */
  public Ragged add(Tensor padded) {
    return with(values.add(unpadded(padded)));
  }

  /** Multiplies each row by the row at its place in {@code padded}, {@code [s, length, ...]}. */
  public Ragged mul(Tensor padded) {
    return with(values.mul(unpadded(padded)));
  }

  /** The rows of {@code padded} at the places of these rows. */
  private Tensor unpadded(Tensor padded) {
    Shape shape = padded.shape();
    if (shape.rank() < 2 || shape.size(0) != sequences()) {
      throw new IllegalArgumentException(
          "unpad: got %s, expected [%d, length, ...]".formatted(shape, sequences()));
    }
    Tensor index = padded(Rule.ALL, shape.size(1));
    return new Tensor(Nodes.scatterAdd(index.node(), padded.node(), rows(), true));
  }

  /**
   * Multiplies the rows of each sequence, values {@code [n, d]}, by the matrix of the sequence in
   * {@code dense}, {@code [s, d, e]}. No sequence may be longer than {@code longest}.
   */
  public Ragged matmul(Tensor dense, int longest) {
    Shape shape = dense.shape();
    boolean fits = shape.rank() == 3 && values.shape().rank() == 2;
    if (!fits || shape.size(0) != sequences() || shape.size(1) != values.shape().size(1)) {
      throw new IllegalArgumentException(
          "matmul: got rows %s and %s, expected [n, d] and [%d, d, e]"
              .formatted(values.shape(), shape, sequences()));
    }
    return unpad(pad(longest, 0).matmul(dense));
  }

  /**
   * For each sequence the sum of its rows, values {@code [n, d]}, each times its factor in {@code
   * factors}, {@code [s, length]}. The result is {@code [s, d]}.
   */
  public Tensor weightedSum(Tensor factors) {
    if (factors.shape().rank() != 2) {
      throw new IllegalArgumentException(
          "weightedSum: got factors %s, expected [%d, length], one for each row"
              .formatted(factors.shape(), sequences()));
    }
    Tensor rows = unpadded(factors);
    Tensor column = RaggedPooling.column(rows, values.shape().rank());
    return unweighted().with(values.mul(column)).pool(SequencePooling.SUM);
  }

  /**
   * For each sequence the product of its transposed rows, values {@code [n, d]}, and its rows in
   * {@code other}, {@code [n, e]}: {@code [s, d, e]}. No sequence may be longer than {@code
   * longest}.
   */
  public Tensor products(Ragged other, int longest) {
    if (sequences() != other.sequences()) {
      throw new IllegalArgumentException(
          "products: got %d and %d sequences, expected the same"
              .formatted(sequences(), other.sequences()));
    }
    return pad(longest, 0).transpose(1, 2).matmul(other.pad(longest, 0));
  }

  /**
   * Picks outermost sequences with all that they hold; the result has as much room as this.
   *
   * @param index of the sequences, I32 or I64 of one dimension, in any order, also several times;
   *     -1 stands for an empty sequence
   */
  public Ragged take(Tensor index) {
    return RaggedMoves.take(List.of(this), index, room());
  }

  /** {@link #take(Tensor)} with room for sequences of each level below, then for rows. */
  public Ragged take(Tensor index, int... room) {
    return RaggedMoves.take(List.of(this), index, room);
  }

  /**
   * Repeats each outermost sequence as often as {@code counts} says. For example, with {@code
   * other.lengths(k)} as counts and {@code other.sequences(k + 1)} as sequences, there is one for
   * each element of the sequences of {@code other}.
   *
   * @param counts I32, one for each outermost sequence
   * @param sequences room for outermost sequences
   * @param room for sequences of each level below, then for rows
   */
  public Ragged repeat(Tensor counts, int sequences, int... room) {
    return RaggedMoves.repeat(this, counts, sequences, room);
  }

  /** Joins sequence {@code i} of each of {@code parts}, for all outermost sequences. */
  public static Ragged concat(List<Ragged> parts) {
    return RaggedMoves.concat(parts);
  }

  /** The outermost sequences of all {@code parts}, part after part. */
  public static Ragged merge(List<Ragged> parts) {
    return RaggedMoves.merge(parts);
  }

  /** The opposite of {@link #merge}; {@code sizes} are the outermost sequences of each part. */
  public List<Ragged> split(int... sizes) {
    return RaggedMoves.split(this, sizes);
  }

  /** Room for elements below a level, sequences or rows; a negative one counts from the last. */
  private int below(int level) {
    return level == -1 || level == depth() - 1 ? rows() : sequences(level + 1);
  }

  /** Room for sequences of each level below the outermost, then for rows. */
  int[] room() {
    return IntStream.range(0, depth()).map(this::below).toArray();
  }

  /**
   * Computes the offsets: the levels in use. Offsets that descend or exceed the room are errors.
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

  /** The offsets, with other ones for the last level. */
  private List<Tensor> withLast(Tensor last) {
    List<Tensor> changed = new ArrayList<>(offsets);
    changed.set(depth() - 1, last);
    return changed;
  }

  /** The rows at {@code index}, I32, with other offsets of the last level. */
  private Ragged moved(Tensor index, Tensor last) {
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
