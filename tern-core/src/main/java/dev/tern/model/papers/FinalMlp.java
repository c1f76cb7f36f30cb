package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * FinalMLP (Mao et al., "FinalMLP: An Enhanced Two-Stream MLP Model for CTR Prediction", AAAI 2023,
 * arXiv:2304.00902): two stacks of hidden layers over the same features, each weighed by a gate of
 * its stack, and a bilinear product of what they give.
 *
 * <pre>
 * e = [e_1; ...; e_S; numbers],   h1 = mlp1(g1 * e),   h2 = mlp2(g2 * e)
 * g = 2 sigmoid(gate(c)), with a learned c for each stack
 * logit = b + w1 h1 + w2 h2 + sum over heads k of h1_k' W_k h2_k
 * </pre>
 *
 * <p>The stacks have the widths {@link Sizes#hidden} and {@link Sizes#second}, the gates {@link
 * Sizes.Tasks#gates}. Head {@code k} reads the k-th of equal pieces of both, so the heads divide
 * the last width of each. Gates read no features of their own: the paper's form without contexts.
 */
public final class FinalMlp extends FlatModel {
  /** A stack with its gate. */
  private record Stream(Variable context, Mlp gateHidden, Linear gate, Mlp hidden, Linear out) {
    Tensor apply(Tensor e, Pass pass) {
      Tensor weights = gate.apply(gateHidden.apply(context.tensor(), pass)).sigmoid().mul(2);
      return hidden.apply(e.mul(weights), pass);
    }
  }

  private final Stream first;
  private final Stream second;
  private final Variable bilinear;

  public FinalMlp(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    int flat = sizes.widths().flat(schema);
    first =
        stream(
            "first",
            sizes,
            flat,
            new Mlp(parameters, "first", flat, sizes.hidden(), sizes.style()),
            parameters);
    second =
        stream(
            "second",
            sizes,
            flat,
            new Mlp(parameters, "second", flat, sizes.second(), sizes.style()),
            parameters);
    int one = first.hidden().outputs();
    int two = second.hidden().outputs();
    int heads = sizes.heads();
    if (one % heads != 0 || two % heads != 0) {
      throw new IllegalArgumentException(
          "model: got %d heads for FINALMLP, whose stacks give %d and %d numbers, expected a divisor of both; change heads or the last width of a stack"
              .formatted(heads, one, two));
    }
    float range = (float) (1 / Math.sqrt(Math.max(1, one / heads)));
    bilinear = parameters.uniform("bilinear", Shape.of(heads, one / heads, two / heads), range);
  }

  private static Stream stream(
      String name, Sizes sizes, int flat, Mlp hidden, Parameters parameters) {
    int width = sizes.embedding();
    Variable context = parameters.full(name + ".context", Shape.of(1, width), 0);
    Mlp gate = new Mlp(parameters, name + ".gate", width, sizes.tasks().gates(), Mlp.Style.relu(0));
    Linear last = new Linear(parameters, name + ".gate.out", gate.outputs(), flat);
    Linear out = new Linear(parameters, name + ".out", hidden.outputs(), 1, name.equals("first"));
    return new Stream(context, gate, last, hidden, out);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor e = x.flat(x.embedded());
    Tensor h1 = first.apply(e, x.pass());
    Tensor h2 = second.apply(e, x.pass());
    Shape shape = bilinear.shape();
    int batch = h1.shape().size(0);
    Tensor pieces = h1.reshape(batch, shape.size(0), shape.size(1)).transpose(0, 1);
    Tensor turned = pieces.matmul(bilinear.tensor()).transpose(0, 1).reshape(batch, -1);
    Tensor linear = first.out().apply(h1).add(second.out().apply(h2)).reshape(-1);
    return linear.add(turned.mul(h2).sum(1));
  }
}
