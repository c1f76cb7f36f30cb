package dev.tern.internal.runtime;

import dev.tern.internal.memory.Buffer;
import java.util.function.Predicate;

/**
 * Reads memory of a device after the call that asked for it has returned. The device tells it
 * before it writes or frees that memory.
 */
public interface PendingReads {
  /** Returns when nothing asked for so far will read these leaves. */
  void expire(Predicate<Buffer> leaves);

  /** The same for all memory of a device, which ends the reader if it computes with that device. */
  void beforeClose(Engine device);
}
