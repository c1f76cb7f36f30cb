package dev.tern.serve;

import dev.tern.serve.wire.ProtoWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Writes a message {@code inference.ModelInferResponse} of Protocol Buffers. */
final class ProtoReply {
  private final ServedVersion version;
  private final RequestContext context;
  private final ProtoRequest request;
  private final Outputs outputs;

  ProtoReply(ServedVersion version, RequestContext context, ProtoRequest request) {
    this.version = version;
    this.context = context;
    this.request = request;
    outputs = new Outputs(version, context, request.outputs());
  }

  /** Scores the rows and writes the outputs. */
  Reply write() {
    List<Outputs.Output> all = outputs.score();
    ProtoWriter out = context.message.clear();
    out.text(1, version.model()).text(2, Long.toString(version.step())).text(3, request.id());
    for (int i = 0; i < all.size(); i++) {
      Outputs.Output output = all.get(i);
      int mark = out.begin(5);
      out.text(1, output.name()).text(2, output.datatype().name());
      int shape = out.begin(3);
      for (int d = 0; d < outputs.rank(output); d++) {
        out.varint(outputs.dimension(output, d));
      }
      out.end(shape);
      if (!request.raw()) {
        int contents = out.begin(5);
        contents(output, out);
        out.end(contents);
      }
      out.end(mark);
    }
    for (int i = 0; request.raw() && i < all.size(); i++) {
      raw(all.get(i), out);
    }
    return GrpcProtocol.reply(out);
  }

  private void contents(Outputs.Output output, ProtoWriter out) {
    int size = outputs.size(output);
    int field = ContentsFlow.field(output.datatype());
    switch (output.kind()) {
      case COLUMNS -> {
        for (int i = 0; i < size; i++) {
          out.bytes(field, outputs.column(i).getBytes(StandardCharsets.UTF_8));
        }
      }
      case INDEX -> {
        int mark = out.begin(field);
        for (int i = 0; i < size; i++) {
          out.varint(outputs.row(i));
        }
        out.end(mark);
      }
      default -> {
        out.beginBytes(field, 4 * size);
        numbers(output, out);
      }
    }
  }

  private void numbers(Outputs.Output output, ProtoWriter out) {
    for (int i = 0; i < outputs.size(output); i++) {
      out.little(Float.floatToRawIntBits(outputs.number(output, i)));
    }
  }

  private void raw(Outputs.Output output, ProtoWriter out) {
    int mark = out.begin(6);
    for (int i = 0; output.kind() == Outputs.Kind.INDEX && i < outputs.size(output); i++) {
      out.little(outputs.row(i));
    }
    for (int i = 0; output.kind() == Outputs.Kind.COLUMNS && i < outputs.size(output); i++) {
      byte[] name = outputs.column(i).getBytes(StandardCharsets.UTF_8);
      out.little(name.length);
      out.raw(name);
    }
    if (output.datatype() == Datatype.FP32) {
      numbers(output, out);
    }
    out.end(mark);
  }
}
