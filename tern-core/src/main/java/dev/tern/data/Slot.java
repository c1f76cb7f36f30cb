package dev.tern.data;

import java.util.Objects;

/**
 * A sparse feature: each row holds zero or more ids in it.
 *
 * @param name name of the column or feature, unique among the slots of a schema
 * @param hotness ids of each row if all rows have the same number (1 for one-hot), or 0
 * @param table name of the slot whose embedding table this slot uses: its own name, or the name of
 *     a slot with a table of its own
 * @param weighted whether each id has a weight ({@link Batch#weights}), by which its embedding is
 *     multiplied; else all weights are 1
 */
public record Slot(String name, int hotness, String table, boolean weighted) {
  public Slot {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(table, "table");
    if (hotness < 0) {
      throw new IllegalArgumentException(
          "slot " + name + ": got hotness " + hotness + ", expected 0 (varies) or more");
    }
  }

  /** A slot without weights. */
  public Slot(String name, int hotness, String table) {
    this(name, hotness, table, false);
  }

  /** A slot with a table of its own, without weights. */
  public Slot(String name, int hotness) {
    this(name, hotness, name);
  }

  /** This slot with the table of another one. */
  public Slot withTable(String other) {
    return new Slot(name, hotness, other, weighted);
  }

  /** Whether it uses the table of another slot. */
  public boolean shares() {
    return !table.equals(name);
  }

  /** A slot whose rows hold any number of ids. */
  public static Slot ragged(String name) {
    return new Slot(name, 0);
  }

  /** A slot whose rows hold any number of ids, each with a weight. */
  public static Slot weighted(String name) {
    return new Slot(name, 0, name, true);
  }

  /** A slot whose rows hold exactly one id. */
  public static Slot oneHot(String name) {
    return new Slot(name, 1);
  }
}
