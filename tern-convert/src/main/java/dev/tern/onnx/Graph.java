package dev.tern.onnx;

import dev.tern.internal.onnx.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A graph in the making: nodes in the order in which they can be computed, constants, inputs and
 * outputs (GraphProto of onnx.proto). Values are known by their names. Equal small constants are
 * one, and so are equal nodes.
 */
final class Graph {
  /** The domain of operators for classic machine learning. */
  private static final String ML = "ai.onnx.ml";

  private static final String CAST = "Cast";

  private final Message nodes = new Message();
  private final List<Constant> constants = new ArrayList<>();
  private final Message inputs = new Message();
  private final Message outputs = new Message();
  private final Map<String, String> known = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private int count;
  private boolean usesMl;

  /** A size of an input or output: a number, or the name of one that differs between calls. */
  sealed interface Dim {
    record Fixed(long size) implements Dim {}

    record Open(String name) implements Dim {}
  }

  /** The operators of {@code ai.onnx.ml}, too. */
  boolean usesMl() {
    return usesMl;
  }

  int nodeCount() {
    return count;
  }

  List<Constant> constants() {
    return constants;
  }

  Message nodes() {
    return nodes;
  }

  Message inputs() {
    return inputs;
  }

  Message outputs() {
    return outputs;
  }

  /** {@code name}, with a number behind it where that is taken. */
  private String fresh(String name) {
    String unique = name;
    for (int i = 2; !names.add(unique); i++) {
      unique = name + "_" + i;
    }
    return unique;
  }

  /** Declares an input; returns its name. */
  String input(String name, ElementType type, Dim... dims) {
    if (!names.add(name)) {
      throw new IllegalArgumentException(
          "onnx: got the input %s twice, expected distinct names; rename a column".formatted(name));
    }
    inputs.message(11, value(name, type, dims));
    return name;
  }

  /** Declares {@code value} as an output under a name. */
  void output(String name, String value, ElementType type, Dim... dims) {
    if (!names.add(name)) {
      throw new IllegalArgumentException(
          "onnx: got the output %s beside an input of that name, expected distinct names; rename a column"
              .formatted(name));
    }
    write("Identity", "", List.of(value), List.of(name));
    outputs.message(12, value(name, type, dims));
  }

  private static Message value(String name, ElementType type, Dim... dims) {
    Message shape = new Message();
    for (Dim dim : dims) {
      shape.message(
          1,
          switch (dim) {
            case Dim.Fixed(long size) -> new Message().number(1, size);
            case Dim.Open(String of) -> new Message().text(2, of);
          });
    }
    Message tensor = new Message().number(1, type.number()).message(2, shape);
    return new Message().text(1, name).message(2, new Message().message(1, tensor));
  }

  /** Adds a node of one output; returns the output's name. */
  String node(String op, List<String> of, Attribute... attributes) {
    return node(op, "", of, attributes);
  }

  /** Adds a node of one output and no attributes. */
  String node(String op, String... of) {
    return node(op, "", List.of(of));
  }

  /** Adds a node of {@code ai.onnx.ml}. */
  String mlNode(String op, List<String> of, Attribute... attributes) {
    usesMl = true;
    return node(op, ML, of, attributes);
  }

  private String node(String op, String domain, List<String> of, Attribute... attributes) {
    StringBuilder key = new StringBuilder(op).append(of);
    boolean isLarge = false;
    for (Attribute attribute : attributes) {
      byte[] bytes = attribute.value().toByteArray();
      isLarge |= bytes.length > 256;
      key.append(Arrays.toString(bytes.length > 256 ? new byte[0] : bytes));
    }
    String found = isLarge ? null : known.get(key.toString());
    if (found != null) {
      return found;
    }
    String result = fresh("v" + count);
    write(op, domain, of, List.of(result), attributes);
    if (!isLarge) {
      known.put(key.toString(), result);
    }
    return result;
  }

  /** Adds a node of two outputs; returns the second one's name. */
  String secondOf(String op, List<String> of, Attribute... attributes) {
    String first = fresh("v" + count);
    String second = fresh("v" + count + "b");
    write(op, "", of, List.of(first, second), attributes);
    return second;
  }

  private void write(
      String op, String domain, List<String> of, List<String> results, Attribute... attributes) {
    Message node = new Message();
    of.forEach(input -> node.text(1, input));
    results.forEach(result -> node.text(2, result));
    node.text(3, "n" + count).text(4, op);
    for (Attribute attribute : attributes) {
      node.message(5, attribute.value());
    }
    if (!domain.isEmpty()) {
      node.text(7, domain);
    }
    nodes.message(1, node);
    count++;
  }

  /** Adds a tensor under a name like {@code name}; returns its name. */
  String constant(String name, ElementType type, long[] dims, Constant.Content content) {
    return add(new Constant(fresh(name), type, dims, content));
  }

  /** As {@link #constant}, once for each name. */
  String shared(String name, ElementType type, long[] dims, Constant.Content content) {
    String found = known.get("shared " + name);
    if (found == null) {
      found = constant(name, type, dims, content);
      known.put("shared " + name, found);
    }
    return found;
  }

  private String add(Constant constant) {
    constants.add(constant);
    return constant.name();
  }

  /** A float. */
  String scalar(float value) {
    String key = "float " + Float.floatToRawIntBits(value);
    return known.computeIfAbsent(key, _ -> add(Constant.ofFloats(fresh("c"), new long[0], value)));
  }

  /** A double. */
  String real(double value) {
    String key = "double " + Double.doubleToRawLongBits(value);
    return known.computeIfAbsent(key, _ -> add(Constant.ofDoubles(fresh("c"), new long[0], value)));
  }

  /** An integer. */
  String integer(long value) {
    return known.computeIfAbsent(
        "integer " + value, _ -> add(Constant.ofLongs(fresh("c"), new long[0], value)));
  }

  /** An unsigned integer. */
  String unsigned(long value) {
    return known.computeIfAbsent(
        "unsigned " + value, _ -> add(Constant.ofUnsigned(fresh("c"), value)));
  }

  /** Integers side by side. */
  String integers(long... values) {
    long[] dims = {values.length};
    return values.length > 64
        ? add(Constant.ofLongs(fresh("c"), dims, values))
        : known.computeIfAbsent(
            "integers " + Arrays.toString(values),
            _ -> add(Constant.ofLongs(fresh("c"), dims, values)));
  }

  /** Floats of a shape. */
  String floats(String name, long[] dims, float... values) {
    return add(Constant.ofFloats(fresh(name), dims, values));
  }

  /** Doubles of a shape. */
  String doubles(String name, long[] dims, double... values) {
    return add(Constant.ofDoubles(fresh(name), dims, values));
  }

  /** Integers of a shape. */
  String longs(String name, long[] dims, long... values) {
    return add(Constant.ofLongs(fresh(name), dims, values));
  }

  String cast(String value, ElementType type) {
    return node(CAST, List.of(value), Attribute.integer("to", type.number()));
  }

  /** Elements or rows {@code from} to before {@code to} of a dimension. */
  String slice(String value, int axis, long from, long to) {
    return node("Slice", value, integers(from), integers(to), integers(axis));
  }

  /** From {@code from} on to the end. */
  String sliceFrom(String value, int axis, long from) {
    return slice(value, axis, from, Long.MAX_VALUE);
  }

  String concat(int axis, List<String> values) {
    return values.size() == 1
        ? values.getFirst()
        : node("Concat", values, Attribute.integer("axis", axis));
  }

  /** The rows of {@code table} at {@code index}; -1 is the last one. */
  String gather(String table, String index, int axis) {
    return node("Gather", List.of(table, index), Attribute.integer("axis", axis));
  }

  String unsqueeze(String value, long axis) {
    return node("Unsqueeze", value, integers(axis));
  }

  String reshape(String value, long... sizes) {
    return node("Reshape", value, integers(sizes));
  }

  String where(String condition, String yes, String no) {
    return node("Where", condition, yes, no);
  }

  /** The sum along a dimension, which is dropped. */
  String sum(String value, long axis) {
    return node("ReduceSum", List.of(value, integers(axis)), Attribute.integer("keepdims", 0));
  }

  /** Zeros, or another number, of a computed shape. */
  String filled(String value, String shape) {
    return node("Expand", value, shape);
  }
}
