package dev.tern.internal.remat;

/** An op's inputs and results do not fit into the space together, with what must stay besides. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoRoomException(String message) {
    super(message);
  }
}
