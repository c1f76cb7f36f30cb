package dev.tern.model.papers;

import dev.tern.nn.Model;

/** A model of vectors of one width, {@code D}. */
abstract class FieldModel implements Model {
  private final int width;

  FieldModel(Sizes sizes) {
    width = sizes.embedding();
  }

  @Override
  public final int embeddingWidth() {
    return width;
  }
}
