package dev.tern.onnx.layers;

import dev.tern.internal.onnx.SavedNode;
import dev.tern.internal.onnx.SavedTensor;
import dev.tern.onnx.layers.Operand.Column;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Fixed;
import dev.tern.onnx.layers.Operand.Ints;
import dev.tern.onnx.layers.Operand.Made;
import dev.tern.onnx.layers.Operand.Turned;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Nodes that take parts of values, or join them: of what rows have, of columns of data, or of sizes
 * that other nodes compute with.
 *
 * @param reads takes what embeddings are asked for
 */
record PartNodes(Values values, EmbeddingReads reads) {
  /** Computes a node; false if it is of another kind. */
  boolean take(SavedNode node) {
    switch (node.op()) {
      case "Gather" -> values.put(node, 0, gather(node));
      case "GatherND" -> values.put(node, 0, gatherAll(node));
      case "Slice" -> values.put(node, 0, slice(node));
      case "Split" -> split(node);
      case "Concat" -> values.put(node, 0, concat(node));
      default -> {
        return false;
      }
    }
    return true;
  }

  /** The number of one of a row's sizes, from 0. */
  static int axis(SavedNode node, long axis, List<Long> dims) {
    long counted = axis < 0 ? axis + dims.size() + 1 : axis;
    if (counted < 1 || counted > dims.size()) {
      throw node.fault(
          "the axis %d of a value of %d dimensions".formatted(axis, dims.size() + 1),
          "1 or more: nothing mixes rows");
    }
    return (int) counted - 1;
  }

  private Operand gather(SavedNode node) {
    long axis = node.integer("axis", 0);
    Operand of = values.get(node, 0);
    if (of instanceof Fixed rows && values.get(node, 1) instanceof Columns ids) {
      return embedded(node, rows, ids);
    }
    Ints places = values.ints(node, 1);
    return switch (of) {
      case Ints ints when ints.dims().size() == 1 ->
          new Ints(chosen(node, ints.values(), places), places.dims());
      case Columns columns -> {
        int at = axis(node, axis, columns.dims());
        List<Integer> parts = parts(node, places, columns.dims().get(at));
        yield sized(taken(columns, at, parts), at, places.dims());
      }
      case Made made -> {
        int at = axis(node, axis, made.dims());
        List<Integer> parts = parts(node, places, made.dims().get(at));
        yield sized(taken(node, made, at, parts), at, places.dims());
      }
      case Turned(Made made) when axis >= 0 && axis < made.dims().size() -> {
        int at = (int) axis;
        List<Integer> parts = parts(node, places, made.dims().get(at));
        Made chosen = values.builder().taken(node.output(), made, at, parts);
        yield new Turned(chosen.as(with(chosen.dims(), at, places.dims())));
      }
      case Fixed _, Ints _, Turned _ ->
          throw node.fault("constants at fixed places", "ids of data, or parts of what rows have");
    };
  }

  /** Numbers at places that name all sizes of a row, of a value whose rows are last. */
  private Turned gatherAll(SavedNode node) {
    node.requireInteger("batch_dims", 0);
    Ints places = values.ints(node, 1);
    boolean fits = places.dims().size() == 2;
    if (!fits || !(values.get(node, 0) instanceof Turned(Made made))) {
      throw node.fault(
          "places of the sizes " + places.dims(),
          "a list of places in a value whose last dimension counts rows");
    }
    List<Long> dims = made.dims();
    if (places.dims().getLast() != dims.size()) {
      throw node.fault(
          "places of the sizes %s in a row of %s".formatted(places.dims(), dims),
          "a number for each of its sizes");
    }
    List<Integer> flat = new ArrayList<>();
    for (int i = 0; i < places.values().size(); i += dims.size()) {
      long place = 0;
      for (int axis = 0; axis < dims.size(); axis++) {
        Ints one = Ints.of(List.of(places.values().get(i + axis)));
        place = place * dims.get(axis) + parts(node, one, dims.get(axis)).getFirst();
      }
      flat.add(Math.toIntExact(place));
    }
    Made all = made.as(List.of(Operand.count(dims)));
    return new Turned(values.builder().taken(node.output(), all, 0, flat));
  }

  private Made embedded(SavedNode node, Fixed rows, Columns ids) {
    if (!ids.ids() || node.integer("axis", 0) != 0) {
      throw node.fault("floats, or another axis than 0, to choose rows", "whole numbers, axis 0");
    }
    SavedTensor tensor =
        rows.tensor().orElseThrow(() -> node.fault("a single number", "the rows of an embedding"));
    Values.requireFloats(node, tensor);
    if (ids.columns().stream().anyMatch(column -> column.shift() < 0)) {
      throw node.fault("ids of which a number is taken away", "ids, or more than they are");
    }
    boolean fits = tensor.dims().size() == 2 && !tensor.dims().contains(0L);
    if (!fits || tensor.dims().getLast() > 1 << 16 || tensor.dims().getFirst() > 1L << 31) {
      throw node.fault(
          "rows of the sizes " + tensor.dims(), "two sizes, of up to 2^31 rows and 65536 columns");
    }
    return reads.read(node.output(), tensor, ids);
  }

  private static List<Long> chosen(SavedNode node, List<Long> of, Ints places) {
    return parts(node, places, of.size()).stream().map(of::get).toList();
  }

  private static List<Integer> parts(SavedNode node, Ints places, long size) {
    List<Integer> parts = new ArrayList<>();
    for (long place : places.values()) {
      long at = place < 0 ? place + size : place;
      if (at < 0 || at >= size) {
        throw node.fault("the place " + place, "one of " + size);
      }
      parts.add((int) at);
    }
    return parts;
  }

  /** With {@code sizes} in the place of one size. */
  private static List<Long> with(List<Long> dims, int axis, List<Long> sizes) {
    List<Long> all = new ArrayList<>(dims);
    all.remove(axis);
    all.addAll(axis, sizes);
    return all;
  }

  private static Operand sized(Operand of, int axis, List<Long> sizes) {
    return switch (of) {
      case Columns(List<Column> columns, List<Long> dims, boolean ids) ->
          new Columns(columns, with(dims, axis, sizes), ids);
      case Made made -> made.as(with(made.dims(), axis, sizes));
      case Fixed _, Ints _, Turned _ -> throw new AssertionError(of); // They are no rows.
    };
  }

  private Columns taken(Columns of, int axis, List<Integer> parts) {
    List<Long> dims = with(of.dims(), axis, List.of((long) parts.size()));
    long inner = Operand.count(of.dims().subList(axis + 1, of.dims().size()));
    long outer = Operand.count(of.dims().subList(0, axis));
    long size = of.dims().get(axis);
    spend(Math.multiplyExact(outer * inner, parts.size()));
    List<Column> columns = new ArrayList<>();
    for (long block = 0; block < outer; block++) {
      for (int part : parts) {
        for (long i = 0; i < inner; i++) {
          columns.add(of.columns().get((int) ((block * size + part) * inner + i)));
        }
      }
    }
    return new Columns(columns, dims, of.ids());
  }

  private Operand taken(SavedNode node, Operand of, int axis, List<Integer> parts) {
    return switch (of) {
      case Columns columns -> taken(columns, axis, parts);
      case Made made -> {
        boolean all =
            parts.size() == made.dims().get(axis)
                && IntStream.range(0, parts.size()).allMatch(i -> parts.get(i) == i);
        yield all ? made : values.builder().taken(node.output(), made, axis, parts);
      }
      case Fixed _, Ints _, Turned _ -> throw new AssertionError(of); // They are no rows.
    };
  }

  /** Counts numbers before memory is taken for them. */
  private void spend(long count) {
    values.builder().spend(count);
  }

  private List<Integer> range(int from, int to) {
    spend(to - from);
    return IntStream.range(from, to).boxed().toList();
  }

  private Operand slice(SavedNode node) {
    List<Long> starts = values.ints(node, 1).values();
    List<Long> ends = values.ints(node, 2).values();
    List<Long> axes =
        node.hasInput(3)
            ? values.ints(node, 3).values()
            : IntStream.range(0, starts.size()).mapToObj(i -> (long) i).toList();
    boolean steps =
        node.hasInput(4) && values.ints(node, 4).values().stream().anyMatch(s -> s != 1);
    if (steps || starts.size() != ends.size() || starts.size() != axes.size()) {
      throw node.fault("steps, or lists of other lengths", "a begin and an end for each axis");
    }
    Operand of = values.get(node, 0);
    for (int i = 0; i < axes.size(); i++) {
      of = sliced(node, of, axes.get(i), starts.get(i), ends.get(i));
    }
    return of;
  }

  private Operand sliced(SavedNode node, Operand of, long axis, long start, long end) {
    if (of instanceof Ints(List<Long> all, _)) {
      int from = ShapeNodes.place(start, all.size());
      return Ints.of(all.subList(from, Math.max(from, ShapeNodes.place(end, all.size()))));
    }
    List<Long> dims = dims(node, of);
    if (axis == 0 && start == 0 && end >= Integer.MAX_VALUE) {
      return of; // All rows.
    }
    int at = axis(node, axis, dims);
    int from = ShapeNodes.place(start, dims.get(at));
    int to = ShapeNodes.place(end, dims.get(at));
    if (from >= to) {
      throw node.fault("a part from %d to %d".formatted(from, to), "one that is not empty");
    }
    return taken(node, of, at, range(from, to));
  }

  private static List<Long> dims(SavedNode node, Operand of) {
    return switch (of) {
      case Columns columns -> columns.dims();
      case Made made -> made.dims();
      case Fixed _, Ints _, Turned _ ->
          throw node.fault("constants, or rows in the last dimension", "values that rows have");
    };
  }

  private void split(SavedNode node) {
    Operand of = values.get(node, 0);
    int at = axis(node, node.integer("axis", 0), dims(node, of));
    long size = dims(node, of).get(at);
    int count = node.outputs().size();
    List<Long> sizes = new ArrayList<>();
    if (node.hasInput(1)) {
      sizes.addAll(values.ints(node, 1).values());
    } else {
      long each = (size + count - 1) / count;
      for (int i = 0; i < count; i++) {
        sizes.add(Math.min(each, size - i * each));
      }
    }
    int from = 0;
    for (int i = 0; i < count; i++) {
      long own = i < sizes.size() ? sizes.get(i) : 0;
      if (own < 1 || own > size - from) {
        throw node.fault(
            "parts of the sizes " + sizes, "%d that add up to %d".formatted(count, size));
      }
      int to = from + (int) own;
      values.put(node, i, taken(node, of, at, range(from, to)));
      from = to;
    }
  }

  private Operand concat(SavedNode node) {
    List<Operand> parts = new ArrayList<>();
    for (int i = 0; i < node.inputs().size(); i++) {
      parts.add(values.get(node, i));
    }
    long axis = node.integer("axis", 0);
    if (parts.stream().allMatch(Ints.class::isInstance)) {
      parts.forEach(part -> spend(((Ints) part).values().size()));
      return Ints.of(parts.stream().flatMap(part -> ((Ints) part).values().stream()).toList());
    }
    if (parts.stream().allMatch(Columns.class::isInstance)) {
      return joined(node, axis, parts.stream().map(Columns.class::cast).toList());
    }
    List<Made> made = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      made.add(values.made(node, i));
    }
    List<Long> dims = made.getFirst().dims();
    int at = axis(node, axis, dims);
    made.forEach(part -> requireAlike(node, dims, part.dims(), at));
    return values.builder().joined(node.output(), at, made);
  }

  private static void requireAlike(SavedNode node, List<Long> dims, List<Long> other, int axis) {
    boolean fits = dims.size() == other.size();
    for (int i = 0; fits && i < dims.size(); i++) {
      fits = i == axis || dims.get(i).equals(other.get(i));
    }
    if (!fits) {
      throw node.fault(
          "values of the sizes %s and %s for each row".formatted(dims, other),
          "equal sizes but for that which is joined");
    }
  }

  private Columns joined(SavedNode node, long axis, List<Columns> parts) {
    List<Long> dims = parts.getFirst().dims();
    int at = axis(node, axis, dims);
    long outer = Operand.count(dims.subList(0, at));
    parts.forEach(part -> spend(part.columns().size()));
    List<Column> columns = new ArrayList<>();
    for (int block = 0; block < outer; block++) {
      for (Columns part : parts) {
        requireAlike(node, dims, part.dims(), at);
        int own = (int) (part.columns().size() / outer);
        columns.addAll(part.columns().subList(block * own, (block + 1) * own));
      }
    }
    long size = parts.stream().mapToLong(part -> part.dims().get(at)).sum();
    boolean ids = parts.stream().allMatch(Columns::ids);
    return new Columns(columns, with(dims, at, List.of(size)), ids);
  }
}
