package dev.tern.internal.runtime;

import dev.tern.internal.memory.Buffer;
import java.util.function.Predicate;

/**
 * A session, which may read memory of a device after the call that asked for a value has returned.
 * The device tells it before that memory is written or freed.
 */
public interface PendingReads {
  /** Returns when no value that was asked for so far needs these leaves any more. */
  void expire(Predicate<Buffer> leaves);

  /** The same for all memory of a device. A session that computes with this device ends. */
  void beforeClose(Engine device);
}
