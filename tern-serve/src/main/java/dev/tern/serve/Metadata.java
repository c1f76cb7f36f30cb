package dev.tern.serve;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.RowFiller;
import dev.tern.model.Task;
import dev.tern.serve.wire.JsonOutput;
import java.util.List;

/** What the Open Inference Protocol tells of the server and of a model. */
public final class Metadata {
  static final String INDEX = "index";
  static final String SHARES = "shares";
  static final String COLUMNS = "columns";
  static final String PLATFORM = "tern_checkpoint";

  private Metadata() {}

  /** The type of tensor that fits a column best. */
  static Datatype datatype(RowFiller filler, int column) {
    if (filler.takesTexts(column)) {
      return Datatype.BYTES;
    }
    if (filler.slot(column) < 0) {
      return Datatype.FP32;
    }
    return filler.isUnsigned(column) ? Datatype.UINT64 : Datatype.INT64;
  }

  /** {@code GET /v2}. */
  static Reply server(String version) {
    JsonOutput out = new JsonOutput();
    out.raw("{\"name\":\"tern\",\"version\":").text(version);
    out.raw(",\"extensions\":[\"binary_tensor_data\"]}");
    return Reply.json(200, out.copy());
  }

  /** {@code GET /v2/models/M} of a model with one version. */
  static Reply model(ServedVersion version) {
    return model(version, List.of(Long.toString(version.step())));
  }

  /**
   * {@code GET /v2/models/M}.
   *
   * @param versions all that are served by its name
   */
  public static Reply model(ServedVersion version, List<String> versions) {
    JsonOutput out = new JsonOutput();
    out.raw("{\"name\":").text(version.model());
    out.raw(",\"versions\":[");
    for (int at = 0; at < versions.size(); at++) {
      out.raw(at == 0 ? "" : ",").text(versions.get(at));
    }
    out.raw("],\"platform\":").text(PLATFORM).raw(",\"inputs\":[");
    RowFiller filler = version.encoder().filler();
    Schema schema = version.encoder().rawSchema();
    int count = 0;
    for (String name : schema.dense()) {
      input(filler, filler.column(name), count++, out);
    }
    for (Slot slot : schema.slots()) {
      input(filler, filler.column(slot.name()), count++, out);
    }
    out.raw("],\"outputs\":[");
    outputs(version.tasks(), out);
    out.raw("]}");
    return Reply.json(200, out.copy());
  }

  private static void input(RowFiller filler, int column, int before, JsonOutput out) {
    if (before > 0) {
      out.put(',');
    }
    out.raw("{\"name\":").text(filler.name(column));
    out.raw(",\"datatype\":\"").raw(datatype(filler, column).name());
    out.raw("\",\"shape\":[-1").raw(filler.takesLists(column) ? ",-1" : "").put(']');
    if (filler.takesLists(column) || filler.isWeighted(column)) {
      String name = filler.name(column);
      out.raw(",\"parameters\":{\"offsets\":").text(name + InferInput.Role.OFFSETS.suffix);
      if (filler.isWeighted(column)) {
        out.raw(",\"weights\":").text(name + InferInput.Role.WEIGHTS.suffix);
      }
      out.put('}');
    }
    out.put('}');
  }

  private static void outputs(List<Task> tasks, JsonOutput out) {
    for (int task = 0; task < tasks.size(); task++) {
      if (task > 0) {
        out.put(',');
      }
      out.raw("{\"name\":").text(TaskNames.of(TaskNames.PROBABILITY, tasks, task));
      out.raw(",\"datatype\":\"FP32\",\"shape\":[-1]}");
    }
  }
}
