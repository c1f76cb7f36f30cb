package dev.tern.bench.scoring;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A model in the making in ONNX's format, a protocol buffer (onnx.proto of ONNX 1.13: IR 8, opset
 * 18). All tensors are floats, apart from constant shapes and indices. The first size of inputs and
 * of the output is the number of rows, which may be any.
 */
final class OnnxGraph {
  private static final int IR_VERSION = 8;
  private static final int OPSET = 18;
  private static final int FLOAT = 1;
  private static final int INT64 = 7;
  private static final int ATTRIBUTE_INT = 2;
  private static final int ATTRIBUTE_INTS = 7;

  private final Message graph = new Message();
  private int values;

  /** A message of a protocol buffer: fields by their numbers. */
  private static final class Message {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    private void varint(long value) {
      long left = value;
      while ((left & ~0x7FL) != 0) {
        bytes.write((int) (left & 0x7F | 0x80));
        left >>>= 7;
      }
      bytes.write((int) left);
    }

    Message number(int field, long value) {
      varint((long) field << 3);
      varint(value);
      return this;
    }

    Message bytes(int field, byte[] value) {
      varint((long) field << 3 | 2);
      varint(value.length);
      bytes.writeBytes(value);
      return this;
    }

    Message text(int field, String value) {
      return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Message message(int field, Message value) {
      return bytes(field, value.bytes.toByteArray());
    }
  }

  /** An input of {@code [rows, columns]} floats; returns its name. */
  String input(String name, int columns) {
    graph.message(11, rows(name, columns));
    return name;
  }

  private static Message rows(String name, int columns) {
    Message shape =
        new Message()
            .message(1, new Message().text(2, "rows"))
            .message(1, new Message().number(1, columns));
    Message type = new Message().number(1, FLOAT).message(2, shape);
    return new Message().text(1, name).message(2, new Message().message(1, type));
  }

  /** A constant of floats, row-major; returns its name. */
  String floats(float[] values, int... sizes) {
    ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    data.asFloatBuffer().put(values);
    return constant(FLOAT, data.array(), sizes);
  }

  /** A constant list of whole numbers: a shape, axes, indices; returns its name. */
  String integers(long... values) {
    ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    data.asLongBuffer().put(values);
    return constant(INT64, data.array(), values.length);
  }

  private String constant(int type, byte[] data, int... sizes) {
    String name = "c" + values++;
    Message tensor = new Message();
    for (int size : sizes) {
      tensor.number(1, size);
    }
    graph.message(5, tensor.number(2, type).text(8, name).bytes(9, data));
    return name;
  }

  /** The result of operator {@code op} on values by their names; returns its name. */
  String node(String op, String... arguments) {
    return node(op, List.of(arguments), "", 0);
  }

  /** The same with one attribute, a whole number. */
  String node(String op, List<String> arguments, String attribute, long value) {
    Message node = new Message();
    arguments.forEach(argument -> node.text(1, argument));
    String name = "v" + values++;
    node.text(2, name).text(4, op);
    if (!attribute.isEmpty()) {
      node.message(5, new Message().text(1, attribute).number(3, value).number(20, ATTRIBUTE_INT));
    }
    graph.message(1, node);
    return name;
  }

  /** {@code x} with its axes in another order. */
  String transposed(String x, long... order) {
    String name = "v" + values++;
    Message attribute = new Message().text(1, "perm");
    for (long axis : order) {
      attribute.number(8, axis);
    }
    attribute.number(20, ATTRIBUTE_INTS);
    graph.message(
        1, new Message().text(1, x).text(2, name).text(4, "Transpose").message(5, attribute));
    return name;
  }

  /** {@code x W + b}, with W {@code [inputs, outputs]}. */
  String linear(String x, float[] weight, float[] bias) {
    int outputs = bias.length;
    String w = floats(weight, weight.length / outputs, outputs);
    return node("Gemm", x, w, floats(bias, outputs));
  }

  /** The sum of {@code x} along some axes, which go. */
  String sum(String x, long... axes) {
    return node("ReduceSum", List.of(x, integers(axes)), "keepdims", 0);
  }

  /** The file of the model, whose output has {@code [rows, 1]} floats. */
  byte[] file(String output) {
    graph.text(2, "tern").message(12, rows(output, 1));
    return new Message()
        .number(1, IR_VERSION)
        .message(7, graph)
        .message(8, new Message().text(1, "").number(2, OPSET))
        .bytes
        .toByteArray();
  }
}
