package dev.tern.checkpoint;

import dev.tern.embedding.config.TableOptions;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import java.util.List;

/**
 * The settings of a run that decide its weights. A checkpoint keeps them, and a run that resumes
 * from it must have the same.
 */
public interface RunSettings {
  /** The optimizer of dense parameters. */
  Optimizer optimizer();

  /** The share of dense weights that each step takes off. */
  float weightDecay();

  /** The largest norm of the dense gradients; 0 for any. */
  float clipNorm();

  /** Names of dense parameters that stay as they are; {@code *} stands for any text. */
  List<String> frozen();

  /** What tables are told. */
  TableOptions tables();

  /** The learning rate of each step. */
  LearningRate schedule();

  /** The seed of all random numbers. */
  long seed();

  /** Rows of a batch. */
  int batch();

  /** Lanes of a batch, 1 for none. */
  int lanes();

  /** The figure that decides which checkpoint is the best; empty for the AUC of the first task. */
  String monitored();

  /** Rows of a block that is shuffled; 0 for none. */
  int shuffleRows();
}
