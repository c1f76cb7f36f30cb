package dev.tern.bench.serve;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Rows of a batch as requests. */
final class RowBodies {
  private RowBodies() {}

  /** An object a row, as TensorFlow Serving takes them. */
  static String instances(Batch rows) {
    StringBuilder json = new StringBuilder("{\"instances\":[");
    for (int row = 0; row < rows.size(); row++) {
      json.append(row == 0 ? "{" : ",{");
      object(rows, row, json);
      json.append('}');
    }
    return json.append("]}").toString();
  }

  private static void object(Batch rows, int row, StringBuilder json) {
    Schema schema = rows.schema();
    for (int f = 0; f < schema.denseDim(); f++) {
      float value = rows.dense()[row * schema.denseDim() + f];
      if (!Float.isNaN(value)) {
        json.append('"').append(schema.dense().get(f)).append("\":").append(value).append(',');
      }
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      json.append('"').append(schema.slots().get(s).name()).append("\":");
      json.append(id(rows, s, row)).append(s + 1 < schema.slotCount() ? "," : "");
    }
  }

  private static long id(Batch rows, int slot, int row) {
    return rows.ids(slot)[rows.offsets(slot)[row]];
  }

  /** A tensor a column, by the Open Inference Protocol. */
  static String tensors(Batch rows) {
    Schema schema = rows.schema();
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    for (int f = 0; f < schema.denseDim(); f++) {
      begin(schema.dense().get(f), "FP32", rows.size(), json);
      for (int row = 0; row < rows.size(); row++) {
        json.append(row == 0 ? "" : ",").append(rows.dense()[row * schema.denseDim() + f]);
      }
      json.append("]},");
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      begin(schema.slots().get(s).name(), "INT64", rows.size(), json);
      for (int row = 0; row < rows.size(); row++) {
        json.append(row == 0 ? "" : ",").append(id(rows, s, row));
      }
      json.append(s + 1 < schema.slotCount() ? "]}," : "]}");
    }
    return json.append("]}").toString();
  }

  /** The values of a column as a binary tensor. */
  private static byte[] column(Batch rows, int column) {
    Schema schema = rows.schema();
    int dense = schema.denseDim();
    ByteBuffer bytes =
        ByteBuffer.allocate((column < dense ? 4 : 8) * rows.size()).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = 0; row < rows.size(); row++) {
      if (column < dense) {
        bytes.putFloat(rows.dense()[row * dense + column]);
      } else {
        bytes.putLong(id(rows, column - dense, row));
      }
    }
    return bytes.array();
  }

  private static String name(Schema schema, int column) {
    int dense = schema.denseDim();
    return column < dense ? schema.dense().get(column) : schema.slotNames().get(column - dense);
  }

  private static final String END = "],\"parameters\":{\"binary_data_output\":true}}";

  /** The bytes of JSON that a body of {@link #binary} begins with. */
  static int jsonLength(byte[] body) {
    return new String(body, StandardCharsets.ISO_8859_1).indexOf(END) + END.length();
  }

  /** JSON, then a binary tensor a column. */
  static byte[] binary(Batch rows) {
    Schema schema = rows.schema();
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    ByteArrayOutputStream tail = new ByteArrayOutputStream();
    int columns = schema.denseDim() + schema.slotCount();
    for (int c = 0; c < columns; c++) {
      byte[] values = column(rows, c);
      json.append(
          "%s{\"name\":\"%s\",\"shape\":[%s],\"datatype\":\"%s\",\"parameters\":{\"binary_data_size\":%s}}"
              .formatted(
                  c == 0 ? "" : ",",
                  name(schema, c),
                  rows.size(),
                  c < schema.denseDim() ? "FP32" : "INT64",
                  values.length));
      tail.writeBytes(values);
    }
    json.append(END);
    byte[] head = json.toString().getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(head.length + tail.size()).put(head).put(tail.toByteArray()).array();
  }

  /** A message of Protocol Buffers with a raw tensor a column. */
  static byte[] message(Batch rows) {
    Schema schema = rows.schema();
    int columns = schema.denseDim() + schema.slotCount();
    ProtoBody message = new ProtoBody().text(1, "m");
    for (int c = 0; c < columns; c++) {
      String type = c < schema.denseDim() ? "FP32" : "INT64";
      message.message(5, ProtoBody.tensor(name(schema, c), type, rows.size()));
    }
    for (int c = 0; c < columns; c++) {
      message.bytes(7, column(rows, c));
    }
    return message.done();
  }

  private static void begin(String name, String type, int rows, StringBuilder json) {
    json.append(
        "{\"name\":\"%s\",\"shape\":[%s],\"datatype\":\"%s\",\"data\":["
            .formatted(name, rows, type));
  }
}
