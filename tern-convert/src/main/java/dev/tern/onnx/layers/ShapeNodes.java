package dev.tern.onnx.layers;

import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedNode;
import dev.tern.onnx.layers.Operand.Column;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Ints;
import dev.tern.onnx.layers.Operand.Made;
import dev.tern.onnx.layers.Operand.Turned;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Nodes that give values other sizes, or none: of what rows have, of columns of data, or of sizes
 * that other nodes compute with.
 */
record ShapeNodes(Values values) {
  private static final int FLOAT = ElementType.FLOAT.number();
  private static final int INT32 = 6;
  private static final int INT64 = ElementType.INT64.number();

  /** Computes a node; false if it is of another kind. */
  boolean take(SavedNode node) {
    switch (node.op()) {
      case "Identity", "Dropout" -> values.put(node, 0, values.get(node, 0));
      case "Cast" -> values.put(node, 0, cast(node));
      case "Constant" -> values.put(node, 0, constant(node));
      case "Shape" -> values.put(node, 0, shape(node));
      case "Reshape" -> values.put(node, 0, reshape(node));
      case "Flatten" -> values.put(node, 0, flatten(node));
      case "Squeeze" -> values.put(node, 0, squeeze(node));
      case "Unsqueeze" -> values.put(node, 0, unsqueeze(node));
      case "Transpose" -> values.put(node, 0, transpose(node));
      default -> {
        return false;
      }
    }
    return true;
  }

  /** A begin or an end, from 0 to {@code size}. */
  static int place(long index, long size) {
    return (int) Math.clamp(index < 0 ? index + size : index, 0, size);
  }

  private Operand cast(SavedNode node) {
    long to = node.integer("to", 0);
    boolean whole = to == INT64 || to == INT32;
    return switch (values.get(node, 0)) {
      case Columns columns
          when columns.ids() && to == FLOAT && !values.columns().areWhole(columns) ->
          throw node.fault(
              "a cast to FLOAT of floats that a cast to whole numbers has cut",
              "an input of whole numbers, or no casts");
      case Columns(List<Column> columns, List<Long> dims, _) when whole || to == FLOAT ->
          new Columns(columns, dims, whole);
      case Ints ints when whole -> ints;
      case Made made when to == FLOAT -> made;
      case Fixed fixed when to == FLOAT -> fixed;
      default ->
          throw node.fault(
              "a cast to the type " + to, "FLOAT (1), or INT64 (7) of columns of data");
    };
  }

  private Operand constant(SavedNode node) {
    if (node.tensor("value").isPresent()) {
      return values.constant(node.tensor("value").get());
    }
    if (node.has("value_int")) {
      return new Ints(List.of(node.integer("value_int", 0)), List.of());
    }
    if (node.has("value_ints")) {
      return Ints.of(node.integers("value_ints"));
    }
    if (node.has("value_float")) {
      return Fixed.of(node.real("value_float", 0));
    }
    throw node.fault("the attributes " + node.attributes().keySet(), "value, or a number");
  }

  private Ints shape(SavedNode node) {
    List<Long> all =
        switch (values.get(node, 0)) {
          case Columns columns -> withRows(columns.dims());
          case Made made -> withRows(made.dims());
          case Turned turned -> {
            List<Long> dims = new ArrayList<>(turned.value().dims());
            dims.add(Operand.ROWS);
            yield dims;
          }
          case Fixed fixed -> fixed.dims();
          case Ints ints -> ints.dims();
        };
    int from = place(node.integer("start", 0), all.size());
    int to = place(node.integer("end", all.size()), all.size());
    return Ints.of(all.subList(Math.min(from, to), to));
  }

  private static List<Long> withRows(List<Long> dims) {
    List<Long> all = new ArrayList<>(List.of(Operand.ROWS));
    all.addAll(dims);
    return all;
  }

  private Operand reshape(SavedNode node) {
    List<Long> target = values.ints(node, 1).values();
    if (target.contains(0L)) {
      node.requireInteger("allowzero", 0);
    }
    return switch (values.get(node, 0)) {
      case Ints ints -> new Ints(ints.values(), resolved(node, target, ints.dims()));
      case Fixed _ -> throw node.fault("weights in other sizes", "a value that rows have");
      case Columns(List<Column> columns, List<Long> dims, boolean ids) ->
          new Columns(columns, rowSizes(node, target, dims), ids);
      case Made made -> made.as(rowSizes(node, target, made.dims()));
      case Turned(Made made) -> new Turned(made.as(sizesBeforeRows(node, target, made.dims())));
    };
  }

  /** The sizes in a target that ends with the number of rows. */
  private static List<Long> sizesBeforeRows(SavedNode node, List<Long> target, List<Long> dims) {
    long last = target.isEmpty() ? 0 : target.getLast();
    List<Long> rest = target.subList(0, Math.max(0, target.size() - 1));
    if (last != -1 && last != Operand.ROWS || last == -1 && rest.contains(-1L)) {
      throw node.fault("the sizes " + shown(target), "the number of rows as the last one");
    }
    return resolved(node, rest, dims);
  }

  /** The sizes of a row in a target that begins with the number of rows. */
  private List<Long> rowSizes(SavedNode node, List<Long> target, List<Long> dims) {
    long first = target.isEmpty() ? 0 : target.getFirst();
    OptionalLong rows = values.columns().rows();
    boolean keeps =
        first == -1 || first == 0 || first == Operand.ROWS || rows.equals(OptionalLong.of(first));
    if (target.isEmpty() || !keeps) {
      throw node.fault("the sizes " + shown(target), "the number of rows as the first one");
    }
    List<Long> rest = target.subList(1, target.size());
    if (rest.contains(Operand.ROWS) || first == -1 && rest.contains(-1L)) {
      throw node.fault("the sizes " + shown(target), "the number of rows once, as the first one");
    }
    return resolved(node, rest, dims);
  }

  private static String shown(List<Long> target) {
    return target.stream().map(t -> t == Operand.ROWS ? "rows" : t.toString()).toList().toString();
  }

  /** A target with its -1 and its zeros replaced. */
  private static List<Long> resolved(SavedNode node, List<Long> target, List<Long> dims) {
    long all = Operand.count(dims);
    List<Long> sizes = new ArrayList<>();
    long others = 1;
    for (int i = 0; i < target.size(); i++) {
      long size = target.get(i) == 0 && i < dims.size() ? dims.get(i) : target.get(i);
      sizes.add(size);
      others = size == -1 ? others : Math.multiplyExact(others, size);
    }
    int open = sizes.indexOf(-1L);
    if (open >= 0 && others > 0 && all % others == 0) {
      sizes.set(open, all / others);
      others = all;
    }
    if (others != all || sizes.stream().anyMatch(size -> size < 1)) {
      throw node.fault(
          "the sizes %s for a row of %s".formatted(shown(target), dims),
          "as many numbers in each row");
    }
    return sizes;
  }

  private Operand flatten(SavedNode node) {
    if (values.get(node, 0) instanceof Turned(Made made)
        && node.integer("axis", 1) == made.dims().size()) {
      return new Turned(made.as(List.of(Operand.count(made.dims()))));
    }
    if (node.integer("axis", 1) != 1) {
      throw node.fault("the axis " + node.integer("axis", 1), "1: nothing mixes rows");
    }
    return sizes(node, values.get(node, 0), dims -> List.of(Operand.count(dims)));
  }

  private Operand transpose(SavedNode node) {
    Operand of = values.get(node, 0);
    List<Long> order = node.integers("perm");
    if (of instanceof Turned(Made made)) {
      int rank = made.dims().size() + 1;
      if (order.equals(turned(rank, rank - 1)) || rank == 2 && order.isEmpty()) {
        return made;
      }
    } else if (of instanceof Made || of instanceof Columns && !order.isEmpty()) {
      Made made = values.made(node, 0);
      int rank = made.dims().size() + 1;
      if (order.equals(turned(rank, 0))) {
        return made;
      }
      if (order.equals(turned(rank, 1)) || rank == 2 && order.isEmpty()) {
        return new Turned(made);
      }
      if (order.equals(List.of(0L, 2L, 1L))) {
        return values.builder().transposed(node.output(), made);
      }
    }
    throw node.fault(
        "the order %s of dimensions".formatted(order),
        "[0, 2, 1], or the one of rows moved to the end and back");
  }

  /** The numbers from {@code first} on, then those before it. */
  private static List<Long> turned(int count, int first) {
    return IntStream.range(0, count).mapToObj(i -> (long) (i + first) % count).toList();
  }

  /** Gives the sizes of a row others. */
  private static Operand sizes(SavedNode node, Operand of, UnaryOperator<List<Long>> change) {
    return switch (of) {
      case Columns(List<Column> columns, List<Long> dims, boolean ids) ->
          new Columns(columns, change.apply(dims), ids);
      case Made made -> made.as(change.apply(made.dims()));
      case Fixed _, Ints _, Turned _ ->
          throw node.fault("constants, or rows in the last dimension", "values that rows have");
    };
  }

  private List<Long> axes(SavedNode node) {
    return node.hasInput(1) ? values.ints(node, 1).values() : node.integers("axes");
  }

  private Operand squeeze(SavedNode node) {
    List<Long> axes = axes(node);
    if (values.get(node, 0) instanceof Ints(List<Long> all, List<Long> dims)) {
      boolean one = all.size() == 1;
      return one ? new Ints(all, List.of()) : new Ints(all, dims);
    }
    return sizes(
        node,
        values.get(node, 0),
        dims -> {
          List<Integer> gone = new ArrayList<>();
          axes.forEach(axis -> gone.add(PartNodes.axis(node, axis, dims)));
          List<Long> left = new ArrayList<>();
          for (int i = 0; i < dims.size(); i++) {
            boolean drops = axes.isEmpty() ? dims.get(i) == 1 : gone.contains(i);
            if (drops && dims.get(i) != 1) {
              throw node.fault("an axis of the size " + dims.get(i), "axes of the size 1");
            }
            if (!drops) {
              left.add(dims.get(i));
            }
          }
          return left;
        });
  }

  private Operand unsqueeze(SavedNode node) {
    List<Long> axes = axes(node);
    if (values.get(node, 0) instanceof Ints(List<Long> all, List<Long> dims)) {
      List<Long> sizes = new ArrayList<>(dims);
      axes.forEach(_ -> sizes.addFirst(1L));
      return new Ints(all, sizes);
    }
    return sizes(
        node,
        values.get(node, 0),
        dims -> {
          int rank = dims.size() + axes.size() + 1;
          List<Long> places = axes.stream().map(a -> a < 0 ? a + rank : a).sorted().toList();
          List<Long> sizes = new ArrayList<>(dims);
          for (long place : places) {
            if (place < 1 || place > sizes.size() + 1) {
              throw node.fault("the axis " + place, "1 or more: nothing mixes rows");
            }
            sizes.add((int) place - 1, 1L);
          }
          return sizes;
        });
  }
}
