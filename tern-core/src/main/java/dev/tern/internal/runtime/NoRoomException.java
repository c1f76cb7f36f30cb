package dev.tern.internal.runtime;

/** An op's inputs and results do not fit into the space together. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int op;
  private final long bytes;

  NoRoomException(int op, long bytes, Space space) {
    super(
        "residency: got op %d, which needs %d bytes with %d of %d in use by what must stay,"
                .formatted(op, bytes, space.used(), space.capacity())
            + " expected room; raise the memory budget, or use a smaller batch or model");
    this.op = op;
    this.bytes = bytes;
  }

  /** The op that found no room. */
  public int op() {
    return op;
  }

  /** The bytes that it asked for last. */
  public long bytes() {
    return bytes;
  }
}
