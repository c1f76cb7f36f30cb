package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.nn.Linear;
import dev.tern.nn.Mlp;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Tensor;
import java.util.List;

/**
 * Wide and deep (Cheng et al., "Wide & Deep Learning for Recommender Systems", 2016): a linear
 * model of the columns of the wide part, and hidden layers over those of the deep part.
 */
final class WideAndDeep implements Model {
  /**
   * What the model is made of.
   *
   * @param widths of embedding vectors
   * @param hidden widths of the hidden layers
   * @param parts the columns of each part
   */
  record Sizes(Widths widths, List<Integer> hidden, Mlp.Style style, WideDeep parts) {}

  /** The model of a configuration. */
  static Model of(ModelConfig config, Schema schema, Parameters parameters) {
    WideDeep parts = config.interaction().wideDeep();
    Sizes sizes = new Sizes(config.widths(), config.hidden(), config.style(), parts);
    return new WideAndDeep(sizes, schema, parameters);
  }

  private final SlotWidths widths;
  private final PartColumns wideColumns;
  private final PartColumns deepColumns;
  private final boolean readsAll;
  private final Linear wide;
  private final Mlp deep;
  private final Linear out;

  WideAndDeep(Sizes sizes, Schema schema, Parameters parameters) {
    WideDeep parts = sizes.parts();
    wideColumns = PartColumns.without(parts.deepOnly(), schema, "wide", "deep");
    deepColumns = PartColumns.without(parts.wideOnly(), schema, "deep", "wide");
    readsAll = deepColumns.isAllOf(schema);
    Widths narrowed = narrowed(sizes.widths(), parts.wideOnly(), schema);
    widths = SlotWidths.of(narrowed.all(), narrowed.own(), schema);
    wide = new Linear(parameters, "wide", wideColumns.numbers().size(), 1);
    int inputs = deepColumns.count(widths);
    deep = new Mlp(parameters, "deep", inputs, sizes.hidden(), sizes.style());
    out = new Linear(parameters, "out", deep.outputs(), 1);
  }

  /** Tables that no slot of the deep part uses have rows without a vector but for one float. */
  private static Widths narrowed(Widths widths, List<String> wideOnly, Schema schema) {
    Widths narrowed = widths;
    for (String table : schema.tables()) {
      List<String> users =
          schema.slots().stream().filter(s -> s.table().equals(table)).map(Slot::name).toList();
      if (wideOnly.containsAll(users) && users.stream().noneMatch(widths.own()::containsKey)) {
        narrowed = narrowed.with(table, 1);
      }
    }
    return narrowed;
  }

  @Override
  public int embeddingWidth() {
    return 1 + widths.all();
  }

  @Override
  public int embeddingWidth(String table) {
    return 1 + widths.of(table);
  }

  @Override
  public List<Integer> embeddingParts() {
    return List.of(1, widths.all());
  }

  @Override
  public Tensor logits(Features x) {
    Tensor inputs = readsAll ? x.flat(x.embedded(1)) : deepColumns.of(x);
    Tensor hidden = deep.apply(inputs, x.pass());
    return wide(x).add(out.apply(hidden).reshape(-1));
  }

  private Tensor wide(Features x) {
    int batch = x.dense().shape().size(0);
    Tensor numbers = wideColumns.dense(x).orElseGet(() -> x.dense().slice(1, 0, 0));
    Tensor linear = wide.apply(numbers).reshape(batch);
    return wideColumns.firsts(x).map(weights -> weights.sum(1).add(linear)).orElse(linear);
  }
}
