package dev.tern.model.graph;

import java.util.HashSet;
import java.util.List;

/**
 * What a {@link Graph} reads of rows.
 *
 * @param name of the tensor
 * @param kind what it holds
 * @param columns names of its columns, in order; empty for all of the kind
 */
public record GraphInput(String name, Kind kind, List<String> columns) {
  /** What an input holds. */
  public enum Kind {
    /** Dense numbers, {@code [B, n]}. */
    NUMBERS,
    /**
     * The pooled vectors of slots, {@code [B, S, D]}; {@code [B, sum of widths]} where these are
     * unequal.
     */
    VECTORS,
    /** The vectors of all slots, then all numbers, side by side: {@code [B, n]}. */
    FEATURES
  }

  /** Copies {@code columns}. */
  public GraphInput {
    columns = List.copyOf(columns);
    boolean named = kind == Kind.FEATURES && !columns.isEmpty();
    if (named || new HashSet<>(columns).size() != columns.size()) {
      throw new IllegalArgumentException(
          "graph: input %s: got the columns %s, expected %s"
              .formatted(
                  name, columns, named ? "none, as features are all columns" : "distinct names"));
    }
  }
}
