package dev.tern.serve.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a message of Protocol Buffers behind the five bytes that gRPC has before each, into an
 * array that is used again. Numbers and lengths are as short as can be. One thread.
 */
public final class ProtoWriter {
  /** Bytes before a message: whether it is compressed, and its length. */
  public static final int PREFIX = 5;

  private static final int FIRST = 1024;

  /** Bytes that it keeps for the next message. */
  private static final int SMALL = 1 << 16;

  private byte[] bytes = new byte[FIRST];
  private int size;

  /** Begins a message. */
  public ProtoWriter clear() {
    size = PREFIX;
    return this;
  }

  /** Lets go of the memory of a large message. */
  public void shrink() {
    if (bytes.length > SMALL) {
      bytes = new byte[FIRST];
    }
  }

  /** The message with the bytes before it. */
  public byte[] message() {
    int length = size - PREFIX;
    bytes[0] = 0;
    for (int i = 0; i < 4; i++) {
      bytes[1 + i] = (byte) (length >>> 24 - 8 * i);
    }
    return Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
    }
  }

  /** Writes a number of variable length. */
  public ProtoWriter varint(long value) {
    room(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest & 0x7F | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
    return this;
  }

  private void tag(int field, int wire) {
    varint((long) field << 3 | wire);
  }

  /** Writes a field that is true; one that is false is left out. */
  public ProtoWriter flag(int field, boolean value) {
    return number(field, value ? 1 : 0);
  }

  /** Writes a number; 0 is left out. */
  public ProtoWriter number(int field, long value) {
    if (value != 0) {
      tag(field, ProtoReader.VARINT);
      varint(value);
    }
    return this;
  }

  /** Writes a text; an empty one is left out. */
  public ProtoWriter text(int field, String text) {
    return text.isEmpty() ? this : bytes(field, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes bytes. */
  public ProtoWriter bytes(int field, byte[] value) {
    beginBytes(field, value.length);
    room(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
    return this;
  }

  /** Begins a field of so many bytes, which follow. */
  public void beginBytes(int field, int length) {
    tag(field, ProtoReader.BYTES);
    varint(length);
  }

  /** Writes four bytes, the lowest first. */
  public void little(int bits) {
    room(4);
    for (int i = 0; i < 4; i++) {
      bytes[size++] = (byte) (bits >>> 8 * i);
    }
  }

  /** Writes bytes as they are. */
  public void raw(byte[] value) {
    room(value.length);
    System.arraycopy(value, 0, bytes, size, value.length);
    size += value.length;
  }

  /** Begins a field that is a message, or numbers one after the other; {@link #end} ends it. */
  public int begin(int field) {
    tag(field, ProtoReader.BYTES);
    return size;
  }

  /**
   * Ends what {@link #begin} began: puts its length before it.
   *
   * @param mark what {@link #begin} gave
   */
  public void end(int mark) {
    int length = size - mark;
    varint(length); // Behind, where there is room, to learn how long it is itself.
    int wide = size - mark - length;
    byte[] prefix = Arrays.copyOfRange(bytes, size - wide, size);
    System.arraycopy(bytes, mark, bytes, mark + wide, length);
    System.arraycopy(prefix, 0, bytes, mark, wide);
  }
}
