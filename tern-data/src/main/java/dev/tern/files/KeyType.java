package dev.tern.files;

/** How HugeCTR files hold ids. Little-endian. */
public enum KeyType {
  /** 4 bytes, unsigned: ids 0 to 2<sup>32</sup> - 1. */
  U32(4),
  /**
   * 4 bytes, signed: ids -2<sup>31</sup> to 2<sup>31</sup> - 1. Raw files only: what HugeCTR's
   * legacy Raw reader made of keys when asked for 64-bit ones.
   */
  I32(4),
  /** 8 bytes, signed. */
  I64(8);

  private final int bytes;

  KeyType(int bytes) {
    this.bytes = bytes;
  }

  public int bytes() {
    return bytes;
  }

  /** True where this width can hold {@code id}. */
  public boolean holds(long id) {
    return switch (this) {
      case U32 -> id >>> 32 == 0;
      case I32 -> id == (int) id;
      case I64 -> true;
    };
  }
}
