package dev.tern.cli.config;

/** Checks of what goes with {@code train.lanes}. */
final class LaneChecks {
  private LaneChecks() {}

  static void run(Settings s) {
    long lanes = s.get(TrainKeys.LANES);
    if (lanes == 1 || Long.bitCount(lanes) != 1) {
      return; // The engine refuses what is no power of two.
    }
    long batch = s.get(TrainKeys.BATCH);
    if (batch % lanes != 0) {
      throw wrong(
          s,
          "for batches of %,d rows, expected lanes of equal size; make train.batch a multiple of %d"
              .formatted(batch, lanes));
    }
    if (ModelKeys.type(s).hasOwnLoss()) {
      throw wrong(
          s,
          "for the model %s, whose loss compares each row with others of its batch, which may be in another lane, expected 1; leave lanes out"
              .formatted(s.get(ModelKeys.MODEL)));
    }
    if (s.all("data.labels").stream().anyMatch(g -> g.get(DataKeys.LOSS).equals("bpr"))) {
      throw wrong(
          s,
          "for the loss bpr, which compares rows that may be in two lanes, expected 1; leave lanes"
              + " out");
    }
  }

  private static ConfigException wrong(Settings s, String got) {
    String path = TrainKeys.LANES.path();
    return new ConfigException(
        "%s: %s: got %d lanes %s".formatted(s.where(path), path, s.get(TrainKeys.LANES), got));
  }
}
