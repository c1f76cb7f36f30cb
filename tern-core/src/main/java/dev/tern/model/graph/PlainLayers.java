package dev.tern.model.graph;

import static dev.tern.model.graph.GraphFunction.require;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;

/** Layers without parameters. */
final class PlainLayers {
  private PlainLayers() {}

  /** A layer for inputs of these shapes of one row. */
  static GraphFunction make(GraphLayer layer, List<Shape> inputs) {
    Shape input = inputs.getFirst();
    return switch (layer.op()) {
      case DROPOUT -> (in, pass) -> List.of(pass.dropout(in.getFirst(), layer.real("rate")));
      case RELU -> GraphFunction.of(Tensor::relu);
      case ELU -> elu(layer.real("alpha"));
      case SIGMOID -> GraphFunction.of(Tensor::sigmoid);
      case ADD -> folded(inputs, Tensor::add);
      case SUBTRACT -> folded(inputs, Tensor::sub);
      case MULTIPLY -> folded(inputs, Tensor::mul);
      case MATMUL -> matmul(inputs);
      case CONCAT -> concat(layer.whole("axis"), inputs);
      case SLICE -> slice(layer, input);
      case RESHAPE -> reshape(layer.whole("steps"), layer.whole("width"), input);
      case PICK -> pick(layer.wholes("slots"), input);
      case SUM, MEAN -> reduce(layer, input);
      case REPEAT -> repeat(layer, input);
      case SOFTMAX -> AttentionLayers.softmax(layer.real("factor"), inputs);
      case SEQUENCE_MASK -> AttentionLayers.mask(layer, inputs);
      case ATTENTION -> AttentionLayers.attention(layer.whole("heads"), inputs);
      case PAIR_VECTORS -> pairVectors(layer.whole("width"), input);
      case INTERACTION -> interaction(inputs);
      case JOIN_SLOTS -> joinSlots(layer.flag("all"), inputs);
      case COPY -> (in, _) -> in;
      case LINEAR, MLP, CROSS, BATCH_NORM, LAYER_NORM, DICE, SLOT_WEIGHTS ->
          throw new AssertionError(layer.op()); // They have parameters.
    };
  }

  private static GraphFunction elu(float alpha) {
    return GraphFunction.of(x -> {
      Tensor zero = Tensor.scalar(0);
      return x.gt(zero).select(x, x.min(zero).expm1().mul(alpha));
    });
  }

  private static GraphFunction folded(List<Shape> inputs, BinaryOperator<Tensor> each) {
    for (Shape other : inputs) {
      require(
          other.equals(inputs.getFirst()),
          other,
          GraphFunction.text(inputs.getFirst()) + " as the first has, as nothing is repeated");
    }
    return (in, _) -> List.of(in.stream().reduce(each).orElseThrow());
  }

  private static GraphFunction matmul(List<Shape> inputs) {
    Shape a = inputs.getFirst();
    Shape b = inputs.getLast();
    require(a.rank() != 2, a, "three or four dimensions, as a product of two would mix rows");
    require(a.rank() == 3 || a.rank() == 4, a, "three or four dimensions");
    boolean fits = b.rank() == a.rank() && b.size(0) == a.size(0) && b.size(-2) == a.size(-1);
    require(
        fits && (a.rank() == 3 || a.size(1) == b.size(1)),
        b,
        "the other factor of " + GraphFunction.text(a));
    return (in, _) -> {
      Tensor left = in.getFirst();
      Tensor right = in.getLast();
      int[] sizes = left.shape().toArray();
      sizes[sizes.length - 1] = right.shape().size(-1);
      return List.of(matrices(left).matmul(matrices(right)).reshape(sizes));
    };
  }

  /** The last two dimensions of each of {@code [n, ..]}. */
  private static Tensor matrices(Tensor x) {
    return x.reshape(-1, x.shape().size(-2), x.shape().size(-1));
  }

  private static GraphFunction concat(int axis, List<Shape> inputs) {
    Shape first = inputs.getFirst();
    for (Shape each : inputs) {
      boolean fits = each.rank() == first.rank() && axis < each.rank();
      require(
          fits && each.withSize(axis, 0).equals(first.withSize(axis, 0)),
          each,
          "%s but for axis %d".formatted(GraphFunction.text(first), axis));
    }
    return (in, _) -> List.of(in.size() == 1 ? in.getFirst() : Tensor.concat(axis, in));
  }

  private static GraphFunction slice(GraphLayer layer, Shape input) {
    List<Integer> from = layer.wholes("from");
    List<Integer> to = layer.wholes("to");
    require(input.rank() >= 2, input, "[.., n]");
    int most = to.stream().mapToInt(Integer::intValue).max().orElse(0);
    require(most <= input.size(-1), input, "a last dimension of %d or more".formatted(most));
    int last = input.rank() - 1;
    return (in, _) -> {
      List<Tensor> pieces = new ArrayList<>();
      for (int i = 0; i < from.size(); i++) {
        pieces.add(in.getFirst().slice(last, from.get(i), to.get(i)));
      }
      return pieces;
    };
  }

  private static GraphFunction reshape(int steps, int width, Shape input) {
    int whole = Math.max(1, steps);
    int row = width == 0 ? input.elements() / whole : width;
    long piece = width == 0 ? whole : (long) width * whole;
    // For one row: a piece that does not divide it would reach into the next row; 0 lose all rows.
    boolean fits = input.elements() > 0 && input.elements() % piece == 0;
    String expected = "a multiple of %d numbers for each row, as pieces would mix rows";
    require(fits, input, expected.formatted(piece));
    return GraphFunction.of(x -> steps == 0 ? x.reshape(-1, row) : x.reshape(-1, steps, row));
  }

  private static GraphFunction pick(List<Integer> slots, Shape input) {
    int most = slots.stream().mapToInt(Integer::intValue).max().orElse(0);
    require(
        input.rank() == 3 && most < input.size(1), input, "[B, %d or more, D]".formatted(most + 1));
    int width = slots.size() * input.size(2);
    return GraphFunction.of(x -> {
      List<Tensor> parts = new ArrayList<>();
      slots.forEach(slot -> parts.add(x.slice(1, slot, slot + 1)));
      Tensor joined = parts.size() == 1 ? parts.getFirst() : Tensor.concat(1, parts);
      return joined.reshape(-1, width);
    });
  }

  private static GraphFunction reduce(GraphLayer layer, Shape input) {
    int axis = layer.whole("axis");
    require(axis < input.rank(), input, "%d dimensions or more".formatted(axis + 1));
    return GraphFunction.of(x -> layer.op() == GraphOp.SUM ? x.sumKeep(axis) : x.meanKeep(axis));
  }

  private static GraphFunction repeat(GraphLayer layer, Shape input) {
    require(input.rank() == 2, input, "[B, n]");
    int factor = layer.whole("factor");
    int width = input.size(1);
    boolean rows = layer.flag("rows");
    Shape.of(width, factor); // Not too large.
    return GraphFunction.of(x -> {
      int batch = x.shape().size(0);
      Tensor spread = rows ? x.reshape(batch, 1, width) : x.reshape(batch, width, 1);
      Shape shape = rows ? Shape.of(batch, factor, width) : Shape.of(batch, width, factor);
      return spread.broadcast(shape).reshape(batch, width * factor);
    });
  }

  private static GraphFunction pairVectors(int width, Shape input) {
    require(input.rank() == 2 && input.size(1) % width == 0, input, "[B, n * %d]".formatted(width));
    int slots = input.size(1) / width;
    return GraphFunction.of(x -> {
      Tensor vectors = x.reshape(-1, slots, width);
      return vectors.sum(1).square().sub(vectors.square().sum(1)).mul(0.5f);
    });
  }

  private static GraphFunction interaction(List<Shape> inputs) {
    Shape one = inputs.getFirst();
    Shape others = inputs.getLast();
    require(one.rank() == 2, one, "[B, D]");
    boolean fits = others.rank() == 3 && others.size(2) == one.size(1);
    require(fits && others.size(0) == one.size(0), others, "[B, S, %d]".formatted(one.size(1)));
    int width = one.size(1);
    return (in, _) -> {
      Tensor x = in.getFirst();
      int batch = x.shape().size(0);
      Tensor vectors = Tensor.concat(1, List.of(x.reshape(batch, 1, width), in.getLast()));
      Tensor zero = Tensor.zeros(Shape.of(batch, 1));
      return List.of(Tensor.concat(1, List.of(x, vectors.dotInteraction(), zero)));
    };
  }

  private static GraphFunction joinSlots(boolean all, List<Shape> inputs) {
    Shape first = inputs.getFirst();
    for (Shape each : inputs) {
      boolean fits = each.rank() == 3 && each.size(1) == first.size(1);
      require(
          fits && each.size(0) == first.size(0) && (all || each.size(1) > 1),
          each,
          "[B, S, D] with the same S, of two or more slots to take the last apart");
    }
    int slots = first.size(1);
    int width = inputs.stream().mapToInt(shape -> shape.size(2)).sum();
    return (in, _) -> {
      Tensor joined = in.size() == 1 ? in.getFirst() : Tensor.concat(2, in);
      return all
          ? List.of(joined.reshape(-1, width))
          : List.of(
              joined.slice(1, 0, slots - 1).reshape(-1, width),
              joined.slice(1, slots - 1, slots).reshape(-1, width));
    };
  }
}
