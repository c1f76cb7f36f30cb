package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.model.papers.Sizes;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;

/** Makes the model of a configuration for rows of a schema. */
@FunctionalInterface
interface ModelBuilder {
  Model build(ModelConfig config, Schema schema, Parameters parameters);

  /** Makes a model of its sizes alone, as most are. */
  @FunctionalInterface
  interface Paper {
    Model build(Sizes sizes, Schema schema, Parameters parameters);
  }

  static ModelBuilder paper(Paper paper) {
    return (config, schema, parameters) -> paper.build(config.sizes(schema), schema, parameters);
  }
}
