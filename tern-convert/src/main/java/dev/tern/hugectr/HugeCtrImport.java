package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.convert.ImportReport;
import dev.tern.convert.ImportedModel;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.ModelConfig;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Makes a checkpoint of a model of HugeCTR, which scores, trains on and is served as any other. Its
 * model is {@link ModelConfig.Type#GRAPH}; a layer has the name of its tensor in HugeCTR.
 *
 * <pre>{@code
 * HugeCtrImport.Sources files =
 *     new HugeCtrImport.Sources(graph, dense, Optional.empty(), List.of(wide, deep));
 * HugeCtrImport.write(files, HugeCtrImport.Options.DEFAULT, device, target);
 * }</pre>
 */
public final class HugeCtrImport {
  /** Cross layers of which a file lacks the rank have at most that. */
  private static final int MOST_RANK = 1 << 20;

  /** The field of graph files with the rank of cross layers. */
  private static final String PROJECTION = "projection_dim";

  private HugeCtrImport() {}

  /**
   * The files of a model.
   *
   * @param graph what {@code graph_to_json} wrote
   * @param dense the dense weights, {@code NAME_dense_N.model}
   * @param statistics the averages of batch normalizations; empty for those beside {@code dense}
   * @param sparse the folders of embeddings in the order of the graph, {@code NAMEi_sparse_N.model}
   */
  public record Sources(Path graph, Path dense, Optional<Path> statistics, List<Path> sparse) {
    /** Copies {@code sparse}. */
    public Sources {
      sparse = List.copyOf(sparse);
    }
  }

  /**
   * What the files do not say.
   *
   * @param columns names of the columns of data
   * @param slotSizes the {@code slot_size_array} of the reader, for each slot how far it shifts the
   *     keys of the next one: each slot then has a table of its own, whose ids are the data's.
   *     Empty where the data have the keys themselves
   * @param projection rank of cross layers whose graph file lacks it; empty to find it by the
   *     length of the dense weights
   * @param reading how files of rows are read
   * @param reference opens raw rows like those that are scored, for models with PReLU_Dice, whose
   *     mean and variance they give; empty for none
   */
  public record Options(
      Columns columns,
      List<Long> slotSizes,
      OptionalInt projection,
      Function<ImportedModel, Reading> reading,
      Function<FeatureEncoder, Optional<DataReader>> reference) {
    /** Numbered columns, and keys as they stand. */
    public static final Options DEFAULT =
        new Options(
            Columns.NUMBERED,
            List.of(),
            OptionalInt.empty(),
            _ -> Reading.PLAIN,
            _ -> Optional.empty());

    /** The same with other columns. */
    public Options withColumns(Columns other) {
      return new Options(other, slotSizes, projection, reading, reference);
    }

    /** The same with sizes of slots. */
    public Options withSlotSizes(List<Long> sizes) {
      return new Options(columns, sizes, projection, reading, reference);
    }

    /** The same with a rank of cross layers. */
    public Options withProjection(int rank) {
      return new Options(columns, slotSizes, OptionalInt.of(rank), reading, reference);
    }

    /** The same with reference rows. */
    public Options withReference(Function<FeatureEncoder, Optional<DataReader>> rows) {
      return new Options(columns, slotSizes, projection, reading, rows);
    }

    /** Checks sizes. */
    public Options {
      slotSizes = List.copyOf(slotSizes);
      for (long size : slotSizes) {
        if (size < 1 || size > Long.MAX_VALUE >> 20) {
          throw new DataException(
              "slot sizes: got %d, expected how many keys a slot has, 1 or more".formatted(size));
        }
      }
    }
  }

  /**
   * Writes a checkpoint.
   *
   * @param target a new folder
   * @throws DataException if a file is damaged, or has what Tern or HugeCTR itself cannot run
   */
  public static ImportReport write(Sources sources, Options options, Device device, Path target) {
    try {
      return made(sources, options, device, target);
    } catch (IllegalArgumentException e) {
      throw new DataException(sources.graph() + ": " + e.getMessage(), e);
    }
  }

  private static ImportReport made(Sources sources, Options options, Device device, Path target) {
    GraphFile graph = GraphFile.read(sources.graph());
    requireFolders(graph, sources);
    List<String> notes = new ArrayList<>();
    GraphTranslation translation = translate(graph, sources, options, device, notes);
    ImportedModel made = described(graph, translation);
    FeatureEncoder encoder = made.encoder(options.reading().apply(made));
    try (Trainer trainer = made.trainer(encoder, device)) {
      Map<String, Variable> variables = variables(trainer);
      DenseFile.read(sources.dense(), translation.weights(), variables);
      readStatistics(sources, translation, variables);
      long rows = readTables(sources, translation, trainer);
      calibrate(sources, options, trainer, made, notes);
      trainer.save(target);
      notes.addAll(translation.notes());
      long parameters = DenseFile.total(translation.weights(), variables);
      return new ImportReport(made, parameters, rows, notes);
    }
  }

  /**
   * The {@code slot_size_array} of each embedding of a graph file, one behind the other, for {@link
   * Options#slotSizes}.
   *
   * @throws DataException if an embedding has none
   */
  public static List<Long> slotSizes(Path graph) {
    return GraphFile.read(graph).slotSizes();
  }

  private static void requireFolders(GraphFile graph, Sources sources) {
    if (graph.embeddings().size() != sources.sparse().size()) {
      throw new DataException(
          "%s: got %d folders of embeddings, expected %d, one for each of %s in this order; give them with --sparse"
              .formatted(
                  sources.graph(),
                  sources.sparse().size(),
                  graph.embeddings().size(),
                  graph.embeddings().stream().map(GraphFile.Embedding::top).toList()));
    }
    for (int e = 0; e < graph.embeddings().size(); e++) {
      SparseFolder.rows(sources.sparse().get(e), graph.embeddings().get(e).width());
    }
  }

  /** Statistics that HugeCTR takes from whatever rows it scores together, and saves nowhere. */
  private static void calibrate(
      Sources sources, Options options, Trainer trainer, ImportedModel made, List<String> notes) {
    if (!Calibration.isNeeded(made.model())) {
      return;
    }
    Optional<DataReader> rows = options.reference().apply(trainer.encoder());
    if (rows.isEmpty()) {
      throw new DataException(
          "%s: got PReLU_Dice without reference rows, expected some: HugeCTR takes the mean and variance of the rows that it scores together, and saves none; give rows like those that are scored (--reference)"
              .formatted(sources.graph()));
    }
    int count = Calibration.run(trainer.network(), made.model(), trainer.encoder(), rows.get());
    notes.add(
        "PReLU_Dice has the mean and variance of %d reference rows; HugeCTR takes those of the rows that it scores together"
            .formatted(count));
  }

  /** The model; of cross layers that lack their rank with the one that the weights have. */
  private static GraphTranslation translate(
      GraphFile graph, Sources sources, Options options, Device device, List<String> notes) {
    int told = options.projection().orElse(0);
    options.projection().ifPresent(rank -> requireTaken(graph, rank));
    GraphTranslation translation =
        GraphTranslation.of(
            graph, new GraphTranslation.Told(options.columns(), options.slotSizes(), told));
    long got = DenseFile.size(sources.dense());
    long floats = floats(translation, device, sources);
    boolean crosses = crosses(graph).stream().anyMatch(sizes -> !sizes.has(PROJECTION));
    if (got == 4 * floats || !crosses || options.projection().isPresent()) {
      return translation;
    }
    // The file grows by the same bytes with each further rank.
    GraphTranslation first =
        GraphTranslation.of(
            graph, new GraphTranslation.Told(options.columns(), options.slotSizes(), 1));
    GraphTranslation second =
        GraphTranslation.of(
            graph, new GraphTranslation.Told(options.columns(), options.slotSizes(), 2));
    long one = floats(first, device, sources);
    long each = floats(second, device, sources) - one;
    long more = got / 4 - one;
    if (got % 4 != 0 || more < 0 || more % each != 0 || more / each >= MOST_RANK) {
      return translation;
    }
    int rank = (int) (more / each) + 1;
    notes.add(
        "the cross layers have matrices of rank %d, which the graph file does not say: the length of the dense weights does"
            .formatted(rank));
    return GraphTranslation.of(
        graph, new GraphTranslation.Told(options.columns(), options.slotSizes(), rank));
  }

  /** The sizes of all cross layers. */
  private static List<Place> crosses(GraphFile graph) {
    return graph.layers().stream()
        .filter(layer -> layer.text("type").equals("MultiCross"))
        .map(layer -> layer.object("mc_param"))
        .toList();
  }

  /** Throws if a rank is told that no layer takes, or that differs from what a layer says. */
  private static void requireTaken(GraphFile graph, int rank) {
    if (crosses(graph).isEmpty()) {
      throw graph
          .data()
          .wrong("", "a graph without MultiCross", "one, as a rank of cross layers is told");
    }
    for (Place sizes : crosses(graph)) {
      OptionalInt written = sizes.wholeIfAny(PROJECTION, 0);
      if (written.isPresent() && written.getAsInt() != rank) {
        throw sizes.wrong(
            PROJECTION,
            Integer.toString(written.getAsInt()),
            "%d, the rank that is told; leave that out (--projection-dim)".formatted(rank));
      }
    }
  }

  private static long floats(GraphTranslation translation, Device device, Sources sources) {
    long stored = DenseFile.size(sources.dense()) / Float.BYTES;
    try (SizedModel sized = SizedModel.of(translation, device, sources.graph(), stored)) {
      return DenseFile.total(translation.weights(), sized.variables());
    }
  }

  private static ImportedModel described(GraphFile graph, GraphTranslation translation) {
    Set<String> averaged = new TreeSet<>();
    for (Tables.Table table : translation.tables().tables()) {
      if (graph.embeddings().get(table.embedding()).mean()) {
        averaged.addAll(translation.tables().slotsOf(table));
      }
    }
    return new ImportedModel(translation.model(), translation.schema(), averaged);
  }

  private static Map<String, Variable> variables(Trainer trainer) {
    Map<String, Variable> variables = new HashMap<>();
    trainer.network().variables().forEach(variable -> variables.put(variable.name(), variable));
    return variables;
  }

  private static void readStatistics(
      Sources sources, GraphTranslation translation, Map<String, Variable> variables) {
    List<String> layers = batchNorms(translation.model());
    if (!layers.isEmpty()) {
      Path beside =
          sources.dense().resolveSibling(sources.dense().getFileName() + StatisticsFile.SUFFIX);
      StatisticsFile.read(sources.statistics().orElse(beside), layers, variables);
    } else if (sources.statistics().isPresent()) {
      throw new DataException(
          "%s: got averages for a graph without BatchNorm, expected none; leave them out"
              .formatted(sources.statistics().get()));
    }
  }

  /** Names of the batch normalizations of a model, in order. */
  static List<String> batchNorms(ModelConfig model) {
    return model.variant().graph().orElseThrow().layers().stream()
        .filter(layer -> layer.op() == GraphOp.BATCH_NORM)
        .map(GraphLayer::name)
        .toList();
  }

  private static long readTables(Sources sources, GraphTranslation translation, Trainer trainer) {
    Map<Integer, Long> taken = new HashMap<>();
    for (Tables.Table table : translation.tables().tables()) {
      Path folder = sources.sparse().get(table.embedding());
      try (SparseFolder rows = SparseFolder.open(folder, table)) {
        trainer.network().begin(table.name(), table.width(), rows);
        taken.merge(table.embedding(), rows.taken(), Long::sum);
      } catch (IllegalArgumentException e) {
        throw new DataException(folder + ": " + e.getMessage(), e);
      }
    }
    long all = 0;
    for (Map.Entry<Integer, Long> each : taken.entrySet()) {
      Path folder = sources.sparse().get(each.getKey());
      int width = widthOf(translation, each.getKey());
      long rows = SparseFolder.rows(folder, width);
      if (rows != each.getValue()) {
        throw new DataException(
            "%s: got %d keys outside of the slot sizes, expected each key in the slot that they give it; give the slot_size_array that the model was trained with, or none"
                .formatted(folder, rows - each.getValue()));
      }
      all += rows;
    }
    return all;
  }

  private static int widthOf(GraphTranslation translation, int embedding) {
    return translation.tables().tables().stream()
        .filter(table -> table.embedding() == embedding)
        .findFirst()
        .orElseThrow()
        .width();
  }
}
