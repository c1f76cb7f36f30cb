package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The parameters of a model, to know their sizes; without tables. */
record SizedModel(List<Variable> all) implements AutoCloseable {
  /** Numbers that a model may have whatever its file of weights has, to tell where they differ. */
  private static final long ALWAYS = 1 << 22;

  /**
   * Makes the parameters of a model.
   *
   * @param floats that the file of its weights has
   * @throws DataException if sizes of layers do not fit together, or are far more than that
   */
  static SizedModel of(GraphTranslation translation, Device device, Path graph, long floats) {
    Parameters parameters = new Parameters(device, 0, Math.max(ALWAYS, 2 * floats));
    try {
      translation.model().create(translation.schema(), parameters);
    } catch (IllegalArgumentException e) {
      new SizedModel(all(parameters)).close();
      throw new DataException(graph + ": " + e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      new SizedModel(all(parameters)).close();
      throw e;
    }
    return new SizedModel(all(parameters));
  }

  private static List<Variable> all(Parameters parameters) {
    List<Variable> all = new ArrayList<>(parameters.all());
    all.addAll(parameters.statistics());
    return all;
  }

  Map<String, Variable> variables() {
    Map<String, Variable> variables = new HashMap<>();
    all.forEach(variable -> variables.put(variable.name(), variable));
    return variables;
  }

  @Override
  public void close() {
    all.forEach(Variable::close);
  }
}
