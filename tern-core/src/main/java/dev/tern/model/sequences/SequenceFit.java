package dev.tern.model.sequences;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.nn.Features;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * How well a candidate fits what layers make of one sequence, whose elements see those before them:
 *
 * <pre>
 * x_t = sqrt(W) e_t + place_t,   fit = norm(last element of layers(x)) . q
 * </pre>
 *
 * <p>{@code W} is the width of an element, place 0 that of the last one, and {@code q} the
 * embedding of the candidate from the same tables. An empty sequence has the fit 0.
 */
abstract class SequenceFit {
  private static final float INITIAL_RANGE = 0.0173f;

  private final SequenceTarget sequence;
  private final Variable places;
  private final LayerNorm last;

  /**
   * @param model for messages
   * @param name of the parameters
   */
  SequenceFit(String model, String name, SequenceTarget sequence, Parameters parameters) {
    if (sequence.targets().size() < sequence.columns()) {
      throw new IllegalArgumentException(
          "model: got the sequence %s with a column that shares no table with another column, expected a target of each for %s; name its table, or give the column a sequence of its own name with DIN"
              .formatted(sequence.name(), model));
    }
    this.sequence = sequence;
    int width = sequence.elementWidth();
    Shape shape = Shape.of(sequence.maxLength(), width);
    places = parameters.uniform(name + ".places", shape, INITIAL_RANGE);
    last = new LayerNorm(parameters, name + ".last", width);
  }

  /**
   * The last element of each sequence after all layers, {@code [B, W]}; of an empty one anything.
   */
  abstract Tensor end(Ragged elements, Pass pass);

  /** {@code [B]}. */
  final Tensor fit(Features x) {
    Ragged elements = sequence.elements(x);
    Tensor vector = last.apply(end(placed(elements), x.pass()));
    Tensor present = elements.lengths().cast(DType.F32).gt(Tensor.scalar(0)).reshape(-1, 1);
    Tensor known = present.select(vector, Tensor.scalar(0));
    return known.mul(sequence.query(x)).sum(1);
  }

  private Ragged placed(Ragged rows) {
    Tensor lengths = rows.expand(rows.lengths().cast(DType.F32).reshape(-1, 1)).values();
    Tensor distance = lengths.reshape(-1).sub(rows.positions().cast(DType.F32)).sub(1);
    Tensor place = places.tensor().gather(distance.max(Tensor.scalar(0)).cast(DType.I32));
    float scale = (float) Math.sqrt(sequence.elementWidth());
    return rows.with(rows.values().mul(scale).add(place));
  }
}
