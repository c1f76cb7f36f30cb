package dev.tern.internal.remat;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How every value was computed. An op reads values and makes new ones. A value is a storage of its
 * own, or a view of the storage of a value that the op reads. Ops, values and storages are numbered
 * from 0 in the order in which they are added; the values of one op have consecutive numbers.
 */
public final class Recipes {
  private IntLists inputs = new IntLists();
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
   * @param reads the values that it reads
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
      cost = Arrays.copyOf(cost, 2 * ops);
      repeatable = Arrays.copyOf(repeatable, 2 * ops);
      firstOutput = Arrays.copyOf(firstOutput, 2 * ops + 1);
      workspace = Arrays.copyOf(workspace, 2 * ops);
      name = Arrays.copyOf(name, 2 * ops);
    }
    workspace[ops] = 0;
    name[ops] = null;
    cost[ops] = costOfRun;
    repeatable[ops] = isRepeatable;
    firstOutput[ops] = values;
    firstOutput[ops + 1] = values;
    inputs.add();
    for (int value : reads) {
      inputs.append(ops, value);
      readers.append(value, ops);
    }
    return ops++;
  }

  /** Gives an op the name, as it prints, by which errors call it. */
  public void name(int op, Object itsName) {
    name[op] = itsName;
  }

  /** Notes that an op takes so many bytes besides its results while it runs. */
  public void setWorkspace(int op, long size) {
    workspace[op] = size;
  }

  /** Bytes that an op takes besides its results while it runs. */
  long workspace(int op) {
    return workspace[op];
  }

  /** Notes what a run of an op took, while its results are resident or were never. */
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

  /** A result of the last op with memory of its own. */
  public int addOutput(long size) {
    return addOutput(size, -1);
  }

  /**
   * A result of the last op.
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
          "value: got one of "
              + bytes[storage[over]]
              + " bytes to write over, expected "
              + size
              + "; write over what is as large");
    }
    takes[storages] = over < 0 ? -1 : storage[over];
    bytes[storages] = size;
    members.add();
    return addValue(storages++);
  }

  /** A result of the last op that is a view of a value it reads. */
  public int addView(int of) {
    return addValue(storage[of]);
  }

  private int addValue(int inStorage) {
    if (values == maker.length) {
      maker = Arrays.copyOf(maker, 2 * values);
      storage = Arrays.copyOf(storage, 2 * values);
    }
    int op = ops - 1;
    boolean isNewMaker = true;
    for (int cell = members.first(inStorage); cell >= 0; cell = members.next(cell)) {
      isNewMaker &= maker[members.get(cell)] != op;
    }
    if (isNewMaker) {
      storageCost[inStorage] += cost[op];
    }
    maker[values] = op;
    storage[values] = inStorage;
    isLasting[inStorage] |= !repeatable[op];
    members.append(inStorage, values);
    readers.add();
    firstOutput[ops] = ++values;
    return values - 1;
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

  /** Lists by op: the values it reads. */
  public IntLists inputs() {
    return inputs;
  }

  /** Lists by value: the ops that read it. */
  public IntLists readers() {
    return readers;
  }

  /** Lists by storage: its values. */
  public IntLists members() {
    return members;
  }

  /**
   * By what was known before, what is called so after others were forgotten; negative for what was
   * forgotten itself.
   */
  record Renumbered(int[] ops, int[] values, int[] storages) {}

  /**
   * Forgets all ops but some, which keep their order. What these read is among what they make, or
   * they cannot run again and read nothing from then on.
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
        repeatable[op] ? inputs.stream(op).map(value -> to.values[value]).toArray() : new int[0];
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
