package dev.tern.checkpoint;

import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableSnapshot;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.model.Model;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes checkpoints of a run, full ones or of what changed in its tables.
 *
 * @param network the model and its tables
 * @param optimizer state of its parameters
 * @param factory what made the model
 * @param encoder what turns rows into its features
 * @param options what the run was told
 */
public record CheckpointWriter(
    Network network,
    List<Variable> optimizer,
    Model.Factory factory,
    FeatureEncoder encoder,
    RunSettings options) {

  /** Writes all of it as folder {@code target}, complete or not at all. */
  public void write(Path target, RunState state) {
    try (CheckpointImage image = image(state, false)) {
      image.write(target, Optional.empty());
    }
  }

  /**
   * The run as it is now.
   *
   * @param changes whether of tables it is to hold no more than what changed since {@link #track},
   *     where that is listed
   */
  CheckpointImage image(RunState state, boolean changes) {
    List<TableSnapshot> tables = new ArrayList<>();
    try {
      for (EmbeddingTable table : network.tables().tables()) {
        tables.add(changes ? table.snapshotOfChanges() : table.snapshot());
      }
      return new CheckpointImage(
          RunFacts.of(network, factory, state, options),
          VariablesFile.copy(network.variables()),
          VariablesFile.copy(optimizer),
          changes ? Optional.empty() : Optional.of(encoder),
          tables);
    } catch (RuntimeException | Error e) {
      tables.forEach(TableSnapshot::close);
      throw e;
    }
  }

  /** From now on notes what changes in the tables. */
  void track() {
    network.tables().tables().forEach(EmbeddingTable::trackChanges);
  }
}
