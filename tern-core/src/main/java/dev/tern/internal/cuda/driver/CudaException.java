package dev.tern.internal.cuda.driver;

/** A call of the driver that failed; the message says what was asked and what may be done. */
public final class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int code;

  CudaException(int code, String message) {
    super(message);
    this.code = code;
  }

  /** The driver's number for what was wrong. */
  public int code() {
    return code;
  }

  /** Whether the device, or the pinned memory of the host, has no room. */
  public boolean isOutOfMemory() {
    return code == CudaErrors.OUT_OF_MEMORY;
  }

  /** Whether the context is lost: each later call in this process fails too. */
  public boolean isSticky() {
    return CudaErrors.isSticky(code);
  }
}
