package dev.tern.internal.eager;

import org.jspecify.annotations.Nullable;

/** The value of a node that an {@link Eager} was asked to compute. Does not keep the node alive. */
final class SessionValue {
  static final int NONE = -1;

  /** Set by callers: whether it was asked for, or came up on the way to another. */
  volatile boolean isWanted;

  /** The rest is the worker's. Number of the value in the residency, or {@link #NONE}. */
  int number = NONE;

  /** Whether this is a reference by which the residency keeps the value. */
  boolean isReferred;

  /** Why there is no value. */
  @Nullable Failure failure;
}
