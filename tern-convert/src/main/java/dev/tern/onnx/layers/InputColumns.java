package dev.tern.onnx.layers;

import dev.tern.base.DataException;
import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedGraph;
import dev.tern.model.graph.GraphInput;
import dev.tern.onnx.layers.Operand.Column;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Made;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * The columns of data that the inputs of a model take: one for each number of a row. Those that
 * layers compute with are numbers, those whose rows an embedding has are ids.
 */
final class InputColumns {
  private static final int MOST_COLUMNS = 1 << 16;
  private static final int FLOAT = ElementType.FLOAT.number();
  private static final int INT32 = 6;
  private static final int INT64 = ElementType.INT64.number();

  private final String file;
  private final GraphBuilder builder;
  private final List<String> names = new ArrayList<>();
  private final Map<String, Columns> inputs = new LinkedHashMap<>();
  private final TreeSet<Integer> numbers = new TreeSet<>();
  private final Set<Integer> wholes = new HashSet<>();
  private final Map<List<Integer>, String> read = new LinkedHashMap<>();
  private final Set<Long> batches = new HashSet<>();

  InputColumns(String file, GraphBuilder builder) {
    this.file = file;
    this.builder = builder;
  }

  private DataException fault(SavedGraph.Port port, String got, String expected) {
    return new DataException(
        "%s: input %s: got %s, expected %s".formatted(file, port.name(), got, expected));
  }

  /** Takes an input. */
  void add(SavedGraph.Port port) {
    boolean whole = port.type() == INT64 || port.type() == INT32;
    if (!whole && port.type() != FLOAT) {
      throw fault(port, "elements of the type " + port.type(), "FLOAT (1), INT32 (6) or INT64 (7)");
    }
    List<Long> all = port.dims().orElse(List.of());
    if (all.isEmpty()) {
      throw fault(port, "no sizes", "the number of rows, and of columns if it has several");
    }
    List<Long> dims = all.subList(1, all.size());
    if (dims.stream().anyMatch(size -> size < 1 || size > MOST_COLUMNS)) {
      throw fault(
          port,
          "the sizes " + all,
          "a first one that counts rows and others of 1 to %d that are the same in all calls"
              .formatted(MOST_COLUMNS));
    }
    long count = Operand.count(dims);
    if (names.size() + count > MOST_COLUMNS) {
      throw fault(port, count + " columns", "at most " + MOST_COLUMNS + " in all inputs");
    }
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(Column.of(names.size()));
      if (whole) {
        wholes.add(names.size());
      }
      names.add(count == 1 ? port.name() : port.name() + i);
    }
    batches.add(all.getFirst());
    if (inputs.put(port.name(), new Columns(columns, dims, whole)) != null) {
      throw fault(port, "its name a second time", "distinct names");
    }
  }

  Map<String, Columns> inputs() {
    return inputs;
  }

  /** The number of rows, where all inputs have one that is fixed. */
  OptionalLong rows() {
    long one = batches.size() == 1 ? batches.iterator().next() : SavedGraph.OPEN;
    return one > 0 ? OptionalLong.of(one) : OptionalLong.empty();
  }

  /** Whether the data have whole numbers in all of these columns, before any node. */
  boolean areWhole(Columns columns) {
    return columns.columns().stream().allMatch(column -> wholes.contains(column.number()));
  }

  /** Columns as numbers that layers compute with. */
  Made numbers(Columns columns) {
    if (columns.ids() || columns.columns().stream().anyMatch(column -> column.shift() != 0)) {
      throw new IllegalArgumentException(
          "got whole numbers of the data, expected them to choose rows of an embedding (Gather), or"
              + " to become floats (Cast)");
    }
    List<Integer> all = columns.columns().stream().map(Column::number).toList();
    if (new HashSet<>(all).size() != all.size()) {
      throw new IllegalArgumentException("got a column of data twice in a value, expected it once");
    }
    numbers.addAll(all);
    String tensor = read.computeIfAbsent(all, _ -> builder.fresh("numbers"));
    return new Made(tensor, List.of((long) all.size()), columns.dims());
  }

  /** Columns that are numbers. */
  List<Integer> numbers() {
    return List.copyOf(numbers);
  }

  /** The inputs of a graph that numbers need. */
  List<GraphInput> graphInputs(Map<Integer, String> called) {
    List<GraphInput> all = new ArrayList<>();
    read.forEach((columns, tensor) -> {
      List<String> own = columns.stream().map(c -> called.getOrDefault(c, name(c))).toList();
      all.add(new GraphInput(tensor, GraphInput.Kind.NUMBERS, own));
    });
    return all;
  }

  /** The name of a column by default: that of its input, with a number where it has several. */
  String name(int column) {
    return names.get(column);
  }

  /** Columns that nothing reads, by name. */
  List<String> unread(List<Integer> ids) {
    List<String> unread = new ArrayList<>();
    for (int column = 0; column < names.size(); column++) {
      if (!numbers.contains(column) && !ids.contains(column)) {
        unread.add(names.get(column));
      }
    }
    return unread;
  }

  /** Throws if a column is both a number and an id. */
  void requireApart(List<Integer> ids) {
    for (int column : ids) {
      if (numbers.contains(column)) {
        throw new DataException(
            "%s: input column %s: got it read as a number and as the id of an embedding, expected one of them; give the model the column twice"
                .formatted(file, names.get(column)));
      }
    }
  }

  /** Names of some columns: the given ones in their order, else those by default. */
  Map<Integer, String> called(String what, List<Integer> columns, List<String> given) {
    if (!given.isEmpty() && given.size() != columns.size()) {
      throw new DataException(
          "%s: got %d names of %s, expected %d, for %s"
              .formatted(
                  file,
                  given.size(),
                  what,
                  columns.size(),
                  columns.stream().limit(20).map(this::name).toList()));
    }
    Map<Integer, String> called = new HashMap<>();
    for (int i = 0; i < columns.size(); i++) {
      called.put(columns.get(i), given.isEmpty() ? name(columns.get(i)) : given.get(i));
    }
    if (new HashSet<>(called.values()).size() != called.size()) {
      throw new DataException(
          "%s: got a name of %s twice, expected distinct names".formatted(file, what));
    }
    return called;
  }
}
