package dev.tern.model;

import java.util.List;

/**
 * Which columns only one part of {@link ModelConfig.Type#WDL} reads; all others are read by both.
 * HugeCTR's sample has its crossed columns in the wide part alone and all others in the deep part
 * alone.
 *
 * @param wideOnly columns that have linear weights and no vectors
 * @param deepOnly columns that have vectors and no linear weights
 */
public record WideDeep(List<String> wideOnly, List<String> deepOnly) {
  /** Both parts read all columns. */
  public static final WideDeep BOTH = new WideDeep(List.of(), List.of());

  /** Copies the lists. */
  public WideDeep {
    wideOnly = List.copyOf(wideOnly);
    deepOnly = List.copyOf(deepOnly);
    for (String column : wideOnly) {
      if (deepOnly.contains(column)) {
        throw new IllegalArgumentException(
            "model: got the column %s for the wide part alone and for the deep part alone, expected it in one of them; name it once, or not at all for both"
                .formatted(column));
      }
    }
  }
}
