package dev.tern.internal.remat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A recorded training step: its ops, references and releases, in order. Values are numbered from 0
 * as they are made.
 *
 * @param names of the ops, in order, for errors; empty where they have no names
 */
public record Trace(List<Event> events, List<String> names) {
  /** One thing that happened. */
  public sealed interface Event {}

  /**
   * An op ran.
   *
   * @param cost its time in nanoseconds
   * @param isRepeatable whether it may run again
   * @param reads the values that it read
   * @param bytes of each result, 0 for a view
   * @param viewOf of each result the value it is a view of, or -1
   * @param over of each result a value that the op reads, or -1. The value has as many bytes and
   *     its last reference is given up next, so the result may take its memory
   */
  public record Run(
      double cost, boolean isRepeatable, int[] reads, long[] bytes, int[] viewOf, int[] over)
      implements Event {
    /** An op whose results have memory of their own. */
    public Run(double cost, boolean isRepeatable, int[] reads, long[] bytes, int[] viewOf) {
      this(cost, isRepeatable, reads, bytes, viewOf, new int[bytes.length]);
      Arrays.fill(over, -1);
    }
  }

  /** A value got one more reference. */
  public record Retain(int value) implements Event {}

  /** A value lost a reference. */
  public record Release(int value) implements Event {}

  /** A value lost a reference and goes with the last, whether or not it can be had again. */
  public record Free(int value) implements Event {}

  /** A value is needed from here on to the end. */
  public record Pin(int value) implements Event {}

  /** Ops cannot run again from here on, as something that they read is about to change. */
  public record Expire(int[] ops) implements Event {}

  public Trace {
    events = List.copyOf(events);
    names = List.copyOf(names);
  }

  /** A step whose ops have no names. */
  public Trace(List<Event> events) {
    this(events, List.of());
  }

  /** The same step with other times of its ops, in their order. */
  public Trace withCosts(double[] costs) {
    List<Event> timed = new ArrayList<>();
    int op = 0;
    for (Event event : events) {
      timed.add(
          event instanceof Run run
              ? new Run(costs[op++], run.isRepeatable, run.reads, run.bytes, run.viewOf)
              : event);
    }
    return new Trace(timed, names);
  }

  /** Adds an op to recipes as the last. */
  static void add(Run run, Recipes recipes) {
    recipes.addOp(run.cost, run.isRepeatable, run.reads);
    for (int i = 0; i < run.bytes.length; i++) {
      if (run.viewOf[i] < 0) {
        recipes.addOutput(run.bytes[i], run.over[i]);
      } else {
        recipes.addView(run.viewOf[i]);
      }
    }
  }

  public Recipes recipes() {
    Recipes recipes = new Recipes();
    for (Event event : events) {
      if (event instanceof Run run) {
        add(run, recipes);
      }
    }
    return recipes;
  }

  /** Time of all ops, each run once. */
  public double cost() {
    double sum = 0;
    for (Event event : events) {
      sum += event instanceof Run(double cost, _, _, _, _, _) ? cost : 0;
    }
    return sum;
  }

  /** The most bytes of storages with references at any time: what the step takes without limit. */
  public long peakLive() {
    return MemoryPeak.of(this, recipes()).bytes();
  }

  /** Repeats the events on a residency of these recipes. */
  void replay(Residency residency, Recipes recipes) {
    for (Event event : events) {
      switch (event) {
        case Run run -> {
          add(run, recipes);
          int op = recipes.ops() - 1;
          if (op < names.size()) {
            recipes.name(op, names.get(op));
          }
          residency.run(op);
        }
        case Retain(int value) -> residency.retain(value);
        case Release(int value) -> residency.release(value);
        case Free(int value) -> residency.free(value);
        case Pin(int value) -> residency.pin(value);
        case Expire(int[] ops) -> residency.expire(ops);
      }
    }
  }
}
