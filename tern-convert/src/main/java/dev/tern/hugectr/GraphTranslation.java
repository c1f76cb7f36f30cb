package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.convert.ImportedModel;
import dev.tern.data.Schema;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphInput;
import dev.tern.model.graph.GraphLayer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A graph of HugeCTR as a model of Tern.
 *
 * @param weights the arrays of the file of dense weights, in order
 * @param schema of raw rows
 */
record GraphTranslation(
    Schema schema,
    Tables tables,
    ModelConfig model,
    List<StoredWeights> weights,
    List<String> notes) {
  /** Sizes that the graph file does not say. */
  record Told(Columns columns, List<Long> slotSizes, int projection) {}

  static GraphTranslation of(GraphFile graph, Told told) {
    Columns names = named(graph, told.columns());
    if (!told.slotSizes().isEmpty() && told.slotSizes().size() != names.slots().size()) {
      throw new DataException(
          "slot sizes: got %d for %d slots, expected one for each, in the order of the data (slot_size_array of the reader)"
              .formatted(told.slotSizes().size(), names.slots().size()));
    }
    Tables tables = Tables.of(graph, names.slots(), told.slotSizes());
    Losses losses = new Losses(graph, names.labels());
    List<GraphInput> inputs = new ArrayList<>(tables.inputs());
    inputs.add(new GraphInput(graph.dense(), GraphInput.Kind.NUMBERS, List.of()));
    Tops tops = new Tops(graph.layers());
    inputs.forEach(input -> tops.add(graph.data(), List.of(input.name())));
    tops.add(graph.data(), List.copyOf(graph.labels().keySet()));
    List<GraphLayer> layers = new ArrayList<>();
    List<StoredWeights> weights = new ArrayList<>();
    for (Place place : graph.layers()) {
      List<String> bottoms = place.names("bottom");
      bottoms.forEach(bottom -> tops.require(place, bottom));
      if (Losses.isLoss(place.text("type"))) {
        losses.add(place);
      } else if (bottoms.stream().anyMatch(losses::isLabel)) {
        losses.slice(place);
      } else {
        LayerTranslation.Made made = new LayerTranslation(place, told.projection()).made();
        layers.addAll(made.layers());
        weights.addAll(made.weights());
      }
      tops.add(place, place.names("top"));
    }
    if (losses.tasks().isEmpty()) {
      throw graph
          .data()
          .wrong(
              "", "a graph without a loss", "one, as its bottom says which tensor has the logits");
    }
    Graph layered = new Graph(inputs, layers, losses.logits());
    Schema schema = new Schema(names.labels(), names.numbers(), tables.slots());
    return new GraphTranslation(
        schema, tables, model(layered, tables, losses.tasks()), weights, losses.notes());
  }

  private static ModelConfig model(Graph graph, Tables tables, List<Task> tasks) {
    Map<String, Integer> widths = new LinkedHashMap<>();
    tables.tables().forEach(table -> widths.put(table.name(), table.width()));
    return ImportedModel.config(graph, tasks, widths);
  }

  /** The given names, or names by number. */
  private static Columns named(GraphFile graph, Columns given) {
    int labels = graph.labels().values().stream().mapToInt(Integer::intValue).sum();
    int slots = graph.sparse().stream().mapToInt(sparse -> sparse.hotness().size()).sum();
    return new Columns(
        named("labels", given.labels(), numbered("label", labels)),
        named("numbers", given.numbers(), numbered("dense", graph.numbers())),
        named("slots", given.slots(), numbered("slot", slots)));
  }

  private static List<String> numbered(String name, int count) {
    return IntStream.range(0, count).mapToObj(i -> name + i).toList();
  }

  private static List<String> named(String what, List<String> given, List<String> numbered) {
    if (given.isEmpty()) {
      return numbered;
    }
    if (given.size() != numbered.size() || new HashSet<>(given).size() != given.size()) {
      throw new DataException(
          "columns: got %d names of %s, expected %d distinct ones, in the order of the data; HugeCTR reads labels in the order of their names in the graph"
              .formatted(given.size(), what, numbered.size()));
    }
    return given;
  }
}
