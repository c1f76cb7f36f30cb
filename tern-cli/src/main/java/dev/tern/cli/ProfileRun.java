package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.notes.Progress;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.ReadPolicy;
import dev.tern.tensor.Device;
import dev.tern.tensor.SourceLines;
import dev.tern.tensor.StepProfile;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.util.Optional;

/** Trains a few steps of a configuration without a run folder. */
final class ProfileRun {
  private static final int EVENTS = 50_000;

  /**
   * What was seen.
   *
   * @param memory all memory held at the end, and what was allocated up to there, as JSON
   */
  record Seen(StepProfile profile, String memory) {}

  private ProfileRun() {}

  /**
   * Trains {@code steps} steps, or to the end of the data, and profiles the last step, with the
   * source lines of its ops.
   */
  static Seen run(Config config, long steps, Progress progress) {
    return SourceLines.recorded(() -> train(config, steps, progress));
  }

  private static Seen train(Config config, long steps, Progress progress) {
    DataSource source = new DataSource(config.data(), ReadPolicy.STRICT, new TextDictionary());
    FeatureEncoder encoder;
    try (DataReader rows = source.train()) {
      progress.begin("fit encoders", "rows", 0, rows.rowCount().orElse(0));
      encoder = source.fit(rows, done -> progress.update(done, ""));
    }
    TrainOptions options = config.train().options().reportEvery(1).epochs(Integer.MAX_VALUE);
    try (Device device = recorded(TrainRun.device(config.train()));
        Trainer trainer = Trainer.create(device, encoder, config.model(), options);
        DataReader rows = source.train(config.model().group())) {
      progress.begin("profile", "steps", 0, steps);
      trainer.fit(
          rows,
          Optional.empty(),
          report -> {
            progress.update(report.step(), "");
            if (report.step() >= steps) {
              trainer.requestStop();
            }
          });
      return new Seen(trainer.profile(), device.memorySnapshot());
    }
  }

  private static Device recorded(Device device) {
    device.recordMemoryHistory(EVENTS);
    return device;
  }
}
