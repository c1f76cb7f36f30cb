package dev.tern.onnx;

import dev.tern.internal.onnx.ElementType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A tensor of the model file (TensorProto of onnx.proto).
 *
 * @param name unique in the graph
 * @param dims its sizes
 * @param content writes its elements, little-endian, row-major
 */
record Constant(String name, ElementType type, long[] dims, Content content) {
  /** Writes elements, as many bytes as the sizes say. */
  @FunctionalInterface
  interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** Bytes of all elements. */
  long bytes() {
    long bytes = type.bytes();
    for (long dim : dims) {
      bytes = Math.multiplyExact(bytes, dim);
    }
    return bytes;
  }

  static Constant ofLongs(String name, long[] dims, long... values) {
    ByteBuffer bytes = room(8 * values.length);
    bytes.asLongBuffer().put(values);
    return new Constant(name, ElementType.INT64, dims, out -> out.write(bytes.array()));
  }

  static Constant ofFloats(String name, long[] dims, float... values) {
    ByteBuffer bytes = room(4 * values.length);
    bytes.asFloatBuffer().put(values);
    return new Constant(name, ElementType.FLOAT, dims, out -> out.write(bytes.array()));
  }

  static Constant ofDoubles(String name, long[] dims, double... values) {
    ByteBuffer bytes = room(8 * values.length);
    bytes.asDoubleBuffer().put(values);
    return new Constant(name, ElementType.DOUBLE, dims, out -> out.write(bytes.array()));
  }

  /** An unsigned number. */
  static Constant ofUnsigned(String name, long value) {
    ByteBuffer bytes = room(8);
    bytes.putLong(0, value);
    return new Constant(name, ElementType.UINT64, new long[0], out -> out.write(bytes.array()));
  }

  private static ByteBuffer room(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
