package dev.tern.onnx;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A message of a protocol buffer, as a row of fields by their numbers: the wire format of Protocol
 * Buffers, of which ONNX needs three of six types. Fields come in the order of the calls, so equal
 * calls give equal bytes.
 */
final class Message {
  private static final int VARINT = 0;
  private static final int LENGTH = 2;
  private static final int FIXED32 = 5;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Bytes that {@link #varint} writes of a number. */
  static int varintBytes(long value) {
    return Math.max(1, (70 - Long.numberOfLeadingZeros(value)) / 7);
  }

  private void varint(long value) {
    long left = value;
    while ((left & ~0x7FL) != 0) {
      bytes.write((int) (left & 0x7F | 0x80));
      left >>>= 7;
    }
    bytes.write((int) left);
  }

  private void tag(int field, int type) {
    varint((long) field << 3 | type);
  }

  /** An integer; a negative one takes 10 bytes. */
  Message number(int field, long value) {
    tag(field, VARINT);
    varint(value);
    return this;
  }

  /** Integers one after the other, each with its tag. */
  Message numbers(int field, long... values) {
    for (long value : values) {
      number(field, value);
    }
    return this;
  }

  /** A float of 32 bits. */
  Message real(int field, float value) {
    tag(field, FIXED32);
    int bits = Float.floatToRawIntBits(value);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.write(bits >>> shift);
    }
    return this;
  }

  /** Bytes as they are. */
  Message bytes(int field, byte[] value) {
    length(field, value.length);
    bytes.writeBytes(value);
    return this;
  }

  /** A text in UTF-8. */
  Message text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** A message within this one. */
  Message message(int field, Message value) {
    length(field, value.size());
    bytes.writeBytes(value.toByteArray());
    return this;
  }

  /** The fields of another message, behind those of this one. */
  Message all(Message of) {
    bytes.writeBytes(of.toByteArray());
    return this;
  }

  /** The start of a field whose {@code count} bytes follow elsewhere. */
  Message length(int field, long count) {
    tag(field, LENGTH);
    varint(count);
    return this;
  }

  /** Bytes so far. */
  int size() {
    return bytes.size();
  }

  byte[] toByteArray() {
    return bytes.toByteArray();
  }
}
