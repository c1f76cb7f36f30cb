package dev.tern.serve;

import dev.tern.base.DataException;
import dev.tern.model.Task;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.util.List;
import tools.jackson.core.JacksonException;

/**
 * The REST interface of TensorFlow Serving, rows and columns, and that of MLflow. Bytes in, bytes
 * out; a request that is not answered throws a {@link RefusedException}. Thread-safe.
 */
public final class PredictProtocol {
  private final RequestContexts contexts;

  public PredictProtocol(RequestContexts contexts) {
    this.contexts = contexts;
  }

  /** Answers {@code POST /v1/models/M:predict}, whose body is {@code body[0, length)}. */
  public Reply predict(ServedVersion version, byte[] body, int length) {
    return answer(version, body, length, false);
  }

  /** Answers {@code POST /invocations}, which has always a prediction a row. */
  public Reply invocations(ServedVersion version, byte[] body, int length) {
    return answer(version, body, length, true);
  }

  /** Answers {@code GET /v1/models/M}. */
  static Reply status(ServedVersion version) {
    JsonOutput out = new JsonOutput();
    out.raw("{\"model_version_status\":[{\"version\":\"")
        .integer(version.step())
        .raw(
            "\",\"state\":\"AVAILABLE\",\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}]}");
    return Reply.json(200, out.copy());
  }

  private Reply answer(ServedVersion version, byte[] body, int length, boolean invocation) {
    RequestContext context = contexts.take(version.encoder());
    try {
      PredictRequest request = new PredictRequest(context, body, length, invocation);
      request.read();
      version.requireBrief(context);
      Scoring scoring = context.scoring;
      scoring.run(version, context.rows, context.options.top, false);
      JsonOutput out = context.output;
      out.clear();
      if (request.byColumn() && !invocation) {
        writeColumns(version.tasks(), scoring, out);
      } else {
        writeRows(version.tasks(), scoring, out);
      }
      if (context.options.top > 0) {
        writeIndices(scoring, out);
      }
      if (context.options.explain) {
        out.raw(",\"explanations\":");
        Explanation.of(version, context).writeRows(out);
      }
      out.put('}');
      return Reply.json(200, out.copy());
    } catch (JacksonException e) {
      throw JsonBody.malformed(e);
    } catch (IllegalArgumentException | DataException e) {
      throw new RefusedException(400, String.valueOf(e.getMessage()));
    } finally {
      contexts.give(context);
    }
  }

  private static void writeRows(List<Task> tasks, Scoring scoring, JsonOutput out) {
    out.raw("{\"predictions\":[");
    for (int i = 0; i < scoring.count(); i++) {
      if (i > 0) {
        out.put(',');
      }
      if (tasks.size() == 1) {
        out.number(scoring.probability(i, 0));
        continue;
      }
      for (int task = 0; task < tasks.size(); task++) {
        out.put(task == 0 ? '{' : ',')
            .text(TaskNames.of(TaskNames.PROBABILITY, tasks, task))
            .put(':')
            .number(scoring.probability(i, task));
      }
      out.put('}');
    }
    out.put(']');
  }

  private static void writeColumns(List<Task> tasks, Scoring scoring, JsonOutput out) {
    out.raw("{\"outputs\":");
    for (int task = 0; task < tasks.size(); task++) {
      if (tasks.size() > 1) {
        out.put(task == 0 ? '{' : ',')
            .text(TaskNames.of(TaskNames.PROBABILITY, tasks, task))
            .put(':');
      }
      out.put('[');
      for (int i = 0; i < scoring.count(); i++) {
        if (i > 0) {
          out.put(',');
        }
        out.number(scoring.probability(i, task));
      }
      out.put(']');
    }
    if (tasks.size() > 1) {
      out.put('}');
    }
  }

  private static void writeIndices(Scoring scoring, JsonOutput out) {
    out.raw(",\"indices\":[");
    for (int i = 0; i < scoring.count(); i++) {
      if (i > 0) {
        out.put(',');
      }
      out.integer(scoring.row(i));
    }
    out.put(']');
  }
}
