package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.TableSnapshot;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run as it was at one moment, to be written as a checkpoint, for which the run need not stop.
 *
 * @param facts what the manifest says of it
 * @param encoder absent where the checkpoint is one of changes
 */
record CheckpointImage(
    Json.Obj facts,
    List<VariablesFile.Values> dense,
    List<VariablesFile.Values> optimizer,
    Optional<FeatureEncoder> encoder,
    List<TableSnapshot> tables)
    implements AutoCloseable {

  /** Whether the run has to wait until this is closed, by the thread that it was made in. */
  boolean holdsTables() {
    return tables.stream().anyMatch(TableSnapshot::holdsTable);
  }

  /**
   * Writes it as folder {@code target}, complete or not at all.
   *
   * @param previous the checkpoint beside it that it says the changes to; none of a full one
   */
  void write(Path target, Optional<Manifest.Previous> previous) {
    AtomicFolder.write(
        target,
        folder -> {
          try {
            Map<String, String> digests = writeFiles(folder);
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
  private Map<String, String> writeFiles(Path folder) throws IOException {
    List<String> names = new ArrayList<>(List.of(Checkpoint.DENSE, Checkpoint.OPTIMIZER));
    VariablesFile.write(folder.resolve(Checkpoint.DENSE), dense);
    VariablesFile.write(folder.resolve(Checkpoint.OPTIMIZER), optimizer);
    if (encoder.isPresent()) {
      names.add(Checkpoint.ENCODERS);
      Files.writeString(folder.resolve(Checkpoint.ENCODERS), encoder.get().toJson());
    }
    Map<String, String> digests = Manifest.digests(folder, names);
    Files.createDirectories(folder.resolve("tables"));
    for (int s = 0; s < tables.size(); s++) {
      String name = Checkpoint.tableName(s);
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
