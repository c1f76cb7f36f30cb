package dev.tern.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.json.Json;
import dev.tern.optim.Optimizer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * {@link TableOptions} in a manifest. Newer options are left out if they have their default, so
 * that a manifest of an older version compares equal.
 */
final class TableOptionsJson {
  /** What tables store weights as; absent for F32. */
  private static final String STORAGE = "storage";

  /** The optimizer of the first part of rows; absent without one. */
  private static final String FIRST_PART = "firstPart";

  /** What an id without a row reads as. */
  private static final String UNKNOWN = "unknown";

  /** Combiners of single slots. */
  private static final String COMBINERS = "combiners";

  private static final String OPTIMIZER = "optimizer";

  /** What single tables have otherwise than the others, by name; absent for nothing. */
  private static final String OWN = "own";

  /** Initial weights are one of: uniform in a range, normal with a deviation, a constant. */
  private static final String RANGE = "initRange";

  private static final String DEVIATION = "initDeviation";
  private static final String CONSTANT = "initConstant";

  private static final String ROWS = "rows";
  private static final String ROWS_OF = "rowsOf";
  private static final String HASH = "HASH";
  private static final String BUCKETS = "buckets";

  private TableOptionsJson() {}

  /** All options that decide weights. */
  static Json.Obj write(TableOptions options) {
    Json.Obj tables = Json.object().put(OPTIMIZER, OptimizerJson.write(options.optimizer()));
    putInitial(tables, options.initial());
    tables.put("l2", options.l2()).put("combiner", options.combiner().name());
    if (options.l2OfAllRows()) {
      tables.put("l2OfAllRows", true);
    }
    if (!options.own().isEmpty()) {
      Json.Obj all = Json.object();
      options.own().forEach((table, own) -> all.put(table, own(own)));
      tables.put(OWN, all);
    }
    if (!options.combinersOf().isEmpty()) {
      Json.Obj combiners = Json.object();
      options.combinersOf().forEach((slot, combiner) -> combiners.put(slot, combiner.name()));
      tables.put(COMBINERS, combiners);
    }
    options.firstPart().ifPresent(first -> tables.put(FIRST_PART, OptimizerJson.write(first)));
    switch (options.unknown()) {
      case UnknownRow.Derived derived -> tables.put(UNKNOWN, derived.name());
      case UnknownRow.Hashed(int buckets) -> tables.put(UNKNOWN, HASH).put(BUCKETS, buckets);
    }
    if (options.storage() != DType.F32) {
      tables.put(STORAGE, options.storage().name());
    }
    if (!options.rows().isAll()) {
      tables.put(ROWS, policy(options.rows()));
    }
    if (!options.rowsOf().isEmpty()) {
      Json.Obj rowsOf = Json.object();
      options.rowsOf().forEach((table, rows) -> rowsOf.put(table, policy(rows)));
      tables.put(ROWS_OF, rowsOf);
    }
    if (!options.frozenOf().isEmpty()) {
      tables.put(
          "frozen", new Json.Arr(options.frozenOf().stream().<Json>map(Json.Str::new).toList()));
    }
    if (!options.limits().equals(RowLimits.NONE)) {
      tables.put("limits", limits(options.limits()));
    }
    return tables;
  }

  private static Json.Obj own(OwnOptions own) {
    Json.Obj json = Json.object();
    own.optimizer().ifPresent(optimizer -> json.put(OPTIMIZER, OptimizerJson.write(optimizer)));
    own.storage().ifPresent(storage -> json.put(STORAGE, storage.name()));
    own.l2().ifPresent(share -> json.put("l2", share));
    own.initial().ifPresent(initial -> putInitial(json, initial));
    return json;
  }

  private static OwnOptions own(Json.Obj json) {
    return new OwnOptions(
        json.has(OPTIMIZER) ? Optional.of(optimizer(json)) : Optional.empty(),
        json.has(STORAGE) ? Optional.of(storage(json)) : Optional.empty(),
        json.has("l2") ? Optional.of((float) json.number("l2")) : Optional.empty(),
        initial(json));
  }

  /** Uniform weights stand there as in checkpoints that know no others. */
  private static void putInitial(Json.Obj json, InitialWeights initial) {
    switch (initial) {
      case InitialWeights.Uniform(float range) -> json.put(RANGE, range);
      case InitialWeights.Normal(float deviation) -> json.put(DEVIATION, deviation);
      case InitialWeights.Constant(float value) -> json.put(CONSTANT, value);
    }
  }

  private static Optional<InitialWeights> initial(Json.Obj json) {
    if (json.has(RANGE)) {
      return Optional.of(new InitialWeights.Uniform((float) json.number(RANGE)));
    }
    if (json.has(DEVIATION)) {
      return Optional.of(new InitialWeights.Normal((float) json.number(DEVIATION)));
    }
    return json.has(CONSTANT)
        ? Optional.of(new InitialWeights.Constant((float) json.number(CONSTANT)))
        : Optional.empty();
  }

  private static DType storage(Json.Obj json) {
    return json.has(STORAGE) ? DType.valueOf(json.text(STORAGE)) : DType.F32;
  }

  private static Json.Obj limits(RowLimits limits) {
    Json.Obj json = Json.object();
    if (limits.clipNorm() > 0) {
      json.put("clipNorm", limits.clipNorm());
    }
    if (Float.isFinite(limits.low())) {
      json.put("low", limits.low());
    }
    if (Float.isFinite(limits.high())) {
      json.put("high", limits.high());
    }
    return json;
  }

  /** It is only compared with the policy of a resumed run, never read. */
  private static Json.Obj policy(RowPolicy policy) {
    Json.Obj json =
        Json.object()
            .put("admission", admission(policy.admission()))
            .put("eviction", eviction(policy.eviction()));
    if (policy.maxRows() != Long.MAX_VALUE) {
      json.put("maxRows", policy.maxRows()).put("whenFull", policy.whenFull().name());
    }
    return json;
  }

  private static Json.Obj admission(Admission admission) {
    Json.Obj json = Json.object().put("type", admission.getClass().getSimpleName());
    return switch (admission) {
      case Admission.Always _ -> json;
      case Admission.ByCount counted -> {
        json.put("count", counted.count()).put("expected", counted.expected());
        yield counted.clickWeight() == 1 ? json : json.put("clickWeight", counted.clickWeight());
      }
      case Admission.ByProbability(double probability) -> json.put("probability", probability);
    };
  }

  private static Json.Obj eviction(Eviction eviction) {
    Json.Obj json = Json.object().put("type", eviction.getClass().getSimpleName());
    return switch (eviction) {
      case Eviction.Never _, Eviction.LeastRecent _, Eviction.LeastFrequent _ -> json;
      case Eviction.Unseen(long steps) -> json.put("steps", steps);
      case Eviction.UnseenFor rule -> json.put("millis", rule.time().toMillis());
      case Eviction.SmallNorm(float norm, long steps) -> json.put("norm", norm).put("steps", steps);
      case Eviction.LowScore low -> {
        json.put("decay", low.decay()).put("least", low.least());
        yield low.showWeight() == 1 && low.clickWeight() == 1
            ? json
            : json.put("showWeight", low.showWeight()).put("clickWeight", low.clickWeight());
      }
    };
  }

  /**
   * What decides which state rows have: optimizers but for their rates, the storage of weights, and
   * the policies and buckets of tables.
   */
  static Map<String, String> state(Json.Obj tables) {
    Map<String, String> state = new TreeMap<>();
    Json all = tables.has(ROWS) ? tables.object(ROWS) : policy(RowPolicy.ALL);
    tables
        .fields()
        .forEach((name, value) -> {
          switch (name) {
            case OPTIMIZER, FIRST_PART ->
                state.put("table " + name, OptimizerJson.withoutRate(tables.object(name)));
            case STORAGE, BUCKETS, ROWS -> state.put("table " + name, value.toString());
            case ROWS_OF ->
                tables
                    .object(name)
                    .fields()
                    .forEach((table, policy) -> {
                      if (!policy.toString().equals(all.toString())) {
                        state.put("rows of table " + table, policy.toString());
                      }
                    });
            case OWN -> putOwnState(tables.object(OWN), state);
            default -> {
              // It decides what rows become, not what they hold.
            }
          }
        });
    return state;
  }

  private static void putOwnState(Json.Obj own, Map<String, String> state) {
    for (String table : own.fields().keySet()) {
      Json.Obj options = own.object(table);
      if (options.has(OPTIMIZER)) {
        String rule = OptimizerJson.withoutRate(options.object(OPTIMIZER));
        state.put("optimizer of table " + table, rule);
      }
      if (options.has(STORAGE)) {
        state.put("storage of table " + table, options.text(STORAGE));
      }
    }
  }

  /** The options that scoring needs: it inserts, evicts and updates no rows. */
  static TableOptions read(Json.Obj tables) {
    TableOptions options =
        TableOptions.of(optimizer(tables))
            .initial(initial(tables).orElseThrow(() -> withoutInitial()))
            .l2((float) tables.number("l2"))
            .combiner(Combiner.valueOf(tables.text("combiner")))
            .unknown(unknown(tables))
            .storage(storage(tables));
    if (tables.has(OWN)) {
      Json.Obj own = tables.object(OWN);
      for (String table : own.fields().keySet()) {
        options = options.own(table, own(own.object(table)));
      }
    }
    if (tables.has(COMBINERS)) {
      for (Map.Entry<String, Json> of : tables.object(COMBINERS).fields().entrySet()) {
        Combiner combiner = Combiner.valueOf(of.getValue().asText(COMBINERS));
        options = options.combiner(of.getKey(), combiner);
      }
    }
    return firstPart(tables).map(options::firstPart).orElse(options);
  }

  private static DataException withoutInitial() {
    return new DataException(
        "\"tables\": got no \"" + RANGE + "\", expected one; the checkpoint is damaged");
  }

  static Optimizer optimizer(Json.Obj tables) {
    return OptimizerJson.read(tables.object(OPTIMIZER));
  }

  /** The optimizer of one table, but for the first part of its rows. */
  static Optimizer optimizer(Json.Obj tables, String table) {
    boolean own = tables.has(OWN) && tables.object(OWN).has(table);
    Json.Obj options = own ? tables.object(OWN).object(table) : tables;
    return optimizer(options.has(OPTIMIZER) ? options : tables);
  }

  static Optional<Optimizer> firstPart(Json.Obj tables) {
    return tables.has(FIRST_PART)
        ? Optional.of(OptimizerJson.read(tables.object(FIRST_PART)))
        : Optional.empty();
  }

  static UnknownRow unknown(Json.Obj tables) {
    String name = tables.text(UNKNOWN);
    try {
      return name.equals(HASH)
          ? new UnknownRow.Hashed(Math.toIntExact(tables.integer(BUCKETS)))
          : UnknownRow.Derived.valueOf(name);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new DataException(
          "\"%s\": got %s (%s), expected a row of unknown ids; use the version of Tern that wrote it"
              .formatted(UNKNOWN, name, e.getMessage()),
          e);
    }
  }
}
