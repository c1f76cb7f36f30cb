package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The classes among the tasks of a model: those of one label stand side by side, all of them, and
 * their logits are made log-odds of a class against the others ({@link Loss.OfClass}).
 *
 * @param groups of each label that is a class, in order
 * @param tasks of the model, classes and others
 */
public record ClassLogits(List<Group> groups, int tasks) {
  /** Far below every logit, and finite. */
  private static final float NEVER = -1e30f;

  /**
   * The classes of a label.
   *
   * @param label its column
   * @param from number of the first of their tasks
   * @param classes how many there are
   */
  public record Group(String label, int from, int classes) {}

  public ClassLogits {
    groups = List.copyOf(groups);
  }

  /**
   * The classes among {@code tasks}.
   *
   * @throws IllegalArgumentException if a class stands without the others, or not in order, or
   *     counts otherwise than they
   */
  static ClassLogits of(List<Task> tasks) {
    List<Group> groups = new ArrayList<>();
    for (int k = 0; k < tasks.size(); k++) {
      if (tasks.get(k).loss() instanceof Loss.OfClass(_, int classes)) {
        Task first = tasks.get(k);
        List<Task> expected =
            Task.ofClasses(first.column(), classes).stream()
                .map(task -> task.withWeight(first.weight()))
                .map(task -> first.within().map(task::within).orElse(task))
                .map(task -> first.optional() ? task.withOptionalLabel() : task)
                .toList();
        int to = Math.min(k + classes, tasks.size());
        if (!tasks.subList(k, to).equals(expected)) {
          throw new IllegalArgumentException(
              "tasks: got %s, expected the classes 0 to %d of %s side by side, of one weight; take Task.ofClasses"
                  .formatted(
                      tasks.subList(k, to).stream().map(Task::label).toList(),
                      classes - 1,
                      first.column()));
        }
        groups.add(new Group(first.column(), k, classes));
        k = to - 1;
      }
    }
    return new ClassLogits(groups, tasks.size());
  }

  /** Whether all tasks are classes. */
  boolean isAll() {
    return !groups.isEmpty() && groups.stream().mapToInt(Group::classes).sum() == tasks;
  }

  /** Logits {@code [B, tasks]} with those of classes as log-odds against the others. */
  Tensor against(Tensor logits) {
    if (groups.isEmpty()) {
      return logits;
    }
    List<Tensor> parts = new ArrayList<>();
    int done = 0;
    for (Group group : groups) {
      if (group.from() > done) {
        parts.add(logits.slice(1, done, group.from()));
      }
      done = group.from() + group.classes();
      parts.add(oddsOf(logits.slice(1, group.from(), done)));
    }
    if (done < tasks) {
      parts.add(logits.slice(1, done, tasks));
    }
    return parts.size() == 1 ? parts.getFirst() : Tensor.concat(1, parts);
  }

  /**
   * {@code u[k] - log(sum of exp(u[j]) over j other than k)}. The sum leaves class {@code k} out
   * instead of taking it off, which would leave no digits where its probability is near 1.
   */
  private static Tensor oddsOf(Tensor logits) {
    int rows = logits.shape().size(0);
    int classes = logits.shape().size(1);
    float[] own = new float[classes * classes];
    for (int k = 0; k < classes; k++) {
      own[k * classes + k] = NEVER;
    }
    Tensor others =
        logits.reshape(rows, 1, classes).add(Tensor.of(Shape.of(1, classes, classes), own));
    Tensor most = others.maxKeep(2).detach();
    Tensor sum = others.sub(most).exp().sum(2).log().add(most.reshape(rows, classes));
    return logits.sub(sum);
  }
}
