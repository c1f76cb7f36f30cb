package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.data.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.internal.json.Json;
import dev.tern.model.Model;
import dev.tern.model.Network;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes checkpoints of a run, full ones or of what changed in its tables.
 *
 * @param network the model and its tables
 * @param optimizer of its parameters
 * @param factory what made the model
 * @param encoder what turns rows into its features
 * @param options what the run was told
 */
record CheckpointWriter(
    Network network,
    DenseOptimizer optimizer,
    Model.Factory factory,
    FeatureEncoder encoder,
    TrainOptions options) {

  /** Writes all of it as folder {@code target}, complete or not at all. */
  void write(Path target, RunState state) {
    write(target, state, Optional.empty());
  }

  /**
   * Writes what changed in the tables since {@link #track} as folder {@code target}, which follows
   * the checkpoint {@code previous} beside it; the rest whole.
   */
  void writeChanges(Path target, RunState state, Path previous) {
    write(target, state, Optional.of(Manifest.Previous.of(previous)));
  }

  /** From now on notes what changes in the tables. */
  void track() {
    network.tables().tables().forEach(EmbeddingTable::trackChanges);
  }

  private void write(Path target, RunState state, Optional<Manifest.Previous> previous) {
    AtomicFolder.write(
        target,
        folder -> {
          try {
            Map<String, String> digests = writeFiles(folder, previous.isEmpty());
            Json.Obj facts = RunFacts.of(network, factory, state, options);
            Manifest.write(folder, digests, facts, previous);
          } catch (IOException e) {
            throw new UncheckedIOException(
                target
                    + ": got an error writing it ("
                    + DataException.reason(e)
                    + "), expected room on the disk; free some or choose another folder",
                e);
          }
        });
  }

  /** Writes all but the manifest; returns digests by name. */
  private Map<String, String> writeFiles(Path folder, boolean full) throws IOException {
    List<String> names = new ArrayList<>(List.of(Checkpoint.DENSE, Checkpoint.OPTIMIZER));
    VariablesFile.write(folder.resolve(Checkpoint.DENSE), network.variables());
    VariablesFile.write(folder.resolve(Checkpoint.OPTIMIZER), optimizer.state());
    if (full) {
      names.add(Checkpoint.ENCODERS);
      Files.writeString(folder.resolve(Checkpoint.ENCODERS), encoder.toJson());
    }
    Map<String, String> digests = Manifest.digests(folder, names);
    Files.createDirectories(folder.resolve("tables"));
    List<EmbeddingTable> tables = network.tables().tables();
    for (int s = 0; s < tables.size(); s++) {
      String name = Checkpoint.tableName(s);
      Path file = folder.resolve(name);
      EmbeddingTable table = tables.get(s);
      digests.put(name, full ? TableFile.write(file, table) : TableFile.writeChanges(file, table));
    }
    return digests;
  }
}
