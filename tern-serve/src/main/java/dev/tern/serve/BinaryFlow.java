package dev.tern.serve;

import dev.tern.serve.wire.RefusedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** The values of a binary tensor: little-endian, texts with four bytes of length before each. */
final class BinaryFlow extends ValueFlow {
  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);

  private final int end;
  private int at;

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
  }

  BinaryFlow(byte[] body, InferInput input) {
    super(body, input);
    at = input.at;
    end = at + input.binary;
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
  long integer() {
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

  @Override
  double floating() {
    return switch (type) {
      case FP16 -> Float.float16ToFloat((short) SHORT.get(body, from));
      case FP32 -> Float.intBitsToFloat((int) INT.get(body, from));
      case FP64 -> Double.longBitsToDouble((long) LONG.get(body, from));
      default -> integer();
    };
  }
}
