package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Layers of a graph of Tern as dense layers of HugeCTR. */
final class LayerWriting {
  private final List<Json> layers = new ArrayList<>();
  private final List<StoredWeights> weights = new ArrayList<>();

  /** The layers so far, as JSON. */
  List<Json> layers() {
    return layers;
  }

  /** The arrays of their weights, in order. */
  List<StoredWeights> weights() {
    return weights;
  }

  /** Takes a layer. */
  void add(GraphLayer layer) {
    layers.add(json(layer));
    weights.addAll(weights(layer));
  }

  private static DataException refused(GraphLayer layer, String why) {
    return new DataException(
        "export: got the layer %s (%s), %s".formatted(layer.name(), layer.op().text(), why));
  }

  private static Json names(List<String> names) {
    return names.size() == 1
        ? new Json.Str(names.getFirst())
        : new Json.Arr(names.stream().<Json>map(Json.Str::new).toList());
  }

  private static Json wholes(List<Integer> numbers) {
    return new Json.Arr(numbers.stream().<Json>map(number -> new Json.Int(number)).toList());
  }

  private static Json.Obj of(GraphLayer layer, String type) {
    return Json.object()
        .put("type", type)
        .put("bottom", names(layer.inputs()))
        .put("top", names(layer.outputs()));
  }

  private static Json json(GraphLayer layer) {
    Optional<Map.Entry<String, GraphOp>> plain =
        LayerTranslation.PLAIN.entrySet().stream()
            .filter(each -> each.getValue() == layer.op())
            .findFirst();
    if (plain.isPresent()) {
      return of(layer, plain.get().getKey());
    }
    return switch (layer.op()) {
      case LINEAR ->
          of(layer, "InnerProduct")
              .put("fc_param", Json.object().put("num_output", layer.whole("outputs")));
      case MLP -> of(layer, "MLP").put("mlp_param", mlp(layer));
      case CROSS -> of(layer, "MultiCross").put("mc_param", cross(layer));
      case BATCH_NORM ->
          of(layer, "BatchNorm")
              .put(
                  "bn_param",
                  Json.object()
                      .put("factor", layer.exact("share"))
                      .put("eps", layer.exact("epsilon")));
      case LAYER_NORM ->
          of(layer, "LayerNorm").put("ln_param", Json.object().put("eps", layer.exact("epsilon")));
      case SLOT_WEIGHTS ->
          of(layer, "WeightMultiply")
              .put("weight_dims", wholes(List.of(layer.whole("slots"), layer.whole("width"))));
      case DROPOUT -> of(layer, "Dropout").put("rate", layer.exact("rate"));
      case ELU ->
          of(layer, "ELU").put("elu_param", Json.object().put("alpha", layer.exact("alpha")));
      default -> shaped(layer);
    };
  }

  /** Layers without weights that change shapes, or mix what a row has. */
  private static Json shaped(GraphLayer layer) {
    return switch (layer.op()) {
      case CONCAT -> of(layer, "Concat").put("axis", layer.whole("axis"));
      case SLICE -> of(layer, "Slice").put("ranges", ranges(layer));
      case RESHAPE -> reshape(layer);
      case PICK -> of(layer, "Reshape").put("selected", wholes(layer.wholes("slots")));
      case SUM -> of(layer, "ReduceSum").put("axis", layer.whole("axis"));
      case MEAN -> of(layer, "ReduceMean").put("axis", layer.whole("axis"));
      case REPEAT ->
          of(layer, "Scale")
              .put(
                  "scale_param",
                  Json.object()
                      .put("axis", layer.flag("rows") ? 1 : 0)
                      .put("factor", layer.whole("factor")));
      case SOFTMAX -> softmax(layer);
      case SEQUENCE_MASK ->
          of(layer, "SequenceMask")
              .put("max_sequence_len_from", layer.whole("from"))
              .put("max_sequence_len_to", layer.whole("to"));
      case ATTENTION ->
          of(layer, "MultiHeadAttention")
              .put("num_attention_heads", layer.whole("heads"))
              .put("transpose_b", true);
      case PAIR_VECTORS -> of(layer, "FmOrder2").put("out_dim", layer.whole("width"));
      case JOIN_SLOTS ->
          of(layer, layer.flag("all") ? "FusedReshapeConcatGeneral" : "FusedReshapeConcat");
      case DICE ->
          // Its writer says alpha, and its reader asks for elu_alpha.
          of(layer, "PReLU_Dice")
              .put(
                  "prelu_dice_param",
                  Json.object()
                      .put("alpha", layer.exact("alpha"))
                      .put("elu_alpha", layer.exact("alpha"))
                      .put("eps", layer.exact("epsilon")));
      default -> throw new AssertionError(layer.op()); // It is plain, or has weights.
    };
  }

  private static Json mlp(GraphLayer layer) {
    List<Integer> outputs = layer.wholes("outputs");
    List<Json> activations = new ArrayList<>();
    layer.flags("relu").forEach(relu -> activations.add(new Json.Str(relu ? "Relu" : "None")));
    return Json.object()
        .put("num_output", outputs.getFirst())
        .put("num_outputs", wholes(outputs))
        .put("activations", new Json.Arr(activations))
        .put(
            "biases",
            new Json.Arr(
                layer.flags("bias").stream().<Json>map(flag -> new Json.Bool(flag)).toList()));
  }

  private static Json cross(GraphLayer layer) {
    Json.Obj sizes = Json.object().put("num_layers", layer.whole("layers"));
    // HugeCTR's reader takes the rank, though its writer leaves it out.
    return layer.whole("rank") == 0 ? sizes : sizes.put("projection_dim", layer.whole("rank"));
  }

  private static Json softmax(GraphLayer layer) {
    if (layer.inputs().size() == 1 && layer.exact("factor") != 1) {
      throw refused(
          layer,
          "with the factor %s and no mask, expected 1: HugeCTR multiplies by it only where there is a mask"
              .formatted(layer.exact("factor")));
    }
    return of(layer, "Softmax").put("factor", layer.exact("factor"));
  }

  private static Json ranges(GraphLayer layer) {
    List<Integer> from = layer.wholes("from");
    List<Integer> to = layer.wholes("to");
    return new Json.Arr(
        IntStream.range(0, from.size())
            .<Json>mapToObj(i -> wholes(List.of(from.get(i), to.get(i))))
            .toList());
  }

  private static Json reshape(GraphLayer layer) {
    if (layer.whole("width") == 0) {
      throw refused(layer, "with the width 0 for a whole row, expected the width as a number");
    }
    Json.Obj json = of(layer, "Reshape").put("leading_dim", layer.whole("width"));
    return layer.whole("steps") == 0 ? json : json.put("time_step", layer.whole("steps"));
  }

  private static List<StoredWeights> weights(GraphLayer layer) {
    return switch (layer.op()) {
      case LINEAR -> stored(layer, "weight", "bias");
      case BATCH_NORM, LAYER_NORM -> stored(layer, "gamma", "beta");
      case SLOT_WEIGHTS -> stored(layer, "weight");
      case CROSS -> {
        List<StoredWeights> all = new ArrayList<>();
        for (int i = 0; i < layer.whole("layers"); i++) {
          all.addAll(
              layer.whole("rank") == 0
                  ? stored(layer, i + ".weight", i + ".bias")
                  : stored(layer, i + ".v", i + ".u", i + ".bias"));
        }
        yield all;
      }
      case MLP -> {
        List<StoredWeights> all = new ArrayList<>();
        for (int i = 0; i < layer.wholes("outputs").size(); i++) {
          all.addAll(stored(layer, i + ".weight"));
          all.addAll(
              layer.flags("bias").get(i)
                  ? stored(layer, i + ".bias")
                  : List.of(StoredWeights.unused(layer.name(), layer.wholes("outputs").get(i))));
        }
        yield all;
      }
      default -> List.of();
    };
  }

  private static List<StoredWeights> stored(GraphLayer layer, String... parameters) {
    List<StoredWeights> all = new ArrayList<>();
    for (String parameter : parameters) {
      all.add(StoredWeights.of(layer.name(), layer.name() + "." + parameter));
    }
    return all;
  }
}
