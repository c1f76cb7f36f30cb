package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.model.graph.GraphLayer;
import dev.tern.model.graph.GraphOp;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a checkpoint as the files of a model of HugeCTR. The files are {@code graph.json}, {@code
 * model_dense_0.model}, with batch normalizations {@code model_dense_0.model.ntp.json}, and {@code
 * modelI_sparse_0.model} for each embedding.
 */
public final class HugeCtrExport {
  /** The file of the graph. */
  public static final String GRAPH = "graph.json";

  /** The file of dense weights. */
  public static final String DENSE = "model_dense_0.model";

  private HugeCtrExport() {}

  /**
   * What was written.
   *
   * @param parameters weights of dense layers
   * @param rows of all embeddings together
   * @param slotSizes what the reader of the data must be told as {@code slot_size_array}; empty
   *     where keys are ids as they stand
   * @param notes what differs from Tern, a sentence each
   */
  public record Report(long parameters, long rows, List<Long> slotSizes, List<String> notes) {
    /** Copies the lists. */
    public Report {
      slotSizes = List.copyOf(slotSizes);
      notes = List.copyOf(notes);
    }
  }

  /** The folder of an embedding by its number. */
  public static String sparse(int embedding) {
    return "model" + embedding + "_sparse_0.model";
  }

  /**
   * Writes the files of a model.
   *
   * @param target a new folder
   * @throws DataException if HugeCTR has no form for the model, its columns or its tasks, or
   *     something is at {@code target}
   */
  public static Report write(Checkpoint checkpoint, Device device, Path target) {
    ModelConfig model = checkpoint.requireModel();
    requirePlainColumns(checkpoint.encoder());
    ModelGraphs.Exported exported;
    TableWriting tables;
    try (Network network = checkpoint.load(device)) {
      Schema schema = network.schema();
      Map<String, float[]> arrays = new HashMap<>();
      network.variables().forEach(each -> arrays.put(each.name(), each.toArray()));
      exported = ModelGraphs.of(model, schema, network.slotWidths(), arrays);
      network.tables().tables().forEach(table -> requireZeros(table.config()));
      List<Combiner> combiners = network.tables().combiners();
      tables = TableWriting.of(checkpoint, exported.graph(), combiners);
    }
    LayerWriting layers = new LayerWriting();
    exported.graph().layers().forEach(layers::add);
    GraphWriting writing =
        new GraphWriting(
            exported.graph(), exported.tasks(), checkpoint.encoder().schema().denseDim());
    String text = writing.text(tables.embeddings(), layers.layers());
    List<String> norms =
        exported.graph().layers().stream()
            .filter(layer -> layer.op() == GraphOp.BATCH_NORM)
            .map(GraphLayer::name)
            .toList();
    AtomicFolder.writeNew(
        target,
        folder -> {
          try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve(GRAPH), text, StandardCharsets.UTF_8);
            DenseFile.write(folder.resolve(DENSE), layers.weights(), exported.arrays());
            if (!norms.isEmpty()) {
              Path statistics = folder.resolve(DENSE + StatisticsFile.SUFFIX);
              StatisticsFile.write(statistics, norms, exported.arrays());
            }
            tables.write(checkpoint, folder);
            checkpoint.requireUnchanged();
          } catch (IOException e) {
            throw AtomicFolder.unwritten(target, e);
          }
        });
    long parameters =
        layers.weights().stream()
            .mapToLong(each ->
                each.parameter()
                    .map(name -> DenseFile.array(exported.arrays(), name).length)
                    .orElse(each.unused()))
            .sum();
    return new Report(parameters, tables.rows(), tables.slotSizes(), notes(exported));
  }

  private static List<String> notes(ModelGraphs.Exported exported) {
    List<GraphOp> ops = exported.graph().layers().stream().map(GraphLayer::op).toList();
    List<String> notes = new ArrayList<>();
    notes.add(
        "the state of optimizers begins anew: do not load optimizer states in HugeCTR; its graph"
            + " names Adam for embeddings");
    if (ops.contains(GraphOp.BATCH_NORM)) {
      notes.add("HugeCTR keeps 6 digits behind the point of the averages of batch normalizations");
    }
    if (ops.contains(GraphOp.DICE)) {
      notes.add(
          "HugeCTR's PReLU_Dice has no averages: it takes the mean and variance of the rows that it"
              + " scores together");
    }
    if (exported.tasks().stream().anyMatch(task -> task.weight() != 1)) {
      notes.add(
          "a graph file has no weights of losses, and HugeCTR's compile(loss_weights) changes the"
              + " loss that it reports alone");
    }
    return notes;
  }

  /** In HugeCTR an id without a row reads as zeros. */
  private static void requireZeros(TableConfig table) {
    if (!table.unknown().equals(UnknownRow.ZEROS)) {
      throw new DataException(
          "export: got the table %s, whose ids without a row read as %s, expected zeros, as HugeCTR has them; train with model.unknown: zeros"
              .formatted(table.name(), table.unknown()));
    }
  }

  /** HugeCTR reads numbers and ids as the data have them. */
  private static void requirePlainColumns(FeatureEncoder encoder) {
    List<String> dense = encoder.rawSchema().dense();
    for (int f = 0; f < dense.size(); f++) {
      boolean plain =
          encoder.dense().get(f)
                  instanceof NumberEncoding.Scaled(boolean log, boolean scaled, float fill)
              && !log
              && !scaled
              && fill == 0;
      if (!plain) {
        throw new DataException(
            "export: got the number %s encoded as %s, expected it as it stands in the data, which HugeCTR reads; write encoded data by tern data convert --encode and train on them with transform: none"
                .formatted(dense.get(f), encoder.dense().get(f)));
      }
    }
    for (int s = 0; s < encoder.slots().size(); s++) {
      Slot slot = encoder.rawSchema().slots().get(s);
      boolean plain = encoder.slots().get(s) instanceof IdEncoding.Verbatim(boolean text) && !text;
      if (!plain || slot.weighted() || slot.sequence().isPresent()) {
        throw new DataException(
            "export: got the column %s %s, expected whole numbers that are ids, summed or averaged, which HugeCTR reads; write encoded data by tern data convert --encode and train on them with encode: id"
                .formatted(
                    slot.name(),
                    plain
                        ? slot.weighted() ? "with weights" : "as a sequence"
                        : "encoded as " + encoder.slots().get(s)));
      }
    }
  }
}
