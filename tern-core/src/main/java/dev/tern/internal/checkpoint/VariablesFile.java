package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.tensor.Variable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Variables as a safetensors file: an F32 array for each, by its name, in order. */
public final class VariablesFile {
  private VariablesFile() {}

  /** The content of a variable. */
  public record Values(String name, long[] sizes, float[] values) {}

  /** The content of variables now. */
  public static List<Values> copy(List<Variable> variables) {
    return variables.stream()
        .map(variable -> new Values(variable.name(), sizes(variable), variable.toArray()))
        .toList();
  }

  public static void write(Path path, List<Values> variables) {
    SafeTensors.Layout layout = new SafeTensors.Layout();
    for (Values variable : variables) {
      layout.add(variable.name(), DType.F32, variable.sizes());
    }
    try (SafeTensors file = SafeTensors.create(path, layout, Map.of())) {
      for (Values variable : variables) {
        ByteBuffer bytes = bytes(variable.values().length);
        bytes.asFloatBuffer().put(variable.values());
        file.write(variable.name(), 0, bytes);
      }
    }
  }

  public static void read(Path path, List<Variable> variables) {
    try (SafeTensors file = SafeTensors.open(path)) {
      List<String> expected = variables.stream().map(Variable::name).toList();
      if (!file.names().equals(expected)) {
        throw new DataException(
            "%s: got the arrays %s, expected %s; the checkpoint is of another model or optimizer"
                .formatted(path, file.names(), expected));
      }
      for (Variable variable : variables) {
        SafeTensors.Entry entry = file.entry(variable.name());
        if (!entry.shape().equals(Arrays.stream(sizes(variable)).boxed().toList())) {
          throw new DataException(
              "%s: got %s of shape %s, expected %s; the checkpoint is of another model"
                  .formatted(path, variable.name(), entry.shape(), variable.shape()));
        }
        read(file, variable);
      }
    }
  }

  /** Reads each variable that the file has in its shape; returns the others. */
  public static List<Variable> readSome(Path path, List<Variable> variables) {
    List<Variable> others = new ArrayList<>();
    try (SafeTensors file = SafeTensors.open(path)) {
      for (Variable variable : variables) {
        boolean fits =
            file.names().contains(variable.name())
                && file.entry(variable.name())
                    .shape()
                    .equals(Arrays.stream(sizes(variable)).boxed().toList());
        if (fits) {
          read(file, variable);
        } else {
          others.add(variable);
        }
      }
    }
    return others;
  }

  private static void read(SafeTensors file, Variable variable) {
    float[] values = new float[variable.shape().elements()];
    ByteBuffer bytes = bytes(values.length);
    file.read(variable.name(), 0, bytes);
    bytes.flip().asFloatBuffer().get(values);
    variable.set(values);
  }

  private static ByteBuffer bytes(int floats) {
    return ByteBuffer.allocate(4 * floats).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long[] sizes(Variable variable) {
    return Arrays.stream(variable.shape().toArray()).asLongStream().toArray();
  }
}
