package dev.tern.cli.run;

import dev.tern.internal.json.Json;
import dev.tern.tensor.StepProfile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A web page that shows the memory of a step, in one file. */
public final class MemoryPage {
  private static final String TEMPLATE = "memory.html";
  private static final String DATA = "/*DATA*/null";

  private MemoryPage() {}

  /** The page for a browser. */
  public static String html(StepProfile profile, String title) {
    // A closing tag inside the script would end it.
    String data = data(profile, title).toString().replace("</", "<\\/");
    return template().replace(DATA, data);
  }

  private static Json.Obj data(StepProfile profile, String title) {
    List<Json> steps = new ArrayList<>();
    for (StepProfile.Step step : profile.steps()) {
      steps.add(
          Json.object()
              .put("what", step.what())
              .put("again", step.isAgain())
              .put("start", step.startNanos() / 1e6)
              .put("end", step.endNanos() / 1e6)
              .put("sources", sources(step)));
    }
    List<Json> blocks = new ArrayList<>();
    for (StepProfile.Block block : profile.blocks()) {
      blocks.add(
          Json.object()
              .put("maker", (long) block.maker())
              .put("scratch", block.isScratch())
              .put("offset", block.offset())
              .put("bytes", block.bytes())
              .put("from", (long) block.from())
              .put("to", (long) block.to()));
    }
    return Json.object()
        .put("title", title)
        .put("bytes", profile.bytes())
        .put("budget", profile.budget() == Long.MAX_VALUE ? 0 : profile.budget())
        .put("withoutBudget", profile.withoutBudget())
        .put("peak", (long) profile.peakStep())
        .put("shareAgain", profile.shareAgain())
        .put("steps", new Json.Arr(steps))
        .put("blocks", new Json.Arr(blocks));
  }

  private static Json.Arr sources(StepProfile.Step step) {
    List<Json> sources = new ArrayList<>();
    for (StepProfile.Source source : step.sources()) {
      sources.add(
          Json.object()
              .put("ops", String.join(" ", source.ops()))
              .put("lines", strings(source.lines()))
              .put("gradient", source.isGradient()));
    }
    return new Json.Arr(sources);
  }

  private static Json.Arr strings(List<String> values) {
    List<Json> all = new ArrayList<>();
    values.forEach(value -> all.add(new Json.Str(value)));
    return new Json.Arr(all);
  }

  private static String template() {
    try (InputStream in = MemoryPage.class.getResourceAsStream(TEMPLATE)) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
