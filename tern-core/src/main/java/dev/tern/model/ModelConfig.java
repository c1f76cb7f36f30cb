package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Activation;
import dev.tern.nn.Mlp;
import dev.tern.nn.Parameters;
import java.util.EnumSet;
import java.util.List;

/**
 * One of Tern's models and its sizes.
 *
 * @param type which model
 * @param embedding width of an embedding vector, {@code D}, 1 or more
 * @param hidden outputs of the deep (in DLRM the top) network's hidden layers; widths inside the
 *     residual units of DEEPCROSSING, one unit each; of the feed-forward layers of TRANSFORMER, one
 *     block each
 * @param dropout share dropped after each hidden layer, 0 or more and below 1
 * @param bottom DLRM: hidden layers of the bottom network, before the last one of width {@code D}
 * @param crossLayers DCN and DCN-V2: cross layers
 * @param crossRank DCN-V2: rank of the cross layers' matrices; 0 for full matrices
 * @param crossExperts DCN-V2: experts of rank {@code crossRank} in each cross layer; 0 for one
 *     matrix without gates
 * @param activation of all hidden layers
 * @param batchNorm whether batch normalization stands before each activation
 * @param heads TRANSFORMER: heads of attention, a divisor of {@code embedding}
 */
public record ModelConfig(
    Type type,
    int embedding,
    List<Integer> hidden,
    float dropout,
    List<Integer> bottom,
    int crossLayers,
    int crossRank,
    int crossExperts,
    Activation activation,
    boolean batchNorm,
    int heads)
    implements Model.Factory {
  /** The models, by the names used in configurations. */
  public enum Type {
    LR,
    FM,
    WDL,
    DEEPFM,
    DCN,
    DCNV2,
    DLRM,
    DEEPCROSSING,
    TRANSFORMER
  }

  public ModelConfig {
    hidden = List.copyOf(hidden);
    bottom = List.copyOf(bottom);
    require(embedding >= 1, "embedding", embedding, "1 or more");
    require(dropout >= 0 && dropout < 1, "dropout", dropout, "0 or more and below 1");
    require(crossLayers >= 0, "crossLayers", crossLayers, "0 or more");
    require(crossRank >= 0, "crossRank", crossRank, "0 (full matrices) or more");
    require(crossExperts >= 0, "crossExperts", crossExperts, "0 (no mixture) or more");
    require(
        crossExperts == 0 || crossRank > 0,
        "crossRank",
        crossRank,
        "1 or more with experts; give their rank");
    require(
        crossRank == 0 || type == Type.DCNV2,
        "crossRank",
        crossRank,
        "0 for " + type + "; only DCNV2 has cross matrices");
    require(
        heads >= 1 && (type != Type.TRANSFORMER || embedding % heads == 0),
        "heads",
        heads,
        "a divisor of the embedding's width, " + embedding);
    boolean chooses = EnumSet.range(Type.WDL, Type.DLRM).contains(type);
    if (!chooses && (batchNorm || activation != Activation.RELU)) {
      throw new IllegalArgumentException(
          "model: got batch normalization or the activation "
              + activation
              + " for "
              + type
              + ", whose layers are fixed; leave them out");
    }
    for (int size : hidden) {
      require(size >= 1, "hidden", size, "1 or more");
    }
    for (int size : bottom) {
      require(size >= 1, "bottom", size, "1 or more");
    }
  }

  /** Full cross matrices, ReLU, no batch normalization. */
  public ModelConfig(
      Type type,
      int embedding,
      List<Integer> hidden,
      float dropout,
      List<Integer> bottom,
      int crossLayers) {
    this(type, embedding, hidden, dropout, bottom, crossLayers, 0, 0, Activation.RELU, false, 1);
  }

  private static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "model: got " + name + " " + got + ", expected " + expected);
    }
  }

  /** A model with three cross layers, a bottom network of 512 and 256, and no dropout. */
  public static ModelConfig of(Type type, int embedding, Integer... hidden) {
    return new ModelConfig(type, embedding, List.of(hidden), 0, List.of(512, 256), 3);
  }

  /** The same model with dropout. */
  public ModelConfig withDropout(float rate) {
    return new ModelConfig(
        type,
        embedding,
        hidden,
        rate,
        bottom,
        crossLayers,
        crossRank,
        crossExperts,
        activation,
        batchNorm,
        heads);
  }

  /** The same model with cross matrices of low rank, or mixtures of {@code experts} of them. */
  public ModelConfig withCross(int rank, int experts) {
    return new ModelConfig(
        type,
        embedding,
        hidden,
        dropout,
        bottom,
        crossLayers,
        rank,
        experts,
        activation,
        batchNorm,
        heads);
  }

  /** The same model with other hidden layers. */
  public ModelConfig withActivation(Activation function, boolean normalized) {
    return new ModelConfig(
        type,
        embedding,
        hidden,
        dropout,
        bottom,
        crossLayers,
        crossRank,
        crossExperts,
        function,
        normalized,
        heads);
  }

  /** The same model with so many heads of attention. */
  public ModelConfig withHeads(int number) {
    return new ModelConfig(
        type,
        embedding,
        hidden,
        dropout,
        bottom,
        crossLayers,
        crossRank,
        crossExperts,
        activation,
        batchNorm,
        number);
  }

  /** What the hidden layers have beside their linear part. */
  Mlp.Style style() {
    return new Mlp.Style(activation, batchNorm, dropout);
  }

  @Override
  public Model create(Schema schema, Parameters parameters) {
    return switch (type) {
      case LR -> new LogisticRegression(schema, parameters);
      case FM -> new FmModel(this, schema, parameters);
      case WDL -> new WideAndDeep(this, schema, parameters);
      case DEEPFM -> new DeepFm(this, schema, parameters);
      case DCN, DCNV2 -> new DeepCross(this, schema, parameters);
      case DLRM -> new Dlrm(this, schema, parameters);
      case DEEPCROSSING -> new DeepCrossing(this, schema, parameters);
      case TRANSFORMER -> new FieldTransformer(this, schema, parameters);
    };
  }
}
