package dev.tern.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.json.Json;
import dev.tern.model.Model;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import java.nio.file.Path;

/** What checkpoints say of the run that wrote them. */
final class RunFacts {
  /** How tables store weights; where it is absent, as F32. */
  static final String STORAGE = "storage";

  /** The optimizer of the first part of rows, and how wide that is; absent where it has none. */
  static final String FIRST_PART = "firstPart";

  static final String FIRST_WIDTH = "firstPartWidth";

  private RunFacts() {}

  /** The model, what the run was told, and where it stands. */
  static Json.Obj of(Network network, Model.Factory factory, RunState state, RunSettings options) {
    Json.Obj facts = Json.object();
    if (factory instanceof ModelConfig config) {
      facts.put("model", config.type().name()).put("modelConfig", ModelJson.write(config));
    } else {
      facts.put("model", network.model().getClass().getName());
    }
    told(options).fields().forEach(facts::put);
    if (options.tables().firstPart().isPresent()) {
      facts.put(FIRST_WIDTH, (long) network.model().embeddingParts().getFirst());
    }
    return facts.put(
        "state",
        Json.object()
            .put("step", state.step())
            .put("epoch", state.epoch())
            .put("rows", state.rows())
            .put("bestAuc", Double.toString(state.bestAuc()))
            .put("bestStep", state.bestStep())
            .put("stale", state.stale()));
  }

  /** Where the run stood. */
  static RunState state(Json.Obj facts) {
    Json.Obj state = facts.object("state");
    return new RunState(
        state.integer("step"),
        (int) state.integer("epoch"),
        state.integer("rows"),
        Double.parseDouble(state.text("bestAuc")),
        state.integer("bestStep"),
        (int) state.integer("stale"));
  }

  /** What a resumed run must be told again, or its weights would be others. */
  private static Json.Obj told(RunSettings options) {
    Json.Obj optimizer = OptimizerJson.write(options.optimizer());
    if (options.weightDecay() > 0) {
      optimizer.put("weightDecay", (double) options.weightDecay());
    }
    if (options.clipNorm() > 0) {
      optimizer.put("clipNorm", (double) options.clipNorm());
    }
    return Json.object()
        .put("seed", options.seed())
        .put("optimizer", optimizer)
        .put("tables", told(options.tables()))
        .put("schedule", options.schedule().toString())
        .put("batch", (long) options.batch())
        .put("shuffleRows", (long) options.shuffleRows());
  }

  private static Json.Obj told(TableOptions options) {
    Json.Obj tables =
        Json.object()
            .put("optimizer", OptimizerJson.write(options.optimizer()))
            .put("initRange", (double) options.initRange())
            .put("l2", (double) options.l2())
            .put("combiner", options.combiner().name());
    options.firstPart().ifPresent(first -> tables.put(FIRST_PART, OptimizerJson.write(first)));
    UnknownRowJson.write(options.unknown(), tables);
    if (options.storage() != DType.F32) {
      tables.put(STORAGE, options.storage().name());
    }
    if (!options.rows().isAll()) {
      tables.put("rows", RowPolicyJson.write(options.rows()));
    }
    if (!options.rowsOf().isEmpty()) {
      Json.Obj rowsOf = Json.object();
      options.rowsOf().forEach((table, policy) -> rowsOf.put(table, RowPolicyJson.write(policy)));
      tables.put("rowsOf", rowsOf);
    }
    if (!options.limits().equals(RowLimits.NONE)) {
      tables.put("limits", limits(options.limits()));
    }
    return tables;
  }

  private static Json.Obj limits(RowLimits limits) {
    Json.Obj json = Json.object();
    if (limits.clipNorm() > 0) {
      json.put("clipNorm", (double) limits.clipNorm());
    }
    if (Float.isFinite(limits.low())) {
      json.put("low", (double) limits.low());
    }
    if (Float.isFinite(limits.high())) {
      json.put("high", (double) limits.high());
    }
    return json;
  }

  /** Throws if a run of this model and these options would not go on as that of {@code facts}. */
  static void requireSame(Json.Obj facts, Path folder, Model.Factory factory, RunSettings options) {
    Json.Obj given = told(options);
    if (factory instanceof ModelConfig config) {
      given.put("modelConfig", ModelJson.write(config));
    }
    given
        .fields()
        .forEach((name, value) -> {
          String saved = String.valueOf(facts.fields().get(name));
          if (!saved.equals(value.toString())) {
            throw new IllegalArgumentException(
                "resume: got "
                    + name
                    + " "
                    + value
                    + ", expected "
                    + saved
                    + " as in "
                    + folder
                    + "; give the options of the run, or start a new one");
          }
        });
  }
}
