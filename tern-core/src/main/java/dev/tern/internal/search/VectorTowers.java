package dev.tern.internal.search;

import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
import dev.tern.model.Scorer;
import java.util.List;
import java.util.Optional;

/** What turns raw rows into vectors of users and of items: a model of two towers. */
public final class VectorTowers {
  private final Network network;
  private final FeatureEncoder encoder;
  private final RetrievalModel model;
  private final boolean constant;
  private final int slot;

  private VectorTowers(
      Network network, FeatureEncoder encoder, RetrievalModel model, boolean constant, int slot) {
    this.network = network;
    this.encoder = encoder;
    this.model = model;
    this.constant = constant;
    this.slot = slot;
  }

  /**
   * The towers of a network; empty if it is of another model.
   *
   * @param constant whether the network's weights never change, which is faster
   * @throws IllegalArgumentException if its items are named by no column of ids
   */
  public static Optional<VectorTowers> of(
      Network network, FeatureEncoder encoder, boolean constant) {
    if (!(network.model() instanceof RetrievalModel model)) {
      return Optional.empty();
    }
    String naming = model.itemColumns().getFirst();
    int slot = encoder.rawSchema().slotNames().indexOf(naming);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "retrieve: got items named by %s, which is no column of ids of the rows, %s; train a model whose first item column is one"
              .formatted(naming, encoder.rawSchema().slotNames()));
    }
    return Optional.of(new VectorTowers(network, encoder, model, constant, slot));
  }

  Network network() {
    return network;
  }

  FeatureEncoder encoder() {
    return encoder;
  }

  /** The columns of the item. The first one's ids name it; all other columns are the user's. */
  public List<String> itemColumns() {
    return model.itemColumns();
  }

  /** The slot of raw rows whose ids name items. */
  public int slot() {
    return slot;
  }

  /** Numbers of a vector. */
  int width() {
    return model.vectorWidth();
  }

  Scorer users(int rows) {
    return constant
        ? Scorer.ofConstant(network, rows, model::users, width())
        : Scorer.of(network, rows, model::users, width());
  }

  Scorer items(int rows) {
    return constant
        ? Scorer.ofConstant(network, rows, model::items, width())
        : Scorer.of(network, rows, model::items, width());
  }
}
