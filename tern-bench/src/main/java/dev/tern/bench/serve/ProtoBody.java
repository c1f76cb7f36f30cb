package dev.tern.bench.serve;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** A message of Protocol Buffers in the making, field by field, and what a field of it says. */
final class ProtoBody {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Writes a number of variable length as it stands. */
  ProtoBody varint(long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    bytes.write((int) rest);
    return this;
  }

  ProtoBody number(int field, long value) {
    return varint((long) field << 3).varint(value);
  }

  ProtoBody bytes(int field, byte[] value) {
    varint((long) field << 3 | 2).varint(value.length);
    bytes.writeBytes(value);
    return this;
  }

  ProtoBody text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  ProtoBody message(int field, ProtoBody value) {
    return bytes(field, value.done());
  }

  /** An entry of a map of parameters, by the field of its value. */
  ProtoBody parameter(int field, String name, ProtoBody value) {
    return message(field, new ProtoBody().text(1, name).message(2, value));
  }

  /** A tensor of a request, without its values. */
  static ProtoBody tensor(String name, String type, long... shape) {
    ProtoBody dimensions = new ProtoBody();
    for (long size : shape) {
      dimensions.varint(size);
    }
    return new ProtoBody().text(1, name).text(2, type).message(3, dimensions);
  }

  byte[] done() {
    return bytes.toByteArray();
  }
}
