package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.model.Task;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Writes the answer to a request of the Open Inference Protocol. */
final class InferReply {
  private static final String BINARY = "application/octet-stream";

  /** What an output has. */
  private enum Kind {
    PROBABILITY,
    LOGIT,
    INDEX,
    SHARES,
    COLUMNS
  }

  private record Output(Kind kind, int task, String name, boolean binary) {}

  private final ServedVersion version;
  private final RequestContext context;
  private final InferRequest request;
  private final List<Task> tasks;
  private @Nullable Explanation explanation;

  InferReply(ServedVersion version, RequestContext context, InferRequest request) {
    this.version = version;
    this.context = context;
    this.request = request;
    tasks = version.tasks();
  }

  /** Scores the rows and writes the outputs. */
  Reply write() {
    List<Output> outputs = outputs();
    boolean logit = false;
    for (int i = 0; i < outputs.size(); i++) {
      logit |= outputs.get(i).kind == Kind.LOGIT;
    }
    context.scoring.run(version, context.rows, context.options.top, logit);
    if (context.options.explain) {
      explanation = Explanation.of(version, context);
    }
    JsonOutput out = context.output;
    out.clear();
    out.raw("{\"model_name\":").text(version.model());
    out.raw(",\"model_version\":\"").integer(version.step()).put('"');
    request.id().ifPresent(id -> out.raw(",\"id\":").text(id));
    out.raw(",\"outputs\":[");
    boolean binary = false;
    for (int i = 0; i < outputs.size(); i++) {
      if (i > 0) {
        out.put(',');
      }
      json(outputs.get(i), out);
      binary |= outputs.get(i).binary;
    }
    out.raw("]}");
    if (!binary) {
      return Reply.json(200, out.copy());
    }
    int length = out.size();
    for (Output output : outputs) {
      if (output.binary) {
        values(output, out);
      }
    }
    return new Reply(200, BINARY, OptionalInt.of(length), out.copy());
  }

  /** The outputs that are asked for, or the usual ones. */
  private List<Output> outputs() {
    List<Output> outputs = new ArrayList<>();
    boolean binary = context.options.binary;
    if (!request.outputs().isEmpty()) {
      for (InferOutput asked : request.outputs()) {
        outputs.add(output(asked.name(), asked.binary().orElse(binary)));
      }
      return outputs;
    }
    for (int task = 0; task < tasks.size(); task++) {
      String name = TaskNames.of(TaskNames.PROBABILITY, tasks, task);
      outputs.add(new Output(Kind.PROBABILITY, task, name, binary));
    }
    if (context.options.top > 0) {
      outputs.add(new Output(Kind.INDEX, 0, Metadata.INDEX, binary));
    }
    if (context.options.explain) {
      outputs.add(new Output(Kind.SHARES, 0, Metadata.SHARES, binary));
      outputs.add(new Output(Kind.COLUMNS, 0, Metadata.COLUMNS, binary));
    }
    return outputs;
  }

  private Output output(String name, boolean binary) {
    for (int task = 0; task < tasks.size(); task++) {
      if (name.equals(TaskNames.of(TaskNames.PROBABILITY, tasks, task))) {
        return new Output(Kind.PROBABILITY, task, name, binary);
      }
      if (name.equals(TaskNames.of(TaskNames.LOGIT, tasks, task))) {
        return new Output(Kind.LOGIT, task, name, binary);
      }
    }
    if (name.equals(Metadata.INDEX) && context.options.top > 0) {
      return new Output(Kind.INDEX, 0, name, binary);
    }
    if (context.options.explain && name.equals(Metadata.SHARES)) {
      return new Output(Kind.SHARES, 0, name, binary);
    }
    if (context.options.explain && name.equals(Metadata.COLUMNS)) {
      return new Output(Kind.COLUMNS, 0, name, binary);
    }
    throw new RefusedException(
        400,
        "outputs: got %s, expected an output of the model, such as %s"
            .formatted(
                Shown.line(PredictRequest.shorten(name)),
                TaskNames.of(TaskNames.PROBABILITY, tasks, 0)));
  }

  private Explanation explained() {
    return Optional.ofNullable(explanation).orElseThrow();
  }

  private void json(Output output, JsonOutput out) {
    int rows = context.scoring.count();
    out.raw("{\"name\":").text(output.name).raw(",\"shape\":[");
    int size = size(output);
    switch (output.kind) {
      case SHARES -> {
        out.integer(rows).put(',').integer(explained().columns().size());
        if (tasks.size() > 1) {
          out.put(',').integer(tasks.size());
        }
      }
      default -> out.integer(size);
    }
    out.raw("],\"datatype\":\"").raw(datatype(output).name()).put('"');
    if (output.binary) {
      out.raw(",\"parameters\":{\"binary_data_size\":").integer(bytes(output)).raw("}}");
      return;
    }
    out.raw(",\"data\":[");
    for (int i = 0; i < size; i++) {
      if (i > 0) {
        out.put(',');
      }
      switch (output.kind) {
        case INDEX -> out.integer(context.scoring.row(i));
        case COLUMNS -> out.text(explained().columns().get(i));
        default -> out.number(number(output, i));
      }
    }
    out.raw("]}");
  }

  private static Datatype datatype(Output output) {
    return switch (output.kind) {
      case PROBABILITY, LOGIT, SHARES -> Datatype.FP32;
      case INDEX -> Datatype.INT32;
      case COLUMNS -> Datatype.BYTES;
    };
  }

  private int size(Output output) {
    return switch (output.kind) {
      case PROBABILITY, LOGIT, INDEX -> context.scoring.count();
      case SHARES -> explained().shares().length;
      case COLUMNS -> explained().columns().size();
    };
  }

  private float number(Output output, int index) {
    return switch (output.kind) {
      case PROBABILITY -> context.scoring.probability(index, output.task);
      case LOGIT -> context.scoring.logit(index, output.task);
      default -> explained().shares()[index];
    };
  }

  private int bytes(Output output) {
    if (output.kind != Kind.COLUMNS) {
      return 4 * size(output);
    }
    int bytes = 0;
    for (String name : explained().columns()) {
      bytes += 4 + name.getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  private void values(Output output, JsonOutput out) {
    for (int i = 0; i < size(output); i++) {
      switch (output.kind) {
        case INDEX -> out.little(context.scoring.row(i));
        case COLUMNS -> {
          byte[] name = explained().columns().get(i).getBytes(StandardCharsets.UTF_8);
          out.little(name.length);
          out.bytes(name);
        }
        default -> out.little(Float.floatToRawIntBits(number(output, i)));
      }
    }
  }
}
