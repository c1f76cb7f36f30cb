package dev.tern.onnx.layers;

import dev.tern.base.DataException;
import dev.tern.data.Slot;
import dev.tern.embedding.config.VectorSource;
import dev.tern.internal.onnx.SavedTensor;
import dev.tern.internal.onnx.TensorData;
import dev.tern.model.graph.GraphInput;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.onnx.layers.Operand.Column;
import dev.tern.onnx.layers.Operand.Columns;
import dev.tern.onnx.layers.Operand.Made;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The embeddings that a model reads, as tables and slots of Tern. A slot has one table, so what
 * several embeddings give for a column lies side by side in its rows, and layers in front of all
 * others take it apart. Where a node gives several columns places in one embedding, each column has
 * the rows from its place to the next one.
 */
final class EmbeddingReads {
  /** Rows of one embedding, from the place of id 0 to before the end. */
  private record Piece(SavedTensor rows, long first, long end) {
    static Piece of(SavedTensor rows, Column column) {
      return new Piece(rows, column.shift(), Math.min(column.end(), rows.dims().getFirst()));
    }

    int width() {
      return rows.dims().getLast().intValue();
    }

    /** Whether both begin with the same row of the same embedding. */
    boolean beginsAs(Piece other) {
      return rows.equals(other.rows) && first == other.first;
    }
  }

  /** Where a model reads rows of some columns. */
  private record Read(String tensor, SavedTensor rows, List<Column> columns) {}

  /** A table: pieces of a row, and how many rows there are. */
  record Table(String name, int width, long count, VectorSource vectors) {}

  /** What all reads come to. */
  record Result(
      List<Slot> slots, List<Table> tables, List<GraphInput> inputs, List<GraphLayer> layers) {}

  private final GraphBuilder builder;
  private final List<Read> reads = new ArrayList<>();

  EmbeddingReads(GraphBuilder builder) {
    this.builder = builder;
  }

  /** The rows of ids. */
  Made read(String name, SavedTensor rows, Columns ids) {
    String tensor = builder.fresh(name);
    builder.spend(ids.columns().size());
    reads.add(new Read(tensor, rows, ids.columns()));
    long width = rows.dims().getLast();
    List<Long> dims = new ArrayList<>(ids.dims());
    dims.add(width);
    return new Made(tensor, List.of((long) ids.columns().size(), width), dims);
  }

  /** Columns that are read. */
  List<Integer> columns() {
    TreeSet<Integer> columns = new TreeSet<>();
    reads.forEach(read -> read.columns().forEach(column -> columns.add(column.number())));
    return List.copyOf(columns);
  }

  /**
   * Slots and tables of all columns that are read.
   *
   * @param names of columns by number
   */
  Result result(Map<Integer, String> names, TensorData data) {
    Map<Integer, List<Piece>> pieces = new TreeMap<>();
    for (Read read : reads) {
      for (Column column : read.columns()) {
        List<Piece> own = pieces.computeIfAbsent(column.number(), _ -> new ArrayList<>());
        add(own, Piece.of(read.rows(), column));
      }
    }
    Map<List<Piece>, String> owners = new HashMap<>();
    List<Slot> slots = new ArrayList<>();
    List<Table> tables = new ArrayList<>();
    pieces.forEach((column, own) -> {
      String name = name(names, column);
      String owner = owners.get(own);
      if (owner == null) {
        owners.put(own, name);
        tables.add(table(name, own, data));
      }
      slots.add(new Slot(name, 1, owner == null ? name : owner));
    });
    Layout layout = new Layout(names, pieces);
    reads.forEach(layout::add);
    return new Result(slots, tables, layout.inputs, layout.layers);
  }

  /** Adds a piece, or lengthens the one that begins as it does. */
  private static void add(List<Piece> pieces, Piece piece) {
    for (int i = 0; i < pieces.size(); i++) {
      if (pieces.get(i).beginsAs(piece)) {
        pieces.set(i, pieces.get(i).end() < piece.end() ? piece : pieces.get(i));
        return;
      }
    }
    pieces.add(piece);
  }

  private static String name(Map<Integer, String> names, int column) {
    String name = names.get(column);
    if (name == null) {
      throw new AssertionError(column); // All columns have names.
    }
    return name;
  }

  private Table table(String name, List<Piece> pieces, TensorData data) {
    long count = Long.MAX_VALUE;
    for (Piece piece : pieces) {
      count = Math.min(count, Math.max(0, piece.end() - piece.first()));
    }
    int width = pieces.stream().mapToInt(Piece::width).sum();
    return new Table(name, width, count, new Rows(pieces, count, data));
  }

  /** Inputs of the graph, and the layers that take rows apart. */
  private final class Layout {
    private final Map<Integer, String> names;
    private final Map<Integer, List<Piece>> pieces;
    private final List<GraphInput> inputs = new ArrayList<>();
    private final List<GraphLayer> layers = new ArrayList<>();
    private final Map<List<Integer>, String> known = new HashMap<>();

    Layout(Map<Integer, String> names, Map<Integer, List<Piece>> pieces) {
      this.names = names;
      this.pieces = pieces;
    }

    private List<Piece> of(Column column) {
      return pieces.getOrDefault(column.number(), List.of());
    }

    private int width(Column column) {
      return of(column).stream().mapToInt(Piece::width).sum();
    }

    private int begin(Column column, SavedTensor rows) {
      int at = 0;
      for (Piece piece : of(column)) {
        if (piece.beginsAs(Piece.of(rows, column))) {
          break;
        }
        at += piece.width();
      }
      return at;
    }

    void add(Read read) {
      List<Column> columns = read.columns();
      List<Integer> numbers = columns.stream().map(Column::number).toList();
      boolean alike =
          new HashSet<>(numbers).size() == numbers.size()
              && columns.stream().map(this::width).distinct().count() == 1
              && columns.stream().map(c -> begin(c, read.rows())).distinct().count() == 1;
      if (alike) {
        part(columns, read.rows(), read.tensor());
        return;
      }
      List<String> parts = new ArrayList<>();
      for (Column column : columns) {
        String part = builder.fresh(read.tensor() + ".column");
        part(List.of(column), read.rows(), part);
        parts.add(part);
      }
      Map<String, List<Double>> axis = Map.of("axis", GraphBuilder.of(1));
      layers.add(GraphLayer.of(read.tensor(), GraphOp.CONCAT, parts, axis));
    }

    /** What one embedding gives for columns whose rows are alike. */
    private void part(List<Column> columns, SavedTensor rows, String tensor) {
      int from = begin(columns.getFirst(), rows);
      int to = from + rows.dims().getLast().intValue();
      List<Integer> numbers = columns.stream().map(Column::number).toList();
      boolean whole = from == 0 && to == width(columns.getFirst());
      if (whole && !known.containsKey(numbers)) {
        input(numbers, tensor);
        return;
      }
      String all = known.get(numbers);
      if (all == null) {
        all = builder.fresh("vectors");
        input(numbers, all);
      }
      Map<String, List<Double>> range =
          Map.of("from", GraphBuilder.of(from), "to", GraphBuilder.of(to));
      layers.add(
          GraphLayer.of(
              tensor,
              whole ? GraphOp.COPY : GraphOp.SLICE,
              List.of(all),
              whole ? Map.of() : range));
    }

    private void input(List<Integer> numbers, String input) {
      known.put(numbers, input);
      List<String> own = numbers.stream().map(number -> name(names, number)).toList();
      inputs.add(new GraphInput(input, GraphInput.Kind.VECTORS, own));
    }
  }

  /** Reads the rows of a table, block by block. */
  private static final class Rows implements VectorSource {
    private final List<Piece> pieces;
    private final long count;
    private final TensorData data;
    private long at;

    Rows(List<Piece> pieces, long count, TensorData data) {
      this.pieces = pieces;
      this.count = count;
      this.data = data;
    }

    @Override
    public int next(long[] ids, float[] vectors) {
      int some = (int) Math.min(ids.length, count - at);
      int width = pieces.stream().mapToInt(Piece::width).sum();
      for (int i = 0; i < some; i++) {
        ids[i] = at + i;
      }
      int column = 0;
      for (Piece piece : pieces) {
        int own = piece.width();
        ByteBuffer bytes =
            ByteBuffer.wrap(data.bytes(piece.rows(), piece.first() + at, some, 4 * own))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < some; i++) {
          for (int j = 0; j < own; j++) {
            vectors[i * width + column + j] = finite(bytes.getFloat(), piece, at + i);
          }
        }
        column += own;
      }
      at += some;
      return some;
    }

    private static float finite(float weight, Piece piece, long id) {
      if (!Float.isFinite(weight)) {
        throw new DataException(
            "%s: got the weight %s of id %d in %s, expected a finite number; the training diverged, or the file is damaged"
                .formatted(piece.rows().file(), weight, id, piece.rows().name()));
      }
      return weight;
    }
  }
}
