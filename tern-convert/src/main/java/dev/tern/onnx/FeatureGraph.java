package dev.tern.onnx;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.model.Network;
import dev.tern.nn.Features;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Makes of the inputs of a graph what a model reads: {@link Features}, as values of the graph. */
final class FeatureGraph {
  private final Graph graph;
  private final FeatureEncoder encoder;
  private final Network network;
  private final Map<String, ExportedTable> tables;
  private final Inputs inputs;
  private final Numbers numbers;
  private final Pools pools;
  private final Map<String, String> values = new HashMap<>();
  private final List<String> symbols = new ArrayList<>();

  FeatureGraph(
      Graph graph,
      FeatureEncoder encoder,
      Network network,
      Map<String, ExportedTable> tables,
      OnnxOptions.Ids kind) {
    this.graph = graph;
    this.encoder = encoder;
    this.network = network;
    this.tables = tables;
    inputs = new Inputs(graph, encoder, kind);
    numbers = new Numbers(graph, encoder, inputs.dense().orElse(""));
    pools = new Pools(graph, new OpenSizes(graph, List.of()));
  }

  /** The inputs that were declared. */
  Inputs inputs() {
    return inputs;
  }

  /** The numbers of rows and of elements of each sequence, INT64 {@code [1]} each. */
  List<String> symbols() {
    return symbols;
  }

  /** Computes all features; names the leaves of {@code program} and gives a value for each name. */
  Map<String, String> values(ScoringProgram program) {
    List<Inputs.Taken> taken = new ArrayList<>();
    for (int s = 0; s < encoder.rawSchema().slotCount(); s++) {
      taken.add(inputs.slot(s, table(s)));
    }
    symbols.add(inputs.batch());
    Features features = program.features();
    numbers.scaled().ifPresent(scaled -> put(program, features.dense(), "dense", scaled));
    pooled(program, features, taken);
    network
        .sequences()
        .forEach((name, slots) -> sequence(program, name, slots, taken, features.sequence(name)));
    return values;
  }

  private void put(ScoringProgram program, Tensor leaf, String name, String value) {
    String key = "features." + name;
    program.name(leaf, key);
    values.put(key, value);
  }

  private ExportedTable table(int slot) {
    return Objects.requireNonNull(tables.get(encoder.schema().slots().get(slot).table()));
  }

  private void pooled(ScoringProgram program, Features features, List<Inputs.Taken> taken) {
    List<Integer> parts = network.model().embeddingParts();
    int front = parts.subList(0, parts.size() - 1).stream().mapToInt(Integer::intValue).sum();
    List<String> rows = new ArrayList<>();
    List<String> pairs = new ArrayList<>();
    for (int s = 0; s < encoder.schema().slotCount(); s++) {
      int slot = s;
      if (network.sequences().values().stream().noneMatch(of -> of.contains(slot))) {
        Pools.Pooled pooled = pooled(s, taken, front);
        rows.add(pooled.vectors());
        pairs.add(graph.unsqueeze(pooled.pairs().orElseGet(this::noPairs), 1));
      }
    }
    if (rows.isEmpty()) {
      return;
    }
    int from = 0;
    for (int part = 0; part < parts.size(); part++) {
      boolean isLast = part == parts.size() - 1;
      int to = from + parts.get(part);
      put(
          program,
          features.parts().get(part),
          "part." + part,
          joined(rows, from, isLast ? -1 : to));
      from = to;
    }
    if (features.within().isPresent()) {
      put(program, features.within().get(), "within", graph.concat(1, pairs));
    }
  }

  /** Columns of the rows of all slots: {@code [B, S, D]}, or side by side if widths differ. */
  private String joined(List<String> rows, int from, int to) {
    List<String> columns = new ArrayList<>();
    for (String row : rows) {
      boolean isWhole = from == 0 && to < 0;
      columns.add(
          isWhole ? row : to < 0 ? graph.sliceFrom(row, 1, from) : graph.slice(row, 1, from, to));
    }
    String flat = graph.concat(1, columns);
    List<Integer> widths = pooledWidths();
    if (to < 0 && widths.stream().distinct().count() > 1) {
      return flat;
    }
    int width = to < 0 ? widths.getFirst() : to - from;
    return graph.reshape(flat, -1, rows.size(), width);
  }

  private List<Integer> pooledWidths() {
    List<Integer> widths = new ArrayList<>();
    for (int s = 0; s < encoder.schema().slotCount(); s++) {
      int slot = s;
      if (network.sequences().values().stream().noneMatch(of -> of.contains(slot))) {
        widths.add(network.slotWidths().get(s));
      }
    }
    return widths;
  }

  private String noPairs() {
    return graph.filled(graph.scalar(0), inputs.batch());
  }

  private Pools.Pooled pooled(int slot, List<Inputs.Taken> taken, int front) {
    if (slot >= taken.size()) {
      int column = numbers.slots().get(slot - encoder.rawSchema().slotCount());
      return new Pools.Pooled(numbers.vectors(column, table(slot), pools), Optional.empty());
    }
    Inputs.Taken of = taken.get(slot);
    Slot columns = encoder.schema().slots().get(slot);
    Bag bag = of.bag();
    if (columns.hotness() == 1 && !columns.weighted() && columns.sequence().isEmpty()) {
      return new Pools.Pooled(single(slot, of), Optional.empty());
    }
    Optional<Integer> pairs = network.model().pairsWithin() ? Optional.of(front) : Optional.empty();
    Pools.Pooled pooled = pools.pool(table(slot), bag, network.tables().combiner(slot), pairs);
    if (of.missing().isEmpty()) {
      return pooled;
    }
    String missing = pools.rows(table(slot), of.missing().getAsLong());
    String isEmpty = graph.unsqueeze(graph.node("Not", isPresent(bag)), 1);
    return new Pools.Pooled(graph.where(isEmpty, missing, pooled.vectors()), pooled.pairs());
  }

  private String isPresent(Bag bag) {
    return graph.node(
        "Less", graph.slice(bag.offsets(), 0, 0, -1), graph.sliceFrom(bag.offsets(), 0, 1));
  }

  /** The row of each slot of one value, which needs no sum. */
  private String single(int slot, Inputs.Taken of) {
    ExportedTable table = table(slot);
    String first = graph.slice(of.bag().offsets(), 0, 0, -1);
    Bag.Rows rows = of.bag().rows().at(graph, first);
    String isPresent = isPresent(of.bag());
    if (of.missing().isEmpty()) {
      String zeros = graph.integer(table.zeroRow());
      return pools.rows(
          table, new Bag.Rows(graph.where(isPresent, rows.numbers(), zeros), rows.ids()));
    }
    long id = of.missing().getAsLong();
    String numbers = graph.where(isPresent, rows.numbers(), graph.integer(table.row(id)));
    Optional<String> ids = rows.ids().map(all -> graph.where(isPresent, all, graph.integer(id)));
    return pools.rows(table, new Bag.Rows(numbers, ids));
  }

  private void sequence(
      ScoringProgram program,
      String name,
      List<Integer> slots,
      List<Inputs.Taken> taken,
      Ragged leaf) {
    List<String> rows = new ArrayList<>();
    for (int slot : slots) {
      rows.add(pools.rows(table(slot), taken.get(slot).bag().rows()));
    }
    Bag first = taken.get(slots.getFirst()).bag();
    symbols.add(graph.node("Shape", first.rows().numbers()));
    put(program, leaf.values(), "sequence." + name, graph.concat(1, rows));
    put(program, leaf.offsets(0), "offsets." + name, first.offsets());
  }

  /** The tables of a checkpoint's network, by name. */
  static Map<String, ExportedTable> tables(Checkpoint checkpoint, Network network) {
    Map<String, ExportedTable> rows = new LinkedHashMap<>();
    List<EmbeddingTable> tables = network.tables().tables();
    for (int t = 0; t < tables.size(); t++) {
      rows.put(checkpoint.tables().get(t), ExportedTable.of(checkpoint, t, tables.get(t).config()));
    }
    return rows;
  }
}
