package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sparse matrices, ragged tensors by key, and bags of all of them. */
final class SparseTest {
  private static final int COLUMNS = 7;

  private static SparseRows random(int rows) {
    Random random = new Random(rows);
    SparseRows sparse = new SparseRows();
    for (int row = 0; row < rows; row++) {
      sparse.newRow();
      for (int i = random.nextInt(5); i > 0; i--) {
        sparse.push(random.nextInt(COLUMNS), random.nextInt(-8, 9) / 4f);
      }
    }
    return sparse;
  }

  /** All of a matrix, row-major, by loops over what was pushed. */
  private static float[] dense(SparseRows rows) {
    float[] dense = new float[rows.rows() * COLUMNS];
    int[] offsets = rows.levels().offsets(0);
    for (int row = 0; row < rows.rows(); row++) {
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        dense[row * COLUMNS + (int) rows.columns()[i]] += rows.values()[i];
      }
    }
    return dense;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 16, 33})
  void productsAreThoseOfTheDenseMatrix(int count) {
    SparseRows rows = random(count);
    SparseTensor sparse = rows.toTensor(COLUMNS);
    Tensor dense = Tensor.of(Shape.of(count, COLUMNS), dense(rows));
    assertThat(sparse.shape()).isEqualTo(dense.shape());
    assertThat(sparse.toDense().toArray()).containsExactly(dense.toArray());
    Tensor x = TensorTest.random(3, COLUMNS, 4);
    assertThat(sparse.matmul(x).toArray())
        .containsExactly(dense.matmul(x).toArray(), within(1e-5f));
    Tensor y = TensorTest.random(3, count, 4);
    assertThat(sparse.transposedMatmul(y).toArray())
        .containsExactly(dense.transpose(0, 1).matmul(y).toArray(), within(1e-5f));
  }

  @Test
  void gradientsAgreeWithFiniteDifferences() {
    SparseTensor sparse = random(5).toTensor(COLUMNS);
    int count = sparse.columns().shape().size(0);
    Tensor x = TensorTest.random(3, COLUMNS, 4);
    Tensor y = TensorTest.random(4, 5, 4);
    TensorTest.checkGradient(v -> sparse.with(v).matmul(x), TensorTest.random(5, count), count);
    TensorTest.checkGradient(
        v -> sparse.with(v).transposedMatmul(y), TensorTest.random(5, count), count);
    TensorTest.checkGradient(v -> sparse.with(v).toDense(), TensorTest.random(5, count), count);
    TensorTest.checkGradient(v -> sparse.matmul(v), x, COLUMNS, 4);
    TensorTest.checkGradient(v -> sparse.transposedMatmul(v), y, 5, 4);
  }

  @Test
  void rowsAreWrittenOneAfterTheOther() {
    SparseRows rows = new SparseRows();
    assertThat(rows.levels().sequences(0)).isZero();
    assertThatThrownBy(() -> rows.push(1)).hasMessageContaining("expected newRow first");
    rows.newRow();
    rows.push(Long.MIN_VALUE);
    rows.newRow();
    rows.newRow();
    rows.push(6, 0.5f);
    rows.push(-1);
    assertThat(rows.rows()).isEqualTo(3);
    assertThat(rows.levels()).isEqualTo(Levels.ofLengths(new int[] {1, 0, 2}));
    assertThat(rows.columns()).containsExactly(Long.MIN_VALUE, 6, -1);
    assertThat(rows.values()).containsExactly(1, 0.5f, 1);
    assertThatThrownBy(() -> rows.toTensor(7))
        .hasMessageContaining("got column -9223372036854775808 in row 0, expected 0 to 6");
    rows.clear();
    assertThat(rows.count()).isZero();
    rows.newRow();
    rows.push(2);
    assertThat(rows.toTensor(3).toDense().toArray()).containsExactly(0, 0, 1);
  }

  @Test
  void columnsOutsideAndOtherShapesAreRefused() {
    Ragged one = Ragged.of(Tensor.of(Shape.of(1), 1), Levels.ofLengths(new int[] {1}));
    Tensor nine = Tensor.ofInts(Shape.of(1), 9);
    SparseTensor sparse = SparseTensor.of(one, nine, COLUMNS);
    assertThatThrownBy(() -> sparse.toDense().toArray())
        .hasMessageContaining("cells: got column 9 at row 0 of sequence 0, expected 0 to 6");
    assertThatThrownBy(() -> sparse.matmul(Tensor.zeros(Shape.of(COLUMNS, 1))).toArray())
        .hasMessageContaining("got index 9 at position 0");
    assertThatThrownBy(() -> sparse.matmul(Tensor.zeros(Shape.of(3, 1))))
        .hasMessageContaining("matmul: got [3, 1], expected [7, width]");
    assertThatThrownBy(() -> SparseTensor.of(one, Tensor.zeros(Shape.of(1)), 1))
        .hasMessageContaining("expected I32 or I64[1]");
  }

  // --- keys ---

  private static final Tensor ROWS = Tensor.of(Shape.of(7, 1), 1, 2, 3, 4, 5, 6, 7);
  private static final KeyedRagged KEYED =
      KeyedRagged.of(
          List.of("clicks", "carts", "buys"),
          Ragged.of(ROWS, Levels.ofLengths(new int[] {2, 0, 0, 3, 1, 1})));

  @Test
  void eachKeyHasTheSequencesOfTheWholeBatch() {
    assertThat(KEYED.batch()).isEqualTo(2);
    assertThat(KEYED.pool(SequencePooling.SUM).shape()).isEqualTo(Shape.of(2, 3, 1));
    assertThat(KEYED.pool(SequencePooling.SUM).toArray()).containsExactly(3, 0, 6, 0, 12, 7);
    assertThat(KEYED.get("carts").toArray()).containsExactly(3, 4, 5);
    assertThat(KEYED.get("carts").levels()).isEqualTo(Levels.ofLengths(new int[] {0, 3}));
  }

  @Test
  void keysArePickedReorderedAndJoined() {
    KeyedRagged picked = KEYED.pick(List.of("buys", "clicks"));
    assertThat(picked.keys()).containsExactly("buys", "clicks");
    assertThat(picked.all().toArray()).containsExactly(6, 7, 1, 2);
    KeyedRagged all = KeyedRagged.concat(List.of(KEYED.pick(List.of("carts")), picked));
    assertThat(all.keys()).containsExactly("carts", "buys", "clicks");
    assertThat(all.pool(SequencePooling.SUM).toArray()).containsExactly(0, 6, 3, 12, 7, 0);
    assertThat(all.with(all.all().values().mul(2)).get("buys").toArray()).containsExactly(12, 14);
  }

  @Test
  void keysThatAreUnknownRepeatOrDoNotFitAreRefused() {
    assertThatThrownBy(() -> KEYED.get("click"))
        .hasMessageContaining("got key click, expected one of [clicks, carts, buys]");
    assertThatThrownBy(() -> KeyedRagged.of(List.of("a", "a"), KEYED.all()))
        .hasMessageContaining("each once");
    assertThatThrownBy(() -> KeyedRagged.of(List.of("a", "b", "c", "d"), KEYED.all()))
        .hasMessageContaining("got 6 outermost sequences for 4 keys");
    assertThatThrownBy(() -> KeyedRagged.concat(List.of(KEYED, KEYED)))
        .hasMessageContaining("each once");
  }

  // --- bags ---

  @Test
  void aBagGivesBackWhatWasPutInOrSaysWhatItHas() {
    TensorBag bag =
        TensorBag.empty().with("rows", ROWS).with("keyed", KEYED).with("clicks", KEYED.all());
    assertThat(bag.names()).containsExactly("rows", "keyed", "clicks");
    assertThat(bag.tensor("rows", DType.F32, -1, 1)).isSameAs(ROWS);
    assertThat(bag.get("clicks", Ragged.class)).isSameAs(KEYED.all());
    assertThat(bag.get("keyed", KeyedRagged.class)).isSameAs(KEYED);
    assertThatThrownBy(() -> bag.get("clicks", Tensor.class))
        .hasMessageContaining("for clicks, expected a Tensor");
    assertThatThrownBy(() -> bag.get("click", Tensor.class))
        .hasMessageContaining("there are [rows, keyed, clicks]");
    assertThatThrownBy(() -> bag.tensor("rows", DType.I64, -1, 1))
        .hasMessageContaining("expected I64[-1, 1]");
    assertThatThrownBy(() -> bag.tensor("rows", DType.F32, 7, 2))
        .hasMessageContaining("expected F32[7, 2]");
    assertThatThrownBy(() -> bag.with("rows", ROWS)).hasMessageContaining("rows twice");
    assertThat(TensorBag.empty().names()).isEmpty();
  }
}
