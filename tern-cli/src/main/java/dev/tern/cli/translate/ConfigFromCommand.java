package dev.tern.cli.translate;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.cli.choice.WriteOptions;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern config from}: a configuration of another tool as one of Tern's. */
@Command(
    name = "from",
    description =
        "Translates a configuration of FuxiCTR or EasyRec as far as it goes, and says what it"
            + " leaves out.",
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {
      "  tern config from model_zoo/DeepFM/config --experiment DeepFM_default --out run.yaml",
      "  tern config from pipeline.config --out run.yaml",
    })
final class ConfigFromCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description =
          "FuxiCTR: the folder of model_config.yaml and dataset_config.yaml, or both files."
              + " EasyRec: the pipeline's file.")
  private List<Path> files = List.of();

  @Option(
      names = "--format",
      paramLabel = "TOOL",
      description = "fuxictr or easyrec (default: by the file's name, .config for EasyRec).")
  private Optional<Tool> format = Optional.empty();

  @Option(
      names = "--experiment",
      paramLabel = "ID",
      description = "FuxiCTR: the experiment, where the file has several.")
  private Optional<String> experiment = Optional.empty();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The configuration to write (default: the standard output).")
  private Optional<Path> out = Optional.empty();

  @Option(names = "--overwrite", description = "Replace a file that is there already.")
  private boolean overwrite;

  /** A tool whose configurations are read. */
  enum Tool {
    FUXICTR,
    EASYREC;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Override
  public Integer call() {
    out.ifPresent(file -> {
      WriteOptions.requireNew(file, overwrite);
      WriteOptions.requireNoInput(file, files);
    });
    Translation translation = translate();
    translation.requireReadable();
    PrintWriter err = spec.commandLine().getErr();
    translation.lines().forEach(line -> err.println(Shown.line(line)));
    err.flush();
    if (out.isPresent()) {
      write(out.get(), translation.text());
    } else {
      spec.commandLine().getOut().print(translation.text());
    }
    spec.commandLine().getOut().flush();
    return 0;
  }

  private Translation translate() {
    boolean easyRec =
        format
            .map(tool -> tool == Tool.EASYREC)
            .orElseGet(() -> EasyRec.looksLike(files.getFirst()));
    if (!easyRec) {
      return FuxiCtr.translate(files, experiment);
    }
    if (files.size() > 1) {
      throw new ConfigException(
          "config from: got %d files of EasyRec, expected one, the pipeline's; name that"
              .formatted(files.size()));
    }
    if (experiment.isPresent()) {
      throw new ConfigException(
          "--experiment: got %s for EasyRec, whose files have one model, expected none; leave it out"
              .formatted(Shown.quoted(experiment.get())));
    }
    return EasyRec.translate(files.getFirst());
  }

  private void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new RunException(
          "%s: got an error writing it (%s), expected a folder that can be written; give another --out"
              .formatted(file, DataException.reason(e)),
          e);
    }
    spec.commandLine().getOut().println("config " + Shown.path(file));
  }
}
