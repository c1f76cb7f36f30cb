package dev.tern.checkpoint;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a run that decide its weights. A checkpoint keeps them, and a run that resumes
 * from it must have the same.
 */
public interface RunSettings {
  /** The update rule of dense parameters. */
  Optimizer optimizer();

  /** The share of dense weights that each step takes off. */
  float weightDecay();

  /** The largest norm of the dense gradients; 0 for any. */
  float clipNorm();

  /** The update rule of table rows. */
  Optimizer tableOptimizer();

  /** The update rule of the first part of table rows, where it has its own. */
  Optional<Optimizer> firstPartOptimizer();

  /** New table weights are uniform in {@code [-range, range)}. */
  float initRange();

  /** The L2 penalty. */
  float l2();

  /** How several ids of one slot become one vector. */
  Combiner combiner();

  /** What an id without a row reads as. */
  UnknownRow unknown();

  /** How tables store weights. */
  DType tableStorage();

  /** Which ids have rows, in tables without a rule of their own. */
  RowPolicy rows();

  /** The rules of single tables by name. */
  Map<String, RowPolicy> rowsOf();

  /** The limits of table updates. */
  RowLimits rowLimits();

  /** The learning rate of each step. */
  LearningRate schedule();

  /** The seed of all random numbers. */
  long seed();

  /** Rows of a batch. */
  int batch();

  /** Rows of a block that is shuffled; 0 for none. */
  int shuffleRows();
}
