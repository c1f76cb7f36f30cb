package dev.tern.tensor;

import dev.tern.internal.ir.Origin;
import java.util.function.Supplier;

/**
 * Has tensors remember the line of source that made them, for {@link StepProfile}. Off unless asked
 * for, as that takes some microseconds for each op that is recorded.
 */
public final class SourceLines {
  private SourceLines() {}

  /**
   * Does {@code work}; the tensors that this thread makes in it remember where. Gradients remember
   * the lines of what they are gradients of.
   */
  public static <T> T recorded(Supplier<T> work) {
    return Origin.recorded(work);
  }
}
