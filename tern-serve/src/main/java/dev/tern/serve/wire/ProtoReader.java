package dev.tern.serve.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a message of Protocol Buffers one by one, each with its value, so that a
 * field that nobody asks for is left out by going on. All of it lies in {@code bytes[at, end)}:
 * lengths that lead beyond are refused, as is what no writer of messages makes. One thread.
 */
public final class ProtoReader {
  /** How the value of a field is written. */
  public static final int VARINT = 0;

  public static final int FIXED64 = 1;
  public static final int BYTES = 2;
  public static final int FIXED32 = 5;

  private static final int MOST_VARINT = 10;
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);

  private final byte[] bytes;
  private int at;
  private int end;

  private int field;
  private int wire;
  private long value;
  private int from;
  private int to;

  public ProtoReader(byte[] bytes, int at, int end) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
  }

  /** The number of the field at hand. */
  public int field() {
    return field;
  }

  /** How the value of the field at hand is written. */
  public int wire() {
    return wire;
  }

  /** The value of a field of numbers: the bits of a fixed one, which has 32 or 64. */
  public long value() {
    return value;
  }

  /** Where the value of a field of bytes begins. */
  public int from() {
    return from;
  }

  /** Where the value of a field of bytes has ended. */
  public int to() {
    return to;
  }

  /** Reads another message of the same bytes. */
  public void begin(int first, int behind) {
    at = first;
    end = behind;
  }

  /** Whether anything is left. */
  public boolean hasMore() {
    return at < end;
  }

  /** Goes to the next field; false where the message ends. */
  public boolean next() {
    if (at >= end) {
      return false;
    }
    int begin = at;
    long tag = varint();
    field = (int) (tag >>> 3);
    wire = (int) tag & 7;
    if (tag >>> 32 != 0 || field == 0) {
      throw wrong("a field of no number", begin, "one from 1 to 536870911");
    }
    switch (wire) {
      case VARINT -> value = varint();
      case FIXED64 -> value = fixed64();
      case FIXED32 -> value = fixed32();
      case BYTES -> {
        long length = varint();
        if (length < 0 || length > end - at) {
          throw wrong(
              "a length of " + Long.toUnsignedString(length), begin, "at most " + (end - at));
        }
        from = at;
        to = at + (int) length;
        at = to;
      }
      default -> throw wrong("wire type " + wire, begin, "0, 1, 2 or 5");
    }
    return true;
  }

  /** The next number of variable length, also among those that a field of bytes packs. */
  public long varint() {
    if (at < end && bytes[at] >= 0) {
      return bytes[at++];
    }
    int begin = at;
    long number = 0;
    for (int i = 0; i < MOST_VARINT; i++) {
      if (at >= end) {
        throw wrong("the end within a number", begin, "the rest");
      }
      int next = bytes[at++];
      number |= (long) (next & 0x7F) << 7 * i;
      if (next >= 0) {
        if (i == MOST_VARINT - 1 && next > 1) {
          break;
        }
        return number;
      }
    }
    throw wrong("a number of more than 64 bits", begin, "64 at most");
  }

  /** The next four bytes. */
  public int fixed32() {
    if (end - at < 4) {
      throw wrong("the end within a number", at, "four bytes");
    }
    at += 4;
    return (int) INT.get(bytes, at - 4);
  }

  /** The next eight bytes. */
  public long fixed64() {
    if (end - at < 8) {
      throw wrong("the end within a number", at, "eight bytes");
    }
    at += 8;
    return (long) LONG.get(bytes, at - 8);
  }

  /** Refuses a value of the field at hand that is written otherwise. */
  public void require(int expected, String name) {
    if (wire != expected) {
      throw wrong(name + " with wire type " + wire, at, "wire type " + expected);
    }
  }

  /** The field at hand as a text of at most so many bytes. */
  public String text(String name, int most) {
    requireText(name, most);
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  /** Refuses the field at hand where it is no text of at most so many bytes. */
  public void requireText(String name, int most) {
    require(BYTES, name);
    if (to - from > most) {
      throw JsonBody.wrong(name + " of " + (to - from) + " bytes", "at most " + most);
    }
    JsonBody.requireText(bytes, from, to, name);
  }

  private static RefusedException wrong(String got, int place, String expected) {
    return JsonBody.wrong(got + " at byte " + place, expected);
  }
}
