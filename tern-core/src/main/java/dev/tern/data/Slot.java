package dev.tern.data;

import java.util.Objects;

/**
 * A sparse feature: each row holds zero or more ids in it.
 *
 * @param name column or feature name, unique among a schema's slots
 * @param hotness ids per row when every row holds the same number (1 = one-hot), or 0 when it
 *     varies
 * @param table name of the slot whose embedding table this one uses: its own, or another's that
 *     uses its own
 */
public record Slot(String name, int hotness, String table) {
  public Slot {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(table, "table");
    if (hotness < 0) {
      throw new IllegalArgumentException(
          "slot " + name + ": got hotness " + hotness + ", expected 0 (varies) or more");
    }
  }

  /** A slot with a table of its own. */
  public Slot(String name, int hotness) {
    this(name, hotness, name);
  }

  /** The same with the table of another slot. */
  public Slot withTable(String other) {
    return new Slot(name, hotness, other);
  }

  /** Whether it uses the table of another slot. */
  public boolean shares() {
    return !table.equals(name);
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
