package dev.tern.checkpoint;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.internal.json.Json;

/** Which ids have rows, as JSON: what a resumed run is compared with. */
final class RowPolicyJson {
  private RowPolicyJson() {}

  static Json.Obj write(RowPolicy policy) {
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
        json.put("count", (long) counted.count()).put("expected", counted.expected());
        yield counted.clickWeight() == 1
            ? json
            : json.put("clickWeight", (long) counted.clickWeight());
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
      case Eviction.SmallNorm(float norm, long steps) ->
          json.put("norm", (double) norm).put("steps", steps);
      case Eviction.LowScore low -> {
        json.put("decay", low.decay()).put("least", (double) low.least());
        yield low.showWeight() == 1 && low.clickWeight() == 1
            ? json
            : json.put("showWeight", (double) low.showWeight())
                .put("clickWeight", (double) low.clickWeight());
      }
    };
  }
}
