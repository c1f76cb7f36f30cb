package dev.tern.checkpoint;

import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.FiniteWeights;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a run at one moment, to be written as a checkpoint while the run continues.
 *
 * @param facts what the manifest says about the run
 * @param dense parameters, and statistics of layers
 * @param optimizer optimizer state of the parameters
 * @param encoder empty for a delta
 * @param tables a snapshot of each table, in the order of their numbers
 */
record CheckpointImage(
    Json.Obj facts,
    List<VariablesFile.Values> dense,
    List<VariablesFile.Values> optimizer,
    Optional<FeatureEncoder> encoder,
    List<TableSnapshot> tables)
    implements AutoCloseable {

  /** Whether the run must wait until this is closed, by the thread that made it. */
  boolean holdsTables() {
    return tables.stream().anyMatch(TableSnapshot::holdsTable);
  }

  /**
   * Writes folder {@code target}, complete or not at all.
   *
   * @param previous the checkpoint beside it that this delta follows; empty for a full checkpoint
   * @throws IllegalStateException if a weight is infinite or NaN: training diverged
   */
  void write(Path target, Optional<Manifest.Previous> previous) {
    AtomicFolder.write(
        target,
        folder -> {
          try {
            Map<String, String> digests = writeFiles(folder);
            Manifest.write(folder, digests, facts, previous, 1);
          } catch (IOException e) {
            throw AtomicFolder.unwritten(target, e);
          }
        });
  }

  /** Writes all files except the manifest; returns the digest of each by its name. */
  private Map<String, String> writeFiles(Path folder) throws IOException {
    List<String> names = new ArrayList<>(List.of(Checkpoint.DENSE, Checkpoint.OPTIMIZER));
    FiniteWeights.require(dense);
    VariablesFile.write(folder.resolve(Checkpoint.DENSE), dense);
    VariablesFile.write(folder.resolve(Checkpoint.OPTIMIZER), optimizer);
    if (encoder.isPresent()) {
      names.add(Checkpoint.ENCODERS);
      Files.writeString(folder.resolve(Checkpoint.ENCODERS), encoder.get().toJson());
    }
    Map<String, String> digests = Manifest.digests(folder, names);
    Files.createDirectories(folder.resolve("tables"));
    for (int s = 0; s < tables.size(); s++) {
      String name = Checkpoint.tableName(s, TableShard.WHOLE);
      // Closed at once: until then training copies the rows that it changes.
      try (TableSnapshot table = tables.get(s)) {
        digests.put(name, TableFile.write(folder.resolve(name), table));
      }
    }
    return digests;
  }

  @Override
  public void close() {
    tables.forEach(TableSnapshot::close);
  }
}
