package dev.tern.files;

import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which columns of a file to read, by name, and as what. Other columns are ignored.
 *
 * @param labels label columns, in order
 * @param positive texts that mean label 1, all others meaning 0; empty: a label is a number
 * @param dense numeric columns, in order; an empty field is a missing number, NaN. Where a file has
 *     no column of the name, one such as {@code t@days} is the part {@link
 *     dev.tern.data.encode.TimePart} of the times in column {@code t}
 * @param sparse columns that become slots, in order
 * @param missing texts that say that a value is missing, as in {@code NA}: a field that is one of
 *     them, between its quotes if it has some, is read as an empty field, a value of a field with
 *     several is left out, and a label is a fault. Compared as written, before escapes are taken
 *     away. Of Parquet all texts are compared, and one that is a value of a list is a null in it
 */
public record Columns(
    List<String> labels,
    Set<String> positive,
    List<String> dense,
    List<SparseColumn> sparse,
    Set<String> missing) {
  /** No columns. */
  public static final Columns NONE = new Columns(List.of(), Set.of(), List.of(), List.of());

  public Columns {
    labels = List.copyOf(labels);
    positive = Set.copyOf(positive);
    dense = List.copyOf(dense);
    sparse = List.copyOf(sparse);
    missing = Set.copyOf(missing);
  }

  /** Columns in which an empty field alone is missing. */
  public Columns(
      List<String> labels, Set<String> positive, List<String> dense, List<SparseColumn> sparse) {
    this(labels, positive, dense, sparse, Set.of());
  }

  /** {@code key} alone, as files that are copied are read; a field of {@code missing} is none. */
  public static Columns ofKey(Optional<SparseColumn> key, Set<String> missing) {
    return new Columns(List.of(), Set.of(), List.of(), key.stream().toList(), missing);
  }

  /** The columns a {@code CsvWriter} of {@code schema} writes: numbers and integer ids. */
  public static Columns of(Schema schema) {
    List<SparseColumn> sparse =
        schema.slots().stream()
            .map(slot ->
                new SparseColumn(
                    slot.name(),
                    slot.unsigned() ? SparseColumn.Values.UNSIGNED : SparseColumn.Values.SIGNED,
                    slot.hotness() == 1 ? "" : SparseColumn.SEPARATOR))
            .toList();
    return new Columns(schema.labels(), Set.of(), schema.dense(), sparse);
  }

  /** These columns without labels. */
  public Columns withoutLabels() {
    return new Columns(List.of(), Set.of(), dense, sparse, missing);
  }

  /** These columns, and a field that is one of {@code texts} is missing. */
  public Columns withMissing(Set<String> texts) {
    return new Columns(labels, positive, dense, sparse, texts);
  }

  /**
   * How the fields of these columns become values.
   *
   * @param trimmed characters that are dropped around a field
   */
  public Reading reading(String trimmed) {
    Map<String, String> separators = new HashMap<>();
    for (SparseColumn column : sparse) {
      if (!column.separator().isEmpty()) {
        separators.put(column.name(), column.separator());
      }
    }
    return new Reading(trimmed, separators, missing, "{}");
  }

  /** The rows a reader of these columns delivers. */
  public Schema schema() {
    List<Slot> slots =
        sparse.stream()
            .map(column ->
                Slot.ragged(column.name())
                    .withHotness(column.oneHot() ? 1 : 0)
                    .withUnsigned(column.values() == SparseColumn.Values.UNSIGNED))
            .toList();
    return new Schema(labels, dense, slots);
  }
}
