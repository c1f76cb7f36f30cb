package dev.tern.cli.table;

import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.embedding.TableShard;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code tern table shard}: splits each table of a checkpoint into N files by the hash of the id.
 */
@Command(
    name = "shard",
    description =
        "Writes a checkpoint as a full one with each table in several files, or in one: rows go by"
            + " the hash of their id.",
    mixinStandardHelpOptions = true)
final class TableShardCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Option(
      names = "--shards",
      required = true,
      paramLabel = "N",
      description = "Files a table: a power of two; 1 merges them.")
  private int shards;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FOLDER",
      description = "The new checkpoint.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    if (shards < 1 || shards > TableShard.MOST || Integer.bitCount(shards) != 1) {
      throw new ConfigException(
          "--shards: got "
              + shards
              + ", expected a power of two from 1 to "
              + TableShard.MOST
              + "; 1 merges all");
    }
    checkpoint.open().reshard(out, shards);
    spec.commandLine().getOut().println(shards + " files a table in " + Format.path(out));
    spec.commandLine().getOut().flush();
    return 0;
  }
}
