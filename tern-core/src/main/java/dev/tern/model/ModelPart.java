package dev.tern.model;

/**
 * What a type of model has, and with it which sizes it takes. {@link ModelConfig.Type} says which
 * type has which; configurations take their keys from there.
 */
public enum ModelPart {
  /** Embedding vectors. */
  VECTORS,
  /** It reads vectors side by side, so their widths may differ between slots. */
  WIDTHS,
  /** Hidden layers, whose widths are given. */
  HIDDEN,
  /** Dropout after hidden layers. */
  DROPOUT,
  /** Hidden layers that take an activation and batch normalization. */
  STYLE,
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
  /** Experts that tasks share, and gates. */
  EXPERTS,
  /** Two slots, of users and of items. */
  USER_ITEM,
  /** Columns of items beside all others, matched by their vectors. */
  MATCHING,
  /** A loss of its own: {@link dev.tern.nn.Model#hasOwnLoss}. */
  OWN_LOSS
}
