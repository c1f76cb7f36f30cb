package dev.tern.serve;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.RowFiller;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * Drives the protocols with made-up rows before a server says that it is ready, so that the JIT has
 * compiled what requests run besides the model.
 */
final class RequestWarmUp {
  private static final long MOST_NANOS = 2_000_000_000L;
  private static final int MOST_ROUNDS = 10_000;
  private static final int MANY = 16;

  private RequestWarmUp() {}

  /** Answers made-up requests, for 2 seconds at most; nothing of it is counted. */
  static void run(Hosted model, Answers.Protocols protocols) {
    try (LiveModel.Lease lease = model.versions().getFirst().lease()) {
      ServedVersion version = lease.version();
      List<byte[]> rows = List.of(instances(version, 1), instances(version, MANY));
      byte[] tensors = tensors(version);
      long end = System.nanoTime() + MOST_NANOS;
      for (int round = 0; round < MOST_ROUNDS && System.nanoTime() < end; round++) {
        byte[] body = rows.get(round & 1);
        protocols.predict().answer(version, body, body.length, OptionalInt.empty());
        protocols.infer().answer(version, tensors, tensors.length, OptionalInt.empty());
      }
    } catch (RefusedException e) {
      return; // The made-up values are none that this model takes; its first requests are slower.
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
