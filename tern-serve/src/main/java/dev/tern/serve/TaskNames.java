package dev.tern.serve;

import dev.tern.model.Task;
import java.util.List;

/** The names of scores: of one task the bare name, of several with the label behind it. */
final class TaskNames {
  static final String PROBABILITY = "probability";
  static final String LOGIT = "logit";

  private TaskNames() {}

  static String of(String score, List<Task> tasks, int task) {
    return tasks.size() == 1 ? score : score + "_" + tasks.get(task).label();
  }
}
