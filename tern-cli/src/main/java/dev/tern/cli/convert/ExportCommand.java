package dev.tern.cli.convert;

import picocli.CommandLine.Command;

/** {@code tern export}: writes a trained model for another tool, a subcommand a format. */
@Command(
    name = "export",
    description = "Writes a trained model for another tool.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "FORMAT",
    subcommands = {ExportOnnxCommand.class, HugeCtrExportCommand.class})
public final class ExportCommand {}
