package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.BatchItems;
import dev.tern.nn.Features;
import dev.tern.nn.InBatchSoftmax;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Two towers (Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
 * Recommendations", RecSys 2019, doi 10.1145/3298689.3346996). Layers over the columns of the item
 * give one vector, layers over all other columns another; the logit is their product, divided by
 * the temperature. Rows labelled 1 are learned by {@link InBatchSoftmax}.
 */
final class TwoTower implements RetrievalModel {
  private final Tower.Sizes sizes;
  private final Tower user;
  private final Tower item;

  TwoTower(ModelConfig config, Schema schema, Parameters parameters) {
    SlotWidths widths = config.sizes(schema).widths();
    sizes = new Tower.Sizes(widths, config.hidden(), config.style(), config.matching());
    PartColumns items = PartColumns.ofItems(schema, sizes.matching().itemColumns());
    user = Tower.of("user", PartColumns.ofUsers(schema, items), sizes, parameters);
    item = Tower.of("item", items, sizes, parameters);
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
  public List<String> itemColumns() {
    return sizes.matching().itemColumns();
  }

  @Override
  public int vectorWidth() {
    return sizes.hidden().getLast();
  }

  @Override
  public Matching.Sampled sampled() {
    return sizes.matching().sampled();
  }

  @Override
  public Tensor users(Features x) {
    return user.vectors(x, x.batch()).mul(1 / sizes.matching().temperature());
  }

  @Override
  public Tensor items(Features x) {
    return item.vectors(x, x.dense().shape().size(0));
  }

  @Override
  public Tensor logits(Features x) {
    Tensor users = users(x);
    Tensor items = items(x);
    x.items().ifPresent(rows -> x.pass().addLoss("in-batch softmax", loss(users, items, rows)));
    return users.mul(InBatchSoftmax.first(items, x.batch())).sum(1);
  }

  private Tensor loss(Tensor users, Tensor items, BatchItems rows) {
    Tensor rates = sizes.matching().corrected() ? rows.logRates() : rows.logRates().mul(0);
    return InBatchSoftmax.loss(users, items, rows.numbers(), rates, rows.rewards());
  }
}
