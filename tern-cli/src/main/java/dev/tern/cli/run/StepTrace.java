package dev.tern.cli.run;

import dev.tern.internal.json.Json;
import dev.tern.tensor.StepProfile;
import java.util.ArrayList;
import java.util.List;

/**
 * The last run of a training step as a trace in Chrome's format, which Perfetto reads: a row for
 * ops, a row for ops that run again, and the bytes in use. Times are microseconds.
 */
public final class StepTrace {
  private static final long PROCESS = 1;

  private StepTrace() {}

  /** The trace as JSON. */
  public static String json(StepProfile profile) {
    List<Json> events = new ArrayList<>();
    for (int i = 0; i < profile.steps().size(); i++) {
      StepProfile.Step step = profile.steps().get(i);
      events.add(
          Json.object()
              .put("name", step.what())
              .put("cat", step.isAgain() ? "computed again" : "step")
              .put("ph", "X")
              .put("pid", PROCESS)
              .put("tid", step.isAgain() ? 2L : 1L)
              .put("ts", step.startNanos() / 1e3)
              .put("dur", (step.endNanos() - step.startNanos()) / 1e3)
              .put("args", arguments(i, step)));
      events.add(
          Json.object()
              .put("name", "bytes in use")
              .put("ph", "C")
              .put("pid", PROCESS)
              .put("ts", step.startNanos() / 1e3)
              .put("args", Json.object().put("bytes", profile.liveBytes(i))));
    }
    return Json.object().put("traceEvents", new Json.Arr(events)).toString();
  }

  private static Json.Obj arguments(int number, StepProfile.Step step) {
    Json.Obj arguments = Json.object().put("step", (long) number);
    for (StepProfile.Source source : step.sources()) {
      String ops = String.join(" ", source.ops());
      String lines = String.join(" > ", source.lines().reversed());
      String role = source.isGradient() ? "gradient, " : "";
      arguments.put("source " + arguments.fields().size(), lines + ": " + role + ops);
    }
    return arguments;
  }
}
