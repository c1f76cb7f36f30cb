package dev.tern.model.papers;

import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** For each task hidden layers of its own and a logit. */
final class TaskTowers {
  private final List<Mlp> towers = new ArrayList<>();
  private final List<Linear> outs = new ArrayList<>();

  /**
   * Makes parameters with names that hold the number of the task, as in {@code tower.0.0.weight}.
   *
   * @param inputs numbers of each row that a tower reads
   */
  TaskTowers(Sizes sizes, int inputs, Parameters parameters) {
    for (int k = 0; k < sizes.tasks().count(); k++) {
      Mlp tower = new Mlp(parameters, "tower." + k, inputs, sizes.tasks().towers(), sizes.style());
      towers.add(tower);
      outs.add(new Linear(parameters, "out." + k, tower.outputs(), 1));
    }
  }

  /** The logit of one task, {@code [B, 1]}, from its input {@code [B, inputs]}. */
  Tensor logit(int task, Tensor input, Pass pass) {
    return outs.get(task).apply(towers.get(task).apply(input, pass));
  }

  /** The logits of all tasks as {@link Model#logits} gives them; each has its input. */
  Tensor logits(IntFunction<Tensor> inputs, Pass pass) {
    List<Tensor> logits = new ArrayList<>();
    for (int k = 0; k < towers.size(); k++) {
      logits.add(logit(k, inputs.apply(k), pass));
    }
    return joined(logits);
  }

  /** Puts logits {@code [B, 1]} side by side; logits of one task become {@code [B]}. */
  static Tensor joined(List<Tensor> logits) {
    return logits.size() == 1 ? logits.getFirst().reshape(-1) : Tensor.concat(1, logits);
  }
}
