package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.tensor.Variable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Variables as a safetensors file: each an array of F32 by its name, in order. */
public final class VariablesFile {
  private VariablesFile() {}

  /** What a variable holds. */
  public record Values(String name, long[] sizes, float[] values) {}

  /** What variables hold now. */
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
      if (!List.copyOf(file.names()).equals(expected)) {
        throw new DataException(
            path
                + ": got the arrays "
                + file.names()
                + ", expected "
                + expected
                + "; the checkpoint is of another model or optimizer");
      }
      for (Variable variable : variables) {
        SafeTensors.Entry entry = file.entry(variable.name());
        long[] sizes = entry.shape().stream().mapToLong(Long::longValue).toArray();
        if (!Arrays.equals(sizes, sizes(variable))) {
          throw new DataException(
              path
                  + ": got "
                  + variable.name()
                  + " of shape "
                  + entry.shape()
                  + ", expected "
                  + variable.shape()
                  + "; the checkpoint is of another model");
        }
        ByteBuffer bytes = bytes(variable.shape().elements());
        file.read(variable.name(), 0, bytes);
        bytes.flip();
        float[] values = new float[variable.shape().elements()];
        bytes.asFloatBuffer().get(values);
        variable.set(values);
      }
    }
  }

  private static ByteBuffer bytes(int floats) {
    return ByteBuffer.allocate(4 * floats).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long[] sizes(Variable variable) {
    long[] sizes = new long[variable.shape().rank()];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = variable.shape().size(i);
    }
    return sizes;
  }
}
