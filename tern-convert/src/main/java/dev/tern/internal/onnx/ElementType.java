package dev.tern.internal.onnx;

import dev.tern.base.DType;

/** Element types of tensors that exports have (TensorProto.DataType of onnx.proto). */
public enum ElementType {
  FLOAT(1, 4),
  INT64(7, 8),
  STRING(8, 0),
  BOOL(9, 1),
  FLOAT16(10, 2),
  DOUBLE(11, 8),
  UINT64(13, 8),
  BFLOAT16(16, 2);

  private final int number;
  private final int bytes;

  ElementType(int number, int bytes) {
    this.number = number;
    this.bytes = bytes;
  }

  /** Its number in the format. */
  public int number() {
    return number;
  }

  /** Bytes of an element; 0 where they vary. */
  public int bytes() {
    return bytes;
  }

  /** The type of weights as a table stores them. */
  public static ElementType ofStorage(DType storage) {
    return switch (storage) {
      case F32 -> FLOAT;
      case F16 -> FLOAT16;
      case BF16 -> BFLOAT16;
      case I32, I64, BOOL -> throw new AssertionError("no storage of weights: " + storage);
    };
  }
}
