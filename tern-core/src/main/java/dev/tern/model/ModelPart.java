package dev.tern.model;

import dev.tern.nn.Form;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What a type of model has, and with it which sizes it takes. {@link ModelConfig.Type} says which
 * type has which; configurations take their keys from there.
 */
public enum ModelPart {
  /** Embedding vectors. */
  VECTORS,
  /** A linear weight of each id beside its vector, which may have an optimizer of its own. */
  LINEAR,
  /** It reads vectors side by side, so their widths may differ between slots. */
  WIDTHS,
  /** Hidden layers, whose widths are given. */
  HIDDEN,
  /** Dropout after hidden layers. */
  DROPOUT,
  /** Hidden layers that take an activation and batch normalization. */
  STYLE,
  /**
   * Hidden layers over vectors, as most have: {@link #VECTORS}, {@link #HIDDEN}, {@link #DROPOUT}
   * and {@link #STYLE}.
   */
  NETWORK,
  /** A factorization machine that pairs features or slots. */
  PAIRS,
  /** A wide and a deep part with columns of their own. */
  WIDE_DEEP,
  /** Cross layers. */
  CROSS,
  /** Cross layers with matrices of low rank, and mixtures of them. */
  CROSS_MATRICES,
  /** A network over the dense numbers, and another over all. */
  BOTTOM_TOP,
  /** Heads of attention. */
  HEADS,
  /** Hidden layers of attention to a target. */
  ATTENTION,
  /** Blocks of a transformer with feed-forward layers. */
  BLOCKS,
  /** It reads sequences, and needs one. */
  SEQUENCES,
  /** Several tasks, each with a tower. */
  TOWERS,
  /** Experts that tasks share. */
  EXPERTS,
  /** Two slots, of users and of items. */
  USER_ITEM,
  /** Columns of items beside all others, matched by their vectors. */
  MATCHING,
  /** A loss of its own: {@link dev.tern.nn.Model#hasOwnLoss}. */
  OWN_LOSS,
  /** It compares slots with each other, and needs two or more. */
  FIELDS,
  /** Inner products, outer products or both. */
  PRODUCTS(Form.INNER, Form.OUTER, Form.BOTH),
  /** Bilinear products with matrices of pairs, of slots, or one. */
  BILINEAR(Form.PAIR, Form.FIELD, Form.ONE),
  /** Hidden layers that read what crosses made, or the features beside them. */
  STRUCTURE(Form.STACKED, Form.PARALLEL),
  /** A second stack of hidden layers. */
  SECOND,
  /** Units of an attention or a block. */
  UNITS,
  /** Vectors that a layer makes. */
  VECTORS_OF_LAYER,
  /** A squeeze of slots to fewer units. */
  REDUCTION,
  /** Gates with hidden layers. */
  GATES,
  /** Levels of experts. */
  LEVELS,
  /** A loss beside that of labels, with a factor. */
  AUXILIARY,
  /** Layers that are listed, for any number of tasks. */
  GRAPH;

  private final List<Form> forms;

  ModelPart(Form... forms) {
    this.forms = List.of(forms);
  }

  /** The forms that it lets a model have, the default first; empty for a part without. */
  public List<Form> forms() {
    return forms;
  }

  /** The parts that it stands for, beside itself. */
  Set<ModelPart> others() {
    return this == NETWORK ? EnumSet.of(VECTORS, HIDDEN, DROPOUT, STYLE) : Set.of();
  }
}
