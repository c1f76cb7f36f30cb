package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * AutoInt (Song et al., "AutoInt: Automatic Feature Interaction Learning via Self-Attentive Neural
 * Networks", CIKM 2019, arXiv:1810.11921): layers of self-attention over the features of a row, of
 * which numbers have vectors too. With hidden layers beside them it is the paper's AutoInt+.
 *
 * <pre>
 * head h:  a_ij = softmax over j of (Q_h x_i) . (K_h x_j),   y_i = sum of a_ij V_h x_j
 * layer:   relu([y of head 1; ...; y of head H] + R x_i)
 * logit = w [x_1; ...; x_T] + b, with hidden layers + mlp([e_1; ...; e_S; numbers])
 * </pre>
 *
 * <p>A head has {@link Sizes#units} numbers. As in the paper products are not scaled, and layers
 * have no biases.
 */
public final class AutoInt extends FieldModel {
  /** A layer of attention from {@code [B, T, width]} to {@code [B, T, heads * units]}. */
  private record Layer(Linear queries, Linear keys, Linear values, Linear residual, int heads) {
    Tensor apply(Tensor x) {
      int batch = x.shape().size(0);
      int tokens = x.shape().size(1);
      Tensor flat = x.reshape(batch * tokens, x.shape().size(2));
      Tensor q = split(queries.apply(flat), batch, tokens);
      Tensor k = split(keys.apply(flat), batch, tokens);
      Tensor v = split(values.apply(flat), batch, tokens);
      Tensor found = q.matmul(k.transpose(1, 2)).softmax(2).matmul(v);
      int units = found.shape().size(2);
      Tensor joined = found.reshape(batch, heads, tokens, units).transpose(1, 2);
      Tensor sum = joined.reshape(batch * tokens, heads * units).add(residual.apply(flat));
      return sum.relu().reshape(batch, tokens, heads * units);
    }

    /** {@code [B * T, heads * units]} to {@code [B * heads, T, units]}. */
    private Tensor split(Tensor x, int batch, int tokens) {
      int units = x.shape().size(1) / heads;
      return x.reshape(batch, tokens, heads, units)
          .transpose(1, 2)
          .reshape(batch * heads, tokens, units);
    }
  }

  private final Tokens tokens;
  private final List<Layer> layers = new ArrayList<>();
  private final Linear out;
  private final Optional<Deep> deep;

  public AutoInt(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    tokens = new Tokens(sizes, schema, parameters);
    int width = sizes.embedding();
    int joined = sizes.heads() * sizes.units();
    for (int l = 0; l < sizes.cross().layers(); l++) {
      String name = "attention." + l;
      layers.add(
          new Layer(
              new Linear(parameters, name + ".queries", width, joined, false),
              new Linear(parameters, name + ".keys", width, joined, false),
              new Linear(parameters, name + ".values", width, joined, false),
              new Linear(parameters, name + ".residual", width, joined, false),
              sizes.heads()));
      width = joined;
    }
    out = new Linear(parameters, "attention.out", tokens.count() * width, 1);
    deep =
        sizes.hidden().isEmpty()
            ? Optional.empty()
            : Optional.of(new Deep(sizes, sizes.widths().flat(schema), parameters));
  }

  @Override
  public Tensor logits(Features x) {
    Tensor met = tokens.of(x);
    for (Layer layer : layers) {
      met = layer.apply(met);
    }
    Tensor logit = out.apply(met.reshape(met.shape().size(0), -1)).reshape(-1);
    return deep.map(d -> logit.add(d.logit(x.flat(x.embedded()), x.pass()))).orElse(logit);
  }
}
