package dev.tern.base;

/**
 * Element types. Arithmetic is done in {@link #F32}; {@link #F16} and {@link #BF16} are storage
 * formats, and integers serve as indices: cast to F32 to compute with them.
 */
public enum DType {
  /** IEEE binary32. */
  F32(4),
  /** IEEE binary16, storage only. */
  F16(2),
  /** Upper half of a binary32, storage only. */
  BF16(2),
  /** Signed 32-bit integer. */
  I32(4),
  /** Signed 64-bit integer. */
  I64(8),
  /** Truth value, kept as the float 0 or 1 so that masks feed fused kernels without conversion. */
  BOOL(4);

  private final int bytes;

  DType(int bytes) {
    this.bytes = bytes;
  }

  /** Bytes of one element. */
  public int bytes() {
    return bytes;
  }

  /** Whether fused kernels compute on it directly. */
  public boolean isFloatLike() {
    return this == F32 || this == BOOL;
  }
}
