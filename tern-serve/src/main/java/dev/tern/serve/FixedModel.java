package dev.tern.serve;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.predict.Predictor;
import java.util.OptionalLong;

/** A checkpoint that is served as it is. */
final class FixedModel implements LiveModel {
  private final ServedVersion version;
  private final long loadedMillis = System.currentTimeMillis();
  private final Lease lease;

  FixedModel(ServedVersion version) {
    this.version = version;
    lease =
        new Lease() {
          @Override
          public ServedVersion version() {
            return version;
          }

          @Override
          public void close() {}
        };
  }

  /** Opens the checkpoint that {@code source} names. */
  static FixedModel open(ModelSource source) {
    Checkpoint checkpoint =
        source.follow() == ModelSource.Follow.LATEST
            ? Checkpoint.openLatest(source.path())
            : Checkpoint.open(source.path());
    Predictor predictor = Predictor.open(checkpoint, source.scoring());
    return new FixedModel(new ServedVersion(source.name(), checkpoint.step(), predictor));
  }

  @Override
  public Lease lease() {
    return lease;
  }

  @Override
  public long step() {
    return version.step();
  }

  @Override
  public long loadedMillis() {
    return loadedMillis;
  }

  @Override
  public long tableBytes() {
    return version.predictor().tableBytes();
  }

  @Override
  public void warmUp() {
    version.predictor().warmUp();
  }

  @Override
  public void load(OptionalLong step) {
    if (step.isPresent() && step.getAsLong() != version.step()) {
      throw new RefusedException(
          400,
          "step: got %s, expected %s; this model was opened at one step, see --follow"
              .formatted(step.getAsLong(), version.step()));
    }
  }

  @Override
  public void close() {
    version.predictor().close();
  }
}
