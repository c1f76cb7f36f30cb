package dev.tern.tensor;

import dev.tern.base.DType;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Tensors of any kind under names, for code that only passes them on. A reader says which kind and
 * sizes it expects, and gets them or an error. Immutable; does not copy.
 *
 * <pre>{@code
 * TensorBag bag = TensorBag.empty().with("dense", dense).with("clicks", clicks);
 * Tensor x = bag.tensor("dense", DType.F32, -1, 13); // any number of rows of 13 numbers
 * Ragged ids = bag.get("clicks", Ragged.class);
 * }</pre>
 */
public final class TensorBag {
  private static final TensorBag EMPTY = new TensorBag(Map.of());

  private final Map<String, Object> held;

  private TensorBag(Map<String, Object> held) {
    this.held = held;
  }

  /** An empty bag. */
  public static TensorBag empty() {
    return EMPTY;
  }

  /** This bag and a tensor. */
  public TensorBag with(String name, Tensor tensor) {
    return and(name, tensor);
  }

  /** This bag and a ragged tensor. */
  public TensorBag with(String name, Ragged ragged) {
    return and(name, ragged);
  }

  /** This bag and ragged tensors by key. */
  public TensorBag with(String name, KeyedRagged keyed) {
    return and(name, keyed);
  }

  /** This bag and a sparse matrix. */
  public TensorBag with(String name, SparseTensor sparse) {
    return and(name, sparse);
  }

  private TensorBag and(String name, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(held);
    if (more.put(name, value) != null) {
      throw new IllegalArgumentException(
          "bag: got " + name + " twice, expected other names than " + names());
    }
    return new TensorBag(Collections.unmodifiableMap(more));
  }

  /** The names, in the order in which they were added. */
  public Set<String> names() {
    return held.keySet();
  }

  /**
   * What is held under {@code name}.
   *
   * @param kind {@link Tensor}, {@link Ragged}, {@link KeyedRagged} or {@link SparseTensor}
   * @throws IllegalArgumentException where there is none, or one of another kind
   */
  public <T> T get(String name, Class<T> kind) {
    Object found = held.get(name);
    if (!kind.isInstance(found)) {
      throw new IllegalArgumentException(
          "bag: got %s for %s, expected a %s; there are %s"
              .formatted(found, name, kind.getSimpleName(), names()));
    }
    return kind.cast(found);
  }

  /**
   * The tensor under {@code name}.
   *
   * @param sizes of its dimensions, -1 for any size
   * @throws IllegalArgumentException where it has another type or other sizes
   */
  public Tensor tensor(String name, DType type, int... sizes) {
    Tensor found = get(name, Tensor.class);
    int[] has = found.shape().toArray();
    boolean fits =
        has.length == sizes.length
            && IntStream.range(0, has.length).allMatch(i -> sizes[i] == -1 || sizes[i] == has[i]);
    if (found.type() != type || !fits) {
      throw new IllegalArgumentException(
          "bag: got %s for %s, expected %s%s; cast or reshape it"
              .formatted(found, name, type, Arrays.toString(sizes)));
    }
    return found;
  }
}
