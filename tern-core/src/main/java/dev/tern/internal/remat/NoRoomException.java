package dev.tern.internal.remat;

/** The inputs and results of an op do not fit into memory together with what must stay. */
public final class NoRoomException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  NoRoomException(String message) {
    super(message);
  }
}
