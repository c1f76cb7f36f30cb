package dev.tern.cli.convert;

import picocli.CommandLine.Command;

/** {@code tern import}: makes a checkpoint from another tool's model, a subcommand a format. */
@Command(
    name = "import",
    description = "Makes a checkpoint from a model that another tool wrote.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "FORMAT",
    subcommands = {ImportOnnxCommand.class, HugeCtrImportCommand.class})
public final class ImportCommand {}
