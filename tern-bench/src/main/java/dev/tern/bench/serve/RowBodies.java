package dev.tern.bench.serve;

import dev.tern.data.Batch;
import dev.tern.data.Schema;

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

  private static void begin(String name, String type, int rows, StringBuilder json) {
    json.append(
        "{\"name\":\"%s\",\"shape\":[%s],\"datatype\":\"%s\",\"data\":["
            .formatted(name, rows, type));
  }
}
