package dev.tern.cli.translate;

import picocli.CommandLine.Command;

/** {@code tern config}: configurations. */
@Command(
    name = "config",
    description = "Makes configurations.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = ConfigFromCommand.class)
public final class ConfigCommand {}
