package dev.tern.cli;

import dev.tern.cli.board.BoardCommand;
import dev.tern.cli.convert.ExportCommand;
import dev.tern.cli.convert.ImportCommand;
import dev.tern.cli.data.DataCommand;
import dev.tern.cli.score.CandidateFiles;
import dev.tern.cli.score.EvaluateCommand;
import dev.tern.cli.score.LearnedFiles;
import dev.tern.cli.score.PredictCommand;
import dev.tern.cli.score.RetrieveCommand;
import dev.tern.cli.serve.PublishCommand;
import dev.tern.cli.serve.ServeCommand;
import dev.tern.cli.table.TableCommand;
import dev.tern.cli.translate.ConfigCommand;
import dev.tern.cli.tune.TuneCommand;
import dev.tern.cli.understand.ExplainCommand;
import dev.tern.cli.understand.ImportanceCommand;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine;

/** The subcommands of {@code tern}, by their names, in the order of the help. */
enum Subcommand {
  QUICKSTART,
  TRAIN,
  TUNE,
  EVALUATE,
  IMPORTANCE,
  EXPLAIN,
  PREDICT,
  RETRIEVE,
  SERVE,
  PUBLISH,
  DATA,
  TABLE,
  EXPORT,
  IMPORT,
  CONFIG,
  BOARD,
  PROFILE,
  REPLAY,
  BENCH,
  INFO,
  COMPLETION,
  HELP;

  /**
   * The subcommands that {@code args} may ask for: the one that the first names, or all. To read
   * the options of all of them takes longer than many a command.
   */
  static Set<Subcommand> wanted(String... args) {
    for (Subcommand each : values()) {
      if (args.length > 0 && args[0].equals(each.toString())) {
        return each.readsAll() ? EnumSet.allOf(Subcommand.class) : EnumSet.of(each);
      }
    }
    return EnumSet.allOf(Subcommand.class);
  }

  /** Whether it prints something about all subcommands. */
  private boolean readsAll() {
    return this == HELP || this == COMPLETION;
  }

  /** Its class, loaded where it is asked for, or a command of it. */
  Object command() {
    return switch (this) {
      case QUICKSTART -> QuickstartCommand.class;
      case TRAIN -> TrainCommand.class;
      case EVALUATE -> EvaluateCommand.class;
      case IMPORTANCE -> new ImportanceCommand(new LearnedFiles());
      case EXPLAIN -> new ExplainCommand(new LearnedFiles());
      case TUNE -> new TuneCommand(new TrialTraining());
      case PREDICT -> PredictCommand.class;
      case RETRIEVE -> RetrieveCommand.class;
      case SERVE -> new ServeCommand(CandidateFiles::new);
      case PUBLISH -> PublishCommand.class;
      case DATA -> DataCommand.class;
      case TABLE -> TableCommand.class;
      case EXPORT -> ExportCommand.class;
      case IMPORT -> ImportCommand.class;
      case CONFIG -> ConfigCommand.class;
      case BOARD -> BoardCommand.class;
      case PROFILE -> ProfileCommand.class;
      case REPLAY -> ReplayCommand.class;
      case BENCH -> BenchCommand.class;
      case INFO -> InfoCommand.class;
      case COMPLETION -> CompletionCommand.class;
      case HELP -> CommandLine.HelpCommand.class;
    };
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
