package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableSnapshot;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes checkpoints of a run: full ones, or deltas of its tables.
 *
 * @param optimizer optimizer state of the network's parameters, in their order
 * @param factory made the model
 */
public record CheckpointWriter(
    Network network,
    List<Variable> optimizer,
    ModelFactory factory,
    FeatureEncoder encoder,
    RunSettings options) {

  /**
   * Writes a full checkpoint as folder {@code target}, complete or not at all.
   *
   * @throws DataException if something is there that is no checkpoint and no empty folder
   */
  public void write(Path target, RunState state) {
    requireReplaceable(target);
    try (CheckpointImage image = image(state, false)) {
      image.write(target, Optional.empty());
    }
  }

  private static void requireReplaceable(Path target) {
    if (!Files.exists(target) || Files.exists(target.resolve(Manifest.NAME))) {
      return;
    }
    String[] content = target.toFile().list();
    if (content == null || content.length > 0) {
      throw new DataException(
          target
              + ": got a file or folder that is no checkpoint, expected none, an empty folder or a"
              + " checkpoint to replace; give another name");
    }
  }

  /**
   * The state of the run now.
   *
   * @param changes whether it holds only the table rows that changed since {@link #track}
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
          tables,
          ranks());
    } catch (RuntimeException | Error e) {
      tables.forEach(TableSnapshot::close);
      throw e;
    }
  }

  /** What the manifest of a checkpoint now would say of the run. */
  public String facts(RunState state) {
    return RunFacts.of(network, factory, state, options).toString();
  }

  /** The ranks that write together; empty for one alone. */
  Optional<CheckpointRanks> ranks() {
    return network.tables().ranks().map(CheckpointRanks::new);
  }

  /** Starts to note the rows that change in each table. */
  void track() {
    network.tables().tables().forEach(EmbeddingTable::trackChanges);
  }
}
