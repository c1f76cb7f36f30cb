package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.nn.Pass;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * FINAL (Zhu et al., "FINAL: Factorized Interaction Layer for CTR Prediction", SIGIR 2023, doi
 * 10.1145/3539618.3591988): hidden layers whose outputs are quadratic in their inputs, in one block
 * or in two.
 *
 * <pre>
 * layer(h) = relu((h U + a) + (h U + a) * (h V + b))
 * y_k = w_k block_k([e_1; ...; e_S; numbers]) + b_k
 * logit = y_1, or of two blocks (y_1 + y_2) / 2
 * </pre>
 *
 * <p>In training each of two blocks also learns from the probability {@code t} of both, with a
 * cross entropy towards it in which {@code t} is a constant. That is the mean over all rows, each
 * of which counts as much as another: weights of rows and of the task, and rows outside of the
 * task, change the loss of labels alone. Two blocks are for a task whose loss is a binary cross
 * entropy; others are refused by {@link dev.tern.model.ModelConfig}. The blocks have the widths
 * {@link Sizes#hidden} and {@link Sizes#second}; without the latter there is one. The paper's field
 * gates are left out. Dropout applies to the outputs of layers.
 */
public final class FinalNet extends FlatModel {
  /** A block with its logit; layers have both halves, {@code U} and {@code V}, side by side. */
  private record Block(List<Linear> layers, Linear out, float dropout) {
    static Block of(
        String name, List<Integer> widths, int inputs, Mlp.Style style, Parameters parameters) {
      List<Linear> layers = new ArrayList<>();
      int before = inputs;
      for (int width : widths) {
        layers.add(new Linear(parameters, name + "." + layers.size(), before, 2 * width));
        before = width;
      }
      return new Block(layers, new Linear(parameters, name + ".out", before, 1), style.dropout());
    }

    Tensor apply(Tensor features, Pass pass) {
      Tensor h = features;
      for (Linear layer : layers) {
        Tensor both = layer.apply(h);
        int width = both.shape().size(1) / 2;
        Tensor sums = both.slice(1, 0, width);
        Tensor met = sums.add(sums.mul(both.slice(1, width, 2 * width)));
        h = pass.dropout(met.relu(), dropout);
      }
      return out.apply(h).reshape(-1);
    }
  }

  private final List<Block> blocks = new ArrayList<>();

  public FinalNet(Sizes sizes, Schema schema, Parameters parameters) {
    super(sizes);
    int flat = sizes.widths().flat(schema);
    blocks.add(Block.of("first", sizes.hidden(), flat, sizes.style(), parameters));
    if (!sizes.second().isEmpty()) {
      blocks.add(Block.of("second", sizes.second(), flat, sizes.style(), parameters));
    }
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    List<Tensor> logits = blocks.stream().map(block -> block.apply(flat, x.pass())).toList();
    if (logits.size() == 1) {
      return logits.getFirst();
    }
    Tensor mean = logits.get(0).add(logits.get(1)).mul(0.5f);
    if (x.pass().isTraining()) {
      Tensor taught = mean.sigmoid().detach();
      for (int k = 0; k < logits.size(); k++) {
        x.pass().addLoss("block " + k, logits.get(k).bceWithLogits(taught));
      }
    }
    return mean;
  }
}
