package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Progressive layered extraction (Tang et al., "Progressive Layered Extraction (PLE): A Novel
 * Multi-Task Learning Model for Personalized Recommendations", RecSys 2020, doi
 * 10.1145/3383313.3412236): several tasks over levels of experts, of which each task has its own,
 * beside those that all share.
 *
 * <pre>
 * task k:  x_k = weighted mean of its experts of x_k and the shared ones of x_s, by softmax(x_k G_k)
 * shared:  x_s = weighted mean of all experts, by softmax(x_s G_s)
 * y_k = tower_k(x_k of the last level)
 * </pre>
 *
 * <p>Before the first level all {@code x} are the features. Each task has {@link
 * Sizes.Tasks#experts} in each level, and as many are shared. With one level it is the paper's
 * customized gate control. Gates have no bias.
 */
public final class LayeredExtraction extends FlatModel {
  /** A gate: hidden layers, and a number for each expert. */
  private record Gate(Mlp hidden, Linear out) {
    Tensor mean(Tensor x, List<Tensor> outputs, Pass pass) {
      Tensor weights = out.apply(hidden.apply(x, pass)).softmax(1);
      return MixtureOfExperts.mean(weights, outputs);
    }
  }

  /** Experts and gates of the tasks, then the shared ones; the last level has no shared gate. */
  private record Level(List<List<Mlp>> experts, List<Gate> gates) {
    List<Tensor> apply(List<Tensor> x, Pass pass) {
      int tasks = x.size() - 1;
      List<List<Tensor>> outputs = new ArrayList<>();
      for (int g = 0; g <= tasks; g++) {
        Tensor input = x.get(g);
        outputs.add(experts.get(g).stream().map(expert -> expert.apply(input, pass)).toList());
      }
      List<Tensor> next = new ArrayList<>();
      for (int g = 0; g < gates.size(); g++) {
        List<Tensor> seen = new ArrayList<>();
        for (int from = 0; from <= tasks; from++) {
          if (g == tasks || from == g || from == tasks) {
            seen.addAll(outputs.get(from));
          }
        }
        next.add(gates.get(g).mean(x.get(g), seen, pass));
      }
      return next;
    }
  }

  private final List<Level> levels = new ArrayList<>();
  private final TaskTowers towers;
  private final int tasks;

  public LayeredExtraction(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    tasks = sizes.tasks().count();
    int inputs = sizes.widths().flat(schema);
    for (int l = 0; l < sizes.levels(); l++) {
      levels.add(level("level." + l, sizes, inputs, l + 1 == sizes.levels(), parameters));
      inputs = levels.getLast().experts().getFirst().getFirst().outputs();
    }
    towers = new TaskTowers(sizes, inputs, parameters);
  }

  private static Level level(
      String name, Sizes sizes, int inputs, boolean isLast, Parameters parameters) {
    int tasks = sizes.tasks().count();
    int each = sizes.tasks().experts();
    List<List<Mlp>> experts = new ArrayList<>();
    List<Gate> gates = new ArrayList<>();
    for (int g = 0; g <= tasks; g++) {
      String group = name + "." + (g == tasks ? "shared" : g);
      List<Mlp> own = new ArrayList<>();
      for (int e = 0; e < each; e++) {
        String expert = group + ".expert." + e;
        own.add(new Mlp(parameters, expert, inputs, sizes.hidden(), sizes.style()));
      }
      experts.add(own);
      if (g < tasks || !isLast) {
        int seen = g == tasks ? (tasks + 1) * each : 2 * each;
        Mlp hidden =
            new Mlp(parameters, group + ".gate", inputs, sizes.tasks().gates(), sizes.style());
        gates.add(
            new Gate(
                hidden,
                new Linear(parameters, group + ".gate.out", hidden.outputs(), seen, false)));
      }
    }
    return new Level(experts, gates);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    List<Tensor> inputs = new ArrayList<>();
    for (int g = 0; g <= tasks; g++) {
      inputs.add(flat);
    }
    for (Level level : levels) {
      inputs = level.apply(inputs, x.pass());
    }
    List<Tensor> last = inputs;
    return towers.logits(last::get, x.pass());
  }
}
