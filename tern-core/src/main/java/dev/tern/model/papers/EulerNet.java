package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.model.papers.EulerLayer.Complex;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;

/**
 * EulerNet (Tian et al., "EulerNet: Adaptive Feature Interaction Learning via Euler's Formula for
 * CTR Prediction", SIGIR 2023, arXiv:2304.10711): feature vectors as complex numbers, whose
 * products of learned orders are sums of their logarithms and angles.
 *
 * <pre>
 * z = mu e^(i v),   z = layer(z) for each {@link EulerLayer},   logit = w (re z + im z)
 * </pre>
 *
 * <p>{@code mu} is a learned length for each vector {@code v}. Numbers have vectors: {@link
 * Tokens}.
 */
public final class EulerNet extends FieldModel {
  private final Tokens tokens;
  private final Variable lengths;
  private final List<EulerLayer> layers = new ArrayList<>();
  private final Linear out;

  public EulerNet(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    tokens = new Tokens(sizes, schema, parameters);
    int n = tokens.count();
    lengths = parameters.full("lengths", Shape.of(n, 1), 1);
    for (int l = 0; l < sizes.cross().layers(); l++) {
      layers.add(new EulerLayer("cross." + l, n, sizes, parameters));
      n = sizes.vectors();
    }
    out = new Linear(parameters, "out", n * sizes.embedding(), 1);
  }

  @Override
  public Tensor logits(Features x) {
    Complex z = Complex.of(lengths.tensor(), tokens.of(x));
    for (EulerLayer layer : layers) {
      z = layer.apply(z, x.pass());
    }
    Tensor sum = z.real().add(z.imaginary());
    return out.apply(sum.reshape(sum.shape().size(0), -1)).reshape(-1);
  }
}
