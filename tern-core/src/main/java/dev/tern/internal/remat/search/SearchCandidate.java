package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A way to run a step that a {@link ScheduleSearch} tries.
 *
 * @param policy whom to follow
 * @param weights of storages; those beyond are 1
 * @param time that it took, once that is known
 */
record SearchCandidate(Policy policy, double[] weights, double time) {
  /** The weight of a storage that is to be kept. */
  static final double KEPT = 1e6;

  private static final double[] MARGINS = {1, 1.03, 1.06, 1.12, 1.25, 1.5, 2, 3, 5};
  private static final double[] SHARES = {1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.12};
  private static final double[] FEW_SHARES = {1, 0.65};

  /** All there are, those first that take least to try. */
  static List<SearchCandidate> all(TraceUses uses, long budget) {
    List<SearchCandidate> all = new ArrayList<>();
    add(new ChainSegments(uses).forBudget(budget, SHARES), PolicyGrid.SEGMENTED, all);
    add(new KeepSets(uses).forBudget(budget, MARGINS), PolicyGrid.PLANNED, all);
    add(List.of(new boolean[0]), PolicyGrid.LEARNED, all);
    all.sort(Comparator.comparing(candidate -> candidate.policy.neighbourhood().work()));
    return all;
  }

  /** Those that know no more than the uses of storages. */
  static List<SearchCandidate> learned() {
    List<SearchCandidate> learned = new ArrayList<>();
    add(List.of(new boolean[0]), PolicyGrid.LEARNED, learned);
    learned.sort(Comparator.comparing(candidate -> candidate.policy.neighbourhood().work()));
    return learned;
  }

  /** Those that suit chains and steps like them. */
  static List<SearchCandidate> few(TraceUses uses, long budget) {
    List<SearchCandidate> few = new ArrayList<>();
    List<Policy> policies = PolicyGrid.SEGMENTED.subList(0, 1);
    add(new ChainSegments(uses).forBudget(budget, FEW_SHARES), policies, few);
    return few;
  }

  private static void add(List<boolean[]> sets, List<Policy> policies, List<SearchCandidate> to) {
    for (boolean[] isKept : sets) {
      double[] weights = new double[isKept.length];
      for (int storage = 0; storage < weights.length; storage++) {
        weights[storage] = isKept[storage] ? KEPT : 1;
      }
      policies.forEach(policy -> to.add(new SearchCandidate(policy, weights, 0)));
    }
  }
}
