package dev.tern.serve.http;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.ServedVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Requests with made-up rows, which a server sends itself before it is ready. */
final class RequestWarmUp {
  private static final int MANY = 16;

  private RequestWarmUp() {}

  /** Made-up requests for a model: of one row and of some, by both protocols. */
  static List<HttpWarmUp.Asked> requests(Hosted model) {
    try (LiveModel.Lease lease = model.versions().getFirst().lease()) {
      ServedVersion version = lease.version();
      String predict = "/v1/models/" + model.name() + ":predict";
      return List.of(
          new HttpWarmUp.Asked(predict, instances(version, 1)),
          new HttpWarmUp.Asked("/v2/models/" + model.name() + "/infer", tensors(version)),
          new HttpWarmUp.Asked(predict, instances(version, MANY)));
    }
  }

  /** A made-up call by gRPC. */
  static byte[] call(Hosted model) {
    try (LiveModel.Lease lease = model.versions().getFirst().lease()) {
      return GrpcProtocol.example(lease.version());
    }
  }

  /** A value of each column that takes a single one. */
  private record Value(String name, boolean isDense, boolean isText) {}

  private static List<Value> values(ServedVersion version) {
    RowFiller filler = version.encoder().filler();
    Schema schema = version.encoder().rawSchema();
    List<Value> values = new ArrayList<>();
    schema.dense().forEach(name -> values.add(new Value(name, true, false)));
    for (Slot slot : schema.slots()) {
      int column = filler.column(slot.name());
      if (!filler.takesLists(column)) {
        values.add(new Value(slot.name(), false, filler.takesTexts(column)));
      }
    }
    return values;
  }

  private static byte[] instances(ServedVersion version, int rows) {
    StringBuilder row = new StringBuilder("{");
    for (Value each : values(version)) {
      row.append(row.length() == 1 ? "" : ",").append(JsonText.quoted(each.name())).append(':');
      row.append(each.isDense() ? "1.5" : each.isText() ? "\"warm\"" : "1");
    }
    row.append('}');
    String all = (row + ",").repeat(rows - 1) + row;
    return ("{\"instances\":[" + all + "]}").getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] tensors(ServedVersion version) {
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    for (Value each : values(version)) {
      json.append(json.charAt(json.length() - 1) == '[' ? "" : ",").append("{\"name\":");
      JsonText.quote(json, each.name());
      json.append(",\"shape\":[1],\"datatype\":\"")
          .append(each.isDense() ? "FP32" : each.isText() ? "BYTES" : "INT64")
          .append("\",\"data\":[")
          .append(each.isDense() ? "1.5" : each.isText() ? "\"warm\"" : "1")
          .append("]}");
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }
}
