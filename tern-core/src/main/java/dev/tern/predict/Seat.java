package dev.tern.predict;

import dev.tern.embedding.SlotTables;
import dev.tern.embedding.TableChanges;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.util.List;

/**
 * What one version at a time scores with: plans of computations and their memory, whose making
 * takes far longer than a delta. So versions take turns, and each brings only its weights.
 *
 * @param network has variables of its own, and reads {@code view}
 */
record Seat(Network network, SlotTables view, Predictor predictor) {
  /**
   * Gives it the weights of a version; no call may be under way.
   *
   * @param changes for each table, those that the version reads beneath
   */
  void set(Network weights, List<List<TableChanges>> changes) {
    List<Variable> own = network.variables();
    for (int v = 0; v < own.size(); v++) {
      own.get(v).copy(weights.variables().get(v));
    }
    view.set(changes);
  }

  /** Frees all but the tables; no call may be under way. */
  void close() {
    predictor.release();
    network.close();
  }
}
