package dev.tern.internal.remat;

import java.util.List;
import java.util.Optional;

/**
 * Which storage to evict first when room is needed: the one with the least harm for each byte.
 *
 * <pre>  harm = (cost ^ costPower) * weight / (staleness ^ stalenessPower)
 * score = harm / (bytes ^ sizePower)</pre>
 *
 * <p>The cost is the time to compute the storage and the evicted storages around it that {@link
 * Neighbourhood} counts. The staleness is the time since the last use; with foresight, the time
 * until the next. The weight comes from the foresight. Example: with all powers 1, of two storages
 * of one size and staleness the one that takes less time to compute goes first. Where a place in an
 * arena is needed, the run of neighbouring blocks goes whose sum of harm is least (the window of
 * Coop, Zhang et al. 2023, arXiv:2311.00591).
 *
 * @param name by which users choose it
 * @param neighbourhood what counts as cost besides the storage's own
 * @param usesNext whether staleness is the time to the next use where foresight knows it
 */
public record Policy(
    String name,
    Neighbourhood neighbourhood,
    double costPower,
    double sizePower,
    double stalenessPower,
    boolean usesNext) {

  /** What is added to a storage's own cost. */
  public enum Neighbourhood {
    /** Nothing. */
    OWN,
    /** Evicted storages that it would be recomputed from. */
    ANCESTORS,
    /** These, and evicted storages that would be recomputed from it: e* of h_DTR. */
    EXACT,
    /** The union-find sets that its evicted neighbours are in: e* of h_DTR_eq. */
    SETS
  }

  /** A storage that was used just now is evicted last, but can be evicted. */
  private static final double LEAST_STALENESS = 1e-3;

  /** Evicts nothing. */
  public static final Policy NONE = of("none", Neighbourhood.OWN, 0, 0, 0);

  /** The least recently used first. */
  public static final Policy LRU = of("lru", Neighbourhood.OWN, 0, 0, 1);

  /** The largest first. */
  public static final Policy SIZE = of("size", Neighbourhood.OWN, 0, 1, 0);

  /** h_DTR of Kirisame et al. 2021, arXiv:2006.09616. */
  public static final Policy H_DTR = of("h_dtr", Neighbourhood.EXACT, 1, 1, 1);

  /** h_DTR_eq of the same paper. */
  public static final Policy H_DTR_EQ = of("h_dtr_eq", Neighbourhood.SETS, 1, 1, 1);

  /** h_DTR_local of the same paper. */
  public static final Policy LOCAL = of("local", Neighbourhood.OWN, 1, 1, 1);

  /** MSPS of Capuchin (Peng et al. 2020): cost of recomputation for each byte. */
  public static final Policy MSPS = of("msps", Neighbourhood.ANCESTORS, 1, 1, 0);

  public static final List<Policy> PUBLISHED =
      List.of(NONE, LRU, SIZE, H_DTR, H_DTR_EQ, LOCAL, MSPS);

  /** The published policy of a name. */
  public static Optional<Policy> named(String name) {
    return PUBLISHED.stream().filter(policy -> policy.name.equals(name)).findFirst();
  }

  private static Policy of(
      String name, Neighbourhood around, double cost, double size, double staleness) {
    return new Policy(name, around, cost, size, staleness, false);
  }

  /** The harm of an eviction, without the staleness. */
  double harm(double cost, double weight) {
    return power(cost, costPower) * weight;
  }

  /** The harm with the staleness. */
  double faded(double harm, double staleness) {
    return harm / power(Math.max(LEAST_STALENESS, staleness), stalenessPower);
  }

  /** The score, by which storages are compared. */
  double perByte(double harm, long bytes) {
    return harm / power(bytes, sizePower);
  }

  private static double power(double base, double exponent) {
    if (exponent == 1) {
      return base;
    }
    return exponent == 0 ? 1 : Math.pow(base, exponent);
  }
}
