package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import java.util.List;

/** Makes models. */
@FunctionalInterface
public interface ModelFactory {
  /** Makes a model for rows of {@code schema}; its parameters come from {@code parameters}. */
  Model create(Schema schema, Parameters parameters);

  /**
   * What the model's logits predict, in order: by default all labels of the rows. None where rows
   * of {@code schema} have no labels, as rows to be scored.
   */
  default List<Task> tasks(Schema schema) {
    return Task.ofLabels(schema);
  }

  /**
   * The same models, whose logits predict {@code tasks}, as in {@code
   * factory.withTasks(Task.of("click"), Task.of("buy").within("click"))}.
   */
  default ModelFactory withTasks(Task... tasks) {
    ModelFactory models = this;
    List<Task> all = List.of(tasks);
    return new ModelFactory() {
      @Override
      public Model create(Schema schema, Parameters parameters) {
        return models.create(schema, parameters);
      }

      @Override
      public List<Task> tasks(Schema schema) {
        return all;
      }
    };
  }
}
