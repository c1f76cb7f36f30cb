package dev.tern.serve;

import dev.tern.data.encode.RowFiller;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The values of a tensor in bytes: the rules for them, whatever way they are written. */
abstract class ValueFlow implements Flow {
  private static final byte[] NOTHING = {};

  final byte[] body;
  final InferInput input;
  final Datatype type;
  private final byte[] emptyText;

  /** Where the value at hand lies: {@code body[from, to)}. */
  int from;

  int to;

  ValueFlow(byte[] body, InferInput input) {
    this.body = body;
    this.input = input;
    type = input.type();
    String text = input.emptyText;
    emptyText = text == null ? NOTHING : text.getBytes(StandardCharsets.UTF_8);
  }

  /** The value at hand, of a type of whole numbers; one of 2^63 and more is negative. */
  abstract long integer();

  /** The value at hand, of a type of numbers. */
  abstract double floating();

  @Override
  public boolean isMissing() {
    if (type == Datatype.BYTES) {
      return input.emptyText != null
          && Arrays.equals(body, from, to, emptyText, 0, emptyText.length);
    }
    Double empty = input.emptyNumber;
    if (empty == null) {
      return false;
    }
    if (type.isWhole()) {
      return integer() == input.emptyInteger;
    }
    double value = floating();
    return value == empty || Double.isNaN(value) && Double.isNaN(empty);
  }

  /** Whether the value is an unsigned integer beyond a long. */
  private boolean isHuge() {
    return type == Datatype.UINT64 && integer() < 0;
  }

  @Override
  public void set(RowFiller filler, int column) {
    switch (type.kind) {
      case TEXT -> {
        requireText(filler, column);
        filler.setText(column, body, from, to);
      }
      case FLOATING -> {
        double value = floating();
        if (!Double.isFinite(value) || Float.isInfinite((float) value)) {
          throw new RefusedException(
              400,
              "%s: got %s, expected a finite number; say by the parameter empty what stands for a missing one"
                  .formatted(filler.place(column), value));
        }
        filler.setNumber(column, value);
      }
      default -> {
        requireRange(filler, column);
        if (!isHuge()) {
          filler.setInteger(column, integer());
        } else if (filler.slot(column) < 0) {
          filler.setNumber(column, Float.parseFloat(Long.toUnsignedString(integer())));
        } else if (filler.takesTexts(column)) {
          filler.setText(column, Long.toUnsignedString(integer()));
        } else {
          requireUnsigned(filler, column);
          filler.setInteger(column, integer());
        }
      }
    }
  }

  /** Refuses an integer of 2^63 or more for a column of signed ones. */
  private void requireUnsigned(RowFiller filler, int column) {
    if (isHuge() && !filler.isUnsigned(column)) {
      throw new RefusedException(
          400,
          "%s: got %s, expected an integer of 64 bits"
              .formatted(filler.place(column), Long.toUnsignedString(integer())));
    }
  }

  @Override
  public void add(RowFiller filler, int column) {
    if (type == Datatype.BYTES) {
      requireText(filler, column);
      filler.addText(body, from, to);
    } else if (isHuge() && filler.takesTexts(column)) {
      filler.addText(Long.toUnsignedString(integer()));
    } else {
      requireRange(filler, column);
      requireUnsigned(filler, column);
      filler.addInteger(integer());
    }
  }

  private void requireRange(RowFiller filler, int column) {
    if (type.width < Long.BYTES && !type.holds(integer())) {
      throw new RefusedException(
          400,
          "%s: got %d, expected %s"
              .formatted(
                  filler.place(column), integer(), type == Datatype.BOOL ? "0 or 1" : type.name()));
    }
  }

  private void requireText(RowFiller filler, int column) {
    if (to - from > JsonBody.MOST_TEXT) {
      throw new RefusedException(
          400,
          "%s: got a text of %,d bytes, expected at most %,d"
              .formatted(filler.place(column), to - from, JsonBody.MOST_TEXT));
    }
    if (JsonBody.fault(body, from, to) >= 0) { // The place is a text, which most need not have.
      JsonBody.requireText(body, from, to, filler.place(column));
    }
  }

  @Override
  public float number() {
    return (float) floating();
  }

  @Override
  public int whole() {
    long value = type.isWhole() ? integer() : -1;
    return value < 0 || value > Integer.MAX_VALUE ? -1 : (int) value;
  }
}
