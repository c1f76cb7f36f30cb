package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Several tasks over experts that all share, each task with a gate of its own (Ma et al., "Modeling
 * Task Relationships in Multi-task Learning with Multi-gate Mixture-of-Experts", KDD 2018):
 *
 * <pre>
 * y_k = tower_k(g_k1 f_1(x) + ... + g_kE f_E(x)),   g_k = softmax(gate_k(x))
 * </pre>
 *
 * <p>For example, with outputs {@code (1, 0)} and {@code (0, 1)} of two experts and a gate of
 * {@code (0.25, 0.75)}, the tower reads {@code (0.25, 0.75)}. In the paper a gate has no hidden
 * layers and no bias.
 */
public final class MixtureOfExperts implements Model {
  /** The gate of a task: hidden layers, and a number for each expert. */
  private record Gate(Mlp hidden, Linear out) {
    /** The weights of experts, {@code [B, E]}. */
    Tensor weights(Tensor flat, Features x) {
      return out.apply(hidden.apply(flat, x.pass())).softmax(1);
    }
  }

  private final Sizes sizes;
  private final List<Mlp> experts = new ArrayList<>();
  private final List<Gate> gates = new ArrayList<>();
  private final TaskTowers towers;

  public MixtureOfExperts(Sizes sizes, Schema schema, Parameters parameters) {
    this.sizes = sizes;
    int flat = sizes.widths().flat(schema);
    for (int e = 0; e < sizes.tasks().experts(); e++) {
      experts.add(new Mlp(parameters, "expert." + e, flat, sizes.hidden(), sizes.style()));
    }
    for (int k = 0; k < sizes.tasks().count(); k++) {
      String name = "gate." + k;
      Mlp hidden = new Mlp(parameters, name, flat, sizes.tasks().gates(), sizes.style());
      Linear out = new Linear(parameters, name + ".out", hidden.outputs(), experts.size(), false);
      gates.add(new Gate(hidden, out));
    }
    towers = new TaskTowers(sizes, experts.getFirst().outputs(), parameters);
  }

  @Override
  public int embeddingWidth() {
    return sizes.widths().all();
  }

  @Override
  public int embeddingWidth(String table) {
    return sizes.widths().of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    List<Tensor> outputs = experts.stream().map(expert -> expert.apply(flat, x.pass())).toList();
    return towers.logits(k -> mean(gates.get(k).weights(flat, x), outputs), x.pass());
  }

  /** The sum of {@code E} outputs {@code [B, H]}, each times a column of weights {@code [B, E]}. */
  static Tensor mean(Tensor weights, List<Tensor> outputs) {
    Tensor sum = outputs.getFirst().mul(weights.slice(1, 0, 1));
    for (int e = 1; e < outputs.size(); e++) {
      sum = sum.add(outputs.get(e).mul(weights.slice(1, e, e + 1)));
    }
    return sum;
  }
}
