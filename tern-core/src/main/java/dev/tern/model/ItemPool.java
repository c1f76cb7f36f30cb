package dev.tern.model;

import dev.tern.base.DataException;
import dev.tern.base.Shape;
import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.IdSet;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The distinct items that training met last, each with all its columns as the model reads them, to
 * draw further negatives from. A new item takes the place of the one that came first. An item that
 * is there keeps the columns that it came with.
 *
 * <p>It is part of checkpoints, which hold floats. So an id stands as three whole numbers of 22
 * bits, which are exact and finite. An item is a row of floats: for each of its slots the number of
 * ids, the ids, and their weights if the slot has any; then its dense numbers. Items lie one behind
 * the other in a ring, from the oldest on.
 */
final class ItemPool {
  /** Stands for the item of rows without one; an id like any other, but hardly in use. */
  static final long NO_ITEM = 0x5A17_9C3E_D4B8_6F21L;

  /** Floats of an id. */
  private static final int ID = 3;

  private static final int BITS = 22;
  private static final int LOW = (1 << BITS) - 1;

  /** Room for so many ids on average in slots that have any number of them. */
  private static final int USUAL_IDS = 4;

  /** Whole numbers up to here are exact in floats. */
  private static final int LARGEST = 1 << 24;

  // Floats in front: where the oldest item begins, how many items there are, and their floats.
  private static final int START = 0;
  private static final int COUNT = 1;
  private static final int USED = 2;
  private static final int HEADER = 3;

  private final int negatives;
  private final int most;
  private final int room;
  private final Variable memory;
  private final Schema schema;

  /** The item's slots; the first one names it. */
  private final int[] slots;

  /** Of each of these, the floats of an id with its weight. */
  private final int[] widths;

  private final int[] numbers;

  /** Where each item begins, as a ring; empty until the pool is used. */
  private int[] places = {};

  /** The place of the oldest in {@link #places}. */
  private int oldest;

  private IdSet ids = new IdSet(1);

  /**
   * An empty pool.
   *
   * @param columns of the item
   * @param first the slot that names it
   */
  static ItemPool of(
      Parameters parameters,
      Schema schema,
      PartColumns columns,
      String first,
      Matching.Sampled sampled) {
    int naming = schema.slotNames().indexOf(first);
    int[] slots =
        IntStream.concat(
                IntStream.of(naming),
                columns.slots().stream().mapToInt(s -> s).filter(s -> s != naming))
            .toArray();
    int[] numbers = columns.numbers().stream().mapToInt(n -> n).toArray();
    return new ItemPool(parameters, schema, slots, numbers, sampled);
  }

  private ItemPool(
      Parameters parameters, Schema schema, int[] slots, int[] numbers, Matching.Sampled sampled) {
    this.schema = schema;
    this.slots = slots;
    this.numbers = numbers;
    negatives = sampled.negatives();
    most = sampled.pool();
    List<Slot> all = schema.slots();
    widths = IntStream.of(slots).map(s -> all.get(s).weighted() ? ID + 1 : ID).toArray();
    long item = numbers.length;
    for (int k = 0; k < slots.length; k++) {
      int hotness = all.get(slots[k]).hotness();
      item += 1 + (long) widths[k] * (hotness > 0 ? hotness : USUAL_IDS);
    }
    if (item * most > LARGEST) {
      throw new IllegalArgumentException(
          "model: got a pool of %,d items of %d floats, expected %,d floats at most; take a pool of %,d items"
              .formatted(most, item, LARGEST, LARGEST / item));
    }
    room = (int) item * most;
    memory = parameters.statistic("items.pool", Shape.of(HEADER + room), 0);
  }

  /** Items that are drawn for each batch. */
  int negatives() {
    return negatives;
  }

  /** Items to draw from. */
  int size() {
    return header(COUNT);
  }

  /** How many of a batch's drawn items are this one, on average. */
  float share(long id) {
    open();
    return ids.contains(id) ? (float) negatives / size() : 0;
  }

  /**
   * Adds the item of a row, unless it is there.
   *
   * @param id of the item, or {@link #NO_ITEM}
   */
  void add(Batch batch, int row, long id) {
    open();
    if (ids.contains(id)) {
      return;
    }
    int floats = floats(batch, row);
    if (floats > room) {
      throw new IllegalArgumentException(
          "model: got an item of %,d floats, with all its ids, in row %d of a batch, expected the %,d of the pool at most; take a larger pool"
              .formatted(floats, row, room));
    }
    while (size() == most || header(USED) + floats > room) {
      dropOldest();
    }
    int at = (header(START) + header(USED)) % room;
    write(batch, row, at);
    places[(oldest + size()) % most] = at;
    ids.add(id);
    setHeader(COUNT, size() + 1);
    setHeader(USED, header(USED) + floats);
  }

  /**
   * Appends rows with drawn items to {@code to}: each item of the pool is as likely, and may come
   * several times. Columns of users are empty, their numbers 0.
   *
   * @param seed of the draw: with the same one and the same pool the rows are the same
   */
  void draw(Batch to, long seed) {
    open();
    for (int k = 0; k < negatives; k++) {
      int item = (int) SplitMix64.bounded(seed + k, size());
      append(to, places[(oldest + item) % most]);
    }
  }

  /** Forgets all items. */
  void clear() {
    Memory.zero(memory.memory().address(), memory.memory().byteSize());
    places = new int[0];
  }

  private int floats(Batch batch, int row) {
    int floats = numbers.length;
    for (int k = 0; k < slots.length; k++) {
      floats += 1 + widths[k] * batch.idCount(slots[k], row);
    }
    return floats;
  }

  private void write(Batch batch, int row, int place) {
    int at = place;
    for (int k = 0; k < slots.length; k++) {
      int slot = slots[k];
      int from = batch.offsets(slot)[row];
      int to = batch.offsets(slot)[row + 1];
      set(at++, to - from);
      for (int i = from; i < to; i++) {
        setId(at, batch.ids(slot)[i]);
        if (widths[k] > ID) {
          set(at + ID, batch.weights(slot)[i]);
        }
        at += widths[k];
      }
    }
    for (int number : numbers) {
      set(at++, batch.dense()[row * schema.denseDim() + number]);
    }
  }

  private void append(Batch to, int place) {
    for (int label = 0; label < schema.labelDim(); label++) {
      to.setLabel(label, 0);
    }
    for (int number = 0; number < schema.denseDim(); number++) {
      to.setDense(number, 0);
    }
    int at = place;
    for (int k = 0; k < slots.length; k++) {
      int count = (int) get(at++);
      for (int i = 0; i < count; i++) {
        if (widths[k] > ID) {
          to.addId(slots[k], id(at), get(at + ID));
        } else {
          to.addId(slots[k], id(at));
        }
        at += widths[k];
      }
    }
    for (int number : numbers) {
      to.setDense(number, get(at++));
    }
    to.endRow();
  }

  private void dropOldest() {
    int at = places[oldest];
    int floats = length(at);
    ids.remove(name(at));
    oldest = (oldest + 1) % most;
    setHeader(START, (at + floats) % room);
    setHeader(COUNT, size() - 1);
    setHeader(USED, header(USED) - floats);
  }

  /** The id of the item at {@code at}. */
  private long name(int at) {
    return get(at) == 0 ? NO_ITEM : id(at + 1);
  }

  /** Floats of the item at {@code at}; more than there are if these are no item. */
  private int length(int at) {
    long floats = 0;
    for (int width : widths) {
      float count = get((int) ((at + floats) % room));
      if (!(count >= 0 && count <= room) || count != (int) count) {
        return Integer.MAX_VALUE;
      }
      floats += 1 + (long) width * (int) count;
    }
    return (int) Math.min(floats + numbers.length, Integer.MAX_VALUE);
  }

  /** Finds the items in the memory, which a checkpoint may have filled. */
  private void open() {
    if (places.length > 0) {
      return;
    }
    places = new int[most];
    ids = new IdSet(most);
    oldest = 0;
    int at = header(START);
    int left = header(USED);
    int count = size();
    boolean sound = at >= 0 && at < room && left >= 0 && left <= room && count <= most;
    for (int item = 0; sound && item < count; item++) {
      int floats = length(at);
      sound = floats <= left && ids.add(name(at));
      places[item] = at;
      left -= floats;
      at = (int) (((long) at + floats) % room);
    }
    if (!sound || left != 0) {
      places = new int[0];
      throw new DataException(
          "items.pool: got %d items in %d floats that do not begin and end with each other, expected the items that training met; take another checkpoint"
              .formatted(count, header(USED)));
    }
  }

  private int header(int of) {
    return (int) Memory.getFloat(memory.memory().address() + 4L * of);
  }

  private void setHeader(int of, int value) {
    Memory.setFloat(memory.memory().address() + 4L * of, value);
  }

  private float get(int at) {
    return Memory.getFloat(address(at));
  }

  private void set(int at, float value) {
    Memory.setFloat(address(at), value);
  }

  private long address(int at) {
    return memory.memory().address() + 4L * (HEADER + at % room);
  }

  private long id(int at) {
    return (long) get(at) | (long) get(at + 1) << BITS | (long) get(at + 2) << (2 * BITS);
  }

  private void setId(int at, long id) {
    set(at, (int) id & LOW);
    set(at + 1, (int) (id >>> BITS) & LOW);
    set(at + 2, (int) (id >>> (2 * BITS)));
  }
}
