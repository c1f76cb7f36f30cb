package dev.tern.serve;

import dev.tern.data.encode.RowFiller;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The values of a binary tensor: little-endian, texts with four bytes of length before each. */
final class BinaryFlow implements Flow {
  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);

  private final byte[] body;
  private final InferInput input;
  private final Datatype type;
  private final byte[] emptyText;
  private final int end;
  private int at;
  private int from;
  private int to;

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
  }

  BinaryFlow(byte[] body, InferInput input) {
    this.body = body;
    this.input = input;
    type = input.type();
    at = input.at;
    end = at + input.binary;
    String text = input.emptyText;
    emptyText = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    if (type.width > 0 && input.binary != input.count() * type.width) {
      throw new RefusedException(
          400,
          "%s: got %d bytes, expected %d of %s in shape %s"
              .formatted(
                  input.name, input.binary, input.count() * type.width, type, input.shape()));
    }
  }

  @Override
  public boolean next() {
    if (at == end) {
      return false;
    }
    int length = type.width;
    if (type == Datatype.BYTES) {
      length = end - at < 4 ? -1 : (int) INT.get(body, at);
      at += 4;
    }
    if (length < 0 || length > end - at) {
      throw new RefusedException(
          400,
          "%s: got a text of %d bytes where %d are left, expected one within the tensor"
              .formatted(input.name, length, Math.max(0, end - at)));
    }
    from = at;
    to = at + length;
    at = to;
    return true;
  }

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

  private long integer() {
    return switch (type) {
      case BOOL, UINT8 -> body[from] & 0xFF;
      case INT8 -> body[from];
      case UINT16 -> (short) SHORT.get(body, from) & 0xFFFF;
      case INT16 -> (short) SHORT.get(body, from);
      case UINT32 -> Integer.toUnsignedLong((int) INT.get(body, from));
      case INT32 -> (int) INT.get(body, from);
      default -> (long) LONG.get(body, from);
    };
  }

  private double floating() {
    return switch (type) {
      case FP16 -> Float.float16ToFloat((short) SHORT.get(body, from));
      case FP32 -> Float.intBitsToFloat((int) INT.get(body, from));
      case FP64 -> Double.longBitsToDouble((long) LONG.get(body, from));
      default -> integer();
    };
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
        requireBoolean(filler, column);
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
      requireBoolean(filler, column);
      requireUnsigned(filler, column);
      filler.addInteger(integer());
    }
  }

  private void requireBoolean(RowFiller filler, int column) {
    if (type == Datatype.BOOL && integer() > 1) {
      throw new RefusedException(
          400, "%s: got %d, expected 0 or 1".formatted(filler.place(column), integer()));
    }
  }

  private void requireText(RowFiller filler, int column) {
    if (to - from > JsonBody.MOST_TEXT) {
      throw new RefusedException(
          400,
          "%s: got a text of %,d bytes, expected at most %,d"
              .formatted(filler.place(column), to - from, JsonBody.MOST_TEXT));
    }
    JsonBody.requireText(body, from, to, filler.place(column));
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
