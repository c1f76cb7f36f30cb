package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each op on sequences of one level beside plain loops over lists of lists of rows. */
final class RaggedOpsTest {
  /** Sequences as lists of rows. */
  private static final class Lists extends ArrayList<List<float[]>> {
    private static final long serialVersionUID = 1L;

    final int width;

    Lists(int width) {
      this.width = width;
    }

    Lists map(Function<List<float[]>, List<float[]>> each) {
      Lists result = new Lists(width);
      forEach(sequence -> result.add(each.apply(sequence)));
      return result;
    }

    /** One row for each sequence. */
    Lists rows(Function<List<float[]>, float[]> each) {
      return map(sequence -> List.of(each.apply(sequence)));
    }
  }

  /** What an op gives: a {@link Ragged}, or a {@link Tensor} with a row for each sequence. */
  record Op(String name, Function<Ragged, Object> ragged, Function<Lists, Lists> plain) {
    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * Sequences.
   *
   * @param spare rows and sequences without use
   */
  record Case(String name, int[] lengths, int width, int spare) {
    @Override
    public String toString() {
      return name + " of rows of " + width + (spare > 0 ? " and spare room" : "");
    }

    int rows() {
      return Arrays.stream(lengths).sum();
    }

    Lists lists() {
      float[] values = numbers();
      Lists lists = new Lists(width);
      int at = 0;
      for (int length : Arrays.copyOf(lengths, lengths.length + spare)) {
        List<float[]> sequence = new ArrayList<>();
        for (int i = 0; i < length; i++, at += width) {
          sequence.add(Arrays.copyOfRange(values, at, at + width));
        }
        lists.add(sequence);
      }
      return lists;
    }

    /** Few distinct ones, so that some are equal. */
    float[] numbers() {
      Random random = new Random(31 + rows());
      float[] numbers = new float[rows() * width];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = random.nextInt(-40, 41) / 16f;
      }
      return numbers;
    }

    /** What nothing may read is not a number. */
    Ragged ragged() {
      float[] values = Arrays.copyOf(numbers(), (rows() + spare) * width);
      Arrays.fill(values, rows() * width, values.length, Float.NaN);
      return of(Tensor.of(Shape.of(rows() + spare, width), values));
    }

    Ragged of(Tensor values) {
      int[] offsets = new int[lengths.length + spare + 1];
      for (int i = 1; i < offsets.length; i++) {
        offsets[i] = offsets[i - 1] + (i <= lengths.length ? lengths[i - 1] : 0);
      }
      return Ragged.of(values, Tensor.ofInts(Shape.of(offsets.length), offsets));
    }
  }

  private static int[] random(int seed, int count, int most) {
    return new Random(seed).ints(count, 0, most + 1).toArray();
  }

  static final List<Case> CASES =
      Stream.of(0, 3)
          .flatMap(spare ->
              Stream.of(
                  new Case("no sequences", new int[0], 3, spare),
                  new Case("empty sequences", new int[5], 3, spare),
                  new Case("one sequence", new int[] {6}, 4, spare),
                  new Case("one row", new int[] {1}, 1, spare),
                  new Case("empty ends", new int[] {0, 0, 3, 1, 0, 2, 0}, 5, spare),
                  new Case("sequences", random(1, 40, 9), 8, spare),
                  new Case("sequences", random(2, 70, 3), 17, spare),
                  new Case("long sequences", random(3, 5, 70), 1, spare),
                  new Case("long sequences", new int[] {63, 64, 65, 0, 16, 15, 17}, 2, spare)))
          .toList();

  static final List<Op> OPS =
      List.of(
          new Op("sum", x -> x.pool(SequencePooling.SUM), x -> x.rows(s -> pooled(s, x, n -> 1))),
          new Op("mean", x -> x.pool(SequencePooling.MEAN), x -> x.rows(s -> pooled(s, x, n -> n))),
          new Op(
              "sqrt",
              x -> x.pool(SequencePooling.SQRT),
              x -> x.rows(s -> pooled(s, x, Math::sqrt))),
          new Op("max", x -> x.pool(SequencePooling.MAX, -9), x -> x.rows(s -> most(s, x, -9))),
          new Op("first", x -> x.pool(SequencePooling.FIRST, 7), x -> x.rows(s -> at(s, x, 0, 7))),
          new Op(
              "last",
              x -> x.pool(SequencePooling.LAST),
              x -> x.rows(s -> at(s, x, s.size() - 1, 0))),
          new Op(
              "mean of none",
              x -> x.pool(SequencePooling.MEAN, 5),
              x -> x.rows(s -> s.isEmpty() ? filled(x, 5) : pooled(s, x, n -> n))),
          new Op("top means", x -> x.topMeans(1, 3), x -> x.rows(s -> topMeans(s, x, 1, 3))),
          new Op("softmax", x -> x.softmax(), x -> x.map(s -> softmax(s, x))),
          new Op(
              "expand",
              x -> x.expand(x.pool(SequencePooling.MAX)),
              x -> x.map(s -> expanded(s, x))),
          new Op("reverse", Ragged::reverse, x -> x.map(s -> s.reversed())),
          new Op("truncate", x -> x.truncate(2), x -> x.map(s -> head(s, 2))),
          new Op(
              "slice",
              x -> x.slice(halves(x, 1), halves(x, 0)),
              x -> x.map(s -> s.subList((s.size() + 1) / 2, s.size()))),
          new Op(
              "keep",
              x -> x.keep(x.values().slice(1, 0, 1).gt(Tensor.scalar(0)).reshape(x.rows())),
              x -> x.map(s -> s.stream().filter(row -> row[0] > 0).toList())),
          new Op(
              "erase",
              x -> x.erase(ids(x.rows()), 2, 5, Long.MIN_VALUE),
              x -> numbered(x, (row, id) -> id != 2 && id != 5 ? row : null)),
          new Op(
              "gru", x -> gates(x).gru(recurrent(width(x))), x -> x.map(s -> states(s, x, false))),
          new Op(
              "weighted gru",
              x -> gates(x).weighted(firsts(x).tanh().square()).gru(recurrent(width(x))),
              x -> x.map(s -> states(s, x, true))),
          new Op("windows", x -> x.enumerate(3, 4), x -> x.map(s -> windows(s, x, 3, 4))),
          new Op("reshape", x -> x.reshape(1), x -> x.map(RaggedOpsTest::singles)),
          new Op("pad", x -> x.pad(70, 3), x -> x.rows(s -> flat(padded(s, x, 70, 3)))),
          new Op("mask", x -> x.mask(4), x -> x.rows(s -> marks(s.size(), 4))),
          new Op("unpad", x -> Ragged.unpad(x.pad(70, 3), x.lengths(), x.rows()), x -> x),
          new Op("add", x -> x.add(places(x)), x -> x.map(s -> placed(s, (v, i) -> v + i))),
          new Op("mul", x -> x.mul(places(x)), x -> x.map(s -> placed(s, (v, i) -> v * i))),
          new Op(
              "weighted sum",
              x -> x.weightedSum(places(x).reshape(x.sequences(), 70)),
              x -> x.rows(s -> pooled(placed(s, (v, i) -> v * i), x, n -> 1))),
          new Op(
              "products",
              x -> x.products(x.reverse(), 70),
              x -> x.rows(s -> products(s, s.reversed(), x))),
          new Op(
              "matmul",
              x -> x.matmul(Tensor.full(Shape.of(x.sequences(), width(x), 2), 0.5f), 70),
              x -> x.map(s -> s.stream().map(row -> halfSums(row)).toList())),
          new Op(
              "scatter",
              x ->
                  x.with(x.values().slice(1, 0, 1).reshape(-1)).scatter(ones(x), columns(x.rows())),
              RaggedOpsTest::scattered),
          new Op(
              "concat", x -> Ragged.concat(List.of(x, x.reverse(), x)), x -> x.map(s -> thrice(s))),
          new Op(
              "merge",
              x -> Ragged.merge(List.of(x, x.reverse())),
              x -> joined(x, x.map(List::reversed))),
          new Op(
              "split",
              x ->
                  Ragged.merge(
                      x.split(x.sequences() / 3, x.sequences() - x.sequences() / 3).reversed()),
              x -> turned(x, x.size() / 3)),
          new Op(
              "take",
              x -> x.take(Tensor.ofLongs(Shape.of(3), last(x), -1, last(x)), 2 * x.rows()),
              x -> taken(x)),
          new Op(
              "repeat",
              x -> x.repeat(counts(x), 3 * x.sequences(), 3 * x.rows()),
              x -> repeated(x)));

  private static int width(Ragged x) {
    return x.values().shape().size(1);
  }

  private static int width(Lists x) {
    return x.width;
  }

  private static float[] filled(Lists x, float value) {
    float[] row = new float[width(x)];
    Arrays.fill(row, value);
    return row;
  }

  private static float[] pooled(List<float[]> s, Lists x, Function<Integer, Number> divisor) {
    double[] sums = new double[width(x)];
    s.forEach(row -> Arrays.setAll(sums, i -> sums[i] + row[i]));
    double by = s.isEmpty() ? 1 : divisor.apply(s.size()).doubleValue();
    return floats(Arrays.stream(sums).map(sum -> sum / by).toArray());
  }

  private static float[] floats(double[] values) {
    float[] result = new float[values.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = (float) values[i];
    }
    return result;
  }

  private static float[] most(List<float[]> s, Lists x, float empty) {
    float[] result = filled(x, s.isEmpty() ? empty : Float.NEGATIVE_INFINITY);
    for (float[] row : s) {
      for (int i = 0; i < row.length; i++) {
        result[i] = Math.max(result[i], row[i]);
      }
    }
    return result;
  }

  private static float[] at(List<float[]> s, Lists x, int place, float empty) {
    return s.isEmpty() ? filled(x, empty) : s.get(place);
  }

  private static float[] topMeans(List<float[]> s, Lists x, int... ks) {
    List<float[]> means = new ArrayList<>();
    for (int k : ks) {
      float[] row = new float[width(x)];
      for (int i = 0; i < row.length; i++) {
        int column = i;
        double sum =
            s.stream()
                .map(r -> r[column])
                .sorted(Comparator.reverseOrder())
                .limit(k)
                .mapToDouble(v -> v)
                .sum();
        row[i] = (float) (sum / k);
      }
      means.add(row);
    }
    return flat(means);
  }

  private static float[] flat(List<float[]> rows) {
    float[] all = new float[rows.stream().mapToInt(row -> row.length).sum()];
    int at = 0;
    for (float[] row : rows) {
      System.arraycopy(row, 0, all, at, row.length);
      at += row.length;
    }
    return all;
  }

  private static List<float[]> softmax(List<float[]> s, Lists x) {
    double[] sums = new double[width(x)];
    s.forEach(row -> Arrays.setAll(sums, i -> sums[i] + Math.exp(row[i])));
    return s.stream()
        .map(row ->
            floats(
                IntStream.range(0, row.length)
                    .mapToDouble(i -> Math.exp(row[i]) / sums[i])
                    .toArray()))
        .toList();
  }

  /** Each row three times, as what it gives to a unit of its width. */
  private static Ragged gates(Ragged x) {
    return x.with(Tensor.concat(1, List.of(x.values(), x.values().mul(0.5f), x.values().neg())));
  }

  private static Tensor firsts(Ragged x) {
    return x.values().slice(1, 0, 1).reshape(x.rows());
  }

  private static Tensor recurrent(int width) {
    return TensorTest.random(41, width, 3 * width).mul(0.25f);
  }

  private static List<float[]> states(List<float[]> s, Lists x, boolean weighted) {
    double[][] gates = new double[s.size()][];
    double[] factors = new double[s.size()];
    for (int i = 0; i < gates.length; i++) {
      float[] row = s.get(i);
      int width = row.length;
      gates[i] = new double[3 * width];
      Arrays.setAll(gates[i], k -> row[k % width] * (k < width ? 1 : k < 2 * width ? 0.5 : -1));
      factors[i] = weighted ? Math.pow(Math.tanh(row[0]), 2) : 1;
    }
    float[] weights = recurrent(width(x)).toArray();
    double[] u = IntStream.range(0, weights.length).mapToDouble(i -> weights[i]).toArray();
    return Arrays.stream(PlainStates.of(gates, factors, u)).map(RaggedOpsTest::floats).toList();
  }

  private static List<float[]> expanded(List<float[]> s, Lists x) {
    return Collections.nCopies(s.size(), most(s, x, 0));
  }

  private static List<float[]> head(List<float[]> s, int most) {
    return s.subList(0, Math.min(most, s.size()));
  }

  /** The lengths halved, rounded up or down. */
  private static Tensor halves(Ragged x, int up) {
    int[] lengths = x.levels().lengths(0);
    return Tensor.ofInts(
        Shape.of(lengths.length), Arrays.stream(lengths).map(n -> (n + up) / 2).toArray());
  }

  private static Tensor ids(int rows) {
    return Tensor.ofLongs(Shape.of(rows), IntStream.range(0, rows).mapToLong(i -> i % 7).toArray());
  }

  private interface Numbered {
    float[] apply(float[] row, int id);
  }

  private static Lists numbered(Lists x, Numbered function) {
    Lists result = new Lists(0);
    int at = 0;
    for (List<float[]> sequence : x) {
      List<float[]> kept = new ArrayList<>();
      for (float[] row : sequence) {
        float[] next = function.apply(row, at++ % 7);
        if (next != null) {
          kept.add(next);
        }
      }
      result.add(kept);
    }
    return result;
  }

  private static List<float[]> windows(List<float[]> s, Lists x, int width, float pad) {
    List<float[]> result = new ArrayList<>();
    for (int i = 0; i < s.size(); i++) {
      result.add(flat(padded(s.subList(i, Math.min(s.size(), i + width)), x, width, pad)));
    }
    return result;
  }

  private static List<float[]> padded(List<float[]> s, Lists x, int length, float pad) {
    List<float[]> result = new ArrayList<>(s);
    while (result.size() < length) {
      result.add(filled(x, pad));
    }
    return result;
  }

  private static List<float[]> singles(List<float[]> s) {
    List<float[]> result = new ArrayList<>();
    for (float[] row : s) {
      for (float value : row) {
        result.add(new float[] {value});
      }
    }
    return result;
  }

  private static float[] marks(int length, int most) {
    float[] marks = new float[most];
    Arrays.fill(marks, 0, Math.min(length, most), 1);
    return marks;
  }

  /** The place in its sequence, for each of 70. */
  private static Tensor places(Ragged x) {
    float[] places = new float[70 * x.sequences()];
    for (int i = 0; i < places.length; i++) {
      places[i] = i % 70;
    }
    return Tensor.of(Shape.of(x.sequences(), 70, 1), places);
  }

  private interface Placed {
    float apply(float value, int place);
  }

  private static List<float[]> placed(List<float[]> s, Placed function) {
    List<float[]> result = new ArrayList<>();
    for (int i = 0; i < s.size(); i++) {
      float[] row = s.get(i).clone();
      for (int j = 0; j < row.length; j++) {
        row[j] = function.apply(row[j], i);
      }
      result.add(row);
    }
    return result;
  }

  private static float[] products(List<float[]> a, List<float[]> b, Lists x) {
    int width = width(x);
    double[] sums = new double[width * width];
    for (int r = 0; r < a.size(); r++) {
      for (int i = 0; i < sums.length; i++) {
        sums[i] += a.get(r)[i / width] * b.get(r)[i % width];
      }
    }
    return floats(sums);
  }

  private static float[] halfSums(float[] row) {
    double sum = 0;
    for (float value : row) {
      sum += 0.5 * value;
    }
    return new float[] {(float) sum, (float) sum};
  }

  private static Tensor ones(Ragged x) {
    return Tensor.full(Shape.of(x.sequences(), 7), 1);
  }

  private static Tensor columns(int rows) {
    return ids(rows).cast(DType.I32);
  }

  private static Lists scattered(Lists x) {
    Lists result = new Lists(0);
    int at = 0;
    for (List<float[]> sequence : x) {
      float[] row = new float[7];
      Arrays.fill(row, 1);
      for (float[] added : sequence) {
        row[at++ % 7] += added[0];
      }
      result.add(List.of(row));
    }
    return result;
  }

  private static List<float[]> thrice(List<float[]> s) {
    List<float[]> result = new ArrayList<>(s);
    result.addAll(s.reversed());
    result.addAll(s);
    return result;
  }

  private static Lists joined(Lists a, Lists b) {
    Lists result = new Lists(0);
    result.addAll(a);
    result.addAll(b);
    return result;
  }

  private static Lists turned(Lists x, int at) {
    Lists result = new Lists(0);
    result.addAll(x.subList(at, x.size()));
    result.addAll(x.subList(0, at));
    return result;
  }

  private static int last(Ragged x) {
    return x.sequences() - 1;
  }

  private static Lists taken(Lists x) {
    Lists result = new Lists(0);
    List<float[]> last = x.isEmpty() ? List.of() : x.getLast();
    result.addAll(List.of(last, List.of(), last));
    return result;
  }

  private static Tensor counts(Ragged x) {
    int s = x.sequences();
    return Tensor.ofInts(Shape.of(s), IntStream.range(0, s).map(i -> i % 4).toArray());
  }

  private static Lists repeated(Lists x) {
    Lists result = new Lists(0);
    for (int i = 0; i < x.size(); i++) {
      for (int j = 0; j < i % 4; j++) {
        result.add(x.get(i));
      }
    }
    while (result.size() < 3 * x.size()) {
      result.add(List.of());
    }
    return result;
  }

  static Stream<Arguments> all() {
    return OPS.stream().flatMap(op -> CASES.stream().map(c -> Arguments.of(op, c)));
  }

  @ParameterizedTest
  @MethodSource("all")
  void givesWhatLoopsOverListsGive(Op op, Case sequences) {
    Lists expected = op.plain.apply(sequences.lists());
    Object result = op.ragged.apply(sequences.ragged());
    float[] numbers =
        switch (result) {
          case Ragged ragged -> {
            assertThat(ragged.levels().lengths(0))
                .containsExactly(expected.stream().mapToInt(List::size).toArray());
            yield ragged.toArray();
          }
          case Tensor tensor -> tensor.toArray();
          default -> throw new AssertionError(result);
        };
    List<float[]> rows = new ArrayList<>();
    expected.forEach(rows::addAll);
    assertThat(numbers).containsExactly(flat(rows), within(2e-4f));
  }

  /** Ops through which the gradient of their values goes. */
  static Stream<Op> differentiable() {
    return OPS.stream().filter(op -> !op.name.equals("mask"));
  }

  @ParameterizedTest
  @MethodSource("differentiable")
  void gradientsAgreeWithFiniteDifferences(Op op) {
    Case sequences = new Case("", new int[] {0, 3, 1, 0, 2}, 3, 2);
    Function<Tensor, Tensor> function =
        values -> {
          Ragged x = sequences.of(values);
          // Marks do not depend on the values that are differentiated.
          Object result = op.name.equals("keep") ? x.keep(evenRows(x.rows())) : op.ragged.apply(x);
          return pooled(result);
        };
    TensorTest.checkGradient(function, TensorTest.random(21, 8, 3), 8, 3);
  }

  /**
   * One row for each sequence, as room to spare is no result. The sum alone would not tell the
   * order of rows, and that of a softmax is always 1.
   */
  private static Tensor pooled(Object result) {
    return switch (result) {
      case Ragged x -> {
        Tensor factors = TensorTest.random(23, x.values().shape().toArray());
        yield x.with(x.values().mul(factors)).pool(SequencePooling.SUM);
      }
      case Tensor tensor -> tensor;
      default -> throw new AssertionError(result);
    };
  }

  private static Tensor evenRows(int rows) {
    return ids(rows).cast(DType.F32).lt(Tensor.scalar(3));
  }

  @ParameterizedTest
  @FieldSource("OPS")
  void aSessionGivesTheSameBits(Op op) {
    try (Device device = Device.cpu(1, 64 << 20);
        Session session = device.session(32 << 20)) {
      Object result = op.ragged.apply(new Case("", new int[] {0, 3, 1, 0, 2}, 3, 2).ragged());
      Tensor values = pooled(result);
      assertThat(session.get(values)).containsExactly(values.toArray());
    }
  }
}
