package dev.tern.nn;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Pointwise;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Makes a model's parameters and statistics and keeps them in order. Initial values at random
 * depend on the seed and the parameter's name: adding a layer does not change the other layers. If
 * two names have the same hash, the values of the later one also depend on the earlier name.
 */
public final class Parameters {
  private final Device device;
  private final long seed;
  private final List<Variable> all = new ArrayList<>();
  private final List<Variable> statistics = new ArrayList<>();

  /** How many names with initial values at random have each hash. */
  private final Map<Integer, Integer> namesOfHash = new HashMap<>();

  /** How many numbers all parameters may have together. */
  private final long most;

  private long count;

  /** Parameters on {@code device} with initial values drawn by {@code seed}. */
  public Parameters(Device device, long seed) {
    this(device, seed, Long.MAX_VALUE);
  }

  /**
   * The same for sizes that a file says, which may be damaged.
   *
   * @param most numbers that all parameters and statistics may have together; more are an {@link
   *     IllegalArgumentException} before they take memory
   */
  public Parameters(Device device, long seed, long most) {
    this.device = device;
    this.seed = seed;
    this.most = most;
  }

  /** A parameter with initial values uniform in [-range, range). */
  public Variable uniform(String name, Shape shape, float range) {
    long own = seedOf(name);
    requireRoom(name, shape);
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (2 * Pointwise.uniform(own, name.hashCode(), i) - 1) * range;
    }
    return add(all, name, shape, values);
  }

  /** Another seed for each name with the same hash, such as "Aa" and "BB". */
  private long seedOf(String name) {
    int earlier = namesOfHash.merge(name.hashCode(), 1, Integer::sum) - 1;
    return earlier == 0 ? seed : Pointwise.mix(seed + earlier);
  }

  /** A parameter that starts as {@code value} everywhere. */
  public Variable full(String name, Shape shape, float value) {
    requireRoom(name, shape);
    return add(all, name, shape, filled(shape, value));
  }

  /**
   * A value that a layer keeps from step to step without learning it, such as a moving average. It
   * starts as {@code value} everywhere. No optimizer updates it; {@link Pass#update} does.
   */
  public Variable statistic(String name, Shape shape, float value) {
    requireRoom(name, shape);
    return add(statistics, name, shape, filled(shape, value));
  }

  private void requireRoom(String name, Shape shape) {
    count += shape.elements();
    if (count > most) {
      throw new IllegalArgumentException(
          "parameter %s: got %s, and %d numbers with all before, expected at most %d; check sizes of layers"
              .formatted(name, shape, count, most));
    }
  }

  private static float[] filled(Shape shape, float value) {
    float[] values = new float[shape.elements()];
    Arrays.fill(values, value);
    return values;
  }

  private Variable add(List<Variable> kind, String name, Shape shape, float[] values) {
    if (Stream.concat(all.stream(), statistics.stream()).anyMatch(v -> v.name().equals(name))) {
      throw new IllegalArgumentException(
          "parameter: got the name %s twice, expected distinct names".formatted(name));
    }
    Variable variable = Variable.zeros(device, name, shape);
    variable.set(values);
    kind.add(variable);
    return variable;
  }

  /** All parameters made so far, in order. */
  public List<Variable> all() {
    return Collections.unmodifiableList(all);
  }

  /** All statistics made so far, in order. */
  public List<Variable> statistics() {
    return Collections.unmodifiableList(statistics);
  }
}
