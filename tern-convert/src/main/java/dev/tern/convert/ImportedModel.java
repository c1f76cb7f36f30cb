package dev.tern.convert;

import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Combiner;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.Towers;
import dev.tern.model.Variant;
import dev.tern.model.graph.Graph;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A model that another tool made, and its columns.
 *
 * @param schema of rows, whose ids and numbers the model takes as they stand
 * @param averaged the slots whose vectors are averaged; those of others are summed
 */
public record ImportedModel(ModelConfig model, Schema schema, Set<String> averaged) {
  /** Copies {@code averaged}. */
  public ImportedModel {
    averaged = Set.copyOf(averaged);
  }

  /**
   * A model of some layers.
   *
   * @param tasks what its logits predict, in order
   * @param widths of the rows of tables, by the names of the slots that own them
   */
  public static ModelConfig config(Graph graph, List<Task> tasks, Map<String, Integer> widths) {
    int most = widths.values().stream().mapToInt(Integer::intValue).max().orElse(1);
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.GRAPH, most)
            .withVariant(Variant.of(ModelConfig.Type.GRAPH).withGraph(graph))
            .withTowers(new Towers(tasks, List.of(), Towers.DEFAULT.experts(), List.of()));
    for (Map.Entry<String, Integer> table : widths.entrySet()) {
      int width = table.getValue();
      model = width == most ? model : model.withEmbedding(table.getKey(), width);
    }
    return model;
  }

  /** The encoder of its rows, which changes nothing. */
  public FeatureEncoder encoder(Reading reading) {
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(new Batch(schema, 1)),
            Collections.nCopies(schema.denseDim(), NumberEncoding.none()),
            Collections.nCopies(schema.slotCount(), IdEncoding.verbatim()),
            TextDictionary.none(),
            _ -> {});
    return encoder.withReading(reading);
  }

  /** A trainer whose weights are to be replaced. */
  public Trainer trainer(FeatureEncoder encoder, Device device) {
    // Runs that begin with these weights name their own optimizer; this one keeps no state.
    TrainOptions options = TrainOptions.of(Optimizer.sgd(0.001f));
    for (String slot : averaged) {
      options = options.tables(tables -> tables.combiner(slot, Combiner.MEAN));
    }
    return Trainer.create(device, encoder, model, options);
  }
}
