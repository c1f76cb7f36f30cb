package dev.tern.checkpoint;

import dev.tern.data.Schema;
import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.model.Task;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What a manifest says about the run that wrote it: model, settings and state, as JSON. */
final class RunFacts {
  /** The width of the first part of rows, if it has an optimizer of its own; else absent. */
  static final String FIRST_WIDTH = "firstPartWidth";

  /** The best value of the figure that decides, whichever it is. */
  private static final String BEST = "bestAuc";

  /** The figure that decides; absent for the AUC of the first task. */
  private static final String MONITOR = "monitor";

  /** Names of parameters that stay as they are; absent for none. */
  private static final String FROZEN = "frozen";

  /** Lanes of a batch; absent for one. */
  private static final String LANES = "lanes";

  /** The tasks of the model; absent where they are all labels of the rows. */
  private static final String TASKS = "tasks";

  private RunFacts() {}

  /** The model, the settings and the state of a run. */
  static Json.Obj of(Network network, ModelFactory factory, RunState state, RunSettings options) {
    Json.Obj facts = Json.object();
    if (factory instanceof ModelConfig config) {
      facts.put("model", config.type().name()).put("modelConfig", ModelJson.write(config));
    } else {
      facts.put("model", network.model().getClass().getName());
    }
    List<Task> tasks = factory.tasks(network.schema());
    if (!tasks.equals(Task.ofLabels(network.schema()))) {
      facts.put(TASKS, ModelJson.tasks(tasks));
    }
    told(options).fields().forEach(facts::put);
    if (!options.monitored().isEmpty()) {
      facts.put(MONITOR, options.monitored());
    }
    if (options.lanes() > 1) {
      facts.put(LANES, options.lanes());
    }
    if (!options.frozen().isEmpty()) {
      facts.put(FROZEN, names(options.frozen()));
    }
    if (options.tables().firstPart().isPresent()) {
      facts.put(FIRST_WIDTH, network.model().embeddingParts().getFirst());
    }
    return facts.put(
        "state",
        Json.object()
            .put("step", state.step())
            .put("epoch", state.epoch())
            .put("rows", state.rows())
            .put(BEST, Double.toString(state.best()))
            .put("bestStep", state.bestStep())
            .put("stale", state.stale()));
  }

  private static Json names(List<String> names) {
    return new Json.Arr(names.stream().<Json>map(Json.Str::new).toList());
  }

  /** What a checkpoint of rows of {@code schema} says; what it leaves out is the default. */
  private static @Nullable Json saved(Json.Obj facts, String name, Schema schema) {
    Json told = facts.fields().get(name);
    if (told != null) {
      return told;
    }
    return switch (name) {
      case TASKS -> ModelJson.tasks(Task.ofLabels(schema));
      case MONITOR -> new Json.Str("");
      case FROZEN -> names(List.of());
      case LANES -> new Json.Int(1);
      default -> null;
    };
  }

  /** Throws if {@code factory} gives its logits other labels than the model of {@code facts}. */
  static void requireLabels(Json.Obj facts, Path folder, ModelFactory factory, Schema schema) {
    List<String> given = factory.tasks(schema).stream().map(Task::label).toList();
    List<String> saved =
        facts.has(TASKS)
            ? facts.array(TASKS).stream()
                .map(task -> task.asObject(folder + ": " + TASKS).text("label"))
                .toList()
            : schema.labels();
    if (!given.equals(saved)) {
      throw new IllegalArgumentException(
          "open: got a model of the labels %s, expected %s as in %s; name them with withTasks"
              .formatted(given, saved, folder));
    }
  }

  /** The state of the run. */
  static RunState state(Json.Obj facts) {
    Json.Obj state = facts.object("state");
    return new RunState(
        state.integer("step"),
        (int) state.integer("epoch"),
        state.integer("rows"),
        Double.parseDouble(state.text(BEST)),
        state.integer("bestStep"),
        (int) state.integer("stale"));
  }

  /** The settings that a resumed run must have, or its weights would differ. */
  private static Json.Obj told(RunSettings options) {
    Json.Obj optimizer = OptimizerJson.write(options.optimizer());
    if (options.weightDecay() > 0) {
      optimizer.put("weightDecay", options.weightDecay());
    }
    if (options.clipNorm() > 0) {
      optimizer.put("clipNorm", options.clipNorm());
    }
    return Json.object()
        .put("seed", options.seed())
        .put("optimizer", optimizer)
        .put("tables", TableOptionsJson.write(options.tables()))
        .put("schedule", options.schedule().toString())
        .put("batch", options.batch())
        .put("shuffleRows", options.shuffleRows());
  }

  /**
   * Throws if optimizers and tables of these settings keep other state than those of {@code facts}.
   */
  static void requireSameState(Json.Obj facts, Path folder, RunSettings options) {
    Map<String, String> saved = kept(facts);
    Json.Obj told = told(options).put(FROZEN, names(options.frozen()));
    Map<String, String> given = kept(told);
    Set<String> names = new TreeSet<>(saved.keySet());
    names.addAll(given.keySet());
    for (String name : names) {
      String before = saved.getOrDefault(name, "none");
      String now = given.getOrDefault(name, "none");
      if (!now.equals(before)) {
        throw new IllegalArgumentException(
            "begin: got the %s %s, expected %s as in %s, whose state it goes on with; give the same, or begin with the weights alone"
                .formatted(name, now, before, folder));
      }
    }
  }

  private static Map<String, String> kept(Json.Obj facts) {
    Map<String, String> state = TableOptionsJson.state(facts.object("tables"));
    state.put("optimizer", OptimizerJson.withoutRate(facts.object("optimizer")));
    Json frozen = facts.fields().getOrDefault(FROZEN, names(List.of()));
    state.put("frozen parameters", frozen.toString());
    return state;
  }

  /** Throws if a run of this model and these settings would not continue as {@code facts} say. */
  static void requireSame(
      Json.Obj facts, Path folder, ModelFactory factory, Schema schema, RunSettings options) {
    Json.Obj given = told(options);
    given.put(TASKS, ModelJson.tasks(factory.tasks(schema)));
    given.put(MONITOR, options.monitored());
    given.put(FROZEN, names(options.frozen()));
    given.put(LANES, options.lanes());
    if (factory instanceof ModelConfig config) {
      given.put("modelConfig", ModelJson.write(config));
    }
    given
        .fields()
        .forEach((name, value) -> {
          String saved = String.valueOf(saved(facts, name, schema));
          if (!saved.equals(value.toString())) {
            throw new IllegalArgumentException(
                "resume: got %s %s, expected %s as in %s; give the options of the run, or start a new one"
                    .formatted(name, value, saved, folder));
          }
        });
  }
}
