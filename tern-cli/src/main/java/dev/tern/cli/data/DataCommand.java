package dev.tern.cli.data;

import picocli.CommandLine.Command;

/** {@code tern data}: commands on data without a model. */
@Command(
    name = "data",
    description = "Generates, converts, splits, inspects and verifies data files.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      GenerateCommand.class,
      ConvertCommand.class,
      SplitCommand.class,
      InspectCommand.class,
      VerifyCommand.class
    })
public final class DataCommand {}
