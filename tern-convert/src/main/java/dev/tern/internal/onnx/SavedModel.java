package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tensors and properties of a model file, without its nodes.
 *
 * @param tensors by name
 * @param properties texts by key
 */
public record SavedModel(
    Path path, Map<String, SavedTensor> tensors, Map<String, String> properties) {
  /** Memory for the sizes of a model beside a multiple of its file. */
  private static final long LEAST_MEMORY = 256L << 20;

  /** More tensors than any model has. */
  private static final int MOST_TENSORS = 1 << 16;

  /** More properties than any model has. */
  private static final int MOST_PROPERTIES = 1 << 12;

  /**
   * Reads a model file; the elements of tensors stay where they are.
   *
   * @throws DataException if it is damaged or no model
   */
  public static SavedModel read(Path path) {
    try (WireReader in = WireReader.open(path)) {
      return new Parser(path, in).model();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got an error reading it (%s), expected a model of ONNX; check the path"
              .formatted(path, DataException.reason(e)),
          e);
    }
  }

  /** Reads one file. */
  private record Parser(
      Path path, WireReader in, Map<String, SavedTensor> tensors, Map<String, String> properties) {
    Parser(Path path, WireReader in) {
      this(path, in, new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    SavedModel model() throws IOException {
      long end = in.size();
      boolean hasGraph = false;
      while (in.hasField(end)) {
        switch (in.field()) {
          case 7 -> {
            graph(in.end("a graph", end));
            hasGraph = true;
          }
          case 14 -> property(in.end("a property", end));
          default -> in.skip(end);
        }
      }
      if (!hasGraph) {
        throw in.fault(end, "the end of a model without a graph", "a graph");
      }
      return new SavedModel(path, tensors, properties);
    }

    private void property(long end) throws IOException {
      long at = in.position();
      String key = "";
      String value = "";
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> key = in.name("a property", end);
          case 2 -> value = in.text("a property", end);
          default -> in.skip(end);
        }
      }
      if (properties.put(key, value) != null) {
        throw in.fault(at, "the property " + key + " twice", "distinct keys");
      }
      if (properties.size() > MOST_PROPERTIES) {
        throw in.fault(at, "more than " + MOST_PROPERTIES + " properties", "fewer");
      }
    }

    private void graph(long end) throws IOException {
      while (in.hasField(end)) {
        if (in.field() == 5) {
          tensor(in.end("a tensor", end));
        } else {
          in.skip(end);
        }
      }
    }

    private void tensor(long end) throws IOException {
      SavedTensor tensor = new TensorReader(path, in).read(end);
      if (tensors.put(tensor.name(), tensor) != null) {
        throw in.fault(tensor.at(), "the tensor " + tensor.name() + " twice", "distinct names");
      }
      if (tensors.size() > MOST_TENSORS) {
        throw in.fault(tensor.at(), "more than " + MOST_TENSORS + " tensors", "fewer");
      }
    }
  }

  /**
   * Memory for a model: a multiple of its weights, so that sizes that do not fit its files are
   * refused.
   */
  public long memory() {
    return tensors.values().stream().mapToLong(SavedTensor::length).sum() * 16 + LEAST_MEMORY;
  }

  /** The error of a model that has not what an export of Tern has. */
  public DataException fault(String got, String expected) {
    return new DataException(
        "%s: got %s, expected %s; the file is damaged, or not what tern export onnx wrote"
            .formatted(path, got, expected));
  }

  /** A tensor of these sizes and elements. */
  public SavedTensor require(String name, ElementType type, long... dims) {
    SavedTensor tensor = tensors.get(name);
    if (tensor == null) {
      throw fault("no tensor " + name, "one");
    }
    long bytes = type.bytes();
    for (long dim : dims) {
      bytes *= dim;
    }
    if (!tensor.is(type, dims) || tensor.length() != bytes) {
      throw fault(
          "the tensor %s of type %d, sizes %s and %d bytes at byte %d"
              .formatted(name, tensor.type(), tensor.dims(), tensor.length(), tensor.at()),
          "%s of sizes %s".formatted(type, Arrays.toString(dims)));
    }
    return tensor;
  }
}
