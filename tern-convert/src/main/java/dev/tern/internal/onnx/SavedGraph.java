package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The nodes of a model file with its inputs and outputs (GraphProto of onnx.proto), without the
 * graphs of branches and loops.
 *
 * @param opset version of the operators
 * @param nodes in the order of the file
 */
public record SavedGraph(long opset, List<SavedNode> nodes, List<Port> inputs, List<Port> outputs) {
  /** More nodes than any model that is imported has. */
  private static final int MOST_NODES = 1 << 16;

  /** More inputs, outputs and numbers than a node has. */
  private static final int MOST_PARTS = 1 << 12;

  /** More sizes than any value has. */
  private static final int MOST_RANK = 8;

  /** The size of a dimension that differs between calls. */
  public static final long OPEN = -1;

  /**
   * An input or an output.
   *
   * @param type number of its elements' type; 0 if the file does not say
   * @param dims {@link #OPEN} where they differ between calls; empty if the file does not say
   */
  public record Port(String name, int type, Optional<List<Long>> dims) {}

  /**
   * Reads the graph of a model.
   *
   * @throws DataException if it is damaged
   */
  public static SavedGraph read(Path path) {
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
  private static final class Parser {
    private final Path path;
    private final WireReader in;
    private final List<SavedNode> nodes = new ArrayList<>();
    private final List<Port> inputs = new ArrayList<>();
    private final List<Port> outputs = new ArrayList<>();
    private long opset;

    Parser(Path path, WireReader in) {
      this.path = path;
      this.in = in;
    }

    SavedGraph model() throws IOException {
      long end = in.size();
      while (in.hasField(end)) {
        switch (in.field()) {
          case 7 -> graph(in.end("a graph", end));
          case 8 -> opset(in.end("an operator set", end));
          default -> in.skip(end);
        }
      }
      return new SavedGraph(opset, nodes, inputs, outputs);
    }

    private void opset(long end) throws IOException {
      String domain = "";
      long version = 0;
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> domain = in.name("a domain", end);
          case 2 -> version = in.number("a version");
          default -> in.skip(end);
        }
      }
      if (domain.isEmpty() || domain.equals("ai.onnx")) {
        opset = version;
      }
    }

    private void graph(long end) throws IOException {
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> add(nodes, MOST_NODES, "nodes", node(in.end("a node", end)));
          case 11 -> add(inputs, MOST_PARTS, "inputs", port(in.end("an input", end)));
          case 12 -> add(outputs, MOST_PARTS, "outputs", port(in.end("an output", end)));
          default -> in.skip(end);
        }
      }
    }

    private <T> void add(List<T> into, int most, String what, T next) {
      if (into.size() == most) {
        throw in.fault(in.position(), "more than " + most + " " + what, "so many at most");
      }
      into.add(next);
    }

    private SavedNode node(long end) throws IOException {
      List<String> from = new ArrayList<>();
      List<String> to = new ArrayList<>();
      Map<String, SavedNode.Given> attributes = new LinkedHashMap<>();
      String name = "";
      String op = "";
      String domain = "";
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> add(from, MOST_PARTS, "inputs of a node", in.name("an input", end));
          case 2 -> add(to, MOST_PARTS, "outputs of a node", in.name("an output", end));
          case 3 -> name = in.name("a name", end);
          case 4 -> op = in.name("an operator", end);
          case 5 -> attribute(attributes, in.end("an attribute", end));
          case 7 -> domain = in.name("a domain", end);
          default -> in.skip(end);
        }
      }
      return new SavedNode(path.toString(), nodes.size(), name, domain, op, from, to, attributes);
    }

    private void attribute(Map<String, SavedNode.Given> into, long end) throws IOException {
      long at = in.position();
      String name = "";
      Optional<Long> integer = Optional.empty();
      Optional<Float> real = Optional.empty();
      Optional<SavedTensor> tensor = Optional.empty();
      List<Long> integers = new ArrayList<>();
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> name = in.name("a name", end);
          case 2 -> real = Optional.of(in.real("a float"));
          case 3 -> integer = Optional.of(in.number("an integer"));
          case 5 -> tensor = Optional.of(new TensorReader(path, in).read(in.end("a tensor", end)));
          case 8 -> integers(integers, end);
          default -> in.skip(end);
        }
      }
      into.put(name, new SavedNode.Given(integer, real, integers, tensor));
      if (into.size() > MOST_PARTS) {
        throw in.fault(at, "more than " + MOST_PARTS + " attributes of a node", "fewer");
      }
    }

    /** One integer, or several packed. */
    private void integers(List<Long> into, long end) throws IOException {
      if (!in.hasLength()) {
        add(into, MOST_PARTS, "integers of an attribute", in.number("an integer"));
        return;
      }
      long to = in.end("integers", end);
      while (in.hasField(to)) {
        add(into, MOST_PARTS, "integers of an attribute", in.varint());
      }
    }

    private Port port(long end) throws IOException {
      String name = "";
      Port port = new Port("", 0, Optional.empty());
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> name = in.name("a name", end);
          case 2 -> port = type(in.end("a type", end));
          default -> in.skip(end);
        }
      }
      return new Port(name, port.type(), port.dims());
    }

    /** Of the types only that of tensors. */
    private Port type(long end) throws IOException {
      Port port = new Port("", 0, Optional.empty());
      while (in.hasField(end)) {
        if (in.field() == 1) {
          port = tensorType(in.end("a type", end));
        } else {
          in.skip(end);
        }
      }
      return port;
    }

    private Port tensorType(long end) throws IOException {
      long type = 0;
      Optional<List<Long>> dims = Optional.empty();
      while (in.hasField(end)) {
        switch (in.field()) {
          case 1 -> type = in.number("an element type");
          case 2 -> dims = Optional.of(dims(in.end("sizes", end)));
          default -> in.skip(end);
        }
      }
      return new Port("", type < 0 || type > MOST_NODES ? 0 : (int) type, dims);
    }

    private List<Long> dims(long end) throws IOException {
      List<Long> dims = new ArrayList<>();
      while (in.hasField(end)) {
        if (in.field() == 1) {
          add(dims, MOST_RANK, "sizes", dim(in.end("a size", end)));
        } else {
          in.skip(end);
        }
      }
      return dims;
    }

    private long dim(long end) throws IOException {
      long size = OPEN;
      while (in.hasField(end)) {
        if (in.field() == 1) {
          size = Math.max(OPEN, in.number("a size"));
        } else {
          in.skip(end);
        }
      }
      return size;
    }
  }
}
