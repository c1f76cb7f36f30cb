package dev.tern.onnx.layers;

import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.internal.onnx.SavedNode;
import dev.tern.internal.onnx.SavedTensor;
import dev.tern.internal.onnx.TensorData;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Ints;
import dev.tern.onnx.layers.Operand.Made;
import dev.tern.onnx.layers.Operand.Turned;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The values of a model by name, as its nodes make them. */
final class Values {
  /** More whole numbers than sizes and places are. */
  private static final long MOST_INTS = 1 << 16;

  private final SavedModel saved;
  private final TensorData data;
  private final GraphBuilder builder;
  private final InputColumns columns;
  private final Map<String, Operand> known = new HashMap<>();
  private final Map<String, Integer> readers = new HashMap<>();
  private final Map<String, String> aliases = new HashMap<>();

  Values(SavedModel saved, TensorData data, GraphBuilder builder, InputColumns columns) {
    this.saved = saved;
    this.data = data;
    this.builder = builder;
    this.columns = columns;
    known.putAll(columns.inputs());
  }

  GraphBuilder builder() {
    return builder;
  }

  InputColumns columns() {
    return columns;
  }

  /** Says that a value is another one, in other sizes if anything. */
  void alias(String value, String of) {
    aliases.putIfAbsent(value, aliases.getOrDefault(of, of));
  }

  /** Counts a reader of a value. */
  void count(String value) {
    readers.merge(aliases.getOrDefault(value, value), 1, Integer::sum);
  }

  /** Whether the value of an input of a node is read there alone. */
  boolean isReadOnce(SavedNode node, int input) {
    String value = node.inputs().get(input);
    return readers.getOrDefault(aliases.getOrDefault(value, value), 0) == 1;
  }

  void put(SavedNode node, int output, Operand value) {
    switch (value) {
      case Columns data -> builder.spend(data.columns().size());
      case Ints ints -> builder.spend(ints.values().size());
      case Fixed _, Made _, Turned _ -> {}
    }
    if (known.put(node.outputs().get(output), value) != null) {
      throw node.fault("the output " + node.outputs().get(output) + " a second time", "new names");
    }
  }

  /** The value of that name, if anything makes it. */
  Optional<Operand> get(String name) {
    Operand value = known.get(name);
    SavedTensor tensor = saved.tensors().get(name);
    if (value == null && tensor != null) {
      value = constant(tensor);
      known.put(name, value);
    }
    return Optional.ofNullable(value);
  }

  /** The value of an input of a node. */
  Operand get(SavedNode node, int input) {
    if (!node.hasInput(input)) {
      throw node.fault("no input number " + input, "one");
    }
    String name = node.inputs().get(input);
    return get(name)
        .orElseThrow(() ->
            node.fault("the input " + name + ", which nothing before it makes", "a known value"));
  }

  /** A tensor: few whole numbers are sizes and places, all else weights. */
  Operand constant(SavedTensor tensor) {
    boolean whole = tensor.type() == ElementType.INT64.number();
    if (!whole || Operand.count(tensor.dims()) > MOST_INTS) {
      return Fixed.of(tensor);
    }
    return new Ints(data.longs(tensor), tensor.dims());
  }

  /** Whole numbers that are the same in all calls, but for the number of rows. */
  Ints ints(SavedNode node, int input) {
    if (get(node, input) instanceof Ints ints) {
      return ints;
    }
    throw node.fault(what(node, input), "whole numbers that are the same in all calls");
  }

  Fixed fixed(SavedNode node, int input) {
    if (get(node, input) instanceof Fixed constant) {
      return constant;
    }
    throw node.fault(what(node, input), "weights, as the model has them");
  }

  /** What layers compute with. */
  Made made(SavedNode node, int input) {
    return switch (get(node, input)) {
      case Made value -> value;
      case Columns data -> columns.numbers(data);
      case Fixed _, Ints _, Turned _ ->
          throw node.fault(what(node, input), "a value that rows have");
    };
  }

  private String what(SavedNode node, int input) {
    String name = node.inputs().get(input);
    return switch (get(node, input)) {
      case Made _ -> "the input " + name + ", which differs from row to row";
      case Turned _ -> "the input " + name + ", whose last dimension counts rows";
      case Columns _ -> "the input " + name + ", which has columns of data";
      case Fixed _ -> "the input " + name + ", which has weights";
      case Ints _ -> "the input " + name + ", which has whole numbers";
    };
  }

  /** The weights of a tensor of floats, to be read later. */
  GraphBuilder.Weights weights(SavedNode node, Fixed of) {
    if (of.tensor().isEmpty()) {
      return _ -> new float[] {of.number()};
    }
    SavedTensor tensor = of.tensor().get();
    requireFloats(node, tensor);
    return from -> from.floats(tensor);
  }

  /** Throws if a tensor has no floats, or not as many as its sizes say. */
  static void requireFloats(SavedNode node, SavedTensor tensor) {
    boolean complete = tensor.length() == Math.multiplyExact(4, Operand.count(tensor.dims()));
    if (tensor.type() != ElementType.FLOAT.number() || !complete) {
      throw node.fault(
          "the tensor %s of type %d, sizes %s and %d bytes"
              .formatted(tensor.name(), tensor.type(), tensor.dims(), tensor.length()),
          "FLOAT (1), 4 bytes each");
    }
  }

  /** The numbers of a constant, repeated to the sizes that a row has. */
  float[] spread(SavedNode node, Fixed of, List<Long> dims, long most) {
    List<Long> own = new ArrayList<>(of.dims());
    while (own.size() > dims.size() && own.getFirst() == 1) {
      own.removeFirst(); // Also the dimension that counts rows.
    }
    while (own.size() < dims.size()) {
      own.addFirst(1L);
    }
    if (!GraphBuilder.common(own, dims).equals(dims) || Operand.count(dims) > most) {
      throw node.fault(
          "a constant of the sizes %s for a value of %s".formatted(of.dims(), dims),
          "sizes that fit, and at most %d numbers".formatted(most));
    }
    builder.spend(Operand.count(dims));
    float[] values = weights(node, of).read(data);
    float[] all = new float[(int) Operand.count(dims)];
    for (int i = 0; i < all.length; i++) {
      all[i] = values[place(i, own, dims)];
    }
    return all;
  }

  /** The place among a constant's numbers of number {@code index} of all. */
  private static int place(int index, List<Long> own, List<Long> dims) {
    long left = index;
    long place = 0;
    long step = 1;
    for (int axis = dims.size() - 1; axis >= 0; axis--) {
      place += own.get(axis) == 1 ? 0 : left % dims.get(axis) * step;
      left /= dims.get(axis);
      step *= own.get(axis);
    }
    return (int) place;
  }
}
