package dev.tern.bench.serve;

import dev.tern.data.Batch;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How rows are sent to a server, and scores are read from its answers. */
enum Form {
  /** Rows as objects of JSON, as TensorFlow Serving takes them. */
  PREDICT,
  /** Tensors of JSON, by the Open Inference Protocol. */
  INFER,
  /** The same with binary tensors. */
  BINARY,
  /** The same in Protocol Buffers over gRPC, with raw tensors. */
  GRPC;

  private static final Pattern NUMBER = Pattern.compile("-?[0-9][0-9.eE+-]*");

  static Form of(String word) {
    for (Form form : values()) {
      if (form.word().equals(word)) {
        return form;
      }
    }
    throw new IllegalArgumentException(
        "--protocol: got " + word + ", expected some of predict, infer, binary, grpc");
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  Connection connect(int port) throws IOException {
    return this == GRPC ? new GrpcCaller(port) : new Caller(port);
  }

  byte[] request(Batch rows) {
    return switch (this) {
      case PREDICT -> Caller.post("/v1/models/m:predict", RowBodies.instances(rows));
      case INFER -> Caller.post("/v2/models/m/infer", RowBodies.tensors(rows));
      case BINARY -> {
        byte[] body = RowBodies.binary(rows);
        yield Caller.post(
            "/v2/models/m/infer",
            body,
            "Inference-Header-Content-Length: " + RowBodies.jsonLength(body) + "\r\n");
      }
      case GRPC -> GrpcCaller.message(RowBodies.message(rows));
    };
  }

  /** The scores of so many rows in an answer. */
  float[] scores(byte[] answer, int rows) {
    float[] scores = new float[rows];
    if (this == BINARY || this == GRPC) { // The answer ends with them.
      ByteBuffer.wrap(answer, answer.length - 4 * rows, 4 * rows)
          .order(ByteOrder.LITTLE_ENDIAN)
          .asFloatBuffer()
          .get(scores);
      return scores;
    }
    String text = new String(answer, StandardCharsets.UTF_8);
    String from = this == INFER ? "\"data\":[" : "\"predictions\":[";
    Matcher numbers = NUMBER.matcher(text).region(text.indexOf(from), text.length());
    for (int row = 0; row < rows; row++) {
      scores[row] = numbers.find() ? Float.parseFloat(numbers.group()) : Float.NaN;
    }
    return scores;
  }
}
