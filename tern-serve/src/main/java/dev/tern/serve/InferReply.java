package dev.tern.serve;

import dev.tern.serve.wire.JsonOutput;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;

/** Writes the answer to a request of the Open Inference Protocol in JSON. */
final class InferReply {
  private static final String BINARY = "application/octet-stream";

  private final ServedVersion version;
  private final RequestContext context;
  private final InferRequest request;
  private final Outputs outputs;

  InferReply(ServedVersion version, RequestContext context, InferRequest request) {
    this.version = version;
    this.context = context;
    this.request = request;
    outputs = new Outputs(version, context, request.outputs());
  }

  /** Scores the rows and writes the outputs. */
  Reply write() {
    List<Outputs.Output> all = outputs.score();
    JsonOutput out = context.output;
    out.clear();
    out.raw("{\"model_name\":").text(version.model());
    out.raw(",\"model_version\":\"").integer(version.step()).put('"');
    request.id().ifPresent(id -> out.raw(",\"id\":").text(id));
    out.raw(",\"outputs\":[");
    boolean binary = false;
    for (int i = 0; i < all.size(); i++) {
      if (i > 0) {
        out.put(',');
      }
      json(all.get(i), out);
      binary |= all.get(i).binary();
    }
    out.raw("]}");
    if (!binary) {
      return Reply.json(200, out.copy());
    }
    int length = out.size();
    for (Outputs.Output output : all) {
      if (output.binary()) {
        values(output, out);
      }
    }
    return new Reply(200, BINARY, OptionalInt.of(length), out.copy());
  }

  private void json(Outputs.Output output, JsonOutput out) {
    out.raw("{\"name\":").text(output.name()).raw(",\"shape\":[");
    for (int i = 0; i < outputs.rank(output); i++) {
      out.raw(i == 0 ? "" : ",").integer(outputs.dimension(output, i));
    }
    out.raw("],\"datatype\":\"").raw(output.datatype().name()).put('"');
    if (output.binary()) {
      out.raw(",\"parameters\":{\"binary_data_size\":").integer(bytes(output)).raw("}}");
      return;
    }
    out.raw(",\"data\":[");
    for (int i = 0; i < outputs.size(output); i++) {
      if (i > 0) {
        out.put(',');
      }
      switch (output.kind()) {
        case INDEX -> out.integer(outputs.row(i));
        case COLUMNS -> out.text(outputs.column(i));
        default -> out.number(outputs.number(output, i));
      }
    }
    out.raw("]}");
  }

  private int bytes(Outputs.Output output) {
    if (output.kind() != Outputs.Kind.COLUMNS) {
      return 4 * outputs.size(output);
    }
    int bytes = 0;
    for (int i = 0; i < outputs.size(output); i++) {
      bytes += 4 + outputs.column(i).getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  private void values(Outputs.Output output, JsonOutput out) {
    for (int i = 0; i < outputs.size(output); i++) {
      switch (output.kind()) {
        case INDEX -> out.little(outputs.row(i));
        case COLUMNS -> {
          byte[] name = outputs.column(i).getBytes(StandardCharsets.UTF_8);
          out.little(name.length);
          out.bytes(name);
        }
        default -> out.little(Float.floatToRawIntBits(outputs.number(output, i)));
      }
    }
  }
}
