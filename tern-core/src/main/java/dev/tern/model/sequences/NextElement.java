package dev.tern.model.sequences;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * The auxiliary loss of DIEN: a state tells the element that follows it from another one.
 *
 * <pre>
 * l_t = softplus(-h_t . e_(t+1)) + softplus(h_t . n_(t+1)),   loss = mean over rows of the mean of l_t
 * </pre>
 *
 * <p>The other element {@code n} is one of the batch: of all its elements in order the one that is
 * as far from the end as {@code e} is from the start. One in the middle is no other, so its second
 * term is left out. Rows with less than two elements count as 0.
 */
final class NextElement {
  private NextElement() {}

  /** The loss of states and elements of one width. */
  static Tensor loss(Ragged states, Ragged elements) {
    int rows = elements.rows();
    if (rows == 0) {
      return Tensor.scalar(0);
    }
    Tensor own = fit(states, elements.values());
    Tensor ends = Tensor.ofInts(Shape.of(2), 0, elements.sequences());
    Ragged all = Ragged.of(elements.values(), elements.offsets(-1).gather(ends));
    Tensor other = fit(states, all.reverse().values());
    Tensor places = all.positions().cast(DType.F32).reshape(-1, 1);
    Tensor mirrored = all.with(places).reverse().values();
    Tensor isMiddle = following(places.sub(mirrored)).reshape(-1).eq(Tensor.scalar(0));
    Tensor others = isMiddle.select(Tensor.scalar(0), other.softplus());
    Tensor losses = own.neg().softplus().add(others);
    Tensor lengths = elements.lengths().cast(DType.F32);
    Tensor length = elements.expand(lengths.reshape(-1, 1)).values().reshape(-1);
    Tensor after = length.sub(elements.positions().cast(DType.F32)).sub(1);
    Tensor counted = after.gt(Tensor.scalar(0)).select(losses, Tensor.scalar(0));
    Tensor sums = elements.with(counted.reshape(-1, 1)).pool(SequencePooling.SUM).reshape(-1);
    return sums.div(lengths.sub(1).max(Tensor.scalar(1))).mean();
  }

  /** The product of each state with the element in the next row. */
  private static Tensor fit(Ragged states, Tensor elements) {
    return states.values().mul(following(elements)).sum(1);
  }

  /** The next row in the place of each; zeros for the last one. */
  private static Tensor following(Tensor x) {
    Tensor none = Tensor.zeros(x.shape().withSize(0, 1));
    return Tensor.concat(0, List.of(x.slice(0, 1, x.shape().size(0)), none));
  }
}
