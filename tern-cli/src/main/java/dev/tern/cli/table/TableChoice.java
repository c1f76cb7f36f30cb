package dev.tern.cli.table;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.config.ConfigException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Command-line arguments for a checkpoint and one of its tables. */
final class TableChoice {
  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Option(
      names = "--table",
      paramLabel = "NAME",
      description = "The table's name or number; may be left out where there is one or all do.")
  private Optional<String> table = Optional.empty();

  Checkpoint open() {
    return checkpoint.open();
  }

  /** Opens another checkpoint or run's folder in the same way. */
  Checkpoint open(Path other) {
    return checkpoint.open(other);
  }

  /** Numbers of the tables: the named one, or all. */
  List<Integer> slots(Checkpoint opened) {
    List<String> names = opened.tables();
    if (table.isEmpty()) {
      return IntStream.range(0, names.size()).boxed().toList();
    }
    String wanted = table.get();
    for (int slot = 0; slot < names.size(); slot++) {
      if (names.get(slot).equals(wanted) || Integer.toString(slot).equals(wanted)) {
        return List.of(slot);
      }
    }
    throw new ConfigException("--table: got " + wanted + ", expected one of " + names);
  }

  /** The number of the one table. */
  int slot(Checkpoint opened) {
    List<Integer> slots = slots(opened);
    if (slots.size() != 1) {
      throw new ConfigException(
          "--table: got none, expected one of " + opened.tables() + "; name the table");
    }
    return slots.getFirst();
  }
}
