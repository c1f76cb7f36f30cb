package dev.tern.model.papers;

import dev.tern.nn.Model;

/** A model that reads the vectors of slots side by side, so that their widths may differ. */
public abstract class FlatModel implements Model {
  private final SlotWidths widths;

  /** A model of some sizes. */
  protected FlatModel(Sizes sizes) {
    widths = sizes.widths();
  }

  @Override
  public final int embeddingWidth() {
    return widths.all();
  }

  @Override
  public final int embeddingWidth(String table) {
    return widths.of(table);
  }
}
