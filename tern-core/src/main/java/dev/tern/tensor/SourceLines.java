package dev.tern.tensor;

import dev.tern.internal.ir.Origin;
import java.util.function.Supplier;

/**
 * Makes tensors remember the line of source that made them, for {@link StepProfile}. Off by
 * default, because it costs some microseconds for each recorded op.
 */
public final class SourceLines {
  private SourceLines() {}

  /**
   * Runs {@code work}. Tensors that this thread makes meanwhile remember their lines; gradients
   * remember the lines of their tensors.
   */
  public static <T> T recorded(Supplier<T> work) {
    return Origin.recorded(work);
  }
}
