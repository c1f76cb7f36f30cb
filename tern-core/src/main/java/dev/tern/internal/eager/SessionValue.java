package dev.tern.internal.eager;

import org.jspecify.annotations.Nullable;

/** The state of one node's value in a session. Does not keep the node alive. */
final class SessionValue {
  static final int NONE = -1;

  /** Whether a caller asked for it; otherwise it is an intermediate value. Set by callers. */
  volatile boolean isWanted;

  /**
   * Number of the value in {@code Residency}, or {@link #NONE}. The worker alone uses what follows.
   */
  int number = NONE;

  /** Whether the session still holds a reference to the value in {@code Residency}. */
  boolean isReferred;

  /** Why there is no value. */
  @Nullable Failure failure;
}
