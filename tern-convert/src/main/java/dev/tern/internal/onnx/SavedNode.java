package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A node of a model file.
 *
 * @param file the model, for messages
 * @param number of the node in the file, from 0
 * @param name empty where the file gives none
 * @param inputs names of values; empty for those that are left out
 */
public record SavedNode(
    String file,
    int number,
    String name,
    String domain,
    String op,
    List<String> inputs,
    List<String> outputs,
    Map<String, Given> attributes) {
  /** What an attribute may hold; one of them. */
  public record Given(
      Optional<Long> integer,
      Optional<Float> real,
      List<Long> integers,
      Optional<SavedTensor> tensor) {
    public Given {
      integers = List.copyOf(integers);
    }
  }

  public SavedNode {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    attributes = Map.copyOf(attributes);
  }

  /** The error of a node that Tern's layers cannot compute. */
  public DataException fault(String got, String expected) {
    return new DataException(
        "%s: node %s (%s): got %s, expected %s".formatted(file, called(), op, got, expected));
  }

  /** The same, in words that say what was got and expected. */
  public DataException refused(String message, Exception cause) {
    return new DataException("%s: node %s (%s): %s".formatted(file, called(), op, message), cause);
  }

  private String called() {
    return name.isEmpty() ? Integer.toString(number) : name;
  }

  /** The name of its output. */
  public String output() {
    if (outputs.isEmpty()) {
      throw fault("no output", "one");
    }
    return outputs.getFirst();
  }

  public boolean hasInput(int index) {
    return index < inputs.size() && !inputs.get(index).isEmpty();
  }

  public boolean has(String attribute) {
    return attributes.containsKey(attribute);
  }

  private Optional<Given> of(String attribute) {
    return Optional.ofNullable(attributes.get(attribute));
  }

  public long integer(String attribute, long otherwise) {
    return of(attribute).flatMap(Given::integer).orElse(otherwise);
  }

  public float real(String attribute, float otherwise) {
    return of(attribute).flatMap(Given::real).orElse(otherwise);
  }

  public List<Long> integers(String attribute) {
    return of(attribute).map(Given::integers).orElse(List.of());
  }

  public Optional<SavedTensor> tensor(String attribute) {
    return of(attribute).flatMap(Given::tensor);
  }

  /** Throws if an attribute is anything else than {@code expected}, which it is by default. */
  public void requireInteger(String attribute, long expected) {
    long got = integer(attribute, expected);
    if (got != expected) {
      throw fault(attribute + " = " + got, attribute + " = " + expected);
    }
  }
}
