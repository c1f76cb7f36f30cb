package dev.tern.embedding;

/** How the rows of one bag become one vector. */
public enum Combiner {
  /** Their sum; an empty bag gives zeros. */
  SUM,
  /** Their sum times 1 / number of ids; an empty bag gives zeros. */
  MEAN
}
