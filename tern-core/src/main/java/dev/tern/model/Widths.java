package dev.tern.model;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * How wide the embedding vectors of a model's slots are. Slots that share a table have one width:
 * where one of them has a width of its own, it holds for all.
 *
 * <pre>{@code
 * Widths.of(16).with("country", 4).with("item", 32)
 * }</pre>
 *
 * @param all of slots whose table has no width of its own, 1 or more
 * @param own of some slots by name, 1 or more each
 */
public record Widths(int all, Map<String, Integer> own) {
  /** Copies {@code own}. */
  public Widths {
    own = Collections.unmodifiableMap(new TreeMap<>(own)); // In the order of names.
    if (all < 1) {
      throw new IllegalArgumentException("model: got embedding " + all + ", expected 1 or more");
    }
    own.forEach((slot, width) -> {
      if (Objects.requireNonNull(width, slot) < 1) {
        throw new IllegalArgumentException(
            "model: got embedding %d for the slot %s, expected 1 or more".formatted(width, slot));
      }
    });
  }

  /** One width for all slots. */
  public static Widths of(int all) {
    return new Widths(all, Map.of());
  }

  /** The same widths, but another for one slot and those that share its table. */
  public Widths with(String slot, int width) {
    Map<String, Integer> more = new TreeMap<>(own);
    more.put(slot, width);
    return new Widths(all, more);
  }

  /** Whether some slot has another width than {@link #all}. */
  public boolean differ() {
    return own.values().stream().anyMatch(width -> width != all);
  }
}
