package dev.tern.serve;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/** Rows of integers as bodies of requests, each protocol's, written plainly. */
final class RequestBodies {
  private RequestBodies() {}

  /** A body of JSON and perhaps binary tensors. */
  record Body(byte[] bytes, OptionalInt jsonLength) {}

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String value(Batch rows, int slot, int row) {
    Slot of = rows.schema().slots().get(slot);
    int first = rows.offsets(slot)[row];
    int end = rows.offsets(slot)[row + 1];
    if (of.hotness() == 1) {
      return first == end ? "null" : Long.toString(rows.ids(slot)[first]);
    }
    StringBuilder text = new StringBuilder();
    for (int i = first; i < end; i++) {
      text.append(i == first ? "" : ",");
      long id = rows.ids(slot)[i];
      if (of.weighted()) {
        text.append('"').append(id).append("\":").append(rows.weights(slot)[i]);
      } else {
        text.append(id);
      }
    }
    return of.weighted() ? "{" + text + "}" : "[" + text + "]";
  }

  private static String number(Batch rows, int dense, int row) {
    float number = rows.dense()[row * rows.schema().denseDim() + dense];
    return Float.isNaN(number) ? "null" : Float.toString(number);
  }

  /** {@code {"instances":[...]}}. */
  static byte[] instances(Batch rows, String key) {
    Schema schema = rows.schema();
    StringBuilder json = new StringBuilder("{\"" + key + "\":[");
    for (int row = 0; row < rows.size(); row++) {
      json.append(row == 0 ? "{" : ",{");
      int count = 0;
      for (int f = 0; f < schema.denseDim(); f++) {
        String number = number(rows, f, row);
        if (!number.equals("null") || row % 2 == 0) {
          json.append(count++ == 0 ? "" : ",");
          json.append('"').append(schema.dense().get(f)).append("\":").append(number);
        }
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        json.append(count++ == 0 ? "" : ",");
        json.append('"').append(schema.slots().get(s).name()).append("\": ");
        json.append(value(rows, s, row));
      }
      json.append('}');
    }
    return utf8(json + "]}");
  }

  /** {@code {"inputs":{...}}}. */
  static byte[] inputs(Batch rows) {
    Schema schema = rows.schema();
    StringBuilder json = new StringBuilder("{\"inputs\":{");
    int count = 0;
    for (int f = 0; f < schema.denseDim(); f++) {
      json.append(count++ == 0 ? "" : ",").append('"').append(schema.dense().get(f)).append("\":[");
      for (int row = 0; row < rows.size(); row++) {
        json.append(row == 0 ? "" : ",").append(number(rows, f, row));
      }
      json.append(']');
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      String name = schema.slots().get(s).name();
      json.append(count++ == 0 ? "" : ",").append('"').append(name).append("\":[");
      for (int row = 0; row < rows.size(); row++) {
        json.append(row == 0 ? "" : ",").append(value(rows, s, row));
      }
      json.append(']');
    }
    return utf8(json + "}}");
  }

  /** {@code {"dataframe_split":{...}}}. */
  static byte[] split(Batch rows) {
    Schema schema = rows.schema();
    StringBuilder names = new StringBuilder();
    schema.dense().forEach(name -> names.append(",\"").append(name).append('"'));
    schema.slotNames().forEach(name -> names.append(",\"").append(name).append('"'));
    StringBuilder data = new StringBuilder();
    for (int row = 0; row < rows.size(); row++) {
      StringBuilder values = new StringBuilder();
      for (int f = 0; f < schema.denseDim(); f++) {
        values.append(',').append(number(rows, f, row));
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        values.append(',').append(value(rows, s, row));
      }
      data.append(row == 0 ? "[" : ",[").append(values.substring(1)).append(']');
    }
    return utf8(
        "{\"dataframe_split\":{\"index\":[1,2],\"data\":[%s],\"columns\":[%s]}}"
            .formatted(data, names.substring(1)));
  }

  /** Tensors of a request, in JSON or binary. */
  static Body tensors(Batch rows, boolean binary, String rest) {
    Schema schema = rows.schema();
    StringBuilder json = new StringBuilder("{\"id\":\"7\",\"inputs\":[");
    ByteArrayOutputStream tail = new ByteArrayOutputStream();
    int count = 0;
    for (int f = 0; f < schema.denseDim(); f++) {
      float[] values = new float[rows.size()];
      for (int row = 0; row < values.length; row++) {
        values[row] = rows.dense()[row * schema.denseDim() + f];
      }
      json.append(count++ == 0 ? "" : ",");
      String empty = binary ? "\"empty\":\"nan\"," : "";
      json.append(floats(schema.dense().get(f), values, empty, binary, tail));
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      json.append(count++ == 0 ? "" : ",");
      json.append(slot(rows, s, binary, tail));
    }
    byte[] head = utf8(json + "]" + rest + "}");
    if (!binary) {
      return new Body(head, OptionalInt.empty());
    }
    byte[] all =
        ByteBuffer.allocate(head.length + tail.size()).put(head).put(tail.toByteArray()).array();
    return new Body(all, OptionalInt.of(head.length));
  }

  private static String slot(Batch rows, int slot, boolean binary, ByteArrayOutputStream tail) {
    Slot of = rows.schema().slots().get(slot);
    int size = rows.size();
    int all = rows.idCount(slot);
    if (of.hotness() == 1) {
      long[] values = new long[size];
      StringBuilder data = new StringBuilder();
      for (int row = 0; row < size; row++) {
        boolean missing = rows.idCount(slot, row) == 0;
        values[row] = missing ? Long.MIN_VALUE : rows.ids(slot)[rows.offsets(slot)[row]];
        data.append(row == 0 ? "" : ",").append(missing ? "null" : Long.toString(values[row]));
      }
      String empty = "\"empty\":" + Long.MIN_VALUE + ",";
      return tensor(
          of.name(), "INT64", size, binary ? empty : "", data, longs(values), binary, tail);
    }
    StringBuilder data = new StringBuilder();
    StringBuilder ends = new StringBuilder();
    long[] values = new long[all];
    for (int i = 0; i < all; i++) {
      values[i] = rows.ids(slot)[i];
      data.append(i == 0 ? "" : ",").append(values[i]);
    }
    ByteBuffer offsets = ByteBuffer.allocate(4 * size + 4).order(ByteOrder.LITTLE_ENDIAN);
    for (int row = 0; row <= size; row++) {
      offsets.putInt(rows.offsets(slot)[row]);
      ends.append(row == 0 ? "" : ",").append(rows.offsets(slot)[row]);
    }
    String text =
        tensor(of.name(), "INT64", all, "", data, longs(values), binary, tail)
            + ","
            + tensor(of.name() + ":offsets", "INT32", size + 1, "", ends, offsets, binary, tail);
    if (of.weighted()) {
      float[] weights = new float[all];
      System.arraycopy(rows.weights(slot), 0, weights, 0, all);
      text += "," + floats(of.name() + ":weights", weights, "", binary, tail);
    }
    return text;
  }

  private static ByteBuffer longs(long[] values) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asLongBuffer().put(values);
    return bytes;
  }

  private static String floats(
      String name, float[] values, String empty, boolean binary, ByteArrayOutputStream tail) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    StringBuilder data = new StringBuilder();
    for (int i = 0; i < values.length; i++) {
      data.append(i == 0 ? "" : ",").append(Float.isNaN(values[i]) ? "null" : values[i] + "");
    }
    return tensor(name, "FP32", values.length, empty, data, bytes, binary, tail);
  }

  private static String tensor(
      String name,
      String type,
      int size,
      String empty,
      CharSequence data,
      ByteBuffer bytes,
      boolean binary,
      ByteArrayOutputStream tail) {
    String values = "\"data\":[" + data + "]";
    if (binary) {
      tail.writeBytes(bytes.array());
      values = "\"parameters\":{%s\"binary_data_size\":%d}".formatted(empty, bytes.capacity());
    }
    return "{\"name\":\"%s\",\"shape\":[%d],\"datatype\":\"%s\",%s}"
        .formatted(name, size, type, values);
  }
}
