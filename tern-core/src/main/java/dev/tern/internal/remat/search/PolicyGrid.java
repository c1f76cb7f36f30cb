package dev.tern.internal.remat.search;

import dev.tern.internal.remat.Policy;
import dev.tern.internal.remat.Policy.Neighbourhood;
import java.util.ArrayList;
import java.util.List;

/** The policies that a {@link ScheduleSearch} tries: points of a grid around h_DTR. */
final class PolicyGrid {
  /** For steps of which only the uses are known. */
  static final List<Policy> LEARNED = learned();

  /** For steps of which it is known what to keep. */
  static final List<Policy> PLANNED = planned();

  /** For steps cut into segments. */
  static final List<Policy> SEGMENTED =
      List.of(
          variant(Neighbourhood.OWN, 1, 1, true),
          variant(Neighbourhood.SETS, 1, 1, true),
          variant(Neighbourhood.ANCESTORS, 1, 1, true),
          new Policy("planned", Neighbourhood.OWN, 0, 0, 1, true));

  private PolicyGrid() {}

  private static List<Policy> learned() {
    List<Policy> all = new ArrayList<>();
    for (Neighbourhood around : Neighbourhood.values()) {
      for (boolean usesNext : new boolean[] {false, true}) {
        for (double size : new double[] {0.5, 1}) {
          for (double staleness : new double[] {0.3, 1}) {
            all.add(variant(around, size, staleness, usesNext));
          }
        }
      }
    }
    return List.copyOf(all);
  }

  private static List<Policy> planned() {
    List<Policy> all = new ArrayList<>();
    for (Neighbourhood around : Neighbourhood.values()) {
      all.add(variant(around, 1, 1, true));
      all.add(variant(around, 1, 0.3, true));
      all.add(variant(around, 1, 1, false));
    }
    all.add(new Policy("planned", Neighbourhood.OWN, 0, 0, 1, true));
    return List.copyOf(all);
  }

  private static Policy variant(
      Neighbourhood around, double size, double staleness, boolean usesNext) {
    return new Policy("dtr", around, 1, size, staleness, usesNext);
  }
}
