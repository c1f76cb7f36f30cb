package dev.tern.data;

import java.util.Objects;
import java.util.Optional;

/**
 * A sparse feature: each row holds zero or more ids in it. An id is its 64 bits, so slots that
 * differ in {@code unsigned} alone are equal: it says how ids are written down.
 *
 * @param name name of the column or feature, unique among the slots of a schema
 * @param hotness ids of each row if all rows have the same number (1 for one-hot), or 0
 * @param table name of the slot whose embedding table this slot uses: its own name, or the name of
 *     a slot with a table of its own
 * @param weighted whether each id has a weight ({@link Batch#weights}), by which its embedding is
 *     multiplied; else all weights are 1
 * @param unsigned whether ids are numbers from 0 to 2<sup>64</sup> - 1; else from -2<sup>63</sup>
 * @param sequence the sequence that the slot is part of, for models that read sequences; others
 *     pool its ids as they pool any slot
 * @param number whether the ids of a row, each with a weight, stand for one number: the vector of
 *     the slot is the sum of their rows times their weights, whatever combines other slots, and a
 *     factorization machine does not pair them with each other
 */
public record Slot(
    String name,
    int hotness,
    String table,
    boolean weighted,
    boolean unsigned,
    Optional<Sequence> sequence,
    boolean number) {
  public Slot {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(table, "table");
    if (hotness < 0) {
      throw new IllegalArgumentException(
          "slot " + name + ": got hotness " + hotness + ", expected 0 (varies) or more");
    }
    if (number && (!weighted || sequence.isPresent())) {
      throw new IllegalArgumentException(
          "slot %s: got a number with ids %s, expected ids with weights that are no sequence"
              .formatted(name, weighted ? "in a sequence" : "without weights"));
    }
  }

  /** A slot that is no number. */
  public Slot(
      String name,
      int hotness,
      String table,
      boolean weighted,
      boolean unsigned,
      Optional<Sequence> sequence) {
    this(name, hotness, table, weighted, unsigned, sequence, false);
  }

  /** A slot that is no part of a sequence. */
  public Slot(String name, int hotness, String table, boolean weighted, boolean unsigned) {
    this(name, hotness, table, weighted, unsigned, Optional.empty());
  }

  /** A slot of signed ids. */
  public Slot(String name, int hotness, String table, boolean weighted) {
    this(name, hotness, table, weighted, false);
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
    return new Slot(name, hotness, other, weighted, unsigned, sequence, number);
  }

  /** This slot with {@code ids} in each row, 0 where their number varies. */
  public Slot withHotness(int ids) {
    return new Slot(name, ids, table, weighted, unsigned, sequence, number);
  }

  /** This slot with ids that are unsigned, or signed. */
  public Slot withUnsigned(boolean ids) {
    return new Slot(name, hotness, table, weighted, ids, sequence, number);
  }

  /** This slot as a part of a sequence. */
  public Slot in(Sequence of) {
    return withSequence(Optional.of(of));
  }

  /** This slot as a part of a sequence, or of none. */
  Slot withSequence(Optional<Sequence> of) {
    return new Slot(name, hotness, table, weighted, unsigned, of, number);
  }

  /** {@code id} in decimal. */
  public String text(long id) {
    return unsigned ? Long.toUnsignedString(id) : Long.toString(id);
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

  /**
   * A slot whose ids, with their weights, stand for a number: one each row, or any number for 0.
   */
  public static Slot ofNumber(String name, int hotness) {
    return new Slot(name, hotness, name, true, false, Optional.empty(), true);
  }

  /** A slot whose rows hold exactly one id. */
  public static Slot oneHot(String name) {
    return new Slot(name, 1);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Slot slot
        && name.equals(slot.name)
        && hotness == slot.hotness
        && table.equals(slot.table)
        && weighted == slot.weighted
        && number == slot.number
        && sequence.equals(slot.sequence);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, hotness, table, weighted, number, sequence);
  }
}
