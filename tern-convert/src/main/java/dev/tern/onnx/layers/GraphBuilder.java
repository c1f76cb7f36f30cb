package dev.tern.onnx.layers;

import dev.tern.internal.onnx.TensorData;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.onnx.layers.Operand.Made;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The layers of one of Tern's graphs in the making, with the weights that they begin with. Methods
 * throw {@link IllegalArgumentException} for what no layer computes.
 */
final class GraphBuilder {
  /** The most numbers of a row that are scaled one by one. */
  private static final int MOST_SCALED = 1 << 12;

  /** The most rows, or columns, of a matrix that is turned. */
  private static final int MOST_TURNED = 128;

  /** The most constants and places of all nodes together. */
  private static final long MOST_SPENT = 1 << 24;

  /** The most numbers of a row to each of which a constant is added. */
  private static final int MOST_SHIFTED = 1 << 8;

  /** Gives the numbers of a parameter. */
  @FunctionalInterface
  interface Weights {
    float[] read(TensorData data);
  }

  /** A layer without a bias, as long as none is added. */
  private record Bare(int layer, Weights weights) {}

  private final List<GraphLayer> layers = new ArrayList<>();
  private final Map<String, Map<String, Weights>> weights = new HashMap<>();
  private final Map<String, Bare> bare = new HashMap<>();
  private final Map<String, Made> logits = new HashMap<>();
  private final Map<String, String> reshaped = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private final Map<String, Integer> copies = new HashMap<>();
  private long spent;

  List<GraphLayer> layers() {
    return layers;
  }

  /** The weights of a layer by the names of its parameters, which begin with the layer's. */
  Map<String, Weights> weights(String layer) {
    return weights.getOrDefault(layer, Map.of());
  }

  /** What {@code x} is the sigmoid of, element by element, if it is one. */
  Optional<Made> logits(Made x) {
    return Optional.ofNullable(logits.get(x.tensor())).map(own -> own.as(x.dims()));
  }

  /** {@code name}, with a number behind it where that is taken. */
  String fresh(String name) {
    String unique = name.isEmpty() ? "layer" : name;
    while (!names.add(unique)) {
      unique = name + "_" + (1 + copies.merge(name, 1, Integer::sum));
    }
    return unique;
  }

  /** Throws if all constants and places together are more than any model has. */
  void spend(long count) {
    spent += count;
    if (spent > MOST_SPENT) {
      throw new IllegalArgumentException(
          "got constants and places of more than %d numbers, expected fewer".formatted(MOST_SPENT));
    }
  }

  static List<Double> of(long number) {
    return List.of((double) number);
  }

  private static List<Double> wholes(List<Integer> numbers) {
    return numbers.stream().map(Integer::doubleValue).toList();
  }

  /** Adds a layer; gives its name, which is that of its tensor. */
  String add(String name, GraphOp op, List<String> in, Map<String, List<Double>> numbers) {
    String layer = fresh(name);
    layers.add(GraphLayer.of(layer, op, in, numbers));
    return layer;
  }

  private void weigh(String layer, String parameter, Weights values) {
    weights.computeIfAbsent(layer, _ -> new LinkedHashMap<>()).put(layer + parameter, values);
  }

  /** Sizes as a graph has them: two dimensions or three with that of rows. */
  private static List<Long> shape(List<Long> dims) {
    return dims.isEmpty() ? List.of(1L) : dims;
  }

  /** The tensor of a value, in the value's own sizes. */
  String tensor(Made x) {
    List<Long> want = shape(x.dims());
    if (x.shape().equals(want)) {
      return x.tensor();
    }
    requireSizes(want);
    String key = x.tensor() + " as " + want;
    String known = reshaped.get(key);
    if (known == null) {
      long steps = want.size() == 2 ? want.getFirst() : 0;
      Map<String, List<Double>> numbers = Map.of("steps", of(steps), "width", of(want.getLast()));
      known = add(x.tensor() + ".reshaped", GraphOp.RESHAPE, List.of(x.tensor()), numbers);
      reshaped.put(key, known);
    }
    return known;
  }

  private static void requireSizes(List<Long> dims) {
    if (dims.size() > 2 || dims.contains(0L)) {
      throw new IllegalArgumentException(
          "got a value of the sizes %s for each row, expected one or two sizes of 1 or more"
              .formatted(dims));
    }
  }

  private static Made made(String tensor, List<Long> dims) {
    return new Made(tensor, shape(dims), dims);
  }

  /** A layer of one input that keeps its sizes. */
  Made unary(String name, GraphOp op, Made x, Map<String, List<Double>> numbers) {
    Made y = made(add(name, op, List.of(tensor(x)), numbers), x.dims());
    if (op == GraphOp.SIGMOID) {
      logits.put(y.tensor(), x);
    }
    return y;
  }

  /** A normalization over the last size, with its parameters and statistics. */
  Made norm(
      String name,
      GraphOp op,
      Made x,
      Map<String, List<Double>> numbers,
      Map<String, Weights> parameters) {
    Made y = unary(name, op, x, numbers);
    parameters.forEach((parameter, values) -> weigh(y.tensor(), parameter, values));
    return y;
  }

  /** {@code x W} over the last size; {@link #shifted} may give it a bias. */
  Made product(String name, Made x, int outputs, Weights matrix) {
    Map<String, List<Double>> numbers =
        Map.of("outputs", of(outputs), "relu", of(0), "bias", of(0));
    Made y = made(add(name, GraphOp.MLP, List.of(tensor(x)), numbers), withLast(x, outputs));
    weigh(y.tensor(), ".0.weight", matrix);
    bare.put(y.tensor(), new Bare(layers.size() - 1, matrix));
    return y;
  }

  /** {@code x W + b} over the last size. */
  Made linear(String name, Made x, int outputs, Weights matrix, Weights bias) {
    Map<String, List<Double>> numbers = Map.of("outputs", of(outputs));
    Made y = made(add(name, GraphOp.LINEAR, List.of(tensor(x)), numbers), withLast(x, outputs));
    weigh(y.tensor(), ".weight", matrix);
    weigh(y.tensor(), ".bias", bias);
    return y;
  }

  private static List<Long> withLast(Made x, long size) {
    if (x.dims().isEmpty()) {
      throw new IllegalArgumentException(
          "got one number for each row without a size of its own, expected a size for a product");
    }
    List<Long> dims = new ArrayList<>(x.dims());
    dims.set(dims.size() - 1, size);
    return dims;
  }

  /** Whether {@code x} is a product to which nothing is added yet. */
  boolean isBare(Made x) {
    Bare layer = bare.get(x.tensor());
    return layer != null && x.dims().equals(x.shape());
  }

  /** Gives a product that nothing else reads a bias. */
  Made withBias(Made x, Weights bias) {
    Bare product = Objects.requireNonNull(bare.remove(x.tensor()));
    GraphLayer layer = layers.get(product.layer());
    Map<String, List<Double>> numbers = Map.of("outputs", wholes(layer.wholes("outputs")));
    layers.set(
        product.layer(), GraphLayer.of(layer.name(), GraphOp.LINEAR, layer.inputs(), numbers));
    weights.remove(layer.name());
    weigh(layer.name(), ".weight", product.weights());
    weigh(layer.name(), ".bias", bias);
    return x;
  }

  /** Each number of a row times its factor. */
  Made scaled(String name, Made x, float[] factors) {
    requireFew(factors.length, MOST_SCALED, "factors");
    Made flat = x.as(List.of((long) factors.length));
    Map<String, List<Double>> sizes = Map.of("slots", of(factors.length), "width", of(1));
    String layer = add(name, GraphOp.SLOT_WEIGHTS, List.of(tensor(flat)), sizes);
    weigh(layer, ".weight", _ -> factors);
    return new Made(layer, flat.dims(), x.dims());
  }

  /** Each number of a row plus its own constant: a linear layer that begins as the identity. */
  Made shifted(String name, Made x, float[] constants) {
    int width = constants.length;
    requireFew(width, MOST_SHIFTED, "constants that are added");
    spend((long) width * width);
    float[] identity = new float[width * width];
    for (int i = 0; i < width; i++) {
      identity[i * width + i] = 1;
    }
    Made flat = x.as(List.of((long) width));
    return linear(name, flat, width, _ -> identity, _ -> constants).as(x.dims());
  }

  private static void requireFew(int got, int most, String what) {
    if (got > most) {
      throw new IllegalArgumentException(
          "got %d %s for a row, expected at most %d".formatted(got, what, most));
    }
  }

  /** Two values of equal sizes, or one of them repeated along sizes of 1, element by element. */
  Made combined(String name, GraphOp op, Made a, Made b) {
    List<Long> dims = common(a.dims(), b.dims());
    String left = tensor(repeated(name, a, dims));
    String right = tensor(repeated(name, b, dims));
    return made(add(name, op, List.of(left, right), Map.of()), dims);
  }

  /** The sizes of two values that are repeated to fit. */
  static List<Long> common(List<Long> a, List<Long> b) {
    boolean fits = a.size() == b.size();
    List<Long> dims = new ArrayList<>();
    for (int i = 0; fits && i < a.size(); i++) {
      fits = a.get(i).equals(b.get(i)) || a.get(i) == 1 || b.get(i) == 1;
      dims.add(Math.max(a.get(i), b.get(i)));
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "got values of the sizes %s and %s for each row, expected equal ones or sizes of 1"
              .formatted(a, b));
    }
    return dims;
  }

  /** {@code x}, repeated along sizes of 1. */
  Made repeated(String name, Made x, List<Long> dims) {
    if (x.dims().equals(dims)) {
      return x;
    }
    requireSizes(dims);
    // Of [S, 1] each number is repeated, of [1, D] each row.
    boolean rows = dims.size() == 2 && x.dims().getFirst() == 1 && x.dims().getLast() != 1;
    long width = x.width();
    long factor = Operand.count(dims) / width;
    Map<String, List<Double>> numbers = Map.of("rows", of(rows ? 1 : 0), "factor", of(factor));
    List<String> in = List.of(tensor(x.as(List.of(width))));
    String layer = add(name + ".repeated", GraphOp.REPEAT, in, numbers);
    return new Made(layer, List.of(width * factor), dims);
  }

  /** Products of matrices, one a row. */
  Made matrices(String name, Made a, Made b) {
    boolean fits = a.dims().size() == 2 && b.dims().size() == 2;
    if (!fits || !a.dims().getLast().equals(b.dims().getFirst())) {
      throw new IllegalArgumentException(
          "got values of the sizes %s and %s for each row, expected two matrices that fit"
              .formatted(a.dims(), b.dims()));
    }
    List<String> in = List.of(tensor(a), tensor(b));
    List<Long> dims = List.of(a.dims().getFirst(), b.dims().getLast());
    return made(add(name, GraphOp.MATMUL, in, Map.of()), dims);
  }

  /** A matrix of each row, turned: its columns or rows apart, then side by side. */
  Made transposed(String name, Made x) {
    int rows = Math.toIntExact(x.dims().getFirst());
    int columns = Math.toIntExact(x.dims().getLast());
    int axis = rows <= columns ? 0 : 1;
    int count = Math.min(rows, columns);
    requireFew(count, MOST_TURNED, "columns and as many rows or more in a matrix that is turned");
    List<Made> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Made part = taken(name + "." + i, x, axis, List.of(i));
      parts.add(part.as(axis == 0 ? List.of((long) columns, 1L) : List.of(1L, (long) rows)));
    }
    return joined(name, 1 - axis, parts);
  }

  /** Values side by side along one of their sizes, from 0. */
  Made joined(String name, int axis, List<Made> parts) {
    if (parts.size() == 1) {
      return parts.getFirst();
    }
    Made y = concat(name, axis, parts);
    List<Made> own = parts.stream().flatMap(part -> logits(part).stream()).toList();
    if (own.size() == parts.size()) {
      logits.put(y.tensor(), concat(name + ".logits", axis, own));
    }
    return y;
  }

  private Made concat(String name, int axis, List<Made> parts) {
    List<Long> dims = new ArrayList<>(parts.getFirst().dims());
    long sum = parts.stream().mapToLong(part -> part.dims().get(axis)).sum();
    dims.set(axis, sum);
    List<String> in = parts.stream().map(this::tensor).toList();
    return made(add(name, GraphOp.CONCAT, in, Map.of("axis", of(axis + 1))), dims);
  }

  /** Sums or means along one of the sizes, from 0, which stays as 1. */
  Made reduced(String name, GraphOp op, Made x, int axis) {
    List<Long> dims = new ArrayList<>(x.dims());
    dims.set(axis, 1L);
    String layer = add(name, op, List.of(tensor(x)), Map.of("axis", of(axis + 1)));
    return made(layer, dims);
  }

  /** Some of the parts along one of the sizes, from 0, in the order of their numbers. */
  Made taken(String name, Made x, int axis, List<Integer> parts) {
    Made y = picked(name, x, axis, parts);
    logits(x).ifPresent(own -> logits.put(y.tensor(), picked(name + ".logits", own, axis, parts)));
    return y;
  }

  private Made picked(String name, Made x, int axis, List<Integer> parts) {
    spend(parts.size());
    List<Long> dims = new ArrayList<>(x.dims());
    dims.set(axis, (long) parts.size());
    if (axis < x.dims().size() - 1) {
      String layer = add(name, GraphOp.PICK, List.of(tensor(x)), Map.of("slots", wholes(parts)));
      return new Made(layer, List.of(Operand.count(dims)), dims);
    }
    List<Integer> from = new ArrayList<>();
    List<Integer> to = new ArrayList<>();
    for (int part : parts) {
      if (to.isEmpty() || to.getLast() != part) {
        from.add(part);
        to.add(part);
      }
      to.set(to.size() - 1, part + 1);
    }
    List<String> out = from.stream().map(_ -> fresh(name + ".part")).toList();
    layers.add(
        new GraphLayer(
            fresh(name),
            GraphOp.SLICE,
            List.of(tensor(x)),
            out,
            Map.of("from", wholes(from), "to", wholes(to))));
    List<Made> pieces = new ArrayList<>();
    for (int i = 0; i < out.size(); i++) {
      List<Long> own = new ArrayList<>(dims);
      own.set(axis, (long) to.get(i) - from.get(i));
      pieces.add(made(out.get(i), own));
    }
    return pieces.size() == 1 ? pieces.getFirst() : concat(name + ".parts", axis, pieces);
  }
}
