package dev.tern.nn;

import dev.tern.internal.ir.Pointwise;
import dev.tern.tensor.Device;
import dev.tern.tensor.Shape;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Makes a model's parameters and remembers them in order. Initial values depend on the seed and the
 * parameter's name alone.
 */
public final class Parameters {
  private final Device device;
  private final long seed;
  private final List<Variable> all = new ArrayList<>();

  public Parameters(Device device, long seed) {
    this.device = device;
    this.seed = seed;
  }

  /** A parameter with initial values uniform in [-range, range). */
  public Variable uniform(String name, Shape shape, float range) {
    float[] values = new float[shape.elements()];
    for (int i = 0; i < values.length; i++) {
      values[i] = (2 * Pointwise.uniform(seed, name.hashCode(), i) - 1) * range;
    }
    return add(name, shape, values);
  }

  /** A parameter that starts as {@code value} everywhere. */
  public Variable full(String name, Shape shape, float value) {
    float[] values = new float[shape.elements()];
    Arrays.fill(values, value);
    return add(name, shape, values);
  }

  private Variable add(String name, Shape shape, float[] values) {
    for (Variable other : all) {
      if (other.name().equals(name)) {
        throw new IllegalArgumentException(
            "parameter: got the name " + name + " twice, expected distinct names");
      }
    }
    Variable variable = Variable.zeros(device, name, shape);
    variable.set(values);
    all.add(variable);
    return variable;
  }

  /** All parameters made so far, in order. */
  public List<Variable> all() {
    return Collections.unmodifiableList(all);
  }
}
