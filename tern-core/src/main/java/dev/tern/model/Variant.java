package dev.tern.model;

import dev.tern.model.graph.Graph;
import dev.tern.nn.Form;
import java.util.List;
import java.util.Optional;

/**
 * Sizes of models beside those that most have. A type takes those of its {@link ModelPart}s.
 *
 * @param form one of {@link ModelConfig.Type#forms}
 * @param second widths of a second stack of hidden layers; FINALNET has one stack without
 * @param units AFM: width of the attention; AUTOINT: width of a head; MASKNET: width of each
 *     parallel block
 * @param vectors XDEEPFM: feature maps of a layer; WUKONG: vectors that each half of a layer makes
 * @param reduction FIBINET: slots for each unit of the squeeze
 * @param levels PLE: levels of experts
 * @param graph GRAPH: its layers
 */
public record Variant(
    Form form,
    List<Integer> second,
    int units,
    int vectors,
    int reduction,
    int levels,
    Optional<Graph> graph) {
  /** Checks sizes. */
  public Variant {
    second = List.copyOf(second);
    if (units < 1 || vectors < 1 || reduction < 1 || levels < 1) {
      throw new IllegalArgumentException(
          "model: got units %d, vectors %d, reduction %d and levels %d, expected 1 or more each"
              .formatted(units, vectors, reduction, levels));
    }
    if (second.stream().anyMatch(width -> width < 1)) {
      throw new IllegalArgumentException(
          "model: got second hidden layers of the widths %s, expected 1 or more each"
              .formatted(second));
    }
  }

  /** Without a graph. */
  public Variant(
      Form form, List<Integer> second, int units, int vectors, int reduction, int levels) {
    this(form, second, units, vectors, reduction, levels, Optional.empty());
  }

  /**
   * The first form of a type, 16 units, 16 vectors, a reduction by 3 and one level; of GRAPH {@link
   * Graph#DEFAULT}.
   */
  public static Variant of(ModelConfig.Type type) {
    List<Integer> second = type.has(ModelPart.SECOND) ? List.of(64) : List.of();
    Optional<Graph> graph =
        type.has(ModelPart.GRAPH) ? Optional.of(Graph.DEFAULT) : Optional.empty();
    return new Variant(type.forms().getFirst(), second, 16, 16, 3, 1, graph);
  }

  /** The same in another form. */
  public Variant withForm(Form other) {
    return new Variant(other, second, units, vectors, reduction, levels, graph);
  }

  /** The same with other second hidden layers. */
  public Variant withSecond(Integer... layers) {
    return new Variant(form, List.of(layers), units, vectors, reduction, levels, graph);
  }

  /** The same with other units, vectors, reduction and levels. */
  public Variant withSizes(int units, int vectors, int reduction, int levels) {
    return new Variant(form, second, units, vectors, reduction, levels, graph);
  }

  /** The same with other layers. */
  public Variant withGraph(Graph other) {
    return new Variant(form, second, units, vectors, reduction, levels, Optional.of(other));
  }
}
