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
 * @param counts of what single types have
 * @param auxiliary DIEN: factor of the loss that states have beside; 0 for none
 * @param graph GRAPH: its layers
 */
public record Variant(
    Form form, List<Integer> second, Counts counts, float auxiliary, Optional<Graph> graph) {
  /**
   * How many there are of something, 1 or more each.
   *
   * @param units AFM: width of the attention; AUTOINT: width of a head; MASKNET: width of each
   *     parallel block
   * @param vectors XDEEPFM: feature maps of a layer; WUKONG: vectors that each half of a layer
   *     makes; EULERNET: those of a layer
   * @param reduction FIBINET: slots for each unit of the squeeze
   * @param levels PLE: levels of experts
   */
  public record Counts(int units, int vectors, int reduction, int levels) {
    /** Checks them. */
    public Counts {
      if (units < 1 || vectors < 1 || reduction < 1 || levels < 1) {
        throw new IllegalArgumentException(
            "model: got units %d, vectors %d, reduction %d and levels %d, expected 1 or more each"
                .formatted(units, vectors, reduction, levels));
      }
    }
  }

  /** Checks sizes. */
  public Variant {
    second = List.copyOf(second);
    if (!(auxiliary >= 0 && auxiliary < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "model: got auxiliary %s, expected 0 or more".formatted(auxiliary));
    }
    if (second.stream().anyMatch(width -> width < 1)) {
      throw new IllegalArgumentException(
          "model: got second hidden layers of the widths %s, expected 1 or more each"
              .formatted(second));
    }
  }

  /**
   * The first form of a type, 16 units, 16 vectors, a reduction by 3, one level and no auxiliary
   * loss; of GRAPH {@link Graph#DEFAULT}.
   */
  public static Variant of(ModelConfig.Type type) {
    List<Integer> second = type.has(ModelPart.SECOND) ? List.of(64) : List.of();
    Optional<Graph> graph =
        type.has(ModelPart.GRAPH) ? Optional.of(Graph.DEFAULT) : Optional.empty();
    return new Variant(type.forms().getFirst(), second, new Counts(16, 16, 3, 1), 0, graph);
  }

  /** {@link Counts#units}. */
  public int units() {
    return counts.units;
  }

  /** {@link Counts#vectors}. */
  public int vectors() {
    return counts.vectors;
  }

  /** {@link Counts#reduction}. */
  public int reduction() {
    return counts.reduction;
  }

  /** {@link Counts#levels}. */
  public int levels() {
    return counts.levels;
  }

  /** The same in another form. */
  public Variant withForm(Form other) {
    return new Variant(other, second, counts, auxiliary, graph);
  }

  /** The same with other second hidden layers. */
  public Variant withSecond(Integer... layers) {
    return new Variant(form, List.of(layers), counts, auxiliary, graph);
  }

  /** The same with other units, vectors, reduction and levels. */
  public Variant withSizes(int units, int vectors, int reduction, int levels) {
    Counts others = new Counts(units, vectors, reduction, levels);
    return new Variant(form, second, others, auxiliary, graph);
  }

  /** The same with another factor of the auxiliary loss. */
  public Variant withAuxiliary(float factor) {
    return new Variant(form, second, counts, factor, graph);
  }

  /** The same with other layers. */
  public Variant withGraph(Graph other) {
    return new Variant(form, second, counts, auxiliary, Optional.of(other));
  }
}
