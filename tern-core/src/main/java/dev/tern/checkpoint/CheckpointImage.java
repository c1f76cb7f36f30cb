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
import java.util.LinkedHashMap;
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
 * @param ranks that write it together, each with its shards of the tables; empty for one alone
 */
record CheckpointImage(
    Json.Obj facts,
    List<VariablesFile.Values> dense,
    List<VariablesFile.Values> optimizer,
    Optional<FeatureEncoder> encoder,
    List<TableSnapshot> tables,
    Optional<CheckpointRanks> ranks)
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
    try {
      if (ranks.isEmpty() || ranks.get().leads()) {
        AtomicFolder.write(target, folder -> writing(target, () -> lead(folder, previous)));
        ranks.ifPresent(CheckpointRanks::step);
      } else {
        writing(target, () -> follow(AtomicFolder.writing(target)));
      }
    } catch (RuntimeException | Error e) {
      ranks.ifPresent(all -> all.mesh().abort(target + " was not written: " + e.getMessage()));
      throw e;
    }
  }

  /** Writes files. */
  private interface Work {
    void run() throws IOException;
  }

  private static void writing(Path target, Work work) {
    try {
      work.run();
    } catch (IOException e) {
      throw AtomicFolder.unwritten(target, e);
    }
  }

  private void lead(Path folder, Optional<Manifest.Previous> previous) throws IOException {
    Files.createDirectories(folder.resolve("tables"));
    ranks.ifPresent(CheckpointRanks::step);
    Map<String, String> digests = writeDense(folder);
    digests.putAll(writeTables(folder));
    ranks.ifPresent(all -> digests.putAll(all.take(tables.size())));
    Manifest.write(folder, digests, facts, previous, ranks.map(CheckpointRanks::shards).orElse(1));
  }

  /** Writes the tables of this rank into the folder of rank 0, and waits until that is there. */
  private void follow(Path folder) throws IOException {
    CheckpointRanks all = ranks.orElseThrow();
    all.step();
    all.give(writeTables(folder));
    all.step();
  }

  /** Writes all files except tables and the manifest; returns the digest of each by its name. */
  private Map<String, String> writeDense(Path folder) throws IOException {
    List<String> names = new ArrayList<>(List.of(Checkpoint.DENSE, Checkpoint.OPTIMIZER));
    FiniteWeights.require(dense);
    VariablesFile.write(folder.resolve(Checkpoint.DENSE), dense);
    VariablesFile.write(folder.resolve(Checkpoint.OPTIMIZER), optimizer);
    if (encoder.isPresent()) {
      names.add(Checkpoint.ENCODERS);
      Files.writeString(folder.resolve(Checkpoint.ENCODERS), encoder.get().toJson());
    }
    return Manifest.digests(folder, names);
  }

  private Map<String, String> writeTables(Path folder) throws IOException {
    TableShard share = ranks.map(CheckpointRanks::share).orElse(TableShard.WHOLE);
    int shards = ranks.map(CheckpointRanks::shards).orElse(1);
    Map<String, String> digests = new LinkedHashMap<>();
    for (int s = 0; s < tables.size(); s++) {
      // Closed at once: until then training copies the rows that it changes.
      try (TableSnapshot table = tables.get(s)) {
        if (share.count() == shards) {
          String name = Checkpoint.tableName(s, share);
          digests.put(name, TableFile.write(folder.resolve(name), table, share));
        } else {
          digests.putAll(writeParts(folder, s, share.parts(shards)));
        }
      }
    }
    return digests;
  }

  /** Writes a table in several shards. */
  private Map<String, String> writeParts(Path folder, int table, List<TableShard> parts)
      throws IOException {
    Path whole = folder.resolve(Checkpoint.tableName(table, parts.getFirst()) + ".parts");
    TableFile.write(whole, tables.get(table));
    List<String> names = new ArrayList<>();
    for (TableShard part : parts) {
      names.add(Checkpoint.tableName(table, part));
      String name = tables.get(table).config().name();
      TableFile.merge(folder.resolve(names.getLast()), List.of(whole), name, part);
    }
    Files.delete(whole);
    return Manifest.digests(folder, names);
  }

  @Override
  public void close() {
    tables.forEach(TableSnapshot::close);
  }
}
