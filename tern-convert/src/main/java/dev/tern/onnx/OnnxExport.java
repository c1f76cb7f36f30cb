package dev.tern.onnx;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.ir.Node;
import dev.tern.internal.json.Json;
import dev.tern.internal.onnx.ElementType;
import dev.tern.model.Loss;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
import dev.tern.model.Task;
import dev.tern.nn.Features;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes one of Tern's models as an ONNX model (IR 8, opset 18) that gives the same scores: the
 * encodings of columns, the look-up of ids, the pooling of rows and the model itself, op by op from
 * the program that Tern computes.
 *
 * <pre>{@code
 * OnnxExport.write(Checkpoint.open(run), Path.of("model.onnx"), OnnxOptions.DEFAULT);
 * }</pre>
 *
 * <p>Outputs are FLOAT {@code [rows]} for each task: {@code LABEL.logit}, and {@code
 * LABEL.prediction}, which is what the loss of the task predicts, such as the probability of label
 * 1; a model whose logits only order rows has no prediction. A model of two towers also gives
 * {@code user.vector} and {@code item.vector}, FLOAT {@code [rows, D]}. The properties of the model
 * say what its inputs are.
 */
public final class OnnxExport {
  /** The property that holds what a model is made of but its weights. */
  static final String RECIPE = "tern.recipe";

  /** Bytes of ids that a property holds at most. */
  private static final long MOST_TEXT = 1 << 20;

  /** The property that names parameters and statistics that scoring does not read. */
  static final String UNREAD = "tern.unread";

  private OnnxExport() {}

  /**
   * What was written.
   *
   * @param operators of the graph
   * @param tableRows rows of all tables
   * @param externalBytes bytes of the file beside the model; 0 if there is none
   */
  public record Summary(int operators, long tableRows, long externalBytes) {}

  /**
   * Writes the model of a checkpoint. The file appears whole or not at all.
   *
   * @param target a new file; one beside it, whose name has {@code .data} behind, if tables are
   *     larger than {@link OnnxOptions#inlineBytes}
   * @throws dev.tern.base.DataException if something is there, or the checkpoint is of no model of
   *     Tern's, or of one with a recurrent unit
   */
  public static Summary write(Checkpoint checkpoint, Path target, OnnxOptions options) {
    return write(checkpoint, checkpoint.requireModel(), target, options);
  }

  /**
   * The same for a checkpoint of a model of one's own.
   *
   * @param factory of the model
   */
  public static Summary write(
      Checkpoint checkpoint, ModelFactory factory, Path target, OnnxOptions options) {
    try (Device device = Device.cpu(1, Long.MAX_VALUE);
        Network network = checkpoint.loadLayers(device, factory);
        ScoringProgram program =
            ScoringProgram.record(network, features -> outputs(network, features))) {
      Map<String, ExportedTable> tables = FeatureGraph.tables(checkpoint, network);
      Graph graph = new Graph();
      FeatureGraph features =
          new FeatureGraph(graph, checkpoint.encoder(), network, tables, options.ids());
      Map<String, String> values = features.values(program);
      network.variables().forEach(variable -> program.name(variable.tensor(), variable.name()));
      OpenSizes sizes = new OpenSizes(graph, features.symbols());
      Translation translation = new Translation(graph, program, sizes, values);
      Json outputs = new Outputs(graph, network, translation).declare(program.outputs());
      Map<String, String> metadata = metadata(checkpoint, tables, options);
      if (options.ids() == OnnxOptions.Ids.GRAPH) {
        long most = Math.min(MOST_TEXT, options.inlineBytes());
        tables.values().forEach(table -> keepIds(graph, table, metadata, most));
        metadata.put(UNREAD, unread(graph, network).toString());
      }
      metadata.put("tern.inputs", features.inputs().described().toString());
      metadata.put("tern.outputs", outputs.toString());
      String name = network.model().getClass().getSimpleName();
      long external =
          new ModelFile(graph, name, metadata, options.inlineBytes())
              .write(target, checkpoint::requireUnchanged);
      long rows = tables.values().stream().mapToLong(ExportedTable::count).sum();
      return new Summary(graph.nodeCount(), rows, external);
    }
  }

  private static List<Tensor> outputs(Network network, Features features) {
    List<Tensor> all = new ArrayList<>(List.of(network.logits(features)));
    if (network.model() instanceof RetrievalModel towers) {
      all.add(towers.users(features));
      all.add(towers.items(features));
    }
    return all;
  }

  private static Json unread(Graph graph, Network network) {
    Set<String> there = graph.constants().stream().map(Constant::name).collect(Collectors.toSet());
    return new Json.Arr(
        network.variables().stream()
            .map(Variable::name)
            .filter(name -> !there.contains(name))
            .<Json>map(Json.Str::new)
            .toList());
  }

  /**
   * Keeps the ids of rows that the graph does not have, of a vocabulary with gaps: as a property,
   * or of many as a tensor that no node reads, as tensors are written as they come.
   */
  private static void keepIds(
      Graph graph, ExportedTable table, Map<String, String> metadata, long most) {
    String ids = ExportedTable.IDS + table.name();
    boolean isThere = graph.constants().stream().anyMatch(c -> c.name().equals(ids));
    if (table.isRange() || table.count() == 0 || isThere) {
      return;
    }
    if (8 * table.count() > most) {
      graph.shared(ids, ElementType.INT64, new long[] {table.count()}, table.idContent());
    } else {
      ByteBuffer bytes =
          ByteBuffer.allocate(Math.toIntExact(8 * table.count())).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asLongBuffer().put(table.ids());
      metadata.put("tern." + ids, Base64.getEncoder().encodeToString(bytes.array()));
    }
  }

  private static Map<String, String> metadata(
      Checkpoint checkpoint, Map<String, ExportedTable> tables, OnnxOptions options) {
    List<Json> described = new ArrayList<>();
    for (ExportedTable table : tables.values()) {
      described.add(
          Json.object()
              .put("name", table.name())
              .put("rows", table.count())
              .put("width", table.width())
              .put("storage", table.storage().name())
              .put("unknown", unknown(table))
              .put("first_id", table.isRange() ? Long.toString(table.firstId()) : "")
              .put("unknown_row", table.unknownRow())
              .put("zero_row", table.zeroRow()));
    }
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put("tern.format", "1");
    metadata.put("tern.model", checkpoint.modelText());
    metadata.put("tern.step", Long.toString(checkpoint.step()));
    metadata.put("tern.ids", options.ids().name());
    metadata.put("tern.tables", new Json.Arr(described).toString());
    if (options.ids() == OnnxOptions.Ids.GRAPH && checkpoint.model().isPresent()) {
      metadata.put(RECIPE, checkpoint.recipe().toJson());
    }
    return metadata;
  }

  /** What ids without a row read as, in words. */
  private static String unknown(ExportedTable table) {
    return table.buckets() > 0
        ? "one of %d rows, by a hash of the id".formatted(table.buckets())
        : table.config().unknown().toString();
  }

  /** Declares the outputs of a model. */
  private record Outputs(Graph graph, Network network, Translation translation) {
    private static final Graph.Dim.Open ROWS = new Graph.Dim.Open("rows");

    Json declare(List<Node> nodes) {
      List<Json> described = new ArrayList<>();
      String logits = translation.value(nodes.getFirst());
      List<Task> tasks = network.tasks().tasks();
      for (int k = 0; k < tasks.size(); k++) {
        String logit = tasks.size() == 1 ? logits : graph.gather(logits, graph.integer(k), 1);
        declare(tasks.get(k), logit, described);
      }
      if (network.model() instanceof RetrievalModel towers) {
        vector("user.vector", nodes.get(1), towers.vectorWidth(), described);
        vector("item.vector", nodes.get(2), towers.vectorWidth(), described);
      }
      return new Json.Arr(described);
    }

    private void declare(Task task, String logit, List<Json> described) {
      String prefix = task.label().isEmpty() ? "" : task.label() + ".";
      graph.output(prefix + "logit", logit, ElementType.FLOAT, ROWS);
      described.add(output(prefix + "logit", task, "logit"));
      boolean ranks = network.model().hasOwnLoss() || network.tasks().group().isPresent();
      if (!ranks) {
        Loss loss = task.loss();
        String predicted =
            loss.isOfProbability()
                ? graph.node("Sigmoid", logit)
                : loss instanceof Loss.Poisson ? graph.node("Exp", logit) : logit;
        graph.output(prefix + "prediction", predicted, ElementType.FLOAT, ROWS);
        String what = loss.isOfProbability() ? "probability" : "value";
        described.add(output(prefix + "prediction", task, what));
      }
    }

    private static Json output(String name, Task task, String what) {
      return Json.object().put("name", name).put("label", task.label()).put("is", what);
    }

    private void vector(String name, Node node, int width, List<Json> described) {
      graph.output(
          name, translation.value(node), ElementType.FLOAT, ROWS, new Graph.Dim.Fixed(width));
      described.add(Json.object().put("name", name).put("is", "vector").put("width", width));
    }
  }
}
