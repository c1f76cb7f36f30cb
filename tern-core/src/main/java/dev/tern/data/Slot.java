package dev.tern.data;

import java.util.Objects;

/**
 * A sparse feature: each row holds zero or more ids in it.
 *
 * @param name column or feature name, unique among a schema's slots
 * @param hotness ids per row when every row holds the same number (1 = one-hot), or 0 when it
 *     varies
 */
public record Slot(String name, int hotness) {
  public Slot {
    Objects.requireNonNull(name, "name");
    if (hotness < 0) {
      throw new IllegalArgumentException(
          "slot " + name + ": got hotness " + hotness + ", expected 0 (varies) or more");
    }
  }

  /** A slot whose rows hold any number of ids. */
  public static Slot ragged(String name) {
    return new Slot(name, 0);
  }

  /** A slot whose rows hold exactly one id. */
  public static Slot oneHot(String name) {
    return new Slot(name, 1);
  }
}
