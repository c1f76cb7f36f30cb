package dev.tern.cli.convert;

import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.run.Format;
import dev.tern.hugectr.HugeCtrExport;
import dev.tern.tensor.Device;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern export hugectr}: a graph file, dense weights and embeddings of HugeCTR. */
@Command(
    name = "hugectr",
    description = {
      "Writes a model as the files of one of HugeCTR: graph.json, model_dense_0.model and a folder"
          + " for each embedding. Models are graph, lr, fm, wdl, deepfm, dcn, dcnv2 of low rank and"
          + " dlrm, of numbers and ids as the data have them."
    },
    mixinStandardHelpOptions = true)
final class HugeCtrExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private CheckpointChoice choice = new CheckpointChoice();

  @Option(names = "--out", required = true, paramLabel = "FOLDER", description = "The new folder.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    HugeCtrExport.Report report;
    try (Device device = Device.cpu(1, HugeCtrImportCommand.MEMORY)) {
      report = HugeCtrExport.write(choice.open(), device, out);
    }
    PrintWriter print = spec.commandLine().getOut();
    print.println(
        "%s dense weights and %s rows of embeddings, folder %s"
            .formatted(
                Format.whole(report.parameters()), Format.whole(report.rows()), Format.path(out)));
    if (!report.slotSizes().isEmpty()) {
      print.println(
          "slot_size_array of the reader in HugeCTR: ["
              + report.slotSizes().stream().map(String::valueOf).collect(Collectors.joining(", "))
              + "]");
    }
    report.notes().forEach(note -> print.println("note: " + note));
    print.flush();
    return 0;
  }
}
