package dev.tern.internal.remat.search;

import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.remat.IntLists;
import dev.tern.internal.remat.Recipes;
import dev.tern.internal.remat.Residency;
import dev.tern.internal.remat.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Counts what a step recomputes and how much memory it takes, for given decisions about what stays.
 * The uses of a storage by the program cut its time into stretches. Each stretch has two decisions.
 * Decision 0: whether the storage stays from one use to the next. Decision 1, if it does not:
 * whether it stays once it was computed in between as an input of something else. What does not
 * stay goes at once.
 *
 * <p>A count takes some tens of nanoseconds an op, so a search can try some hundred thousand
 * decisions. A {@link Residency} that drops the same storages after the same runs does what was
 * counted.
 */
final class Retention {
  private static final int NONE = -1;

  private final TraceUses traceUses;
  private final Recipes recipes;
  private final int ops;
  private final int[][] reads;
  private final int[][] readStorages;
  private final long[] bytes;

  /** The values that are pinned at the end. */
  private final int[] pins;

  /** By storage: the ops that use it, its maker first; the number of ops stands for the end. */
  private final int[][] uses;

  /** The number of a storage's first stretch. */
  private final int[] firstStretch;

  /** By stretch: its storage, and the uses with which it begins and ends. */
  final int[] storageOf;

  final int[] fromOp;
  final int[] toOp;

  /** By op of the program: ops that cannot run again from then on. */
  private final int[][] expiring;

  private final boolean[] isFreed;

  /** What cannot be computed again from the start. */
  private final boolean[] wasLasting;

  // The state of a count.
  private final boolean[] isLasting;
  private final boolean[] isExpired;
  private final int[] found;
  private boolean isImpossible;
  private final boolean[] isDefined;
  private final boolean[] isResident;
  private final int[] readersAhead;
  private final int[] lastUse;
  private final int[] listed;
  private final int[] madeIn;
  private final int[] ahead;
  private final int[] stack;
  private final int[] cursor;
  private int round;
  private int aheadCount;
  private boolean[] decisions = new boolean[0];
  private long room;
  private long used;
  private long peak;
  private double excess;
  private double again;
  private long runs;

  /** What goes after each run; noted only while {@link #drops} counts. */
  private final List<int[]> drops = new ArrayList<>();

  private final List<Integer> dropped = new ArrayList<>();
  private boolean notesDrops;

  Retention(TraceUses traceUses) {
    this.traceUses = traceUses;
    recipes = traceUses.recipes();
    ops = recipes.ops();
    reads = new int[ops][];
    readStorages = new int[ops][];
    for (int op = 0; op < ops; op++) {
      reads[op] = Arrays.stream(recipes.inputs(op)).distinct().toArray();
      readStorages[op] = Arrays.stream(reads[op]).map(recipes::storage).distinct().toArray();
    }
    bytes = new long[recipes.storages()];
    wasLasting = new boolean[bytes.length];
    for (int storage = 0; storage < bytes.length; storage++) {
      long size = recipes.bytes(storage);
      bytes[storage] = size == 0 ? 0 : BlockArena.rounded(size);
      wasLasting[storage] = recipes.isLasting(storage);
    }
    pins =
        traceUses.trace().events().stream()
            .flatMapToInt(event ->
                event instanceof Trace.Pin(int value) ? IntStream.of(value) : IntStream.empty())
            .filter(value -> !recipes.isLasting(recipes.storage(value)))
            .toArray();
    uses = listUses();
    firstStretch = new int[bytes.length];
    int count = Arrays.stream(uses).mapToInt(of -> of.length - 1).sum();
    storageOf = new int[count];
    fromOp = new int[count];
    toOp = new int[count];
    listStretches();
    isFreed = new boolean[bytes.length];
    expiring = new int[ops + 1][0];
    noteEnds(traceUses.trace());
    isLasting = new boolean[bytes.length];
    isExpired = new boolean[ops];
    found = new int[ops];
    isDefined = new boolean[recipes.values()];
    isResident = new boolean[bytes.length];
    readersAhead = new int[bytes.length];
    lastUse = new int[bytes.length];
    madeIn = new int[bytes.length];
    listed = new int[ops];
    ahead = new int[ops];
    stack = new int[ops];
    cursor = new int[ops];
  }

  /** Whether a step pins values that can be computed again only at its end. */
  static boolean suits(Trace step) {
    boolean hasPin = false;
    Recipes recipes = step.recipes();
    for (Trace.Event event : step.events()) {
      switch (event) {
        case Trace.Pin(int value) -> hasPin |= recipes.isRepeatable(recipes.maker(value));
        case Trace.Run _ -> {
          if (hasPin) {
            return false;
          }
        }
        case Trace.Retain _, Trace.Release _, Trace.Free _, Trace.Expire _ -> {}
      }
    }
    return true;
  }

  private void noteEnds(Trace trace) {
    int op = 0;
    for (Trace.Event event : trace.events()) {
      if (event instanceof Trace.Run) {
        op++;
      } else if (event instanceof Trace.Free(int value)) {
        isFreed[recipes.storage(value)] = true;
      } else if (event instanceof Trace.Expire(int[] expired)) {
        expiring[op] =
            IntStream.concat(IntStream.of(expiring[op]), IntStream.of(expired)).toArray();
      }
    }
  }

  private int[][] listUses() {
    IntStream.Builder[] lists = new IntStream.Builder[bytes.length];
    Arrays.setAll(lists, _ -> IntStream.builder());
    for (int op = 0; op < ops; op++) {
      for (int storage : readStorages[op]) {
        lists[storage].add(op);
      }
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        lists[recipes.storage(value)].add(op);
      }
    }
    for (int value : pins) {
      lists[recipes.storage(value)].add(ops);
    }
    return Arrays.stream(lists).map(of -> of.build().distinct().toArray()).toArray(int[][]::new);
  }

  private void listStretches() {
    int stretch = 0;
    for (int storage = 0; storage < uses.length; storage++) {
      firstStretch[storage] = stretch;
      for (int i = 0; i + 1 < uses[storage].length; i++) {
        storageOf[stretch] = storage;
        fromOp[stretch] = uses[storage][i];
        toOp[stretch++] = uses[storage][i + 1];
      }
    }
  }

  TraceUses uses() {
    return traceUses;
  }

  /** How many stretches there are. */
  int stretches() {
    return storageOf.length;
  }

  /** The stretch of a storage that ends with a use at an op, or a negative number. */
  int stretchTo(int storage, int op) {
    int at = Arrays.binarySearch(uses[storage], op);
    return at < 1 ? NONE : firstStretch[storage] + at - 1;
  }

  /** Decisions by which all stays: decision 0 of each stretch, then decision 1 of each. */
  boolean[] keepAll() {
    boolean[] all = new boolean[2 * stretches()];
    Arrays.fill(all, true);
    return all;
  }

  /** Time of what ran again in the count before. */
  double again() {
    return again;
  }

  /** The most bytes used in the count before. */
  long peak() {
    return peak;
  }

  /** How many runs were counted in all. */
  long runs() {
    return runs;
  }

  /**
   * Counts.
   *
   * @param most bytes that there are
   * @param weight the time that {@code most} bytes too much count as, at the worst moment and again
   *     in the mean of all runs
   * @param cut the count ends once the loss is larger
   * @return the loss: the time of what ran again, plus the time for memory beyond {@code most}
   */
  double loss(boolean[] chosen, long most, double weight, double cut) {
    decisions = chosen;
    room = most;
    used = 0;
    peak = 0;
    excess = 0;
    again = 0;
    Arrays.fill(isDefined, false);
    Arrays.fill(isResident, false);
    Arrays.fill(lastUse, 0);
    Arrays.fill(isExpired, false);
    isImpossible = false;
    System.arraycopy(wasLasting, 0, isLasting, 0, bytes.length);
    double loss = 0;
    for (int op = 0; op < ops && loss <= cut; op++) {
      expire(op);
      round++;
      list(op);
      if (isImpossible) {
        return Double.POSITIVE_INFINITY;
      }
      advance(op);
      runListed(op);
      loss = lossSoFar(weight);
    }
    if (loss <= cut) {
      pinAll();
      loss = isImpossible ? Double.POSITIVE_INFINITY : lossSoFar(weight);
    }
    return loss;
  }

  private double lossSoFar(double weight) {
    return again + weight * (Math.max(0, peak - room) + excess / ops) / room;
  }

  /** The storages to drop after each run, by these decisions. */
  int[][] drops(boolean[] chosen) {
    drops.clear();
    dropped.clear();
    notesDrops = true;
    loss(chosen, Long.MAX_VALUE, 0, Double.POSITIVE_INFINITY);
    notesDrops = false;
    return drops.toArray(int[][]::new);
  }

  /**
   * Expires ops before an op of the program, and the ops that read a result of theirs which is not
   * there. Results of theirs that are needed later are computed now, and all their results stay.
   */
  private void expire(int op) {
    if (expiring[op].length == 0) {
      return;
    }
    for (int expired : findExpired(op)) {
      for (int value = recipes.firstOutput(expired); value < recipes.endOutput(expired); value++) {
        int storage = recipes.storage(value);
        if (!isDefined[value] && lastUse[storage] + 1 < uses[storage].length) {
          isLasting[storage] = true;
          round++;
          list(expired);
          runListed(ops);
        }
      }
    }
    for (int expired : findExpired(op)) {
      isExpired[expired] = true;
      for (int value = recipes.firstOutput(expired); value < recipes.endOutput(expired); value++) {
        isLasting[recipes.storage(value)] = true;
      }
    }
  }

  private int[] findExpired(int op) {
    round++;
    int count = 0;
    for (int expired : expiring[op]) {
      listed[expired] = round;
      found[count++] = expired;
    }
    IntLists readers = recipes.readers();
    for (int i = 0; i < count; i++) {
      int end = recipes.endOutput(found[i]);
      for (int value = recipes.firstOutput(found[i]); value < end; value++) {
        for (int at = readers.first(value); !isDefined[value] && at >= 0; at = readers.next(at)) {
          int reader = readers.get(at);
          if (reader < op && !isListed(reader)) {
            listed[reader] = round;
            found[count++] = reader;
          }
        }
      }
    }
    int[] all = Arrays.copyOf(found, count);
    Arrays.sort(all);
    return all;
  }

  /** Notes the uses of an op of the program. */
  private void advance(int op) {
    for (int storage : readStorages[op]) {
      advance(storage, op);
    }
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      advance(recipes.storage(value), op);
    }
  }

  private void advance(int storage, int op) {
    int[] of = uses[storage];
    int at = lastUse[storage];
    while (at + 1 < of.length && of[at + 1] <= op) {
      at++;
    }
    lastUse[storage] = at;
  }

  private void pinAll() {
    for (int value : pins) {
      int storage = recipes.storage(value);
      lastUse[storage] = uses[storage].length - 1;
      readersAhead[storage]++;
    }
    for (int value : pins) {
      if (!isDefined[value]) {
        round++;
        list(recipes.maker(value));
        runListed(ops);
      }
    }
    for (int value : pins) {
      readersAhead[recipes.storage(value)] = 0;
    }
  }

  /** Lists the ops that make what an op lacks, and the op, in the order of a residency's stack. */
  private void list(int op) {
    aheadCount = 0;
    int depth = 0;
    stack[depth] = op;
    cursor[depth++] = 0;
    while (depth > 0) {
      int top = stack[depth - 1];
      int[] of = reads[top];
      int at = cursor[depth - 1];
      while (at < of.length && (isDefined[of[at]] || isListed(recipes.maker(of[at])))) {
        at++;
      }
      cursor[depth - 1] = at;
      if (at < of.length) {
        isImpossible |= isExpired[recipes.maker(of[at])];
        stack[depth] = recipes.maker(of[at]);
        cursor[depth++] = 0;
      } else {
        listed[top] = round;
        ahead[aheadCount++] = top;
        depth--;
      }
    }
  }

  private boolean isListed(int op) {
    return listed[op] == round;
  }

  private void runListed(int programOp) {
    for (int i = 0; i < aheadCount; i++) {
      for (int storage : readStorages[ahead[i]]) {
        readersAhead[storage]++;
      }
    }
    for (int i = 0; i < aheadCount; i++) {
      run(ahead[i], programOp);
    }
    runs += aheadCount;
  }

  private void run(int op, int programOp) {
    int end = recipes.endOutput(op);
    for (int value = recipes.firstOutput(op); value < end; value++) {
      int storage = recipes.storage(value);
      if (!isResident[storage]) {
        take(recipes.takes(storage));
        isResident[storage] = true;
        madeIn[storage] = round;
        used += bytes[storage];
      }
      isDefined[value] = true;
    }
    peak = Math.max(peak, used);
    excess += Math.max(0, used - room);
    again += op == programOp ? 0 : recipes.cost(op);
    for (int storage : readStorages[op]) {
      readersAhead[storage]--;
      decide(storage, programOp);
    }
    for (int value = recipes.firstOutput(op); value < end; value++) {
      decide(recipes.storage(value), programOp);
    }
    if (notesDrops) {
      drops.add(dropped.stream().mapToInt(storage -> storage).toArray());
      dropped.clear();
    }
  }

  /** Gives up a storage whose memory a result takes, where nothing else needs it. */
  private void take(int storage) {
    if (storage >= 0
        && isResident[storage]
        && readersAhead[storage] <= 1
        && lastUse[storage] + 1 >= uses[storage].length) {
      vacate(storage);
    }
  }

  /** Drops a storage that nothing listed reads any more, unless it stays. */
  private void decide(int storage, int programOp) {
    if (readersAhead[storage] > 0 || !isResident[storage] || bytes[storage] == 0) {
      return;
    }
    int at = lastUse[storage];
    int stretch = firstStretch[storage] + at;
    boolean stays = at + 1 < uses[storage].length;
    if (isLasting[storage] && (stays || !isFreed[storage])) {
      return;
    }
    if (stays && uses[storage][at] == programOp) {
      stays = decisions[stretch];
    } else if (stays && madeIn[storage] == round) {
      stays = decisions[storageOf.length + stretch];
    }
    if (!stays) {
      vacate(storage);
      if (notesDrops) {
        dropped.add(storage);
      }
    }
  }

  private void vacate(int storage) {
    isResident[storage] = false;
    used -= bytes[storage];
    IntLists members = recipes.members();
    for (int cell = members.first(storage); cell >= 0; cell = members.next(cell)) {
      isDefined[members.get(cell)] = false;
    }
  }
}
