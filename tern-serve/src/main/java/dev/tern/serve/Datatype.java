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

  private static final Datatype[] ALL = {
    FP32, INT64, BYTES, INT32, FP64, BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, FP16
  };

  /** Bytes of a value; 0 where values have a length of their own. */
  final int width;

  final Kind kind;

  private final String text = name();

  Datatype(int width, Kind kind) {
    this.width = width;
    this.kind = kind;
  }

  /** The type of a name; null if there is none. */
  static @Nullable Datatype of(char[] name, int from, int length) {
    for (Datatype type : ALL) {
      String text = type.text;
      int same = text.length() == length ? 0 : -1;
      while (same >= 0 && same < length && text.charAt(same) == name[from + same]) {
        same++;
      }
      if (same == length) {
        return type;
      }
    }
    return null;
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
