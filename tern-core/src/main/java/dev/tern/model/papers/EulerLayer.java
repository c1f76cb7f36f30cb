package dev.tern.model.papers;

import dev.tern.base.Shape;
import dev.tern.nn.Linear;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;

/**
 * A layer of {@link EulerNet} from {@code n} complex vectors to {@link Sizes#vectors}:
 *
 * <pre>
 * l = log |z|,   t = arg z
 * relu(V re z) + i relu(V im z) + exp(A l + b + i (A t + c))
 * </pre>
 *
 * <p>{@code A} mixes the vectors of a row, element by element, and {@code V} all of their numbers;
 * real and imaginary parts share it.
 */
final class EulerLayer {
  private static final float TINY = 1e-8f;
  private static final float BIAS_RANGE = 0.01f;
  private static final float HALF_TURNS = (float) (1 / Math.PI);

  /** Complex numbers, {@code [B, n, D]} each. */
  record Complex(Tensor real, Tensor imaginary) {
    static Complex of(Tensor length, Tensor angle) {
      Tensor turns = angle.mul(HALF_TURNS);
      return new Complex(length.mul(turns.cosPi()), length.mul(turns.sinPi()));
    }
  }

  private final Variable orders;
  private final Variable lengths;
  private final Variable angles;
  private final Linear plain;
  private final float dropout;

  EulerLayer(String name, int n, Sizes sizes, Parameters parameters) {
    int made = sizes.vectors();
    int width = sizes.embedding();
    Shape biases = Shape.of(made, width);
    float range = (float) (1 / Math.sqrt(Math.max(1, n)));
    orders = parameters.uniform(name + ".orders", Shape.of(n, made), range);
    lengths = parameters.uniform(name + ".lengths", biases, BIAS_RANGE);
    angles = parameters.uniform(name + ".angles", biases, BIAS_RANGE);
    plain = new Linear(parameters, name + ".plain", n * width, made * width);
    dropout = sizes.style().dropout();
  }

  Complex apply(Complex z, Pass pass) {
    Tensor squares = z.real.square().add(z.imaginary.square());
    Tensor logs = pass.dropout(squares.add(TINY).log().mul(0.5f), dropout);
    Tensor turned = pass.dropout(z.imaginary.atan2(z.real), dropout);
    Complex met = Complex.of(mixed(logs, lengths).exp(), mixed(turned, angles));
    return new Complex(
        met.real.add(plain(z.real, pass)), met.imaginary.add(plain(z.imaginary, pass)));
  }

  private Tensor mixed(Tensor x, Variable bias) {
    int batch = x.shape().size(0);
    int width = x.shape().size(2);
    Tensor flat = x.transpose(1, 2).reshape(batch * width, x.shape().size(1));
    Tensor sums = flat.matmul(orders.tensor()).reshape(batch, width, -1);
    return sums.transpose(1, 2).add(bias.tensor());
  }

  private Tensor plain(Tensor x, Pass pass) {
    int batch = x.shape().size(0);
    Tensor flat = pass.dropout(x, dropout).reshape(batch, -1);
    return plain.apply(flat).relu().reshape(batch, -1, x.shape().size(2));
  }
}
