package dev.tern.train;

import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a lane computes, as expressions.
 *
 * @param step the forward pass
 * @param summed what the lanes of a batch add up: the loss, the gradients of the optimizer's
 *     parameters, then the lane's parts of the new values of {@code statistics}
 * @param statistics which the layers change
 * @param ofRows {@link ModelInputs#gradientOutputs}
 */
record LaneGraph(
    StepGraph step, List<Tensor> summed, List<Variable> statistics, List<Tensor> ofRows)
    implements AutoCloseable {
  /**
   * A lane of {@code rows} rows.
   *
   * @param changed the statistics that other lanes of the batch change, where they are known: a
   *     lane that leaves one of them alone has part in it with the value that it has
   */
  static LaneGraph of(
      Network network,
      DenseOptimizer optimizer,
      int rows,
      List<Integer> rooms,
      Optional<List<Variable>> changed) {
    StepGraph step = StepGraph.ofLane(network, rows, rooms);
    try {
      ModelInputs inputs = step.inputs();
      List<Tensor> wrt = new ArrayList<>(inputs.lookedUp());
      int vectors = wrt.size();
      optimizer.parameters().forEach(parameter -> wrt.add(parameter.tensor()));
      List<Tensor> gradients = Tensor.gradients(step.loss(), wrt);
      Map<Variable, Tensor> moved = optimizer.unfrozen(step.pass().updates());
      List<Variable> statistics = changed.orElseGet(() -> List.copyOf(moved.keySet()));
      List<Tensor> summed = new ArrayList<>(List.of(step.loss()));
      summed.addAll(gradients.subList(vectors, gradients.size()));
      for (Variable statistic : statistics) {
        summed.add(step.ofLane(moved.getOrDefault(statistic, statistic.tensor())));
      }
      List<Tensor> ofRows = inputs.gradientOutputs(gradients.subList(0, vectors));
      return new LaneGraph(step, List.copyOf(summed), statistics, List.copyOf(ofRows));
    } catch (RuntimeException | Error e) {
      step.close();
      throw e;
    }
  }

  @Override
  public void close() {
    step.close();
  }
}
