package dev.tern.cli.config;

/**
 * How the model is trained.
 *
 * @param batch rows of a step
 * @param epochs passes over the training data
 * @param optimizer of all weights
 * @param schedule the learning rate over the steps
 * @param l2 factor of half the sum of squared weights in the loss
 * @param shuffleRows rows of a block that is shuffled; 0 keeps the order
 * @param seed of weights, dropout and shuffling
 * @param threads compute threads, at least 1
 * @param memory hard limit in bytes
 * @param evaluateEvery when the evaluation data is scored
 * @param checkpointEvery when a checkpoint is written
 * @param earlyStop evaluations without a better AUC after which training ends; 0 for never
 * @param logEvery steps between two lines of training metrics
 */
public record TrainConfig(
    int batch,
    int epochs,
    OptimizerConfig optimizer,
    ScheduleConfig schedule,
    float l2,
    int shuffleRows,
    long seed,
    int threads,
    long memory,
    Every evaluateEvery,
    Every checkpointEvery,
    long earlyStop,
    long logEvery) {
  /** Members that the type has no use for hold their defaults. */
  public record OptimizerConfig(
      String type, float lr, float momentum, float initial, float beta1, float beta2, float eps, float beta, float l1, float l2) {}

  /** Members that the type has no use for hold their defaults. */
  public record ScheduleConfig(
      String type, long warmupSteps, long decayStart, long decaySteps, double decayPower, float endLr) {}

  static TrainConfig of(Settings s) {
    OptimizerConfig optimizer =
        new OptimizerConfig(
            s.get(Keys.OPTIMIZER),
            s.get(Keys.LR).floatValue(),
            s.get(Keys.MOMENTUM).floatValue(),
            s.get(Keys.INITIAL).floatValue(),
            s.get(Keys.BETA1).floatValue(),
            s.get(Keys.BETA2).floatValue(),
            s.get(Keys.EPS).floatValue(),
            s.get(Keys.BETA).floatValue(),
            s.get(Keys.L1).floatValue(),
            s.get(Keys.L2).floatValue());
    ScheduleConfig schedule =
        new ScheduleConfig(
            s.get(Keys.SCHEDULE),
            s.get(Keys.WARMUP_STEPS),
            s.get(Keys.DECAY_START),
            s.get(Keys.DECAY_STEPS),
            s.get(Keys.DECAY_POWER),
            s.get(Keys.END_LR).floatValue());
    int threads = s.get(Keys.THREADS).intValue();
    return new TrainConfig(
        s.get(Keys.BATCH).intValue(),
        s.get(Keys.EPOCHS).intValue(),
        optimizer,
        schedule,
        s.get(Keys.WEIGHT_L2).floatValue(),
        s.get(Keys.SHUFFLE).intValue(),
        s.get(Keys.SEED),
        threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
        s.get(Keys.MEMORY),
        s.get(Keys.EVALUATE_EVERY),
        s.get(Keys.CHECKPOINT_EVERY),
        s.get(Keys.EARLY_STOP),
        s.get(Keys.LOG_EVERY));
  }
}
