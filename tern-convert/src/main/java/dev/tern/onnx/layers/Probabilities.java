package dev.tern.onnx.layers;

import dev.tern.internal.onnx.SavedNode;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Ints;
import dev.tern.onnx.layers.Operand.Made;
import dev.tern.onnx.layers.Operand.Turned;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Values that nodes compute of sigmoids and softmaxes, such as products of probabilities, with no
 * layer of weights behind these. An output must be none of them: its logit is not known, and the
 * sigmoid of a probability is another one. What is still a sigmoid, part by part, is no such value.
 */
final class Probabilities {
  private final Values values;

  /** By tensor the first node from which on no logit is known. */
  private final Map<String, SavedNode> made = new HashMap<>();

  Probabilities(Values values) {
    this.values = values;
  }

  /** Takes note of what a node has made. */
  void follow(SavedNode node) {
    Set<Made> in = of(node.inputs());
    boolean begins = node.op().equals("Softmax");
    boolean continues =
        in.stream().anyMatch(x -> isLost(x) || values.builder().logits(x).isPresent());
    if (!begins && (!continues || hasWeights(node))) {
      return;
    }
    SavedNode first =
        in.stream()
            .map(x -> made.get(x.tensor()))
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(node);
    for (Made y : of(node.outputs())) {
      boolean same = in.stream().anyMatch(x -> x.tensor().equals(y.tensor()));
      if (!same && values.builder().logits(y).isEmpty()) {
        made.put(y.tensor(), first);
      }
    }
  }

  private boolean isLost(Made x) {
    return made.containsKey(x.tensor());
  }

  private boolean hasWeights(SavedNode node) {
    return switch (node.op()) {
      case "Gemm", "BatchNormalization", "LayerNormalization" -> true;
      case "MatMul" -> values.get(node, 1) instanceof Fixed;
      default -> false;
    };
  }

  private Set<Made> of(List<String> names) {
    Set<Made> all = new LinkedHashSet<>();
    for (String name : names) {
      switch (values.get(name).orElse(Ints.of(List.of()))) {
        case Made value -> all.add(value);
        case Turned(Made value) -> all.add(value);
        case Columns _, Fixed _, Ints _ -> {}
      }
    }
    return all;
  }

  /** Throws if an output is computed of probabilities. */
  void requireNone(String output, Made value) {
    SavedNode node = made.get(value.tensor());
    if (node != null) {
      throw node.fault(
          "the output %s computed of probabilities".formatted(output),
          "logits, or what a Sigmoid makes of them; export the model without this node, or with a"
              + " Sigmoid behind all nodes");
    }
  }
}
