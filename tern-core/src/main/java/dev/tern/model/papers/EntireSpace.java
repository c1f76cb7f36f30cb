package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Clicks and what follows them, both over all rows (Ma et al., "Entire Space Multi-Task Model",
 * SIGIR 2018, arXiv:1804.07931). One tower estimates the click rate, another the rate of the second
 * label among clicks; no loss is put on the latter. The second task is the product of both: the
 * rate of the second label among all rows, as rows without a click have none.
 *
 * <p>With logits {@code a} and {@code b} of the towers, the product {@code p = s(a) s(b)} of their
 * probabilities has the logit
 *
 * <pre>
 * log(p / (1 - p)) = -log(exp(-a) + exp(-b) + exp(-a - b))
 * </pre>
 *
 * For example, {@code a = b = 0} are two probabilities of 1/2, and {@code -log 3} is the logit of
 * 1/4.
 */
public final class EntireSpace implements Model {
  private final Sizes sizes;
  private final TaskTowers towers;

  public EntireSpace(Sizes sizes, Schema schema, Parameters parameters) {
    this.sizes = sizes;
    int flat = sizes.widths().flat(schema);
    towers = new TaskTowers(sizes, flat, parameters);
  }

  @Override
  public int embeddingWidth() {
    return sizes.widths().all();
  }

  @Override
  public int embeddingWidth(String table) {
    return sizes.widths().of(table);
  }

  @Override
  public Tensor logits(Features x) {
    Tensor flat = x.flat(x.embedded());
    Tensor click = towers.logit(0, flat, x.pass());
    Tensor after = towers.logit(1, flat, x.pass());
    return TaskTowers.joined(List.of(click, both(click.neg(), after.neg())));
  }

  /** {@code -log(exp(u) + exp(v) + exp(u + v))}; the largest term is taken out before exp. */
  static Tensor both(Tensor u, Tensor v) {
    Tensor sum = u.add(v);
    Tensor most = u.max(v).max(sum).detach();
    Tensor terms = u.sub(most).exp().add(v.sub(most).exp()).add(sum.sub(most).exp());
    return terms.log().add(most).neg();
  }
}
