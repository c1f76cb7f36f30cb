package dev.tern.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The tensors and properties of a model file, without its nodes.
 *
 * @param tensors by name
 * @param properties texts by key
 */
record SavedModel(Path path, Map<String, SavedTensor> tensors, Map<String, String> properties) {
  private static final int MOST_RANK = 8;

  /**
   * Reads a model file; the elements of tensors stay where they are.
   *
   * @throws DataException if it is damaged or no model
   */
  static SavedModel read(Path path) {
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
      String[] entry = entry("a property", end);
      if (properties.put(entry[0], entry[1]) != null) {
        throw in.fault(at, "the property " + entry[0] + " twice", "distinct keys");
      }
    }

    /** Key and value of a StringStringEntryProto. */
    private String[] entry(String what, long end) throws IOException {
      String[] entry = {"", ""};
      while (in.hasField(end)) {
        int field = in.field();
        if (field == 1 || field == 2) {
          entry[field - 1] = in.text(what, end);
        } else {
          in.skip(end);
        }
      }
      return entry;
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
      long at = in.position();
      List<Long> dims = new ArrayList<>();
      Map<String, String> external = new LinkedHashMap<>();
      String name = "";
      long type = 0;
      long from = -1;
      long to = -1;
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> dims(dims, end);
          case 2 -> type = in.number("an element type");
          case 8 -> name = in.text("a name", end);
          case 9 -> {
            to = in.end("raw data", end);
            from = in.position();
            in.goTo(to);
          }
          case 13 -> {
            String[] entry = entry("external data", in.end("external data", end));
            external.put(entry[0], entry[1]);
          }
          default -> in.skip(end);
        }
      }
      SavedTensor tensor =
          external.isEmpty()
              ? new SavedTensor(name, dims, (int) type, at, path, from, from < 0 ? 0 : to - from)
              : external(new SavedTensor(name, dims, (int) type, at, path, 0, 0), external);
      if (tensors.put(name, tensor) != null) {
        throw in.fault(at, "the tensor " + name + " twice", "distinct names");
      }
    }

    /** One size, or several packed. */
    private void dims(List<Long> dims, long end) throws IOException {
      long at = in.position();
      if (in.hasLength()) {
        long to = in.end("sizes", end);
        while (in.hasField(to)) {
          dims.add(in.varint());
        }
      } else {
        dims.add(in.number("a size"));
      }
      if (dims.size() > MOST_RANK || dims.stream().anyMatch(dim -> dim < 0)) {
        throw in.fault(at, "the sizes " + dims, MOST_RANK + " or fewer of 0 or more");
      }
    }

    private SavedTensor external(SavedTensor tensor, Map<String, String> of) {
      String location = of.getOrDefault("location", "");
      boolean isBeside =
          !location.isEmpty()
              && !location.contains("/")
              && !location.contains("\\")
              && location.chars().allMatch(c -> c >= ' ')
              && !location.equals("..")
              && !location.equals(".");
      if (!isBeside || !Files.isRegularFile(path.resolveSibling(location))) {
        throw in.fault(
            tensor.at(), "external data in \"" + location + "\"", "the name of a file beside it");
      }
      Path beside = path.resolveSibling(location);
      long size = sizeOf(beside);
      long offset = number(tensor, of.getOrDefault("offset", "0"));
      long length = number(tensor, of.getOrDefault("length", Long.toString(size - offset)));
      if (offset > size || length > size - offset) {
        throw in.fault(
            tensor.at(),
            "external data of %d bytes from byte %d of %s".formatted(length, offset, location),
            "a part of its " + size + " bytes");
      }
      return new SavedTensor(
          tensor.name(), tensor.dims(), tensor.type(), tensor.at(), beside, offset, length);
    }

    private static long sizeOf(Path file) {
      try {
        return Files.size(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private long number(SavedTensor tensor, String text) {
      if (!text.matches("[0-9]{1,18}")) {
        throw in.fault(tensor.at(), "external data at \"" + text + "\"", "decimal numbers");
      }
      return Long.parseLong(text);
    }
  }

  /** The error of a model that has not what an export of Tern has. */
  DataException fault(String got, String expected) {
    return new DataException(
        "%s: got %s, expected %s; import what tern export onnx wrote"
            .formatted(path, got, expected));
  }

  /** A tensor of these sizes and elements. */
  SavedTensor require(String name, ElementType type, long... dims) {
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
