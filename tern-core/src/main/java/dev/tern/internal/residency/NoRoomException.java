package dev.tern.internal.residency;

/** An op's inputs and results do not fit into the space together. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoRoomException(int op, long bytes, Space space) {
    super(
        "residency: got op %d, which needs %d bytes with %d of %d in use by what must stay,"
                .formatted(op, bytes, space.used(), space.capacity())
            + " expected room; raise the memory budget, or use a smaller batch or model");
  }
}
