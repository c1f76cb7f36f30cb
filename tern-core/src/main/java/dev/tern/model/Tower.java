package dev.tern.model;

import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.InBatchSoftmax;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Layers over some columns of rows, which give a vector of each row.
 *
 * @param hidden layers before the last one
 * @param out the last layer, which has no activation
 * @param normalized whether vectors have length 1
 */
record Tower(PartColumns columns, Mlp hidden, Linear out, boolean normalized) {
  /**
   * What the towers of a model are made of.
   *
   * @param widths of embedding vectors
   * @param hidden widths of the layers of each tower, one or more; the last is of the vectors
   */
  record Sizes(SlotWidths widths, List<Integer> hidden, Mlp.Style style, Matching matching) {}

  /** A tower whose parameters have names that begin with {@code name}. */
  static Tower of(String name, PartColumns columns, Sizes sizes, Parameters parameters) {
    int last = sizes.hidden().size() - 1;
    List<Integer> widths = sizes.hidden().subList(0, last);
    int inputs = columns.count(sizes.widths());
    Mlp hidden = new Mlp(parameters, name, inputs, widths, sizes.style());
    int outputs = sizes.hidden().get(last);
    Linear out = new Linear(parameters, name + ".out", hidden.outputs(), outputs);
    return new Tower(columns, hidden, out, sizes.matching().normalized());
  }

  /** The vector of each of the first {@code rows} rows, {@code [rows, D]}. */
  Tensor vectors(Features x, int rows) {
    Tensor read = InBatchSoftmax.first(columns.of(x), rows);
    Tensor vectors = out.apply(hidden.apply(read, x.pass()));
    return normalized ? InBatchSoftmax.normalized(vectors) : vectors;
  }
}
