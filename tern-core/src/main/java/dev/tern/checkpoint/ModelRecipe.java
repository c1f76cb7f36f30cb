package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;

/**
 * All that a model is made of but its weights, as text that other files can hold: {@link
 * Checkpoint#recipe}.
 *
 * @param encoder of its rows
 * @param model name and sizes
 * @param tables what tables do with ids and rows; policies that give and take rows are not part of
 *     it
 * @param optimizer of the dense parameters
 * @param seed of the run
 */
public record ModelRecipe(
    FeatureEncoder encoder,
    ModelConfig model,
    TableOptions tables,
    Optimizer optimizer,
    long seed) {
  private static final String ENCODER = "encoder";
  private static final String MODEL = "model";
  private static final String TABLES = "tables";
  private static final String OPTIMIZER = "optimizer";
  private static final String SEED = "seed";

  /** The recipe as JSON text, which {@link #fromJson} reads. */
  public String toJson() {
    return Json.object()
        .put(MODEL, ModelJson.write(model))
        .put(TABLES, TableOptionsJson.write(tables))
        .put(OPTIMIZER, OptimizerJson.write(optimizer))
        .put(SEED, seed)
        .put(ENCODER, encoder.toJson())
        .toString();
  }

  /**
   * Reads the text that {@link #toJson} wrote.
   *
   * @param source name of the file, for errors
   * @throws DataException if the text is no recipe
   */
  public static ModelRecipe fromJson(String json, String source) {
    Json.Obj recipe = Json.parseObject(json, source);
    try {
      FeatureEncoder encoder = FeatureEncoder.fromJson(recipe.text(ENCODER), source);
      return new ModelRecipe(
          encoder,
          ModelJson.read(recipe.object(MODEL)),
          TableOptionsJson.read(recipe.object(TABLES)).knownOnly(encoder.tablesOfKnown()),
          OptimizerJson.read(recipe.object(OPTIMIZER)),
          recipe.integer(SEED));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new DataException(
          "%s: got a model that cannot be (%s), expected one of Tern's; the file is damaged"
              .formatted(source, e.getMessage()),
          e);
    }
  }

  /** The recipe of a run, by the facts of its manifest. */
  static ModelRecipe of(Json.Obj facts, FeatureEncoder encoder, ModelConfig model) {
    return new ModelRecipe(
        encoder,
        model,
        TableOptionsJson.read(facts.object(TABLES)),
        OptimizerJson.read(facts.object(OPTIMIZER)),
        facts.integer(SEED));
  }
}
