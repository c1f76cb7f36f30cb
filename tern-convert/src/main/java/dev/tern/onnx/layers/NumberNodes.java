package dev.tern.onnx.layers;

import dev.tern.internal.onnx.SavedNode;
import dev.tern.model.graph.GraphOp;
import dev.tern.onnx.layers.Operand.Column;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Ints;
import dev.tern.onnx.layers.Operand.Made;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.TreeSet;
import java.util.function.LongBinaryOperator;

/** Nodes that compute with values and constants, element by element or along a dimension. */
record NumberNodes(Values values) {
  /** More constants of a row than a layer is made of. */
  private static final long MOST_CONSTANTS = 1 << 12;

  /** Computes a node; false if it is of another kind. */
  boolean take(SavedNode node) {
    switch (node.op()) {
      case "Add" -> values.put(node, 0, add(node));
      case "Sub" -> values.put(node, 0, subtract(node));
      case "Mul" -> values.put(node, 0, multiply(node));
      case "Div" -> values.put(node, 0, divide(node));
      case "Pow" -> values.put(node, 0, power(node));
      case "Sum" -> values.put(node, 0, sum(node));
      case "Neg" -> values.put(node, 0, scaled(node, values.made(node, 0), Fixed.of(-1)));
      case "ReduceSum" -> values.put(node, 0, reduced(node, GraphOp.SUM));
      case "ReduceMean" -> values.put(node, 0, reduced(node, GraphOp.MEAN));
      default -> {
        return false;
      }
    }
    return true;
  }

  private Operand add(SavedNode node) {
    Operand a = values.get(node, 0);
    Operand b = values.get(node, 1);
    if (a instanceof Ints && b instanceof Ints) {
      return computed(node, Math::addExact);
    }
    if (a instanceof Columns ids && b instanceof Ints places) {
      return shifted(node, ids, places);
    }
    if (a instanceof Ints places && b instanceof Columns ids) {
      return shifted(node, ids, places);
    }
    if (b instanceof Fixed constant) {
      return plus(node, 0, constant, 1);
    }
    if (a instanceof Fixed constant) {
      return plus(node, 1, constant, 1);
    }
    return combined(node, GraphOp.ADD);
  }

  private Made combined(SavedNode node, GraphOp op) {
    return values.builder().combined(node.output(), op, values.made(node, 0), values.made(node, 1));
  }

  /** Places of ids in a table that several columns share. */
  private static Columns shifted(SavedNode node, Columns ids, Ints places) {
    long last = ids.dims().isEmpty() ? 1 : ids.dims().getLast();
    boolean each = places.values().size() == last && !ids.dims().isEmpty();
    List<Long> sizes = places.dims();
    boolean flat = sizes.stream().limit(Math.max(0, sizes.size() - 1)).allMatch(size -> size == 1);
    boolean fits = flat && sizes.size() <= ids.dims().size() + 1;
    if (!ids.ids() || !fits || places.values().size() != 1 && !each) {
      throw node.fault(
          "numbers of the sizes %s for ids of %s in each row".formatted(sizes, ids.dims()),
          "one for each column of the last size, or one for all");
    }
    if (places.values().contains(Operand.ROWS)) {
      throw node.fault("the number of rows", "a number that is the same in all calls");
    }
    // Several places are those of columns in one table. One alone is a shift, and parts nothing.
    TreeSet<Long> begins = new TreeSet<>();
    List<Column> columns = new ArrayList<>();
    if (new HashSet<>(places.values()).size() > 1) {
      for (int i = 0; i < ids.columns().size(); i++) {
        begins.add(Math.addExact(ids.columns().get(i).shift(), place(places, i)));
      }
    }
    for (int i = 0; i < ids.columns().size(); i++) {
      columns.add(ids.columns().get(i).plus(place(places, i), begins));
    }
    return new Columns(columns, ids.dims(), true);
  }

  private static long place(Ints places, int column) {
    return places.values().get(column % places.values().size());
  }

  private Ints computed(SavedNode node, LongBinaryOperator each) {
    Ints a = values.ints(node, 0);
    Ints b = values.ints(node, 1);
    int count = Math.max(a.values().size(), b.values().size());
    int few = Math.min(a.values().size(), b.values().size());
    if (few != count && few != 1) {
      throw node.fault(few + " numbers and " + count, "as many, or one");
    }
    List<Long> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long left = a.values().get(a.values().size() == 1 ? 0 : i);
      long right = b.values().get(b.values().size() == 1 ? 0 : i);
      if (left == Operand.ROWS || right == Operand.ROWS) {
        throw node.fault("the number of rows", "numbers that are the same in all calls");
      }
      all.add(each.applyAsLong(left, right));
    }
    return new Ints(all, a.values().size() == count ? a.dims() : b.dims());
  }

  /** A value plus a constant times {@code sign}. */
  private Made plus(SavedNode node, int input, Fixed constant, int sign) {
    Made x = repeated(node, values.made(node, input), constant);
    GraphBuilder builder = values.builder();
    boolean ofProduct = builder.isBare(x) && values.isReadOnce(node, input);
    List<Long> dims = ofProduct ? List.of(x.dims().getLast()) : x.dims();
    boolean fits = Operand.count(constant.dims()) <= Operand.count(dims);
    if (ofProduct && fits) {
      float[] bias = times(values.spread(node, constant, dims, 1 << 24), sign);
      return builder.withBias(x, _ -> bias);
    }
    float[] all = times(values.spread(node, constant, x.dims(), MOST_CONSTANTS), sign);
    return areAll(all, 0) ? x : builder.shifted(node.output(), x, all);
  }

  /** {@code x}, repeated where the constant has larger sizes. */
  private Made repeated(SavedNode node, Made x, Fixed constant) {
    List<Long> own = new ArrayList<>(constant.dims());
    while (own.size() > x.dims().size() && own.getFirst() == 1) {
      own.removeFirst();
    }
    while (own.size() < x.dims().size()) {
      own.addFirst(1L);
    }
    return values.builder().repeated(node.output(), x, GraphBuilder.common(x.dims(), own));
  }

  private static float[] times(float[] values, int sign) {
    float[] all = new float[values.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = sign * values[i];
    }
    return all;
  }

  private static boolean areAll(float[] values, float one) {
    for (float value : values) {
      if (value != one) {
        return false;
      }
    }
    return true;
  }

  private Operand subtract(SavedNode node) {
    Operand b = values.get(node, 1);
    if (b instanceof Ints && values.get(node, 0) instanceof Ints) {
      return computed(node, Math::subtractExact);
    }
    return b instanceof Fixed constant
        ? plus(node, 0, constant, -1)
        : combined(node, GraphOp.SUBTRACT);
  }

  private Operand multiply(SavedNode node) {
    Operand a = values.get(node, 0);
    Operand b = values.get(node, 1);
    if (a instanceof Ints && b instanceof Ints) {
      return computed(node, Math::multiplyExact);
    }
    if (b instanceof Fixed constant) {
      return scaled(node, values.made(node, 0), constant);
    }
    if (a instanceof Fixed constant) {
      return scaled(node, values.made(node, 1), constant);
    }
    return combined(node, GraphOp.MULTIPLY);
  }

  private Made scaled(SavedNode node, Made of, Fixed constant) {
    Made x = repeated(node, of, constant);
    float[] factors = values.spread(node, constant, x.dims(), MOST_CONSTANTS);
    return areAll(factors, 1) ? x : values.builder().scaled(node.output(), x, factors);
  }

  private Made divide(SavedNode node) {
    Fixed constant = values.fixed(node, 1);
    Made x = repeated(node, values.made(node, 0), constant);
    float[] factors = values.spread(node, constant, x.dims(), MOST_CONSTANTS);
    for (int i = 0; i < factors.length; i++) {
      factors[i] = 1 / factors[i];
    }
    return values.builder().scaled(node.output(), x, factors);
  }

  private Made power(SavedNode node) {
    Made x = values.made(node, 0);
    double exponent =
        values.get(node, 1) instanceof Ints(List<Long> all, _) && all.size() == 1
            ? all.getFirst()
            : values.spread(node, values.fixed(node, 1), List.of(), 1)[0];
    if (exponent == 1) {
      return x;
    }
    if (exponent != 2) {
      throw node.fault("the exponent " + exponent, "2");
    }
    return values.builder().combined(node.output(), GraphOp.MULTIPLY, x, x);
  }

  private Made sum(SavedNode node) {
    Made all = values.made(node, 0);
    for (int i = 1; i < node.inputs().size(); i++) {
      all = values.builder().combined(node.output(), GraphOp.ADD, all, values.made(node, i));
    }
    return all;
  }

  private Made reduced(SavedNode node, GraphOp op) {
    Made x = values.made(node, 0);
    List<Long> axes = node.hasInput(1) ? values.ints(node, 1).values() : node.integers("axes");
    if (axes.isEmpty()) {
      throw node.fault("no axes", "some of those that a row has: nothing mixes rows");
    }
    int rank = x.dims().size() + 1;
    List<Integer> places = new ArrayList<>();
    for (long axis : axes) {
      long place = axis < 0 ? axis + rank : axis;
      if (place < 1 || place >= rank || places.contains((int) place - 1)) {
        throw node.fault("the axes " + axes, "distinct ones from 1 to " + (rank - 1));
      }
      places.add((int) place - 1);
    }
    places.sort(Comparator.reverseOrder());
    for (int place : places) {
      x = values.builder().reduced(node.output(), op, x, place);
    }
    if (node.integer("keepdims", 1) != 0) {
      return x;
    }
    List<Long> left = new ArrayList<>(x.dims());
    places.forEach(place -> left.remove((int) place));
    return x.as(left);
  }
}
