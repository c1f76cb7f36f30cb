package dev.tern.tensor;

import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Ragged features by name for one batch, as TorchRec's KeyedJaggedTensor. One {@link Ragged} holds
 * the sequences of all keys, key after key, so that one op serves all features. With {@code K} keys
 * and {@code B} rows there are {@code K B} outermost sequences; sequence {@code k B + b} is of key
 * {@code k} and row {@code b}. Immutable.
 *
 * <pre>{@code
 * KeyedRagged x = KeyedRagged.of(List.of("clicks", "carts"), all);
 * Tensor features = x.pool(SequencePooling.MEAN); // [B, 2, width]
 * Ragged carts = x.get("carts");
 * }</pre>
 */
public final class KeyedRagged {
  private final List<String> keys;
  private final Ragged all;

  private KeyedRagged(List<String> keys, Ragged all) {
    this.keys = keys;
    this.all = all;
  }

  /**
   * Sequences of {@code keys}, one key after the other.
   *
   * @throws IllegalArgumentException where keys repeat, or their number does not divide the number
   *     of outermost sequences
   */
  public static KeyedRagged of(List<String> keys, Ragged all) {
    List<String> names = List.copyOf(keys);
    if (names.isEmpty() || new HashSet<>(names).size() < names.size()) {
      throw new IllegalArgumentException(
          "keyed: got keys " + names + ", expected one or more, each once");
    }
    if (all.sequences(0) % names.size() != 0) {
      throw new IllegalArgumentException(
          "keyed: got %d outermost sequences for %d keys, expected as many for each key"
              .formatted(all.sequences(0), names.size()));
    }
    return new KeyedRagged(names, all);
  }

  /** All features of {@code parts}, which are of one batch. */
  public static KeyedRagged concat(List<KeyedRagged> parts) {
    List<String> keys = new ArrayList<>();
    for (KeyedRagged part : parts) {
      keys.addAll(part.keys);
      if (part.batch() != parts.get(0).batch()) {
        throw new IllegalArgumentException(
            "keyed: got batches of %d and %d rows, expected one size"
                .formatted(parts.get(0).batch(), part.batch()));
      }
    }
    return of(keys, Ragged.merge(parts.stream().map(KeyedRagged::all).toList()));
  }

  public List<String> keys() {
    return keys;
  }

  /** The sequences of all keys, {@code K B}. */
  public Ragged all() {
    return all;
  }

  /** Rows, {@code B}. */
  public int batch() {
    return all.sequences(0) / keys.size();
  }

  /** Other values for the same rows. */
  public KeyedRagged with(Tensor values) {
    return new KeyedRagged(keys, all.with(values));
  }

  /** The {@code B} sequences of one key; they keep the room for the rows of all keys. */
  public Ragged get(String key) {
    return all.take(sequences(List.of(key)));
  }

  /** These keys, in this order. */
  public KeyedRagged pick(List<String> picked) {
    return of(picked, all.take(sequences(picked)));
  }

  /** Pools each sequence of one level to a row: {@code [B, K, ...]}. */
  public Tensor pool(SequencePooling kind) {
    if (all.depth() > 1) {
      throw new IllegalArgumentException(
          "pool: got %d levels, expected one; pool the inner ones and take outer"
              .formatted(all.depth()));
    }
    Tensor pooled = all.pool(kind);
    IntStream row = Arrays.stream(pooled.shape().toArray()).skip(1);
    IntStream sizes = IntStream.concat(IntStream.of(keys.size(), batch()), row);
    return pooled.reshape(sizes.toArray()).transpose(0, 1);
  }

  private Tensor sequences(List<String> picked) {
    int batch = batch();
    int[] index =
        picked.stream()
            .mapToInt(this::position)
            .flatMap(key -> IntStream.range(key * batch, (key + 1) * batch))
            .toArray();
    return Tensor.ofInts(Shape.of(index.length), index);
  }

  private int position(String key) {
    int position = keys.indexOf(key);
    if (position < 0) {
      throw new IllegalArgumentException(
          "keyed: got key " + key + ", expected one of " + keys + "; check its spelling");
    }
    return position;
  }

  @Override
  public String toString() {
    return "KeyedRagged " + keys + " of " + all;
  }
}
