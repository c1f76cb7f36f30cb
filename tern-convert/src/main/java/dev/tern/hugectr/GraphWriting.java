package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import dev.tern.model.Loss;
import dev.tern.model.Task;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphInput;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The graph file of a model.
 *
 * @param graph the model
 * @param tasks what its logits predict, in order
 * @param numbers how many there are
 */
record GraphWriting(Graph graph, List<Task> tasks, int numbers) {
  /** An embedding, with all that its layer says. */
  record Embedding(GraphInput input, List<Integer> hotness, Json.Obj sizes) {}

  /** A loss: the tensor of its logits, and its tasks. */
  private record Head(String logits, List<Task> tasks) {}

  /**
   * The file's text.
   *
   * @param layers dense layers without losses
   */
  String text(List<Embedding> embeddings, List<Json> layers) {
    List<Head> heads = heads();
    List<String> labels = labels(heads);
    List<Json> all = new ArrayList<>();
    all.add(data(embeddings, heads, labels));
    embeddings.forEach(embedding -> all.add(embedding(embedding)));
    all.addAll(layers);
    for (int h = 0; h < heads.size(); h++) {
      all.add(loss(heads.get(h), labels.get(h), h));
    }
    return GraphText.of(Json.object().put("layers", new Json.Arr(all)));
  }

  private List<Head> heads() {
    List<Head> heads = new ArrayList<>();
    int at = 0;
    for (int l = 0; l < graph.logits().size(); l++) {
      int left = tasks.size() - at;
      int tensors = graph.logits().size() - l;
      boolean classes = left > 0 && tasks.get(at).loss() instanceof Loss.OfClass;
      int count =
          classes ? ((Loss.OfClass) tasks.get(at).loss()).classes() : left == tensors ? 1 : left;
      if (count < 1 || count > left || !classes && tensors > 1 && left != tensors) {
        throw new DataException(
            "export: got %d tensors of logits for %d tasks, expected one for each task, or one for all"
                .formatted(graph.logits().size(), tasks.size()));
      }
      Head head = new Head(graph.logits().get(l), tasks.subList(at, at + count));
      head.tasks().forEach(task -> requirePlain(task, count));
      heads.add(head);
      at += count;
    }
    return heads;
  }

  private static void requirePlain(Task task, int together) {
    boolean known =
        task.loss().equals(Loss.BINARY_CROSS_ENTROPY)
            || task.loss() instanceof Loss.OfClass && together == 2;
    if (!known
        || task.within().isPresent()
        || task.positiveWeight() != 1
        || task.negativeRate() != 1
        || task.optional() && task.loss() instanceof Loss.OfClass) {
      throw new DataException(
          "export: got %s, expected a cross entropy over all rows, of one label or of two classes: HugeCTR's losses have no more"
              .formatted(task));
    }
  }

  /** Names in the order of the data, in which HugeCTR sorts them. */
  private List<String> labels(List<Head> heads) {
    List<String> names = new ArrayList<>();
    heads.forEach(
        head -> names.add(head.tasks().size() == 1 ? head.tasks().getFirst().label() : "labels"));
    boolean fits =
        names.stream().distinct().count() == names.size()
            && names.stream().allMatch(name -> fresh(name).equals(name))
            && names.stream().sorted().toList().equals(names);
    return fits
        ? names
        : IntStream.range(0, names.size()).mapToObj(i -> "label%04d".formatted(i)).toList();
  }

  private Json data(List<Embedding> embeddings, List<Head> heads, List<String> labels) {
    List<Integer> widths = heads.stream().map(GraphWriting::columns).toList();
    Json.Obj label = Json.object();
    if (labels.size() == 1) {
      label.put("top", labels.getFirst()).put("label_dim", widths.getFirst());
    } else {
      label.put("top", new Json.Arr(labels.stream().<Json>map(Json.Str::new).toList()));
      label.put("label_dim", wholes(widths));
    }
    List<Json> sparse = new ArrayList<>();
    for (Embedding each : embeddings) {
      boolean fixed = !each.hotness().contains(0);
      List<Integer> most = each.hotness().stream().map(ids -> Math.max(1, ids)).toList();
      sparse.add(
          Json.object()
              .put("top", bottom(each))
              .put("slot_num", each.hotness().size())
              .put("is_fixed_length", fixed)
              .put("nnz_per_slot", wholes(most)));
    }
    return Json.object()
        .put("type", "Data")
        .put("label", label)
        .put("dense", Json.object().put("top", dense()).put("dense_dim", numbers))
        .put("sparse", new Json.Arr(sparse));
  }

  /** Columns of labels that a loss reads: one with the number of the class, or one a task. */
  private static int columns(Head head) {
    return head.tasks().getFirst().loss() instanceof Loss.OfClass ? 1 : head.tasks().size();
  }

  private String dense() {
    return graph.inputs().stream()
        .filter(input -> input.kind() == GraphInput.Kind.NUMBERS)
        .map(GraphInput::name)
        .findFirst()
        .orElse("dense");
  }

  private static String bottom(Embedding embedding) {
    return embedding.input().name() + "_keys";
  }

  private static Json wholes(List<Integer> numbers) {
    return new Json.Arr(numbers.stream().<Json>map(number -> new Json.Int(number)).toList());
  }

  private static Json embedding(Embedding each) {
    Json.Obj adam =
        Json.object().put("beta1", 0.9f).put("beta2", 0.999f).put("epsilon", (double) 1e-7f);
    return Json.object()
        .put("type", "DistributedSlotSparseEmbeddingHash")
        .put("bottom", bottom(each))
        .put("top", each.input().name())
        .put("sparse_embedding_hparam", each.sizes())
        .put(
            "optimizer",
            Json.object()
                .put("type", "Adam")
                .put("update_type", "Global")
                .put("adam_hparam", adam));
  }

  /** A name that no tensor has. */
  private String fresh(String name) {
    boolean taken =
        graph.layers().stream().anyMatch(layer -> layer.outputs().contains(name))
            || graph.inputs().stream().anyMatch(input -> input.name().equals(name));
    return taken ? fresh(name + "_") : name;
  }

  private Json loss(Head head, String label, int number) {
    Task first = head.tasks().getFirst();
    boolean classes = first.loss() instanceof Loss.OfClass;
    // Of all losses it is the one that leaves out rows without a label.
    boolean several = !classes && (head.tasks().size() > 1 || first.optional());
    Json.Obj loss =
        Json.object()
            .put(
                "type",
                classes
                    ? "CrossEntropyLoss"
                    : several ? "MultiCrossEntropyLoss" : "BinaryCrossEntropyLoss")
            .put("bottom", new Json.Arr(List.of(new Json.Str(head.logits()), new Json.Str(label))))
            .put("top", fresh("loss" + (number == 0 ? "" : number)));
    if (several) {
      int count = head.tasks().size();
      loss.put(
          "target_weight",
          new Json.Arr(
              head.tasks().stream()
                  .<Json>map(task -> new Json.Real(task.weight() * count))
                  .toList()));
    }
    return loss;
  }
}
