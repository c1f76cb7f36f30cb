package dev.tern.hugectr;

import dev.tern.model.Task;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The labels of a graph and the losses that read them, as tasks of Tern. */
final class Losses {
  /**
   * A loss.
   *
   * @param logits name of the tensor of its logits
   * @param first its first column of labels
   */
  private record Loss(String logits, int first, List<Task> tasks) {}

  private final List<String> columns;

  /** Columns of labels by the tensors that hold them. */
  private final Map<String, List<Integer>> labels = new HashMap<>();

  private final Map<Integer, Place> read = new HashMap<>();
  private final List<Loss> losses = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();

  /**
   * Labels of a graph.
   *
   * @param columns the names of all columns of labels
   */
  Losses(GraphFile graph, List<String> columns) {
    this.columns = columns;
    int at = 0;
    for (Map.Entry<String, Integer> label : graph.labels().entrySet()) {
      List<Integer> own = new ArrayList<>();
      for (int i = 0; i < label.getValue(); i++) {
        own.add(at++);
      }
      labels.put(label.getKey(), own);
    }
  }

  static boolean isLoss(String type) {
    return type.equals("BinaryCrossEntropyLoss")
        || type.equals("CrossEntropyLoss")
        || type.equals("MultiCrossEntropyLoss");
  }

  boolean isLabel(String tensor) {
    return labels.containsKey(tensor);
  }

  /** Cuts labels apart. */
  void slice(Place place) {
    String bottom = place.names("bottom").getFirst();
    List<Integer> from = labels.getOrDefault(bottom, List.of());
    List<List<Integer>> ranges = place.pairs("ranges");
    List<String> tops = place.names("top");
    if (!place.text("type").equals("Slice") || ranges.size() != tops.size()) {
      throw place.wrong(
          "type",
          place.text("type") + " of the label " + bottom,
          "a loss, or Slice with a range for each top; labels are no features");
    }
    for (int i = 0; i < tops.size(); i++) {
      int begin = ranges.get(i).getFirst();
      int end = ranges.get(i).getLast();
      if (begin >= end || end > from.size()) {
        throw place.wrong(
            "ranges[" + i + "]",
            ranges.get(i).toString(),
            "a range of the %d labels of %s, its end not in it".formatted(from.size(), bottom));
      }
      labels.put(tops.get(i), from.subList(begin, end));
    }
  }

  /** Takes a loss. */
  void add(Place place) {
    List<String> bottoms = place.names("bottom");
    String type = place.text("type");
    if (bottoms.size() != 2 || !labels.containsKey(bottoms.getLast())) {
      throw place.wrong("bottom", bottoms.toString(), "logits and a label of Data");
    }
    List<Integer> own = labels.getOrDefault(bottoms.getLast(), List.of());
    for (int column : own) {
      Place other = read.put(column, place);
      if (other != null) {
        throw place.wrong(
            "bottom",
            "the label %s, which the loss at %s has".formatted(columns.get(column), other.path()),
            "one loss for each label, as HugeCTR drops a second one; take one of them out");
      }
    }
    losses.add(new Loss(bottoms.getFirst(), own.getFirst(), tasks(place, type, own)));
    if (place.has("regularizer") && !place.get("regularizer").asText("").isEmpty()) {
      notes.add(
          "%s has the regularizer %s, which is no part of the model; set train.l2 or model.tables.l2 to train on with one"
              .formatted(place.path(), place.get("regularizer").asText("")));
    }
  }

  private List<Task> tasks(Place place, String type, List<Integer> own) {
    if (!type.equals("MultiCrossEntropyLoss") && own.size() != 1) {
      throw place.wrong(
          "bottom", own.size() + " columns of labels", "one for " + type + "; take them by Slice");
    }
    String first = columns.get(own.getFirst());
    return switch (type) {
      case "BinaryCrossEntropyLoss" -> List.of(Task.of(first));
      case "CrossEntropyLoss" -> Task.ofClasses(first, 2);
      default -> {
        List<Double> weights =
            place.has("target_weight") ? place.reals("target_weight") : List.of();
        if (!weights.isEmpty() && weights.size() != own.size()) {
          throw place.wrong(
              "target_weight", weights.size() + " for " + own.size() + " labels", "one for each");
        }
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < own.size(); i++) {
          // It is the mean over all labels of a row, of which one below 0 does not count.
          float weight = weights.isEmpty() ? 1 : weights.get(i).floatValue();
          if (weight <= 0) {
            throw place.wrong("target_weight[" + i + "]", "" + weight, "a number above 0");
          }
          Task task = Task.of(columns.get(own.get(i))).withWeight(weight / own.size());
          tasks.add(task.withOptionalLabel());
        }
        yield tasks;
      }
    };
  }

  private List<Loss> inOrder() {
    return losses.stream().sorted(Comparator.comparing(Loss::first)).toList();
  }

  /** What the logits predict, in the order of the columns of labels. */
  List<Task> tasks() {
    return inOrder().stream().flatMap(loss -> loss.tasks().stream()).toList();
  }

  /** The tensors of the logits in that order. */
  List<String> logits() {
    return inOrder().stream().map(Loss::logits).toList();
  }

  /** What a user must know of the losses. */
  List<String> notes() {
    return notes;
  }
}
