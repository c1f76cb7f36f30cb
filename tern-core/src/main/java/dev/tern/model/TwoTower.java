package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.InBatchSoftmax;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * Two towers (Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
 * Recommendations", RecSys 2019, doi 10.1145/3298689.3346996). Layers over the columns of the item
 * give one vector, layers over all other columns another; the logit is their product, divided by
 * the temperature. Rows labelled 1 are learned by {@link InBatchSoftmax}.
 */
final class TwoTower implements RetrievalModel {
  private final Sizes sizes;
  private final Tower user;
  private final Tower item;

  /**
   * What it is made of.
   *
   * @param embedding width of an embedding vector
   * @param hidden widths of the layers of each tower, one or more; the last is of the vectors
   */
  record Sizes(int embedding, List<Integer> hidden, Mlp.Style style, Matching matching) {}

  private record Tower(TowerColumns columns, Mlp hidden, Linear out) {}

  TwoTower(Sizes sizes, Schema schema, Parameters parameters) {
    this.sizes = sizes;
    TowerColumns items = TowerColumns.ofItems(schema, sizes.matching().itemColumns());
    user = tower("user", TowerColumns.ofUsers(schema, items), parameters);
    item = tower("item", items, parameters);
  }

  private Tower tower(String name, TowerColumns columns, Parameters parameters) {
    int last = sizes.hidden().size() - 1;
    List<Integer> widths = sizes.hidden().subList(0, last);
    int inputs = columns.count(sizes.embedding());
    Mlp hidden = new Mlp(parameters, name, inputs, widths, sizes.style());
    Linear out = new Linear(parameters, name + ".out", hidden.outputs(), vectorWidth());
    return new Tower(columns, hidden, out);
  }

  @Override
  public int embeddingWidth() {
    return sizes.embedding();
  }

  @Override
  public List<String> itemColumns() {
    return sizes.matching().itemColumns();
  }

  @Override
  public int vectorWidth() {
    return sizes.hidden().getLast();
  }

  @Override
  public Optional<String> itemSlot() {
    return Optional.of(itemColumns().getFirst());
  }

  @Override
  public boolean hasOwnLoss() {
    return true;
  }

  @Override
  public Tensor users(Features x) {
    return vectors(user, x).mul(1 / sizes.matching().temperature());
  }

  @Override
  public Tensor items(Features x) {
    return vectors(item, x);
  }

  private Tensor vectors(Tower tower, Features x) {
    Tensor vectors = tower.out.apply(tower.hidden.apply(tower.columns.of(x), x.pass()));
    return sizes.matching().normalized() ? InBatchSoftmax.normalized(vectors) : vectors;
  }

  @Override
  public Tensor logits(Features x) {
    Tensor users = users(x);
    Tensor items = items(x);
    x.items()
        .ifPresent(rows -> {
          Tensor rates = sizes.matching().corrected() ? rows.logRates() : rows.logRates().mul(0);
          Tensor loss = InBatchSoftmax.loss(users, items, rows.numbers(), rates, rows.rewards());
          x.pass().addLoss("in-batch softmax", loss);
        });
    return users.mul(items).sum(1);
  }
}
