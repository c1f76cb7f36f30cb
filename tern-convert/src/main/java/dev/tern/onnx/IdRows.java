package dev.tern.onnx;

import dev.tern.base.SplitMix64;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.ValueIds;
import dev.tern.internal.onnx.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * Finds the rows of values of one column in a graph. Values that are texts, of a vocabulary that
 * knows them, are looked up as texts. All others are integers of 64 bits, or hashes of texts, which
 * a vocabulary, a hash or nothing turns into ids; then a search among the ascending ids of the
 * table, unrolled, finds the row. Where ids have no gap it is a subtraction.
 */
final class IdRows {
  /** Bytes of texts of a vocabulary that are looked up as texts at most; else as hashes. */
  private static final long MOST_TEXT = 256L << 20;

  private final Graph graph;
  private final Hashes hashes;
  private final FeatureEncoder encoder;
  private final int slot;
  private final IdEncoding encoding;
  private final ExportedTable table;
  private final Optional<List<String>> texts;

  /**
   * @param slot number of a slot of raw rows
   * @param table of the slot
   */
  IdRows(Graph graph, FeatureEncoder encoder, int slot, ExportedTable table) {
    this.graph = graph;
    this.encoder = encoder;
    this.slot = slot;
    this.table = table;
    hashes = new Hashes(graph);
    encoding = encoder.slots().get(slot);
    texts = texts();
  }

  /** What values are given as. */
  ElementType type() {
    return texts.isPresent() ? ElementType.STRING : ElementType.INT64;
  }

  /** What a value is, in words. */
  String words() {
    if (texts.isPresent()) {
      return "text";
    }
    return encoding.text() ? "xxh64 of the text in UTF-8, seed 0" : "integer";
  }

  private Optional<List<String>> texts() {
    // Where an unknown text reads as something of its own, its hash decides, which no graph has.
    if (!(encoding instanceof IdEncoding.Vocabulary) || !encoding.text() || table.needsIds()) {
      return Optional.empty();
    }
    List<String> all = new ArrayList<>();
    long bytes = 0;
    for (int id = 1; id <= encoder.vocabularySize(slot); id++) {
      Optional<String> text = encoder.text(slot, id);
      bytes += 4L * text.map(String::length).orElse(0) + 16;
      if (text.isEmpty() || bytes > MOST_TEXT) {
        return Optional.empty();
      }
      all.add(text.get());
    }
    return Optional.of(all);
  }

  /** The id of a missing value of a slot of one value; empty where it reads as zeros. */
  OptionalLong missing() {
    Slot of = encoder.rawSchema().slots().get(slot);
    if (of.hotness() != 1 || of.sequence().isPresent()) {
      return OptionalLong.empty();
    }
    return switch (encoding) {
      case IdEncoding.Verbatim _ -> OptionalLong.empty();
      case IdEncoding.Vocabulary _ -> OptionalLong.of(0);
      case IdEncoding.Hashed(_, long buckets) ->
          OptionalLong.of(SplitMix64.bounded(TextHash.EMPTY, buckets));
    };
  }

  /** The rows of {@code values}. */
  Bag.Rows rows(String values) {
    return switch (encoding) {
      case IdEncoding.Verbatim _ -> rowsOfIds(values);
      case IdEncoding.Hashed(_, long buckets) ->
          rowsOfIds(hashes.bounded(values, requireSmall(buckets)));
      case IdEncoding.Vocabulary of ->
          texts.isPresent()
              ? new Bag.Rows(rowsOfTexts(values, texts.get()), Optional.empty())
              : rowsOfKnown(values, of);
    };
  }

  private long requireSmall(long buckets) {
    if (buckets >= Hashes.MOST) {
      throw new IllegalArgumentException(
          "onnx: got %d buckets of column %s, expected fewer than 2^31; export with ids found by the caller"
              .formatted(buckets, encoder.rawSchema().slots().get(slot).name()));
    }
    return buckets;
  }

  private String rowsOfTexts(String values, List<String> known) {
    List<String> keys = new ArrayList<>(known);
    List<Long> rows = new ArrayList<>();
    for (int id = 1; id <= known.size(); id++) {
      rows.add(table.row(id));
    }
    if (!known.contains("")) {
      keys.add("");
      rows.add(table.row(0));
    }
    boolean apart = ((IdEncoding.Vocabulary) encoding).apart();
    long others = apart ? table.unknownRow() : table.row(0);
    return graph.mlNode(
        "LabelEncoder",
        List.of(values),
        Attribute.texts("keys_strings", keys),
        Attribute.integers("values_int64s", rows.stream().mapToLong(Long::longValue).toArray()),
        Attribute.integer("default_int64", others));
  }

  private Bag.Rows rowsOfKnown(String values, IdEncoding.Vocabulary vocabulary) {
    ValueIds known = ValueIds.of(encoder, encoder.rawSchema().slots().get(slot).name());
    int size = encoder.vocabularySize(slot);
    long[] raw = new long[size + 1];
    for (int id = 1; id <= size; id++) {
      raw[id] = known.raw(id);
    }
    boolean hasEmpty =
        encoding.text() && Arrays.stream(raw, 1, raw.length).noneMatch(r -> r == TextHash.EMPTY);
    raw[0] = TextHash.EMPTY;
    long[] order =
        LongStream.rangeClosed(hasEmpty ? 0 : 1, size)
            .boxed()
            .sorted(Comparator.comparingLong(id -> raw[id.intValue()]))
            .mapToLong(Long::longValue)
            .toArray();
    boolean apart = vocabulary.apart();
    String otherIds = apart ? outside(values) : graph.integer(0);
    String others = apart ? unknown(otherIds) : graph.integer(table.row(0));
    if (order.length == 0) {
      String shape = graph.node("Shape", values);
      return found(graph.filled(others, shape), graph.filled(otherIds, shape));
    }
    long[] dims = {order.length};
    long[] keys = Arrays.stream(order).map(id -> raw[(int) id]).toArray();
    long[] rows = Arrays.stream(order).map(table::row).toArray();
    String allKeys = graph.longs("values", dims, keys);
    String place = search(allKeys, order.length, values);
    String isKnown = graph.node("Equal", graph.gather(allKeys, place, 0), values);
    String row = graph.gather(graph.longs("rows", dims, rows), place, 0);
    String result = graph.where(isKnown, row, others);
    if (!table.needsIds()) {
      return new Bag.Rows(result, Optional.empty());
    }
    String id = graph.gather(graph.longs("known", dims, order), place, 0);
    return found(result, graph.where(isKnown, id, otherIds));
  }

  /** Rows, with their ids if these are asked for. */
  private Bag.Rows found(String rows, String ids) {
    return new Bag.Rows(rows, table.isInitial() ? Optional.of(ids) : Optional.empty());
  }

  /** The ids of values outside a vocabulary; computed only where rows depend on them. */
  private String outside(String values) {
    if (!table.needsIds()) {
      return values;
    }
    String half = hashes.shifted(hashes.mixed(values), 1);
    return graph.node("BitwiseOr", half, graph.integer(Long.MIN_VALUE));
  }

  /** What ids read as that have no row: a scalar, or {@code [n]}. */
  private String unknown(String ids) {
    return table.buckets() == 0
        ? graph.integer(table.unknownRow())
        : graph.node(
            "Add", hashes.bounded(ids, table.buckets()), graph.integer(table.unknownRow()));
  }

  private Bag.Rows rowsOfIds(String ids) {
    return found(numbers(ids, unknown(ids)), ids);
  }

  private String numbers(String ids, String others) {
    if (table.count() == 0) {
      return table.buckets() == 0 ? graph.filled(others, graph.node("Shape", ids)) : others;
    }
    if (table.isRange()) {
      String place = graph.node("Sub", ids, graph.integer(table.firstId()));
      // Ids far away wrap around, but never into the range: it is a bijection.
      String notBelow = graph.node("GreaterOrEqual", place, graph.integer(0));
      String notAbove = graph.node("Less", place, graph.integer(table.count()));
      return graph.where(graph.node("And", notBelow, notAbove), place, others);
    }
    String keys = idsOfTable();
    String place = search(keys, table.count(), ids);
    String isKnown = graph.node("Equal", graph.gather(keys, place, 0), ids);
    return graph.where(isKnown, place, others);
  }

  private String idsOfTable() {
    return graph.shared(
        ExportedTable.IDS + table.name(),
        ElementType.INT64,
        new long[] {table.count()},
        table.idContent());
  }

  /** The place among ascending {@code keys} where {@code values} are, if they are there. */
  private String search(String keys, long count, String values) {
    String place = graph.integer(0);
    for (long left = count; left > 1; left -= left / 2) {
      long half = left / 2;
      String key = graph.gather(keys, graph.node("Add", place, graph.integer(half - 1)), 0);
      String isAbove = graph.node("Less", key, values);
      place = graph.where(isAbove, graph.node("Add", place, graph.integer(half)), place);
    }
    return place;
  }
}
