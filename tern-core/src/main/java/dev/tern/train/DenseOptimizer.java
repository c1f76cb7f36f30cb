package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Updates dense parameters by the equations of {@link Optimizer}, as tensor expressions, so that
 * the update is fused and planned with the rest of the step. Scalars that change from step to step
 * are variables, so one plan serves all steps.
 */
final class DenseOptimizer implements AutoCloseable {
  private final Optimizer optimizer;
  private final TrainOptions options;
  private final List<Variable> parameters;
  private final List<Variable> state = new ArrayList<>();
  private final Variable rate;
  private final Variable firstBias;
  private final Variable secondBias;
  private final Variable kept;

  /** The optimizer, weight decay and clipping of {@code options} for {@code parameters}. */
  DenseOptimizer(Device device, TrainOptions options, List<Variable> parameters) {
    optimizer = options.optimizer();
    this.options = options;
    this.parameters = parameters.stream().filter(p -> !options.freezes(p.name())).toList();
    rate = Variable.zeros(device, "learning rate", Shape.SCALAR);
    firstBias = Variable.zeros(device, "bias of m", Shape.SCALAR);
    secondBias = Variable.zeros(device, "bias of v", Shape.SCALAR);
    kept = Variable.zeros(device, "share of weights kept", Shape.SCALAR);
    for (Variable parameter : this.parameters) {
      for (String suffix : stateNames()) {
        state.add(newState(device, parameter, suffix));
      }
    }
  }

  private List<String> stateNames() {
    return switch (optimizer) {
      case Optimizer.Sgd _ -> List.of();
      case Optimizer.Momentum _, Optimizer.Nesterov _ -> List.of("a");
      case Optimizer.Adagrad _, Optimizer.RowWiseAdagrad _, Optimizer.RmsProp _ -> List.of("s");
      case Optimizer.Adam _ -> List.of("m", "v");
      case Optimizer.Ftrl _ -> List.of("z", "n");
    };
  }

  private Variable newState(Device device, Variable parameter, String suffix) {
    Shape shape = parameter.shape();
    if (optimizer instanceof Optimizer.RowWiseAdagrad && shape.rank() > 0) {
      shape = shape.withSize(-1, 1);
    }
    Variable variable = Variable.zeros(device, parameter.name() + "." + suffix, shape);
    float initial =
        switch (optimizer) {
          case Optimizer.Adagrad adagrad -> adagrad.initial();
          case Optimizer.RowWiseAdagrad adagrad -> adagrad.initial();
          case Optimizer.Sgd _, Optimizer.Momentum _, Optimizer.Nesterov _ -> 0;
          case Optimizer.RmsProp _, Optimizer.Adam _, Optimizer.Ftrl _ -> 0;
        };
    float[] values = new float[shape.elements()];
    Arrays.fill(values, initial);
    variable.set(values);
    return variable;
  }

  /** The parameters that it updates: those that are not frozen. */
  List<Variable> parameters() {
    return parameters;
  }

  /** The new values of statistics without those that are frozen. */
  Map<Variable, Tensor> unfrozen(Map<Variable, Tensor> statistics) {
    Map<Variable, Tensor> all = new LinkedHashMap<>(statistics);
    all.keySet().removeIf(statistic -> options.freezes(statistic.name()));
    return all;
  }

  /** Optimizer state, in the order of the parameters. */
  List<Variable> state() {
    return state;
  }

  /** Sets the scalars of step {@code step}, counted from 1. */
  void prepare(long step, float learningRate) {
    rate.set(learningRate);
    kept.set(1 - learningRate * options.weightDecay());
    if (optimizer instanceof Optimizer.Adam adam) {
      firstBias.set((float) (1 / (1 - StrictMath.pow(adam.beta1(), step))));
      secondBias.set((float) (1 / (1 - StrictMath.pow(adam.beta2(), step))));
    }
  }

  /** New values of {@link #parameters} and state, given a gradient for each. */
  Map<Variable, Tensor> updates(List<Tensor> gradients) {
    Map<Variable, Tensor> updates = new LinkedHashMap<>();
    List<Tensor> clipped = options.clipNorm() == 0 ? gradients : clipped(gradients);
    int each = stateNames().size();
    for (int i = 0; i < parameters.size(); i++) {
      Tensor weight = parameters.get(i).tensor();
      Tensor gradient = clipped.get(i);
      if (options.l2() != 0) {
        gradient = gradient.add(weight.mul(options.l2()));
      }
      List<Variable> own = state.subList(i * each, (i + 1) * each);
      List<Tensor> next = next(parameters.get(i), gradient, own);
      for (int s = 0; s < each; s++) {
        updates.put(own.get(s), next.get(s));
      }
      updates.put(parameters.get(i), next.get(each));
    }
    return updates;
  }

  private List<Tensor> clipped(List<Tensor> gradients) {
    Tensor squares = Tensor.scalar(0);
    for (Tensor gradient : gradients) {
      squares = squares.add(gradient.square().sum());
    }
    Tensor limit = Tensor.scalar(options.clipNorm());
    Tensor factor = limit.div(squares.sqrt().max(limit));
    return gradients.stream().map(gradient -> gradient.mul(factor)).toList();
  }

  /** New values of the state {@code own} of a parameter with gradient {@code g}, then its own. */
  private List<Tensor> next(Variable parameter, Tensor g, List<Variable> own) {
    Tensor weight = parameter.tensor();
    Tensor w = options.weightDecay() == 0 ? weight : weight.mul(kept.tensor());
    Tensor lr = rate.tensor();
    return switch (optimizer) {
      case Optimizer.Sgd _ -> List.of(w.sub(lr.mul(g)));
      case Optimizer.Momentum momentum -> {
        Tensor a = own.get(0).tensor().mul(momentum.momentum()).sub(lr.mul(g));
        yield List.of(a, w.add(a));
      }
      case Optimizer.Nesterov nesterov -> {
        Tensor a = own.get(0).tensor().mul(nesterov.momentum()).add(g);
        yield List.of(a, w.sub(lr.mul(g.add(a.mul(nesterov.momentum())))));
      }
      case Optimizer.Adagrad adagrad -> {
        Tensor s = own.get(0).tensor().add(g.square());
        yield List.of(s, w.sub(lr.mul(g).div(s.sqrt().add(adagrad.eps()))));
      }
      case Optimizer.RowWiseAdagrad adagrad -> {
        Tensor mean = g.shape().rank() == 0 ? g.square() : g.square().meanKeep(-1);
        Tensor s = own.get(0).tensor().add(mean);
        yield List.of(s, w.sub(lr.div(s.sqrt().add(adagrad.eps())).mul(g)));
      }
      case Optimizer.RmsProp rmsProp -> {
        Tensor s = own.get(0).tensor().mul(rmsProp.rho()).add(g.square().mul(1 - rmsProp.rho()));
        yield List.of(s, w.sub(lr.mul(g).div(s.sqrt().add(rmsProp.eps()))));
      }
      case Optimizer.Adam adam -> {
        Tensor m = own.get(0).tensor().mul(adam.beta1()).add(g.mul(1 - adam.beta1()));
        Tensor v = own.get(1).tensor().mul(adam.beta2()).add(g.square().mul(1 - adam.beta2()));
        Tensor root = v.mul(secondBias.tensor()).sqrt().add(adam.eps());
        yield List.of(m, v, w.sub(lr.mul(m.mul(firstBias.tensor())).div(root)));
      }
      case Optimizer.Ftrl ftrl -> {
        Tensor before = own.get(1).tensor();
        Tensor n = before.add(g.square());
        Tensor sigma = n.sqrt().sub(before.sqrt()).div(lr);
        Tensor z = own.get(0).tensor().add(g).sub(sigma.mul(weight));
        Tensor curve = n.sqrt().add(ftrl.beta()).div(lr).add(ftrl.l2());
        Tensor pulled = z.sign().mul(ftrl.l1()).sub(z).div(curve);
        Tensor zero = Tensor.scalar(0);
        yield List.of(z, n, z.abs().le(Tensor.scalar(ftrl.l1())).select(zero, pulled));
      }
    };
  }

  @Override
  public void close() {
    state.forEach(Variable::close);
    List.of(rate, firstBias, secondBias, kept).forEach(Variable::close);
  }
}
