package dev.tern.cli.convert;

import dev.tern.cli.config.ConfigException;
import dev.tern.convert.ImportReport;
import dev.tern.convert.ImportedRun;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.hugectr.Columns;
import dev.tern.hugectr.HugeCtrImport;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern import hugectr}: a run's folder from the files of a model of HugeCTR. */
@Command(
    name = "hugectr",
    description = {
      "Makes the folder of a run from a model of HugeCTR, to be scored, served and trained on."
    },
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {
      "  tern import hugectr wdl.json --dense wdl_dense_2000.model \\",
      "    --sparse wdl0_sparse_2000.model wdl1_sparse_2000.model --out runs/wdl",
    })
final class HugeCtrImportCommand implements Callable<Integer> {
  /** No limit: a checkpoint is held in memory once. */
  static final long MEMORY = 1L << 46;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "GRAPH",
      description = "The graph: what graph_to_json wrote.")
  private Path graph = Path.of("");

  @Option(
      names = "--dense",
      required = true,
      paramLabel = "FILE",
      description = "Dense weights, NAME_dense_N.model.")
  private Path dense = Path.of("");

  @Option(
      names = "--sparse",
      arity = "1..*",
      paramLabel = "FOLDER",
      description = "Embeddings in the order of the graph, NAMEi_sparse_N.model.")
  private List<Path> sparse = List.of();

  @Option(
      names = "--statistics",
      paramLabel = "FILE",
      description =
          "Averages of batch normalizations (default: the dense weights' file with .ntp.json"
              + " behind its name).")
  private Optional<Path> statistics = Optional.empty();

  @Option(
      names = "--slot-sizes",
      paramLabel = "SIZES",
      description =
          "The slot_size_array of the reader, by which HugeCTR shifts keys, as in 100,20,7; or"
              + " graph to take it from the embeddings of the graph. Without it keys are ids.")
  private Optional<String> slotSizes = Optional.empty();

  @Option(
      names = "--projection-dim",
      paramLabel = "N",
      description =
          "Rank of cross layers, which graph files lack (default: by the length of the dense"
              + " weights).")
  private Optional<Integer> projection = Optional.empty();

  @Option(
      names = "--reference",
      arity = "1..*",
      paramLabel = "FILE",
      description =
          "Rows like those that are scored, for models with PReLU_Dice: HugeCTR saves no mean and"
              + " variance for it, so these rows give them.")
  private List<Path> reference = List.of();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "How files of rows are read and what their columns are called, as in a configuration:"
              + " data.format (default norm), data.dense.columns, data.sparse.columns and others.")
  private List<String> settings = List.of();

  @Option(names = "--out", required = true, paramLabel = "FOLDER", description = "The new run.")
  private Path out = Path.of("");

  @Override
  public Integer call() {
    ImportedConfig.requireNew(out);
    ImportSettings data = ImportSettings.of(settings, "norm");
    String format = data.format();
    Columns columns = new Columns(data.labels(), data.numbers(), data.slots());
    HugeCtrImport.Sources sources = new HugeCtrImport.Sources(graph, dense, statistics, sparse);
    ImportReport report;
    try (Device device = Device.cpu(1, MEMORY)) {
      HugeCtrImport.Options options =
          new HugeCtrImport.Options(
              columns,
              sizes(),
              rank(),
              made -> data.reading(new ImportedConfig(made, format, out)),
              encoder -> reference(encoder));
      report =
          ImportedRun.write(
              out,
              checkpoint -> HugeCtrImport.write(sources, options, device, checkpoint),
              made -> new ImportedConfig(made.made(), format, out).files());
    }
    new ImportedConfig(report.made(), format, out)
        .print(report, data.others(), spec.commandLine().getOut());
    return 0;
  }

  private Optional<DataReader> reference(FeatureEncoder encoder) {
    return reference.isEmpty()
        ? Optional.empty()
        : Optional.of(ReferenceRows.open(encoder, reference));
  }

  private List<Long> sizes() {
    if (slotSizes.isEmpty()) {
      return List.of();
    }
    if (slotSizes.get().equals("graph")) {
      return HugeCtrImport.slotSizes(graph);
    }
    List<Long> sizes = new ArrayList<>();
    for (String size : slotSizes.get().split(",", -1)) {
      if (!size.strip().matches("[0-9]{1,18}")) {
        throw new ConfigException(
            "--slot-sizes: got \"%s\", expected whole numbers with commas between them, or graph"
                .formatted(size));
      }
      sizes.add(Long.parseLong(size.strip()));
    }
    return sizes;
  }

  private OptionalInt rank() {
    if (projection.isPresent() && projection.get() < 1) {
      throw new ConfigException(
          "--projection-dim: got %d, expected 1 or more; leave it out for cross layers with vectors"
              .formatted(projection.get()));
    }
    return projection.map(OptionalInt::of).orElse(OptionalInt.empty());
  }
}
