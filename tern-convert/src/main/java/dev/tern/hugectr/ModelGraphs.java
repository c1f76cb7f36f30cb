package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.WideDeep;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphInput;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.nn.Activation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Models of Tern as graphs, whose parameters have the names that they have in the model. Beside the
 * vectors of their slots, rows of LR, FM, WDL and DEEPFM have a linear weight in front.
 */
final class ModelGraphs {
  private static final String DENSE = "dense";

  private final ModelConfig config;
  private final Schema schema;
  private final List<Integer> widths;
  private final Map<String, float[]> arrays;
  private final List<GraphInput> inputs = new ArrayList<>();
  private final List<GraphLayer> layers = new ArrayList<>();

  private ModelGraphs(
      ModelConfig config, Schema schema, List<Integer> widths, Map<String, float[]> arrays) {
    this.config = config;
    this.schema = schema;
    this.widths = widths;
    this.arrays = new HashMap<>(arrays);
  }

  /**
   * A model as a graph.
   *
   * @param arrays its parameters by name
   */
  record Exported(Graph graph, List<Task> tasks, Map<String, float[]> arrays) {}

  /**
   * The graph of a model.
   *
   * @param widths of the vectors of slots
   * @throws DataException if HugeCTR has no layers for it
   */
  static Exported of(
      ModelConfig config, Schema schema, List<Integer> widths, Map<String, float[]> arrays) {
    List<Task> tasks = config.tasks(schema);
    if (config.type() == ModelConfig.Type.GRAPH) {
      return new Exported(config.variant().graph().orElseThrow(), tasks, arrays);
    }
    ModelGraphs model = new ModelGraphs(config, schema, widths, arrays);
    String logit = model.logit();
    return new Exported(new Graph(model.inputs, model.layers, List.of(logit)), tasks, model.arrays);
  }

  private DataException refused(String why) {
    return new DataException("export: got the model %s, %s".formatted(config.type(), why));
  }

  private String logit() {
    if (config.style().activation() != Activation.RELU) {
      throw refused(
          "with the activation %s, which HugeCTR does not have, expected relu"
              .formatted(config.style().activation()));
    }
    return switch (config.type()) {
      case LR -> wide("linear", rows(1).getFirst());
      case FM -> {
        requirePairsOfSlots();
        List<String> parts = rows(2);
        yield add("logit", wide("linear", parts.getFirst()), pairs(parts.getLast()));
      }
      case WDL -> {
        if (!config.interaction().wideDeep().equals(WideDeep.BOTH)) {
          throw refused("with columns of one part alone, expected both parts to read all columns");
        }
        List<String> parts = rows(2);
        yield add("logit", wide("wide", parts.getFirst()), deep(flat(parts.getLast())));
      }
      case DEEPFM -> {
        requirePairsOfSlots();
        List<String> parts = rows(2);
        String wide = wide("linear", parts.getFirst());
        yield add("logit", wide, pairs(parts.getLast()), deep(flat(parts.getLast())));
      }
      case DCN -> crossed(0);
      case DCNV2 -> {
        ModelConfig.Cross cross = config.cross();
        if (cross.rank() == 0 || cross.experts() > 0) {
          throw refused(
              "with %s, expected cross matrices of low rank, as HugeCTR has; train with model.cross_rank"
                  .formatted(cross.rank() == 0 ? "full cross matrices" : "a mixture of experts"));
        }
        yield crossed(cross.rank());
      }
      case DLRM -> dlrm();
      default ->
          throw refused(
              "expected LR, FM, WDL, DEEPFM, DCN, DCNV2 of low rank, DLRM or GRAPH, whose layers"
                  + " HugeCTR has");
    };
  }

  private void requirePairsOfSlots() {
    if (config.pairs() == ModelConfig.Pairs.FEATURES
        && schema.slots().stream().anyMatch(slot -> slot.hotness() != 1)) {
      throw refused(
          "which pairs the ids of a slot with each other, expected slots of one id, or"
              + " model.pairs: slots, as HugeCTR pairs sums");
    }
  }

  private String layer(
      String name, GraphOp op, List<String> inputs, Map<String, List<Double>> numbers) {
    layers.add(GraphLayer.of(name, op, inputs, numbers));
    return name;
  }

  private static List<Double> of(int number) {
    return List.of((double) number);
  }

  private String reshape(String name, String input, int width) {
    return layer(name, GraphOp.RESHAPE, List.of(input), Map.of("steps", of(0), "width", of(width)));
  }

  private String add(String name, String... parts) {
    return layer(name, GraphOp.ADD, List.of(parts), Map.of());
  }

  private String linear(String name, String input, int outputs) {
    return layer(name, GraphOp.LINEAR, List.of(input), Map.of("outputs", of(outputs)));
  }

  private String concat(String name, List<String> parts) {
    return parts.size() == 1
        ? parts.getFirst()
        : layer(name, GraphOp.CONCAT, parts, Map.of("axis", of(1)));
  }

  /**
   * Reads the rows of slots, an embedding for each run of slots of one width.
   *
   * @param parts 1 for vectors or linear weights alone, 2 for a linear weight and a vector
   * @return for each part its numbers side by side, slot by slot
   */
  private List<String> rows(int parts) {
    List<String> firsts = new ArrayList<>();
    List<String> lasts = new ArrayList<>();
    List<Slot> slots = schema.slots();
    int from = 0;
    for (int s = 1; s <= slots.size(); s++) {
      if (s == slots.size() || !widths.get(s).equals(widths.get(from))) {
        int count = s - from;
        int width = widths.get(from);
        String name = "sparse_embedding" + (inputs.size() + 1);
        List<String> names = slots.subList(from, s).stream().map(Slot::name).toList();
        inputs.add(new GraphInput(name, GraphInput.Kind.VECTORS, names));
        if (parts == 1) {
          firsts.add(reshape(name + "_flat", name, count * width));
        } else {
          String rows = reshape(name + "_rows", name, 1 + width);
          List<String> cut = List.of(name + "_weights", name + "_vectors");
          Map<String, List<Double>> ends =
              Map.of("from", List.of(0.0, 1.0), "to", List.of(1.0, 1.0 + width));
          layers.add(new GraphLayer(name + "_parts", GraphOp.SLICE, List.of(rows), cut, ends));
          firsts.add(reshape(name + "_wide", cut.getFirst(), count));
          lasts.add(reshape(name + "_deep", cut.getLast(), count * width));
        }
        from = s;
      }
    }
    inputs.add(new GraphInput(DENSE, GraphInput.Kind.NUMBERS, List.of()));
    return parts == 1
        ? List.of(concat("vectors", firsts))
        : List.of(concat("weights", firsts), concat("vectors", lasts));
  }

  private String flat(String vectors) {
    return schema.denseDim() == 0 ? vectors : concat("flat", List.of(vectors, DENSE));
  }

  /** The sum of linear weights and the linear layer of the numbers. */
  private String wide(String name, String weights) {
    if (schema.denseDim() > 0) {
      String sum = layer("weights_sum", GraphOp.SUM, List.of(weights), Map.of("axis", of(1)));
      return add("wide_sum", sum, linear(name, DENSE, 1));
    }
    // Without numbers the bias needs a layer: one that sums the weights.
    float[] ones = new float[schema.slotCount()];
    Arrays.fill(ones, 1);
    arrays.put(name + ".weight", ones);
    return linear(name, weights, 1);
  }

  private String pairs(String vectors) {
    Map<String, List<Double>> width = Map.of("width", of(config.embedding()));
    String products = layer("pairs", GraphOp.PAIR_VECTORS, List.of(vectors), width);
    return layer("pairs_sum", GraphOp.SUM, List.of(products), Map.of("axis", of(1)));
  }

  /** Hidden layers and the last one. */
  private String deep(String input) {
    return linear("out", hidden("deep", input, config.hidden(), config.style().dropout()), 1);
  }

  private String hidden(String name, String input, List<Integer> hidden, float dropout) {
    String at = input;
    for (int i = 0; i < hidden.size(); i++) {
      String layer = name + "." + i;
      at = linear(layer, at, hidden.get(i));
      if (config.style().batchNorm()) {
        arrays.put(layer + ".bias", new float[hidden.get(i)]); // A norm follows: it has none.
        Map<String, List<Double>> numbers =
            Map.of("share", List.of((double) 0.1f), "epsilon", List.of((double) 1e-5f));
        at = layer(layer + ".norm", GraphOp.BATCH_NORM, List.of(at), numbers);
      }
      at = layer(layer + ".relu", GraphOp.RELU, List.of(at), Map.of());
      if (dropout > 0) {
        Map<String, List<Double>> rate = Map.of("rate", List.of((double) dropout));
        at = layer(layer + ".dropout", GraphOp.DROPOUT, List.of(at), rate);
      }
    }
    return at;
  }

  private String crossed(int rank) {
    String flat = flat(rows(1).getFirst());
    String cross = flat;
    if (config.cross().layers() > 0) {
      Map<String, List<Double>> sizes =
          Map.of("layers", of(config.cross().layers()), "rank", of(rank));
      cross = layer("cross", GraphOp.CROSS, List.of(flat), sizes);
    }
    String hidden = hidden("deep", flat, config.hidden(), config.style().dropout());
    return linear("out", concat("both", List.of(cross, hidden)), 1);
  }

  private String dlrm() {
    if (schema.denseDim() == 0) {
      throw refused("without numbers, expected one or more, which HugeCTR's layers need");
    }
    rows(1);
    layers.clear(); // Vectors are read as such.
    if (inputs.size() != 2) {
      throw refused("with several widths of vectors, expected one");
    }
    List<Integer> bottom =
        Stream.concat(config.bottom().stream(), Stream.of(config.embedding())).toList();
    String z = hidden("bottom", DENSE, bottom, 0);
    String joined =
        layer("interaction", GraphOp.INTERACTION, List.of(z, inputs.getFirst().name()), Map.of());
    // HugeCTR has a column of zeros behind the products: the layer that reads it needs a row.
    String reader = (config.hidden().isEmpty() ? "out" : "top.0") + ".weight";
    int outputs = config.hidden().isEmpty() ? 1 : config.hidden().getFirst();
    float[] weights = DenseFile.array(arrays, reader);
    arrays.put(reader, Arrays.copyOf(weights, weights.length + outputs));
    return linear("out", hidden("top", joined, config.hidden(), config.style().dropout()), 1);
  }
}
