package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Wukong (Zhang et al., "Wukong: Towards a Scaling Law for Large-Scale Recommendation", 2024,
 * arXiv:2403.02545): stacked factorization machines. A layer turns the vectors of a row, {@code X
 * [n, D]}, into as many from their products as from weighted sums of them.
 *
 * <pre>
 * products: mlp(norm(flat(X (X' Y)))) as vectors,   Y [n, k] learned
 * sums:     L X
 * layer:    norm([products; sums] + X), where n differs with R X instead of X
 * logit = mlp(flat(last X))
 * </pre>
 *
 * <p>Numbers have vectors: {@link Tokens}. A layer makes twice {@link Sizes#vectors}; {@code k} is
 * {@link Sizes#units}. The network over products has the hidden widths {@link Sizes#second} and
 * ends without an activation.
 */
public final class Wukong extends FieldModel {
  /** A layer from {@code n} vectors to {@code 2 made}. */
  private record Layer(
      Variable narrow,
      LayerNorm before,
      Mlp hidden,
      Linear products,
      Linear sums,
      Optional<Linear> residual,
      LayerNorm after) {
    static Layer of(String name, int n, Sizes sizes, Parameters parameters) {
      int made = sizes.vectors();
      int k = sizes.units();
      float range = (float) (1 / Math.sqrt(Math.max(1, n)));
      Mlp hidden = new Mlp(parameters, name + ".mlp", n * k, sizes.second(), sizes.style());
      return new Layer(
          parameters.uniform(name + ".narrow", Shape.of(n, k), range),
          new LayerNorm(parameters, name + ".before", n * k),
          hidden,
          new Linear(parameters, name + ".products", hidden.outputs(), made * sizes.embedding()),
          new Linear(parameters, name + ".sums", n, made, false),
          n == 2 * made
              ? Optional.empty()
              : Optional.of(new Linear(parameters, name + ".residual", n, 2 * made, false)),
          new LayerNorm(parameters, name + ".after", sizes.embedding()));
    }

    Tensor apply(Tensor x, Pass pass) {
      int batch = x.shape().size(0);
      int n = x.shape().size(1);
      int width = x.shape().size(2);
      Tensor turned = x.transpose(1, 2).reshape(batch * width, n);
      int k = narrow.shape().size(1);
      Tensor narrowed = turned.matmul(narrow.tensor()).reshape(batch, width, k);
      Tensor flat = before.apply(x.matmul(narrowed).reshape(batch, n * k));
      Tensor met = products.apply(hidden.apply(flat, pass)).reshape(batch, -1, width);
      Tensor all = Tensor.concat(1, List.of(met, mixed(sums, turned, batch, width)));
      Tensor kept = residual.map(r -> mixed(r, turned, batch, width)).orElse(x);
      return after.apply(all.add(kept));
    }

    /** Weighted sums of the vectors: {@code [B * D, n]} to {@code [B, outputs, D]}. */
    private static Tensor mixed(Linear by, Tensor turned, int batch, int width) {
      return by.apply(turned).reshape(batch, width, -1).transpose(1, 2);
    }
  }

  private final Tokens tokens;
  private final List<Layer> layers = new ArrayList<>();
  private final Deep deep;

  public Wukong(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    tokens = new Tokens(sizes, schema, parameters);
    int n = tokens.count();
    for (int l = 0; l < sizes.cross().layers(); l++) {
      layers.add(Layer.of("cross." + l, n, sizes, parameters));
      n = 2 * sizes.vectors();
    }
    deep = new Deep(sizes, n * sizes.embedding(), parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor met = tokens.of(x);
    for (Layer layer : layers) {
      met = layer.apply(met, x.pass());
    }
    return deep.logit(met.reshape(met.shape().size(0), -1), x.pass());
  }
}
