package dev.tern.tensor;

/** The type of a tensor's elements. */
public enum DType {
  /** 32-bit IEEE 754 floating point. */
  F32(4),
  /** 16-bit IEEE 754 floating point, a storage type: arithmetic is done in {@link #F32}. */
  F16(2),
  /** The high half of a 32-bit float, a storage type: arithmetic is done in {@link #F32}. */
  BF16(2),
  /** 32-bit signed integer. */
  I32(4),
  /** 64-bit signed integer. */
  I64(8),
  /** One byte, 0 or 1. */
  BOOL(1);

  private final int bytes;

  DType(int bytes) {
    this.bytes = bytes;
  }

  /** Returns the size of one element in bytes. */
  public int bytes() {
    return bytes;
  }
}
