package dev.tern.cli.table;

import picocli.CommandLine.Command;

/** {@code tern table}: commands on the embedding tables of checkpoints. */
@Command(
    name = "table",
    description = "Looks into the embedding tables of checkpoints, compares and moves them.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TableInspectCommand.class,
      TableDiffCommand.class,
      TableExportCommand.class,
      TableImportCommand.class,
      TableCompactCommand.class,
      TableShardCommand.class
    })
public final class TableCommand {}
