package dev.tern.internal.remat;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How every value was computed. An op reads values and makes new ones. A value is a storage of its
 * own, or a view of the storage of a value that the op reads. Ops, values and storages are numbered
 * from 0 in the order in which they are added; the values of one op have consecutive numbers.
 */
public final class Recipes {
  private int[][] inputs = new int[64][];
  private IntLists readers = new IntLists();
  private IntLists members = new IntLists();
  private double[] cost = new double[64];
  private boolean[] repeatable = new boolean[64];
  private int[] firstOutput = new int[65];
  private long[] workspace = new long[64];
  private @Nullable Object[] name = new @Nullable Object[64];
  private int ops;
  private int[] maker = new int[64];
  private int[] storage = new int[64];
  private int values;
  private long[] bytes = new long[64];
  private double[] storageCost = new double[64];
  private boolean[] isLasting = new boolean[64];
  private int[] takes = new int[64];
  private int storages;

  /**
   * A new op without results so far.
   *
   * @param costOfRun what a run takes, in any one unit of time
   * @param isRepeatable whether a second run gives the same bits: false for constants, random
   *     numbers without a seed, communication
   * @param reads the values that it reads; must not change
   */
  public int addOp(double costOfRun, boolean isRepeatable, int... reads) {
    if (!(costOfRun >= 0)) {
      throw new IllegalArgumentException(
          "op: got a cost of " + costOfRun + ", expected at least 0; pass its time");
    }
    for (int value : reads) {
      if (value < 0 || value >= values) {
        throw new IllegalArgumentException(
            "op: got value %d to read, expected 0 to %d; add what makes it first"
                .formatted(value, values - 1));
      }
    }
    if (ops == cost.length) {
      inputs = Arrays.copyOf(inputs, 2 * ops);
      cost = Arrays.copyOf(cost, 2 * ops);
      repeatable = Arrays.copyOf(repeatable, 2 * ops);
      firstOutput = Arrays.copyOf(firstOutput, 2 * ops + 1);
      workspace = Arrays.copyOf(workspace, 2 * ops);
      name = Arrays.copyOf(name, 2 * ops);
    }
    inputs[ops] = reads;
    cost[ops] = costOfRun;
    repeatable[ops] = isRepeatable;
    firstOutput[ops] = values;
    firstOutput[ops + 1] = values;
    for (int value : reads) {
      readers.append(value, ops);
    }
    return ops++;
  }

  /** Gives an op the name by which errors call it. */
  public void name(int op, Object itsName) {
    name[op] = itsName;
  }

  /** Sets the bytes that an op takes besides its results while it runs. */
  public void setWorkspace(int op, long size) {
    workspace[op] = size;
  }

  long workspace(int op) {
    return workspace[op];
  }

  /**
   * Sets the cost of an op to the time that a run took. To be called while the op's results are
   * resident, or before they first are, as costs of evicted storages are summed elsewhere.
   */
  public void setCost(int op, double costOfRun) {
    double change = costOfRun - cost[op];
    cost[op] = costOfRun;
    for (int value = firstOutput(op); value < endOutput(op); value++) {
      if (isFirstOfMaker(value)) {
        storageCost[storage[value]] += change;
      }
    }
  }

  /** False where the op made an earlier value of the same storage. */
  private boolean isFirstOfMaker(int value) {
    for (int before = firstOutput(maker[value]); before < value; before++) {
      if (storage[before] == storage[value]) {
        return false;
      }
    }
    return true;
  }

  /** An op in an error: its number, and its name where it has one. */
  String describe(int op) {
    return name[op] == null ? "op " + op : "op " + op + " (" + name[op] + ")";
  }

  /** Adds a result with memory of its own to the last op. */
  public int addOutput(long size) {
    return addOutput(size, -1);
  }

  /**
   * Adds a result to the last op.
   *
   * @param over a value that the op reads, of as many bytes, whose memory the result may take, as
   *     its last reference is given up next; or -1
   */
  public int addOutput(long size, int over) {
    if (size < 0) {
      throw new IllegalArgumentException(
          "value: got " + size + " bytes, expected at least 0; check the shape");
    }
    if (storages == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * storages);
      storageCost = Arrays.copyOf(storageCost, 2 * storages);
      isLasting = Arrays.copyOf(isLasting, 2 * storages);
      takes = Arrays.copyOf(takes, 2 * storages);
    }
    if (over >= 0 && bytes[storage[over]] != size) {
      throw new IllegalArgumentException(
          "value: got one of %d bytes to write over, expected %d; write over what is as large"
              .formatted(bytes[storage[over]], size));
    }
    takes[storages] = over < 0 ? -1 : storage[over];
    bytes[storages] = size;
    members.add();
    return addValue(storages++);
  }

  /** Adds a result to the last op that is a view of a value which the op reads. */
  public int addView(int of) {
    return addValue(storage[of]);
  }

  private int addValue(int inStorage) {
    if (values == maker.length) {
      maker = Arrays.copyOf(maker, 2 * values);
      storage = Arrays.copyOf(storage, 2 * values);
    }
    int value = values++;
    int op = ops - 1;
    maker[value] = op;
    storage[value] = inStorage;
    firstOutput[ops] = values;
    if (isFirstOfMaker(value)) {
      storageCost[inStorage] += cost[op];
    }
    isLasting[inStorage] |= !repeatable[op];
    members.append(inStorage, value);
    readers.add();
    return value;
  }

  public int ops() {
    return ops;
  }

  public int values() {
    return values;
  }

  public int storages() {
    return storages;
  }

  public double cost(int op) {
    return cost[op];
  }

  public boolean isRepeatable(int op) {
    return repeatable[op];
  }

  /** Notes that an op cannot run again. */
  void expire(int op) {
    repeatable[op] = false;
    for (int value = firstOutput(op); value < endOutput(op); value++) {
      isLasting[storage[value]] = true;
    }
  }

  /** True when something in a storage cannot be computed again. */
  public boolean isLasting(int ofStorage) {
    return isLasting[ofStorage];
  }

  /** The first value that an op makes. */
  public int firstOutput(int op) {
    return firstOutput[op];
  }

  /** One past the last value that an op makes. */
  public int endOutput(int op) {
    return firstOutput[op + 1];
  }

  public int maker(int value) {
    return maker[value];
  }

  /** The op that makes the value with memory of its own in a storage. */
  public int makerOfStorage(int ofStorage) {
    return maker[root(ofStorage)];
  }

  public int storage(int value) {
    return storage[value];
  }

  public long bytes(int ofStorage) {
    return bytes[ofStorage];
  }

  /** The storage whose memory one may take when it is made, or a negative number. */
  public int takes(int ofStorage) {
    return takes[ofStorage];
  }

  /** The value that has memory of its own in a storage; the others are views of it. */
  public int root(int ofStorage) {
    return members.get(members.first(ofStorage));
  }

  public boolean isView(int value) {
    return root(storage[value]) != value;
  }

  /** Time of all ops that made values of a storage. */
  public double storageCost(int ofStorage) {
    return storageCost[ofStorage];
  }

  /** The values that an op reads; must not be changed. */
  public int[] inputs(int op) {
    return inputs[op];
  }

  /** Lists by value: the ops that read it. */
  public IntLists readers() {
    return readers;
  }

  /** Lists by storage: its values. */
  public IntLists members() {
    return members;
  }

  /** New numbers of ops, values and storages by their old numbers; -1 for forgotten ones. */
  record Renumbered(int[] ops, int[] values, int[] storages) {}

  /**
   * Forgets all ops except some, which keep their order. Each kept op reads only values that kept
   * ops make; or it cannot run again, and then reads nothing any more.
   */
  Renumbered retain(boolean[] kept) {
    Recipes fresh = new Recipes();
    Renumbered to = new Renumbered(none(ops), none(values), none(storages));
    for (int op = 0; op < ops; op++) {
      if (kept[op]) {
        copy(op, fresh, to);
      }
    }
    become(fresh);
    return to;
  }

  private void copy(int op, Recipes fresh, Renumbered to) {
    int[] reads =
        repeatable[op]
            ? Arrays.stream(inputs[op]).map(value -> to.values[value]).toArray()
            : new int[0];
    int number = fresh.addOp(cost[op], repeatable[op], reads);
    fresh.workspace[number] = workspace[op];
    fresh.name[number] = name[op];
    to.ops[op] = number;
    for (int value = firstOutput(op); value < endOutput(op); value++) {
      int of = storage[value];
      if (isView(value)) {
        to.values[value] = fresh.addView(to.values[root(of)]);
      } else {
        to.storages[of] = fresh.storages;
        to.values[value] = fresh.addOutput(bytes[of]);
        fresh.takes[to.storages[of]] = takes[of] < 0 ? -1 : to.storages[takes[of]];
      }
    }
  }

  private static int[] none(int count) {
    int[] numbers = new int[count];
    Arrays.fill(numbers, -1);
    return numbers;
  }

  private void become(Recipes other) {
    inputs = other.inputs;
    readers = other.readers;
    members = other.members;
    cost = other.cost;
    repeatable = other.repeatable;
    firstOutput = other.firstOutput;
    workspace = other.workspace;
    name = other.name;
    ops = other.ops;
    maker = other.maker;
    storage = other.storage;
    values = other.values;
    bytes = other.bytes;
    storageCost = other.storageCost;
    isLasting = other.isLasting;
    takes = other.takes;
    storages = other.storages;
  }
}
