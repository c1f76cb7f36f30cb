package dev.tern.predict;

import dev.tern.checkpoint.CheckpointMark;
import dev.tern.embedding.SlotTables;
import dev.tern.model.Network;

/**
 * The weights of one step: those of layers, and tables beneath the changes that lead to the step.
 *
 * @param network has variables of its own, and reads {@code view}
 */
record ModelState(CheckpointMark mark, Network network, SlotTables view) {
  /** Two are the same only if they are one. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
