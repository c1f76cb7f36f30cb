package dev.tern.nn;

/** What a model does where its paper gives several forms of it. */
public enum Form {
  /** The model has one form. */
  NONE,
  /** Inner products of pairs of vectors. */
  INNER,
  /** Outer products of pairs of vectors. */
  OUTER,
  /** Inner and outer products. */
  BOTH,
  /** A matrix for each pair of slots. */
  PAIR,
  /** A matrix for each slot. */
  FIELD,
  /** One matrix. */
  ONE,
  /** One part reads what the other made. */
  STACKED,
  /** Both parts read the features, and the output reads both. */
  PARALLEL
}
