package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/**
 * A file of dense weights, {@code NAME_dense_N.model}: floats of 4 bytes, little-endian, those of
 * one layer behind the other in the order of the graph file, without header or gap.
 */
final class DenseFile {
  private DenseFile() {}

  /** Floats of an array. */
  static int floats(StoredWeights weights, Map<String, Variable> variables) {
    return weights
        .parameter()
        .map(name -> variable(variables, name).shape().elements())
        .orElse(weights.unused());
  }

  static Variable variable(Map<String, Variable> variables, String name) {
    Variable variable = variables.get(name);
    if (variable == null) {
      throw new AssertionError(name); // The translation names what the model makes.
    }
    return variable;
  }

  /** Floats of all arrays. */
  static long total(List<StoredWeights> weights, Map<String, Variable> variables) {
    return weights.stream().mapToLong(each -> floats(each, variables)).sum();
  }

  static long size(Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        throw new DataException(
            "%s: got no file, expected the dense weights of the model; check the path"
                .formatted(file));
      }
      return Files.size(file);
    } catch (IOException e) {
      throw unread(file, e);
    }
  }

  static DataException unread(Path file, IOException e) {
    return new DataException(
        "%s: got an error reading it (%s), expected a file of HugeCTR; check the path"
            .formatted(file, DataException.reason(e)),
        e);
  }

  /**
   * Fills variables.
   *
   * @param weights the arrays in order
   * @param variables by name
   * @throws DataException if the file has more or fewer bytes, or a weight that is no finite number
   */
  static void read(Path file, List<StoredWeights> weights, Map<String, Variable> variables) {
    long expected = 4 * total(weights, variables);
    if (size(file) != expected) {
      throw new DataException(
          "%s: got %d bytes, expected %d, which the layers of the graph take (%s); give the dense weights of this graph"
              .formatted(file, size(file), expected, shown(weights, variables, size(file))));
    }
    try (FileChannel channel = FileChannel.open(file)) {
      long at = 0;
      for (StoredWeights each : weights) {
        float[] values = new float[floats(each, variables)];
        read(channel, at, values);
        requireFinite(file, at, each, values);
        each.parameter().ifPresent(name -> variable(variables, name).set(values));
        at += 4L * values.length;
      }
    } catch (IOException e) {
      throw unread(file, e);
    }
  }

  /** The layer in which a file of some bytes ends. */
  private static String shown(
      List<StoredWeights> weights, Map<String, Variable> variables, long bytes) {
    long at = 0;
    for (StoredWeights each : weights) {
      long end = at + 4L * floats(each, variables);
      if (bytes < end) {
        return "the file ends in the weights of %s, from byte %d to %d"
            .formatted(each.layer(), at, end);
      }
      at = end;
    }
    return "the last ends at byte %d".formatted(at);
  }

  private static void read(FileChannel channel, long at, float[] values) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    int read = 0;
    while (read < values.length) {
      block.clear().limit((int) Math.min(block.capacity(), 4L * (values.length - read)));
      while (block.hasRemaining()) {
        if (channel.read(block, at + 4L * read + block.position()) < 0) {
          throw new IOException("it ended early");
        }
      }
      FloatBuffer floats = block.flip().asFloatBuffer();
      int count = floats.remaining();
      floats.get(values, read, count);
      read += count;
    }
  }

  private static void requireFinite(Path file, long at, StoredWeights of, float[] values) {
    for (int i = 0; i < values.length; i++) {
      if (!Float.isFinite(values[i])) {
        throw new DataException(
            "%s: byte offset %d: got the weight %s in %s, expected a finite number; its training diverged, or the file is damaged: take an earlier one"
                .formatted(file, at + 4L * i, values[i], of.layer()));
      }
    }
  }

  /** The values of a parameter. */
  static float[] array(Map<String, float[]> arrays, String name) {
    float[] values = arrays.get(name);
    if (values == null) {
      throw new AssertionError(name); // A graph names what its model makes.
    }
    return values;
  }

  /** Writes the arrays in order; zeros for what HugeCTR stores and never uses. */
  static void write(Path file, List<StoredWeights> weights, Map<String, float[]> arrays)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
      for (StoredWeights each : weights) {
        float[] values =
            each.parameter()
                .map(name -> array(arrays, name))
                .orElseGet(() -> new float[each.unused()]);
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(values);
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    }
  }
}
