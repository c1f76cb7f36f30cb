package dev.tern.exchange;

import dev.tern.base.Shown;
import java.util.OptionalInt;

/**
 * Ranks cannot exchange any more, or could not be connected. The message names the operation, the
 * rank at fault where one is known, what had arrived and what to do. A mesh that threw it once is
 * of no use any more: all its operations end with the same message, on every rank.
 */
public final class MeshException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int rank;

  MeshException(String message, int rank) {
    super(Shown.message(message));
    this.rank = rank;
  }

  MeshException(String message, int rank, Throwable cause) {
    super(Shown.message(message), cause);
    this.rank = rank;
  }

  /** The rank at fault, where it is one and known. */
  public OptionalInt rank() {
    return rank < 0 ? OptionalInt.empty() : OptionalInt.of(rank);
  }

  /** The rank at fault, or -1. */
  int culprit() {
    return rank;
  }
}
