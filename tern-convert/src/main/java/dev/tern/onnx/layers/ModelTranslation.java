package dev.tern.onnx.layers;

import dev.tern.base.DataException;
import dev.tern.convert.ImportedModel;
import dev.tern.data.Schema;
import dev.tern.internal.onnx.SavedGraph;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.internal.onnx.SavedNode;
import dev.tern.internal.onnx.TensorData;
import dev.tern.model.Task;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphInput;
import dev.tern.model.graph.GraphLayer;
import dev.tern.onnx.layers.Operand.Made;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** The nodes of another tool's model as a graph of Tern, with its columns, tables and weights. */
final class ModelTranslation {
  private static final long LEAST_OPSET = 13;
  private static final long MOST_OPSET = 26;
  private static final int MOST_TASKS = 256;

  /** More layers than files of graphs may have. */
  private static final int MOST_LAYERS = 10_000;

  /** Nodes whose output is their input in other sizes, if anything. */
  private static final Set<String> ALIASES =
      Set.of("Identity", "Dropout", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze");

  private final Path file;
  private final SavedGraph graph;
  private final TensorData data;
  private final GraphBuilder builder = new GraphBuilder();
  private final EmbeddingReads reads = new EmbeddingReads(builder);
  private final InputColumns columns;
  private final Values values;
  private final Probabilities probabilities;
  private final List<String> notes = new ArrayList<>();

  /**
   * A model as far as Tern makes it.
   *
   * @param parameters by name
   */
  record Result(
      ImportedModel made,
      List<EmbeddingReads.Table> tables,
      Map<String, GraphBuilder.Weights> parameters,
      List<String> notes) {}

  private ModelTranslation(Path file, SavedModel saved, SavedGraph graph, TensorData data) {
    this.file = file;
    this.graph = graph;
    this.data = data;
    columns = new InputColumns(file.toString(), builder);
    for (SavedGraph.Port input : graph.inputs()) {
      if (!saved.tensors().containsKey(input.name())) {
        columns.add(input);
      }
    }
    values = new Values(saved, data, builder, columns);
    probabilities = new Probabilities(values);
  }

  /**
   * Translates a model.
   *
   * @throws DataException if it has what Tern's layers do not compute
   */
  static Result of(Path file, SavedModel saved, TensorData data, LayeredImport.Names names) {
    SavedGraph graph = SavedGraph.read(file);
    if (graph.opset() < LEAST_OPSET || graph.opset() > MOST_OPSET) {
      throw new DataException(
          "%s: got operators of version %d, expected %d to %d; export the model with another opset_version"
              .formatted(file, graph.opset(), LEAST_OPSET, MOST_OPSET));
    }
    try {
      return new ModelTranslation(file, saved, graph, data).result(names);
    } catch (ArithmeticException e) {
      throw new DataException(
          "%s: got sizes that no memory holds (%s), expected those of its tensors; the file is damaged"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  private Result result(LayeredImport.Names names) {
    List<SavedNode> nodes = needed();
    count(nodes);
    nodes.forEach(this::compute);
    Map<String, List<String>> heads = heads();
    List<Integer> ids = reads.columns();
    columns.requireApart(ids);
    Map<Integer, String> slotNames = columns.called("slots", ids, names.slots());
    Map<Integer, String> numberNames =
        columns.called("numbers", columns.numbers(), names.numbers());
    EmbeddingReads.Result read = reads.result(slotNames, data);
    List<GraphInput> inputs = new ArrayList<>(read.inputs());
    inputs.addAll(columns.graphInputs(numberNames));
    List<GraphLayer> layers = new ArrayList<>(read.layers());
    layers.addAll(builder.layers());
    Graph made = pruned(inputs, layers, List.copyOf(heads.keySet()));
    List<String> labels = labels(heads, names.labels());
    List<String> dense =
        columns.numbers().stream().map(c -> numberNames.getOrDefault(c, "")).toList();
    Schema schema = new Schema(labels, dense, read.slots());
    Map<String, Integer> widths = new LinkedHashMap<>();
    read.tables().forEach(table -> widths.put(table.name(), table.width()));
    List<Task> tasks = labels.stream().map(Task::of).toList();
    noteUnread(ids);
    return new Result(
        new ImportedModel(ImportedModel.config(made, tasks, widths), schema, Set.of()),
        read.tables(),
        parameters(made),
        notes);
  }

  private void noteUnread(List<Integer> ids) {
    List<String> unread = columns.unread(ids);
    if (!unread.isEmpty()) {
      notes.add("%d columns are not read: %s".formatted(unread.size(), some(unread)));
    }
  }

  private static List<String> some(List<String> names) {
    return names.size() <= 20 ? names : names.subList(0, 20);
  }

  /** The nodes that outputs depend on, in their order. */
  private List<SavedNode> needed() {
    Set<String> needed = new HashSet<>();
    graph.outputs().forEach(output -> needed.add(output.name()));
    List<SavedNode> nodes = new ArrayList<>();
    for (SavedNode node : graph.nodes().reversed()) {
      if (node.outputs().stream().anyMatch(needed::contains)) {
        needed.addAll(node.inputs());
        nodes.add(node);
      }
    }
    return nodes.reversed();
  }

  private void count(List<SavedNode> nodes) {
    for (SavedNode node : nodes) {
      boolean alias = ALIASES.contains(node.op()) && !node.inputs().isEmpty();
      if (alias && !node.outputs().isEmpty()) {
        values.alias(node.outputs().getFirst(), node.inputs().getFirst());
      }
      node.inputs().stream().skip(alias ? 1 : 0).forEach(values::count);
    }
    graph.outputs().forEach(output -> values.count(output.name()));
  }

  private boolean take(SavedNode node) {
    return new PartNodes(values, reads).take(node)
        || new ShapeNodes(values).take(node)
        || new LayerNodes(values).take(node)
        || new NumberNodes(values).take(node);
  }

  private void compute(SavedNode node) {
    if (!node.domain().isEmpty() && !node.domain().equals("ai.onnx")) {
      throw node.fault(
          "an operator of the domain " + node.domain(), "operators of ONNX itself alone");
    }
    node.output();
    try {
      if (!take(node)) {
        throw node.fault(
            "an operator that no layer of Tern computes",
            "one of those that docs/onnx.md lists; export a model that is made of these");
      }
      probabilities.follow(node);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw node.refused(String.valueOf(e.getMessage()), e);
    }
  }

  private DataException fault(SavedGraph.Port output, String got, String expected) {
    return new DataException(
        "%s: output %s: got %s, expected %s".formatted(file, output.name(), got, expected));
  }

  /** The tensors of logits, each with names of what it predicts. */
  private Map<String, List<String>> heads() {
    Map<String, List<String>> heads = new LinkedHashMap<>();
    int count = 0;
    for (SavedGraph.Port output : graph.outputs()) {
      if (!(values.get(output.name()).orElse(null) instanceof Made value)) {
        throw fault(output, "what is no result of layers", "a logit or a probability");
      }
      List<Long> dims = value.dims().isEmpty() ? List.of(1L) : value.dims();
      if (dims.size() > 1 || count + dims.getFirst() > MOST_TASKS) {
        throw fault(
            output,
            "values of the sizes %s for each row".formatted(value.dims()),
            "a number for each task, of %d at most".formatted(MOST_TASKS));
      }
      probabilities.requireNone(output.name(), value);
      Optional<Made> logits = builder.logits(value);
      if (logits.isEmpty()) {
        notes.add(
            "the output %s does not come from a Sigmoid: it is taken as a logit"
                .formatted(output.name()));
      }
      String tensor = builder.tensor(logits.orElse(value).as(dims));
      if (!heads.containsKey(tensor)) {
        heads.put(tensor, numbered(output.name(), dims.getFirst().intValue()));
        count += dims.getFirst().intValue();
      }
    }
    if (heads.isEmpty()) {
      throw new DataException(file + ": got a model without outputs, expected a logit");
    }
    return heads;
  }

  private static List<String> numbered(String name, int count) {
    return count == 1 ? List.of(name) : IntStream.range(0, count).mapToObj(i -> name + i).toList();
  }

  private List<String> labels(Map<String, List<String>> heads, List<String> given) {
    List<String> all = heads.values().stream().flatMap(List::stream).toList();
    if (!given.isEmpty()) {
      if (given.size() != all.size() || new HashSet<>(given).size() != given.size()) {
        throw new DataException(
            "%s: got the labels %s, expected %d distinct names, for the outputs %s"
                .formatted(file, given, all.size(), some(all)));
      }
      return given;
    }
    return all.size() == 1 ? List.of("label") : all;
  }

  /** Inputs and layers that logits depend on. */
  private static Graph pruned(
      List<GraphInput> inputs, List<GraphLayer> layers, List<String> logits) {
    Set<String> needed = new HashSet<>(logits);
    List<GraphLayer> kept = new ArrayList<>();
    for (GraphLayer layer : layers.reversed()) {
      if (layer.outputs().stream().anyMatch(needed::contains)) {
        needed.addAll(layer.inputs());
        kept.add(layer);
      }
    }
    if (kept.size() > MOST_LAYERS) {
      throw new IllegalArgumentException(
          "got %d layers, expected at most %d".formatted(kept.size(), MOST_LAYERS));
    }
    List<GraphInput> read = inputs.stream().filter(in -> needed.contains(in.name())).toList();
    return new Graph(read, kept.reversed(), logits);
  }

  private Map<String, GraphBuilder.Weights> parameters(Graph made) {
    Map<String, GraphBuilder.Weights> all = new HashMap<>();
    made.layers().forEach(layer -> all.putAll(builder.weights(layer.name())));
    return all;
  }
}
