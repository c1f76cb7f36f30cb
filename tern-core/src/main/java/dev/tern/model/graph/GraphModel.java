package dev.tern.model.graph;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The layers of a {@link Graph}. Parameters are called as {@code fc1.weight}, after their layer.
 */
public final class GraphModel implements Model {
  private record Step(GraphLayer layer, GraphFunction function) {}

  private final Graph graph;
  private final SlotWidths widths;
  private final Schema schema;
  private final List<Step> steps = new ArrayList<>();

  /**
   * A model of rows of {@code schema}.
   *
   * @throws IllegalArgumentException if the graph names columns that rows do not have, or sizes do
   *     not fit
   */
  public GraphModel(Graph graph, SlotWidths widths, Schema schema, Parameters parameters) {
    this.graph = graph;
    this.widths = widths;
    this.schema = schema;
    Map<String, Tensor> tensors = new HashMap<>();
    for (GraphInput input : graph.inputs()) {
      requireColumns(input);
      tensors.put(input.name(), Tensor.zeros(shapeOfOneRow(input)));
    }
    // Expressions of one row show the sizes that parameters need.
    for (GraphLayer layer : graph.layers()) {
      try {
        List<Shape> shapes =
            layer.inputs().stream().map(in -> tensor(tensors, in).shape()).toList();
        GraphFunction function =
            WeightedLayers.make(layer, shapes, parameters)
                .orElseGet(() -> PlainLayers.make(layer, shapes));
        Step step = new Step(layer, function);
        steps.add(step);
        run(step, tensors, Pass.scoring());
      } catch (IllegalArgumentException | ArithmeticException e) {
        throw new IllegalArgumentException(
            "graph: layer %s (%s): %s".formatted(layer.name(), layer.op().text(), e.getMessage()),
            e);
      }
    }
    graph.logits().forEach(name -> requireLogits(name, tensor(tensors, name).shape()));
  }

  private static void requireLogits(String name, Shape shape) {
    if (shape.rank() != 2 || shape.size(0) != 1) {
      throw new IllegalArgumentException(
          "graph: logits %s: got the shape %s, expected [B, n], a number for each row and task; end with a layer of one output, or reshape"
              .formatted(name, GraphFunction.text(shape)));
    }
  }

  private void requireColumns(GraphInput input) {
    List<String> known =
        input.kind() == GraphInput.Kind.NUMBERS ? schema.dense() : schema.slotNames();
    for (String column : input.columns()) {
      if (!known.contains(column)) {
        throw new IllegalArgumentException(
            "graph: input %s: got the column %s, expected some of %s; name columns as the data do"
                .formatted(input.name(), column, known));
      }
    }
  }

  /** The numbers of an input's columns. */
  private List<Integer> columns(GraphInput input) {
    List<String> known =
        input.kind() == GraphInput.Kind.NUMBERS ? schema.dense() : schema.slotNames();
    return input.columns().isEmpty()
        ? IntStream.range(0, known.size()).boxed().toList()
        : input.columns().stream().map(known::indexOf).toList();
  }

  private Shape shapeOfOneRow(GraphInput input) {
    List<Integer> columns = columns(input);
    return switch (input.kind()) {
      case NUMBERS -> Shape.of(1, columns.size());
      case FEATURES -> Shape.of(1, widths.flat(schema));
      case VECTORS -> vectors(1, columns);
    };
  }

  private Shape vectors(int batch, List<Integer> slots) {
    List<Integer> each = slots.stream().map(widths.slots()::get).distinct().toList();
    return each.size() == 1
        ? Shape.of(batch, slots.size(), each.getFirst())
        : Shape.of(batch, widths.sum(slots));
  }

  @Override
  public int embeddingWidth() {
    return widths.all();
  }

  @Override
  public int embeddingWidth(String table) {
    return widths.of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Map<String, Tensor> tensors = new HashMap<>();
    for (GraphInput input : graph.inputs()) {
      tensors.put(input.name(), read(input, x));
    }
    for (Step step : steps) {
      run(step, tensors, x.pass());
    }
    List<Tensor> logits = graph.logits().stream().map(name -> tensor(tensors, name)).toList();
    Tensor all = logits.size() == 1 ? logits.getFirst() : Tensor.concat(1, logits);
    return all.shape().size(1) == 1 ? all.reshape(-1) : all;
  }

  private static Tensor tensor(Map<String, Tensor> tensors, String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new AssertionError(name); // A graph has checked its names.
    }
    return tensor;
  }

  private static void run(Step step, Map<String, Tensor> tensors, Pass pass) {
    List<Tensor> in = step.layer().inputs().stream().map(name -> tensor(tensors, name)).toList();
    List<Tensor> out = step.function().apply(in, pass);
    for (int i = 0; i < out.size(); i++) {
      tensors.put(step.layer().outputs().get(i), out.get(i));
    }
  }

  private Tensor read(GraphInput input, Features x) {
    List<Integer> columns = columns(input);
    int batch = x.dense().shape().size(0);
    return switch (input.kind()) {
      case FEATURES -> x.flat(x.embedded());
      case NUMBERS ->
          input.columns().isEmpty()
              ? x.dense()
              : joined(columns, (from, to) -> x.dense().slice(1, from, to));
      case VECTORS -> joined(columns, x::slots).reshape(vectors(batch, columns).toArray());
    };
  }

  /** Gives columns from one to before another side by side. */
  @FunctionalInterface
  private interface Columns {
    Tensor of(int from, int to);
  }

  private static Tensor joined(List<Integer> columns, Columns source) {
    List<Tensor> parts = new ArrayList<>();
    int at = 0;
    while (at < columns.size()) {
      int end = at + 1;
      while (end < columns.size() && columns.get(end) == columns.get(end - 1) + 1) {
        end++;
      }
      parts.add(source.of(columns.get(at), columns.get(end - 1) + 1));
      at = end;
    }
    return switch (parts.size()) {
      case 0 -> source.of(0, 0);
      case 1 -> parts.getFirst();
      default -> Tensor.concat(1, parts);
    };
  }
}
