package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Form;
import dev.tern.nn.LayerNorm;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * MaskNet (Wang, She and Zhang, "MaskNet: Introducing Feature-Wise Multiplication to CTR Ranking
 * Models by Instance-Guided Mask", 2021, arXiv:2102.07619): blocks that multiply what they read by
 * a mask made of all features of the row.
 *
 * <pre>
 * e = [e_1; ...; e_S; numbers],   n = [norm(e_1); ...; norm(e_S); numbers]
 * block(h) = relu(norm((mask(e) * h) W)),   mask(e) = W2 relu(W1 e + b1) + b2
 * stacked:  h_1 = block(n), h_2 = block(h_1), ...;  logit = mlp(last h)
 * parallel: h_u = block_u(n);                       logit = mlp([h_1; ...; h_U])
 * </pre>
 *
 * <p>There are as many blocks as {@link Sizes.Cross#layers}, each of {@link Sizes#units} outputs.
 * The hidden layer of a mask is twice as wide as {@code e}, the paper's aggregation, where {@link
 * Sizes.Tasks#gates} gives no other layers. All vectors share one normalization. Without hidden
 * layers the stacked form is the paper's serial MaskNet.
 */
public final class MaskedBlocks extends FieldModel {
  /** A block from {@code inputs} numbers to the units. */
  private record Block(Mlp hidden, Linear mask, Linear weight, LayerNorm norm) {
    Tensor apply(Tensor features, Tensor h, Features x) {
      Tensor masked = mask.apply(hidden.apply(features, x.pass())).mul(h);
      return norm.apply(weight.apply(masked)).relu();
    }
  }

  private final boolean stacked;
  private final LayerNorm norm;
  private final List<Block> blocks = new ArrayList<>();
  private final Deep deep;

  public MaskedBlocks(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    stacked = sizes.form() == Form.STACKED;
    norm = new LayerNorm(parameters, "norm", sizes.embedding());
    int flat = sizes.widths().flat(schema);
    List<Integer> given = sizes.tasks().gates();
    List<Integer> gates = given.isEmpty() ? List.of(Math.max(1, 2 * flat)) : given;
    int inputs = flat;
    for (int u = 0; u < sizes.cross().layers(); u++) {
      String name = "block." + u;
      Mlp hidden = new Mlp(parameters, name + ".mask", flat, gates, Mlp.Style.relu(0));
      int last = gates.getLast();
      blocks.add(
          new Block(
              hidden,
              new Linear(parameters, name + ".mask.out", last, inputs),
              new Linear(parameters, name, inputs, sizes.units(), false),
              new LayerNorm(parameters, name + ".norm", sizes.units())));
      inputs = stacked ? sizes.units() : flat;
    }
    boolean joined = !stacked && !blocks.isEmpty();
    deep = new Deep(sizes, joined ? blocks.size() * sizes.units() : inputs, parameters);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor features = x.flat(x.embedded());
    Tensor h = x.flat(norm.apply(x.embedded()));
    List<Tensor> parallel = new ArrayList<>();
    for (Block block : blocks) {
      Tensor made = block.apply(features, h, x);
      parallel.add(made);
      h = stacked ? made : h;
    }
    boolean joined = !stacked && !blocks.isEmpty();
    return deep.logit(joined ? Tensor.concat(1, parallel) : h, x.pass());
  }
}
