package dev.tern.serve;

import org.jspecify.annotations.Nullable;

/** The types of tensors that the Open Inference Protocol has. */
enum Datatype {
  BOOL(1, Kind.BOOLEAN),
  UINT8(1, Kind.UNSIGNED),
  UINT16(2, Kind.UNSIGNED),
  UINT32(4, Kind.UNSIGNED),
  UINT64(8, Kind.UNSIGNED),
  INT8(1, Kind.SIGNED),
  INT16(2, Kind.SIGNED),
  INT32(4, Kind.SIGNED),
  INT64(8, Kind.SIGNED),
  FP16(2, Kind.FLOATING),
  FP32(4, Kind.FLOATING),
  FP64(8, Kind.FLOATING),
  BYTES(0, Kind.TEXT);

  /** What values are. */
  enum Kind {
    BOOLEAN,
    UNSIGNED,
    SIGNED,
    FLOATING,
    TEXT
  }

  /** Bytes of a value; 0 where values have a length of their own. */
  final int width;

  final Kind kind;

  Datatype(int width, Kind kind) {
    this.width = width;
    this.kind = kind;
  }

  /** The type of a name; null if there is none. */
  static @Nullable Datatype of(String name) {
    return switch (name) {
      case "FP32" -> FP32;
      case "INT64" -> INT64;
      case "BYTES" -> BYTES;
      case "BOOL" -> BOOL;
      case "UINT8" -> UINT8;
      case "UINT16" -> UINT16;
      case "UINT32" -> UINT32;
      case "UINT64" -> UINT64;
      case "INT8" -> INT8;
      case "INT16" -> INT16;
      case "INT32" -> INT32;
      case "FP16" -> FP16;
      case "FP64" -> FP64;
      default -> null;
    };
  }

  /** Whether it is one of whole numbers. */
  boolean isWhole() {
    return kind == Kind.SIGNED || kind == Kind.UNSIGNED || kind == Kind.BOOLEAN;
  }

  /** Whether a value lies in the range of the type, one of whole numbers. */
  boolean holds(long value) {
    int bits = 8 * width;
    return switch (kind) {
      case BOOLEAN -> value == 0 || value == 1;
      case UNSIGNED -> value >= 0 && (bits == 64 || value >>> bits == 0);
      case SIGNED -> bits == 64 || value >= -(1L << bits - 1) && value < 1L << bits - 1;
      case FLOATING, TEXT -> false;
    };
  }
}
