package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.model.Task;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tensors that a request is answered with, in whatever form they are written. */
final class Outputs {
  /** Outputs of a request: a score of each of many tasks. */
  private static final int MOST = 1_000;

  /** What an output has. */
  enum Kind {
    PROBABILITY,
    LOGIT,
    INDEX,
    SHARES,
    COLUMNS
  }

  /**
   * A tensor.
   *
   * @param binary whether it is asked for as bytes
   */
  record Output(Kind kind, int task, String name, boolean binary) {
    Datatype datatype() {
      return switch (kind) {
        case PROBABILITY, LOGIT, SHARES -> Datatype.FP32;
        case INDEX -> Datatype.INT32;
        case COLUMNS -> Datatype.BYTES;
      };
    }
  }

  private final ServedVersion version;
  private final RequestContext context;
  private final List<Task> tasks;
  private final List<Output> all;
  private @Nullable Explanation explanation;

  /**
   * @param asked what is asked for; none where the usual outputs are
   */
  Outputs(ServedVersion version, RequestContext context, List<InferOutput> asked) {
    this.version = version;
    this.context = context;
    tasks = version.tasks();
    all = asked.isEmpty() ? usual() : named(asked);
  }

  /** Refuses one more output than a model could have. */
  static void requireRoom(List<InferOutput> asked) {
    if (asked.size() == MOST) {
      throw JsonBody.wrong("more outputs", "at most " + MOST);
    }
  }

  /** Scores the rows, as the outputs need it. */
  List<Output> score() {
    version.requireBrief(context);
    boolean logit = false;
    for (int i = 0; i < all.size(); i++) {
      logit |= all.get(i).kind == Kind.LOGIT;
    }
    context.scoring.run(version, context.rows, context.options.top, logit);
    if (context.options.explain) {
      explanation = Explanation.of(version, context);
    }
    return all;
  }

  private List<Output> usual() {
    boolean binary = context.options.binary;
    List<Output> outputs = new ArrayList<>();
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

  private List<Output> named(List<InferOutput> asked) {
    List<Output> outputs = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (InferOutput each : asked) {
      if (!names.add(each.name())) {
        throw new RefusedException(
            400,
            "outputs: got %s twice, expected it once"
                .formatted(Shown.line(JsonBody.shorten(each.name()))));
      }
      outputs.add(named(each.name(), each.binary().orElse(context.options.binary)));
    }
    return outputs;
  }

  private Output named(String name, boolean binary) {
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
                Shown.line(JsonBody.shorten(name)), TaskNames.of(TaskNames.PROBABILITY, tasks, 0)));
  }

  private Explanation explained() {
    return Optional.ofNullable(explanation).orElseThrow();
  }

  /** How many dimensions an output has, one for the first. */
  int rank(Output output) {
    return output.kind != Kind.SHARES ? 1 : tasks.size() > 1 ? 3 : 2;
  }

  /** A dimension of an output, 0 for the first. */
  int dimension(Output output, int number) {
    if (output.kind != Kind.SHARES) {
      return size(output);
    }
    return switch (number) {
      case 0 -> context.scoring.count();
      case 1 -> explained().columns().size();
      default -> tasks.size();
    };
  }

  /** The values of an output. */
  int size(Output output) {
    return switch (output.kind) {
      case PROBABILITY, LOGIT, INDEX -> context.scoring.count();
      case SHARES -> explained().shares().length;
      case COLUMNS -> explained().columns().size();
    };
  }

  /** A value of an output of {@code FP32}. */
  float number(Output output, int place) {
    return switch (output.kind) {
      case PROBABILITY -> context.scoring.probability(place, output.task);
      case LOGIT -> context.scoring.logit(place, output.task);
      default -> explained().shares()[place];
    };
  }

  /** The number of the row that is answered at a place. */
  int row(int place) {
    return context.scoring.row(place);
  }

  /** The name of a column that shares are of. */
  String column(int place) {
    return explained().columns().get(place);
  }
}
