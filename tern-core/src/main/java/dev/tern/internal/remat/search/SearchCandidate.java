package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Policy.Neighbourhood;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A way to run a step that a {@link ScheduleSearch} tries: a policy of a grid around h_DTR, and
 * weights that keep some storages.
 *
 * @param weights by storage; 1 beyond the end
 * @param time of the step, once that is known
 */
record SearchCandidate(Policy policy, double[] weights, double time) {
  /** The weight of a storage that is to be kept. */
  static final double KEPT = 1e6;

  /** Neighbourhoods by the time that their costs take, the least first. */
  private static final List<Neighbourhood> QUICKEST =
      List.of(Neighbourhood.OWN, Neighbourhood.SETS, Neighbourhood.ANCESTORS, Neighbourhood.EXACT);

  /** Evicts by the next use alone. */
  private static final Policy BY_NEXT_USE = new Policy("planned", Neighbourhood.OWN, 0, 0, 1, true);

  private static final double[] MARGINS = {1, 1.03, 1.06, 1.12, 1.25, 1.5, 2, 3, 5};
  private static final double[] SHARES = {1, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.12};
  private static final double[] FEW_SHARES = {1, 0.65};

  /** All candidates; those that take least time to try come first. */
  static List<SearchCandidate> all(TraceUses uses, long budget) {
    List<Policy> segmented =
        List.of(
            dtr(Neighbourhood.OWN, 1, 1, true),
            dtr(Neighbourhood.SETS, 1, 1, true),
            dtr(Neighbourhood.ANCESTORS, 1, 1, true),
            BY_NEXT_USE);
    List<Policy> planned = new ArrayList<>();
    for (Neighbourhood around : Neighbourhood.values()) {
      planned.add(dtr(around, 1, 1, true));
      planned.add(dtr(around, 1, 0.3, true));
      planned.add(dtr(around, 1, 1, false));
    }
    planned.add(BY_NEXT_USE);
    List<SearchCandidate> all = new ArrayList<>();
    add(new ChainSegments(uses).forBudget(budget, SHARES), segmented, all);
    add(new KeepSets(uses).forBudget(budget, MARGINS), planned, all);
    all.addAll(learned());
    return quickestFirst(all);
  }

  /** Candidates that know only when storages are used. */
  static List<SearchCandidate> learned() {
    List<Policy> policies = new ArrayList<>();
    for (Neighbourhood around : Neighbourhood.values()) {
      for (boolean usesNext : new boolean[] {false, true}) {
        for (double size : new double[] {0.5, 1}) {
          for (double staleness : new double[] {0.3, 1}) {
            policies.add(dtr(around, size, staleness, usesNext));
          }
        }
      }
    }
    List<SearchCandidate> learned = new ArrayList<>();
    add(List.of(new boolean[0]), policies, learned);
    return quickestFirst(learned);
  }

  /** Candidates that suit chains and steps like them. */
  static List<SearchCandidate> few(TraceUses uses, long budget) {
    List<SearchCandidate> few = new ArrayList<>();
    List<Policy> policies = List.of(dtr(Neighbourhood.OWN, 1, 1, true));
    add(new ChainSegments(uses).forBudget(budget, FEW_SHARES), policies, few);
    return few;
  }

  private static Policy dtr(Neighbourhood around, double size, double staleness, boolean usesNext) {
    return new Policy("dtr", around, 1, size, staleness, usesNext);
  }

  private static List<SearchCandidate> quickestFirst(List<SearchCandidate> candidates) {
    candidates.sort(
        Comparator.comparing(candidate -> QUICKEST.indexOf(candidate.policy.neighbourhood())));
    return candidates;
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
