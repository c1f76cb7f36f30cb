package dev.tern.predict;

import dev.tern.embedding.TableChanges;
import java.util.List;

/**
 * What leads from one step of a model to the next, or back from it.
 *
 * @param tables for each table
 * @param before of changes that lead on, the state from which they do; of those that lead back, the
 *     state to which they do
 * @param back whether they lead back
 */
record StepChanges(List<TableChanges> tables, ModelState before, boolean back) {
  /** Two are the same only if they are one. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  void close() {
    tables.forEach(TableChanges::close);
  }
}
