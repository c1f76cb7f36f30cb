package dev.tern.model;

import dev.tern.nn.Pass;
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
 *     Model#embeddingParts}; without the slots of {@code sequences}
 * @param within the pair sum of each slot, {@code [B, S]}, for a model that {@link
 *     Model#pairsWithin}
 * @param sequences by name, for a model that {@link Model#readsSequences}
 * @param items the item of each row, in training, for a model with an {@link Model#itemSlot}
 * @param pass training or scoring, for layers that differ between them
 */
public record Features(
    Tensor dense,
    List<Tensor> parts,
    Optional<Tensor> within,
    Map<String, Ragged> sequences,
    Optional<BatchItems> items,
    Pass pass) {
  /** Copies {@code parts} and {@code sequences}. */
  public Features {
    parts = List.copyOf(parts);
    sequences = Collections.unmodifiableMap(new LinkedHashMap<>(sequences)); // in their order
  }

  /** Features without what training knows of items. */
  public Features(
      Tensor dense,
      List<Tensor> parts,
      Optional<Tensor> within,
      Map<String, Ragged> sequences,
      Pass pass) {
    this(dense, parts, within, sequences, Optional.empty(), pass);
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
   * The pooled embedding row of each slot, {@code [B, S, W]}.
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
   * Part {@code part} of every slot's row, {@code [B, S, D]}: {@link Model#embeddingParts}.
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

  /** Vectors slot by slot, then the dense numbers: {@code [B, S * D + F]}. */
  public Tensor flat(Tensor vectors) {
    int batch = vectors.shape().size(0);
    int width = vectors.shape().size(1) * vectors.shape().size(2);
    return Tensor.concat(1, List.of(vectors.reshape(batch, width), dense));
  }
}
