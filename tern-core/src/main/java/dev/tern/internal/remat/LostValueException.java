package dev.tern.internal.remat;

/** A value is not in memory, and the op that made it cannot run again. */
public final class LostValueException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final int op;

  LostValueException(int op, String message) {
    super(message);
    this.op = op;
  }

  public int op() {
    return op;
  }
}
