package dev.tern.embedding;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.internal.table.index.Hashing;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a policy should do, in plain Java. */
final class PlainPolicy {
  final RowPolicy policy;
  final Map<Long, long[]> rows = new HashMap<>(); // last step, positions
  final Map<Long, Integer> met = new HashMap<>();
  final Map<Long, Double> scores = new HashMap<>();
  long evicted;

  PlainPolicy(RowPolicy policy) {
    this.policy = policy;
  }

  void find(long step, long... ids) {
    Map<Long, Integer> times = new LinkedHashMap<>();
    for (long id : ids) {
      times.merge(id, 1, Integer::sum);
    }
    List<Long> fresh = new ArrayList<>();
    times.forEach((id, count) -> {
      long[] row = rows.get(id);
      if (row != null) {
        row[0] = step;
        row[1] += count;
        scores.merge(id, (double) count, Double::sum);
      } else if (admits(id, count)) {
        fresh.add(id);
      }
    });
    while (policy.eviction().makesRoom() && rows.size() + fresh.size() > policy.maxRows()) {
      var least =
          rows.keySet().stream().filter(id -> rows.get(id)[0] < step).min((a, b) -> compare(a, b));
      if (least.isEmpty()) {
        break;
      }
      rows.remove(least.get());
      evicted++;
    }
    for (long id : fresh) {
      if (rows.size() < policy.maxRows()) {
        rows.put(id, new long[] {step, times.get(id)});
        scores.put(id, (double) times.get(id));
      }
    }
  }

  private boolean admits(long id, int count) {
    return switch (policy.admission()) {
      case Admission.Always _ -> true;
      case Admission.ByCount counted -> met.merge(id, count, Integer::sum) >= counted.count();
      case Admission.ByProbability(double share) -> draw(id).compareTo(new BigDecimal(share)) < 0;
    };
  }

  /**
   * The number of [0, 1) that an id drew by the seed and index of the tables here: 53 bits of a
   * hash of all three. Checkpoints live longer than versions, so it is never another.
   */
  private static BigDecimal draw(long id) {
    long key = Hashing.mix(Hashing.mix(42 ^ 0x5DEECE66DL) + 3);
    BigDecimal bits = BigDecimal.valueOf(Hashing.mix(id ^ key) >>> 11);
    return bits.divide(BigDecimal.valueOf(1L << 53));
  }

  private int compare(long a, long b) {
    long[] first = rows.get(a);
    long[] second = rows.get(b);
    int order =
        policy.eviction() instanceof Eviction.LeastFrequent ? Long.compare(first[1], second[1]) : 0;
    order = order != 0 ? order : Long.compare(first[0], second[0]);
    return order != 0 ? order : Long.compare(Hashing.mix(a), Hashing.mix(b));
  }

  int erase(long[] ids) {
    int had = 0;
    for (long id : ids) {
      had += rows.remove(id) == null ? 0 : 1;
      scores.remove(id);
    }
    evicted += had;
    return had;
  }

  void end(long step, Map<Long, Double> norms) {
    long before = rows.size();
    rows.entrySet()
        .removeIf(row -> {
          long unseen = step - row.getValue()[0];
          return switch (policy.eviction()) {
            case Eviction.Unseen(long steps) -> unseen >= steps;
            case Eviction.SmallNorm(float norm, long steps) ->
                unseen > 0 && unseen % steps == 0 && norms.get(row.getKey()) < norm;
            case Eviction.LowScore low -> unseen > 0 && scores.get(row.getKey()) < low.least();
            default -> false;
          };
        });
    evicted += before - rows.size();
    if (policy.eviction() instanceof Eviction.LowScore low) {
      scores.replaceAll((_, score) -> score * low.decay());
    }
  }
}
