package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The input of a model: {@code B} rows.
 *
 * @param dense numbers, {@code [B, F]}
 * @param parts the pooled embedding row of each slot, {@code [B, S, D]} for each of {@link
 *     Model#embeddingParts}; without the slots of {@code sequences}. Where slots have vectors of
 *     unequal widths, the last is {@code [B, sum of widths]}, slot by slot
 * @param widths for each of these slots the width of its vector in the last part
 * @param within the pair sum of each slot, {@code [B, S]}, for a model that {@link
 *     Model#pairsWithin}
 * @param sequences by name, for a model that {@link Model#readsSequences}
 * @param items the item of each row, in training, for a model with an {@link Model#itemSlot}
 * @param pass training or scoring, for layers that differ between them
 */
public record Features(
    Tensor dense,
    List<Tensor> parts,
    List<Integer> widths,
    Optional<Tensor> within,
    Map<String, Ragged> sequences,
    Optional<BatchItems> items,
    Pass pass) {
  /** Copies {@code parts}, {@code widths} and {@code sequences}. */
  public Features {
    parts = List.copyOf(parts);
    widths = List.copyOf(widths);
    sequences = Collections.unmodifiableMap(new LinkedHashMap<>(sequences)); // in their order
  }

  /** Features of slots with vectors of one width, without what training knows of items. */
  public Features(
      Tensor dense,
      List<Tensor> parts,
      Optional<Tensor> within,
      Map<String, Ragged> sequences,
      Pass pass) {
    this(dense, parts, oneWidth(parts), within, sequences, Optional.empty(), pass);
  }

  /** Rows of the batch, {@code B}, without those of items drawn beside them. */
  public int batch() {
    Tensor of = items.map(BatchItems::rewards).orElse(dense);
    return of.shape().size(0);
  }

  private static List<Integer> oneWidth(List<Tensor> parts) {
    Shape last = parts.getLast().shape();
    return Collections.nCopies(last.size(1), last.size(2));
  }

  /** Features without sequences. */
  public Features(Tensor dense, List<Tensor> parts, Optional<Tensor> within, Pass pass) {
    this(dense, parts, within, Map.of(), pass);
  }

  /** Features without pair sums and sequences. */
  public Features(Tensor dense, List<Tensor> parts, Pass pass) {
    this(dense, parts, Optional.empty(), pass);
  }

  /**
   * The embedding rows of a sequence, {@code B} sequences of values {@code [n, C * D]}: of each
   * element the rows of the sequence's {@code C} slots side by side, in the order of the schema.
   * Where widths are unequal, their sum takes the place of {@code C * D}.
   *
   * @throws IllegalArgumentException if the rows have no sequence of this name, or the model does
   *     not read sequences
   */
  public Ragged sequence(String name) {
    Ragged sequence = sequences.get(name);
    if (sequence == null) {
      throw new IllegalArgumentException(
          "features: got a call for the sequence %s, expected one of %s; name it in the data, and let the model read sequences"
              .formatted(name, sequences.keySet()));
    }
    return sequence;
  }

  /**
   * The pooled embedding row of each slot, {@code [B, S, W]}, or {@code [B, sum of widths]} where
   * these are unequal.
   *
   * @throws IllegalStateException if the model asked for several parts
   */
  public Tensor embedded() {
    if (parts.size() != 1) {
      throw new IllegalStateException(
          "features: got a call for the row as a whole of a model that asked for %s parts; name one: embedded(0)"
              .formatted(parts.size()));
    }
    return parts.get(0);
  }

  /**
   * Part {@code part} of every slot's row, {@code [B, S, D]}: {@link Model#embeddingParts}. The
   * last is {@code [B, sum of widths]} where these are unequal.
   *
   * @throws IllegalArgumentException if the model did not ask for so many
   */
  public Tensor embedded(int part) {
    if (part < 0 || part >= parts.size()) {
      throw new IllegalArgumentException(
          "features: got part %s of rows in %s parts; name the widths of all parts in the model's embeddingParts"
              .formatted(part, parts.size()));
    }
    return parts.get(part);
  }

  /**
   * The vectors of pooled slots {@code from} to before {@code to}, from the last part of their
   * rows, side by side: {@code [B, sum of widths]}.
   */
  public Tensor slots(int from, int to) {
    Tensor last = parts.getLast();
    int first = sum(0, from);
    if (last.shape().rank() == 2) {
      return last.slice(1, first, first + sum(from, to));
    }
    return last.slice(1, from, to).reshape(last.shape().size(0), sum(from, to));
  }

  private int sum(int from, int to) {
    return widths.subList(from, to).stream().mapToInt(Integer::intValue).sum();
  }

  /**
   * Vectors slot by slot, then the dense numbers: {@code [B, S * D + F]}, where widths are unequal
   * {@code [B, sum of widths + F]}.
   */
  public Tensor flat(Tensor vectors) {
    int batch = vectors.shape().size(0);
    int width = 1;
    for (int axis = 1; axis < vectors.shape().rank(); axis++) {
      width *= vectors.shape().size(axis);
    }
    return Tensor.concat(1, List.of(vectors.reshape(batch, width), dense));
  }
}
