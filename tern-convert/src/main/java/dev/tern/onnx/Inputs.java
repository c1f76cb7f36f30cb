package dev.tern.onnx;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextHash;
import dev.tern.internal.json.Json;
import dev.tern.internal.onnx.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The inputs of an exported model, and how they become rows of tables. All columns of numbers are
 * one input. A slot has its values one row after the other, and offsets that say where rows begin;
 * slots of one sequence share these.
 */
final class Inputs {
  private static final String ROWS = "rows";
  private static final Graph.Dim.Open BATCH = new Graph.Dim.Open(ROWS);
  private static final Graph.Dim.Open OFFSETS = new Graph.Dim.Open("rows + 1");

  private final Graph graph;
  private final FeatureEncoder encoder;
  private final OnnxOptions.Ids kind;
  private final List<Json> described = new ArrayList<>();
  private final Map<String, String> offsetsOf = new LinkedHashMap<>();
  private Optional<String> dense = Optional.empty();
  private Optional<String> batch = Optional.empty();

  Inputs(Graph graph, FeatureEncoder encoder, OnnxOptions.Ids kind) {
    this.graph = graph;
    this.encoder = encoder;
    this.kind = kind;
    Schema raw = encoder.rawSchema();
    if (raw.denseDim() > 0) {
      String name = "dense";
      graph.input(name, ElementType.FLOAT, BATCH, new Graph.Dim.Fixed(raw.denseDim()));
      dense = Optional.of(name);
      batch = Optional.of(graph.slice(graph.node("Shape", name), 0, 0, 1));
      described.add(denseText(name));
    }
  }

  private Json denseText(String name) {
    List<Json> columns = new ArrayList<>();
    for (int f = 0; f < encoder.rawSchema().denseDim(); f++) {
      columns.add(
          Json.object()
              .put("name", encoder.rawSchema().dense().get(f))
              .put("encoding", Json.parse(encoder.numberJson(f), "encoder")));
    }
    return Json.object()
        .put("name", name)
        .put("type", "float")
        .put("missing", "NaN")
        .put("columns", new Json.Arr(columns));
  }

  /** The numbers, FLOAT {@code [B, F]}, if there are any. */
  Optional<String> dense() {
    return dense;
  }

  /** The number of rows of a call, INT64 {@code [1]}. */
  String batch() {
    return batch.orElseThrow(
        () -> new IllegalStateException("onnx: got a model without inputs, expected a column"));
  }

  /** What the inputs are, for who makes them. */
  Json described() {
    return new Json.Arr(described);
  }

  /**
   * What a slot takes.
   *
   * @param bag rows of the table: of a slot in a sequence, those that are kept
   * @param missing the id of a missing value of a slot of one value, if it has one
   */
  record Taken(Bag bag, OptionalLong missing) {}

  /** Declares the inputs of slot {@code number} of raw rows. */
  Taken slot(int number, ExportedTable table) {
    Slot slot = encoder.rawSchema().slots().get(number);
    IdRows ids = new IdRows(graph, encoder, number, table);
    boolean byCaller = kind == OnnxOptions.Ids.CALLER;
    if (byCaller && table.isInitial()) {
      throw new DataException(
          "table %s: got rows found by the caller where ids without one read as the weights that they would begin with, which the graph computes of the id; export with ids found by the graph"
              .formatted(table.name()));
    }
    ElementType type = byCaller ? ElementType.INT64 : ids.type();
    String values = slot.name() + (byCaller ? ".rows" : ".ids");
    Graph.Dim.Open many = new Graph.Dim.Open(values);
    graph.input(values, type, many);
    Optional<String> weights =
        slot.weighted()
            ? Optional.of(graph.input(slot.name() + ".weights", ElementType.FLOAT, many))
            : Optional.empty();
    String offsets = offsets(slot);
    if (batch.isEmpty()) {
      batch = Optional.of(new Runs(graph, noSizes()).count(offsets));
    }
    described.add(describe(slot, ids, table, values, offsets));
    Bag.Rows rows = byCaller ? new Bag.Rows(values, Optional.empty()) : ids.rows(values);
    // A row of zeros behind the last takes the places of rows that are not there.
    Bag.Rows ended =
        new Bag.Rows(
            graph.concat(0, List.of(rows.numbers(), graph.integers(table.zeroRow()))),
            rows.ids().map(all -> graph.concat(0, List.of(all, graph.integers(0)))));
    Optional<String> endedWeights =
        weights.map(w -> graph.concat(0, List.of(w, graph.floats("weight", new long[] {1}, 0f))));
    Bag bag = new Bag(ended, offsets, endedWeights);
    return slot.sequence().map(of -> cut(bag, of)).orElseGet(() -> new Taken(bag, ids.missing()));
  }

  private OpenSizes noSizes() {
    return new OpenSizes(graph, List.of());
  }

  private String offsets(Slot slot) {
    String of = slot.sequence().map(Sequence::name).orElse(slot.name());
    String key = slot.sequence().isPresent() ? "sequence " + of : "slot " + of;
    String known = offsetsOf.get(key);
    if (known == null) {
      known = graph.input(of + ".offsets", ElementType.INT64, OFFSETS);
      offsetsOf.put(key, known);
    }
    return known;
  }

  /** Keeps of each run as many rows as a sequence has at most. */
  private Taken cut(Bag bag, Sequence sequence) {
    Runs runs = new Runs(graph, noSizes());
    String lengths = runs.lengths(bag.offsets());
    String kept = graph.node("Min", lengths, graph.integer(sequence.maxLength()));
    String offsets = runs.offsets(kept);
    String begins = runs.begins(bag.offsets());
    String first =
        sequence.keep() == Sequence.Keep.FIRST
            ? begins
            : graph.node("Add", begins, graph.node("Sub", lengths, kept));
    // Row i of what is kept is row i - offsets[run] + first[run]; behind the last is the zero row.
    String last = graph.node("Sub", graph.node("Shape", bag.rows().numbers()), graph.integers(1));
    String starts = graph.concat(0, List.of(first, last));
    String total = graph.node("Add", graph.sliceFrom(offsets, 0, -1), graph.integers(1));
    String run = runs.runs(offsets, total);
    String all =
        graph.node(
            "Range",
            graph.integer(0),
            graph.node("Squeeze", total, graph.integers(0)),
            graph.integer(1));
    String shift = graph.node("Sub", starts, offsets);
    String from = graph.node("Add", all, graph.gather(shift, run, 0));
    return new Taken(
        new Bag(
            bag.rows().at(graph, from), offsets, bag.weights().map(w -> graph.gather(w, from, 0))),
        OptionalLong.empty());
  }

  private Json describe(Slot slot, IdRows ids, ExportedTable table, String values, String offsets) {
    boolean byCaller = kind == OnnxOptions.Ids.CALLER;
    Json.Obj json =
        Json.object()
            .put("name", values)
            .put("column", slot.name())
            .put("type", !byCaller && ids.type() == ElementType.STRING ? "string" : "int64")
            .put("values", byCaller ? "row of the table" : ids.words())
            .put("offsets", offsets)
            .put("table", table.name())
            .put("hotness", slot.hotness());
    if (slot.weighted()) {
      json.put("weights", slot.name() + ".weights");
    }
    slot.sequence()
        .ifPresent(sequence ->
            json.put(
                "sequence",
                Json.object()
                    .put("name", sequence.name())
                    .put("max_length", sequence.maxLength())
                    .put("keep", sequence.keep().text())));
    if (byCaller) {
      json.put("unknown", table.unknownRow());
      json.put("zeros", table.zeroRow());
    } else if (ids.type() == ElementType.INT64 && encoder.slots().get(number(slot)).text()) {
      json.put("empty", TextHash.EMPTY);
    }
    return json;
  }

  private int number(Slot slot) {
    return encoder.rawSchema().slotNames().indexOf(slot.name());
  }
}
