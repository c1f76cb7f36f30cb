package dev.tern.model;

import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * What a model sees of {@code B} rows.
 *
 * @param dense numbers, {@code [B, F]}
 * @param embedded the pooled embedding row of each slot, {@code [B, S, W]} with {@code W} as the
 *     model asked for
 * @param pass whether this is for training, and what layers draw and leave then
 */
public record Features(Tensor dense, Tensor embedded, Pass pass) {
  /** Columns {@code from} to {@code to} of every slot's row: {@code [B, S, to - from]}. */
  public Tensor embedded(int from, int to) {
    return embedded.slice(2, from, to);
  }

  /** Vectors slot by slot, then the dense numbers: {@code [B, S * D + F]}. */
  public Tensor flat(Tensor vectors) {
    int batch = vectors.shape().size(0);
    int width = vectors.shape().size(1) * vectors.shape().size(2);
    return Tensor.concat(1, List.of(vectors.reshape(batch, width), dense));
  }
}
