package dev.tern.hugectr;

import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * A dense layer of HugeCTR as layers of a graph of Tern. Its name is that of its first top, and so
 * are the names of its tensors.
 *
 * @param place where the layer stands
 * @param projection rank of the matrices of cross layers whose graph file lacks it; 0 for vectors
 */
record LayerTranslation(Place place, int projection) {
  private static final int MOST_CROSSES = 1_000;

  /** Layers of HugeCTR without numbers, by their type. */
  static final Map<String, GraphOp> PLAIN =
      Map.of(
          "Add", GraphOp.ADD,
          "Cast", GraphOp.COPY,
          "ElementwiseMultiply", GraphOp.MULTIPLY,
          "Interaction", GraphOp.INTERACTION,
          "MatrixMultiply", GraphOp.MATMUL,
          "ReLU", GraphOp.RELU,
          "Sigmoid", GraphOp.SIGMOID,
          "Sub", GraphOp.SUBTRACT);

  /** Layers that HugeCTR has and cannot use, with the reason. */
  private static final Map<String, String> UNUSABLE =
      Map.of(
          "GRU",
          "HugeCTR's GRU has weights in a form that cuDNN alone reads, and its backward pass"
              + " cannot run, so no trained one exists; take it out of the graph",
          "Gather",
          "HugeCTR makes it for half precision whatever the model's is, so it cannot run in a"
              + " model of floats; take Slice in its place",
          "Select",
          "HugeCTR writes neither its dimension nor its indices into the graph file and cannot"
              + " read it back; take Slice in its place");

  /** What a layer becomes. */
  record Made(List<GraphLayer> layers, List<StoredWeights> weights) {}

  private String top() {
    return place.names("top").getFirst();
  }

  private String where() {
    return place.path() + " " + top();
  }

  Made made() {
    String type = place.text("type");
    GraphOp plain = PLAIN.get(type);
    if (plain != null) {
      return of(plain, Map.of());
    }
    return switch (type) {
      case "InnerProduct", "FusedInnerProduct" -> linear(type.startsWith("Fused"));
      case "MLP" -> mlp(place.object("mlp_param"));
      case "MultiCross" -> cross(place.object("mc_param"));
      case "BatchNorm" -> batchNorm(place.object("bn_param"));
      case "LayerNorm" ->
          stored(
              of(GraphOp.LAYER_NORM, Map.of("epsilon", real(place.object("ln_param"), "eps"))),
              "gamma",
              "beta");
      case "WeightMultiply" -> weightMultiply();
      case "Dropout" ->
          of(GraphOp.DROPOUT, Map.of("rate", List.of(place.realIfAny("rate").orElse(0.5))));
      case "ELU" -> of(GraphOp.ELU, Map.of("alpha", real(place.object("elu_param"), "alpha")));
      case "PReLU_Dice" -> dice(place.object("prelu_dice_param"));
      case "Concat" ->
          of(GraphOp.CONCAT, Map.of("axis", whole(place.wholeIfAny("axis", 0).orElse(1))));
      case "Slice" -> slice();
      case "Reshape" -> reshape();
      case "ReduceSum" -> of(GraphOp.SUM, Map.of("axis", axis()));
      case "ReduceMean" -> of(GraphOp.MEAN, Map.of("axis", axis()));
      case "Scale" -> scale(place.object("scale_param"));
      case "Softmax", "MaskedSoftmax" -> softmax();
      case "SequenceMask" -> sequenceMask();
      case "MultiHeadAttention" -> attention();
      case "FmOrder2" ->
          of(GraphOp.PAIR_VECTORS, Map.of("width", whole(place.whole("out_dim", 1))));
      case "FusedReshapeConcat" -> of(GraphOp.JOIN_SLOTS, Map.of("all", whole(0)));
      case "FusedReshapeConcatGeneral" -> of(GraphOp.JOIN_SLOTS, Map.of("all", whole(1)));
      default -> throw unknown(type);
    };
  }

  private RuntimeException unknown(String type) {
    return UNUSABLE.containsKey(type)
        ? place.wrong("type", type, "a layer that can be trained and run: " + UNUSABLE.get(type))
        : place.wrong(
            "type",
            type + " of " + top(),
            "a type of layer that HugeCTR has; the table in docs/hugectr.md lists what is read");
  }

  private static List<Double> whole(int number) {
    return List.of((double) number);
  }

  private static List<Double> wholes(List<Integer> numbers) {
    return numbers.stream().map(Integer::doubleValue).toList();
  }

  private static List<Double> flags(List<Boolean> flags) {
    return flags.stream().map(flag -> flag ? 1.0 : 0).toList();
  }

  private static List<Double> real(Place from, String field) {
    return List.of(from.real(field));
  }

  private List<Double> axis() {
    return whole(place.wholeIfAny("axis", 0).orElse(1));
  }

  private Made of(GraphOp op, Map<String, List<Double>> numbers) {
    return of(op, top(), place.names("bottom"), place.names("top"), numbers);
  }

  private Made of(
      GraphOp op,
      String name,
      List<String> inputs,
      List<String> outputs,
      Map<String, List<Double>> numbers) {
    try {
      GraphLayer layer = new GraphLayer(name, op, inputs, outputs, numbers);
      return new Made(List.of(layer), List.of());
    } catch (IllegalArgumentException e) {
      String got = String.valueOf(e.getMessage()).replaceFirst("^graph: ", "");
      throw place.wrong("", place.text("type") + " that cannot be read (" + got + ")", "its form");
    }
  }

  /** With the parameters of these names behind that of the layer, in their order. */
  private Made stored(Made made, String... parameters) {
    List<StoredWeights> weights = new ArrayList<>();
    for (String parameter : parameters) {
      weights.add(StoredWeights.of(where(), top() + "." + parameter));
    }
    return new Made(made.layers(), weights);
  }

  private Made linear(boolean relu) {
    List<Double> outputs = whole(place.object("fc_param").whole("num_output", 1));
    if (!relu) {
      return stored(of(GraphOp.LINEAR, Map.of("outputs", outputs)), "weight", "bias");
    }
    // A fully connected layer with its activation, of models in mixed precision.
    Map<String, List<Double>> numbers =
        Map.of("outputs", outputs, "relu", whole(1), "bias", whole(1));
    return stored(of(GraphOp.MLP, numbers), "0.weight", "0.bias");
  }

  private Made mlp(Place sizes) {
    List<Integer> outputs =
        sizes.has("num_outputs") && !sizes.wholes("num_outputs", 1).isEmpty()
            ? sizes.wholes("num_outputs", 1)
            : List.of(sizes.whole("num_output", 1));
    int count = outputs.size();
    List<Boolean> relu = new ArrayList<>();
    String which = sizes.has("activations") ? "activations" : "activation";
    for (String name : sizes.has(which) ? sizes.names(which) : List.of("Relu")) {
      if (!name.equals("Relu") && !name.equals("None")) {
        throw sizes.wrong(which, name, "Relu or None");
      }
      relu.add(name.equals("Relu"));
    }
    List<Boolean> bias =
        sizes.has("biases") && !sizes.flags("biases").isEmpty()
            ? sizes.flags("biases")
            : List.of(!sizes.has("use_bias") || sizes.flag(sizes.get("use_bias"), "use_bias"));
    List<Boolean> relus = forAll(sizes, which, relu, count);
    List<Boolean> used = forAll(sizes, "biases", bias, count);
    Map<String, List<Double>> numbers =
        Map.of("outputs", wholes(outputs), "relu", flags(relus), "bias", flags(used));
    List<StoredWeights> weights = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      weights.add(StoredWeights.of(where(), top() + "." + i + ".weight"));
      weights.add(
          used.get(i)
              ? StoredWeights.of(where(), top() + "." + i + ".bias")
              : StoredWeights.unused(where(), outputs.get(i)));
    }
    return new Made(of(GraphOp.MLP, numbers).layers(), weights);
  }

  private static List<Boolean> forAll(Place at, String field, List<Boolean> given, int count) {
    if (given.size() == count) {
      return given;
    }
    if (given.size() != 1) {
      throw at.wrong(
          field, given.size() + " for " + count + " layers", "one for each layer, or for all");
    }
    return Collections.nCopies(count, given.getFirst());
  }

  private Made cross(Place sizes) {
    int layers = sizes.whole("num_layers", 1);
    if (layers > MOST_CROSSES) {
      throw sizes.wrong("num_layers", Integer.toString(layers), "1 to " + MOST_CROSSES);
    }
    // HugeCTR's reader takes the field, 0 for vectors; its writer leaves it out.
    OptionalInt written = sizes.wholeIfAny("projection_dim", 0);
    int rank = written.orElse(projection);
    Made made = of(GraphOp.CROSS, Map.of("layers", whole(layers), "rank", whole(rank)));
    List<StoredWeights> weights = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      for (String name : rank == 0 ? List.of("weight", "bias") : List.of("v", "u", "bias")) {
        weights.add(StoredWeights.of(where(), top() + "." + i + "." + name));
      }
    }
    return new Made(made.layers(), weights);
  }

  private Made batchNorm(Place numbers) {
    Map<String, List<Double>> both =
        Map.of("share", real(numbers, "factor"), "epsilon", real(numbers, "eps"));
    return stored(of(GraphOp.BATCH_NORM, both), "gamma", "beta");
  }

  private Made dice(Place numbers) {
    // HugeCTR writes alpha and looks for elu_alpha.
    List<Double> alpha = real(numbers, numbers.has("alpha") ? "alpha" : "elu_alpha");
    return of(
        GraphOp.DICE,
        Map.of("alpha", alpha, "epsilon", real(numbers, "eps"), "share", List.of(0.1)));
  }

  private Made weightMultiply() {
    List<Integer> sizes = place.wholes("weight_dims", 1);
    if (sizes.size() != 2) {
      throw place.wrong("weight_dims", sizes.toString(), "two, slots and the width of vectors");
    }
    Map<String, List<Double>> numbers = new TreeMap<>();
    numbers.put("slots", whole(sizes.getFirst()));
    numbers.put("width", whole(sizes.getLast()));
    return stored(of(GraphOp.SLOT_WEIGHTS, numbers), "weight");
  }

  private Made slice() {
    List<Integer> from = new ArrayList<>();
    List<Integer> to = new ArrayList<>();
    for (List<Integer> range : place.pairs("ranges")) {
      from.add(range.getFirst());
      to.add(range.getLast());
    }
    if (from.isEmpty()) {
      throw place.wrong("ranges", "none", "a range for each top");
    }
    return of(GraphOp.SLICE, Map.of("from", wholes(from), "to", wholes(to)));
  }

  private Made reshape() {
    if (place.has("selected") && !place.wholes("selected", 0).isEmpty()) {
      return of(GraphOp.PICK, Map.of("slots", wholes(place.wholes("selected", 0))));
    }
    int width = place.wholeIfAny("leading_dim", 0).orElse(0);
    if (width == 0) {
      throw place.wrong(
          "leading_dim",
          place.has("leading_dim") ? "0" : "none",
          "1 or more: HugeCTR leaves the argument \"shape\" out of graph files; write the last"
              + " size of the tensor here, and of three dimensions the middle one as time_step");
    }
    int steps = place.wholeIfAny("time_step", 0).orElse(0);
    return of(GraphOp.RESHAPE, Map.of("steps", whole(steps), "width", whole(width)));
  }

  private Made softmax() {
    // HugeCTR writes the factor into every file and multiplies by it where there is a mask.
    boolean masked = place.names("bottom").size() > 1;
    double factor = place.realIfAny("factor").orElse(1);
    return of(GraphOp.SOFTMAX, Map.of("factor", List.of(masked ? factor : 1)));
  }

  private Made scale(Place numbers) {
    int axis = numbers.whole("axis", 0);
    if (axis > 1) {
      throw numbers.wrong("axis", Integer.toString(axis), "0 (each element again) or 1 (rows)");
    }
    int factor = (int) numbers.real("factor");
    if (factor != numbers.real("factor") || factor < 1) {
      throw numbers.wrong("factor", numbers.get("factor").kind(), "a whole number of 1 or more");
    }
    return of(GraphOp.REPEAT, Map.of("rows", whole(axis), "factor", whole(factor)));
  }

  private Made sequenceMask() {
    // Files of before HugeCTR 23.12 have one length for both.
    boolean one = place.has("max_sequence_len");
    int from = place.whole(one ? "max_sequence_len" : "max_sequence_len_from", 1);
    int to = place.whole(one ? "max_sequence_len" : "max_sequence_len_to", 1);
    return of(GraphOp.SEQUENCE_MASK, Map.of("from", whole(from), "to", whole(to)));
  }

  private Made attention() {
    int heads = place.wholeIfAny("num_attention_heads", 1).orElse(1);
    return of(GraphOp.ATTENTION, Map.of("heads", whole(heads)));
  }
}
