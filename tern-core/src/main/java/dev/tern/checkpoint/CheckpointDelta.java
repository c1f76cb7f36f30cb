package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableChanges;
import dev.tern.embedding.TableShard;
import dev.tern.internal.checkpoint.FiniteWeights;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.model.Network;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A checkpoint of changes by itself, for who has the model of the checkpoint before it in memory.
 * Its files were checked when it was read.
 */
public final class CheckpointDelta {
  private final Manifest manifest;
  private final CheckpointMark mark;

  CheckpointDelta(Manifest manifest, CheckpointMark before) {
    this.manifest = manifest;
    mark = before.followedBy(manifest);
    if (!mark.model().equals(before.model())) {
      throw new DataException(
          "%s: got changes of another model, or of one with other tables, than %s, expected the same; use a full checkpoint"
              .formatted(manifest.file(Manifest.NAME), before.hash()));
    }
  }

  /** What tells it from all others; it says which checkpoints it follows. */
  public CheckpointMark mark() {
    return mark;
  }

  public Path folder() {
    return manifest.folder();
  }

  /** The same as files, which were checked. */
  public CheckpointFiles files() {
    return new CheckpointFiles(manifest);
  }

  /** Bytes of its files of dense weights and table rows. */
  public long bytes() {
    long bytes = 0;
    for (String name : manifest.json().object("files").fields().keySet()) {
      if (name.equals(Checkpoint.DENSE) || name.startsWith("tables/")) {
        try {
          bytes += Files.size(manifest.file(name));
        } catch (IOException e) {
          throw new UncheckedIOException(
              manifest.file(name) + ": cannot be read: " + DataException.reason(e), e);
        }
      }
    }
    return bytes;
  }

  /**
   * Gives a network the weights of its layers.
   *
   * @throws DataException if one is infinite or NaN, or they are of another model
   */
  public void readDense(Network network) {
    Path file = manifest.file(Checkpoint.DENSE);
    VariablesFile.read(file, network.variables());
    FiniteWeights.requireRead(file, network.variables());
  }

  /**
   * Reads what changed in the tables of a network without row policies, as {@link Checkpoint#load}
   * makes it.
   *
   * @param into for each table, empty changes of it
   * @return whether it did: false if some table is here as a whole, or in shards
   * @throws DataException if a weight is infinite or NaN, or a table is of another kind
   */
  public boolean readTables(List<EmbeddingTable> tables, List<TableChanges> into) {
    if (manifest.shards() > 1) {
      return false;
    }
    for (int t = 0; t < tables.size(); t++) {
      Path file = manifest.file(Checkpoint.tableName(t, TableShard.WHOLE));
      if (!TableFile.readChanges(file, tables.get(t).config(), into.get(t))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Checks that the folder still holds what was read.
   *
   * @throws DataException if it holds another checkpoint or none
   */
  public void requireUnchanged() {
    manifest.requireUnchanged();
  }
}
